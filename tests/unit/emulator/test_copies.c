/*
 * test_copies.c — copies, and kinds of memory.
 */
#define _GNU_SOURCE /* setenv */
#include "common/files/allocated.h"
#include "tests/support/cudart_check.h"
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- areas of cudaMalloc3D ------------------------------------------------------------------- */

/* Its rows lie further apart than those of the host. (The suite copies has boxes, and limits.) */
Test(memory_kinds, areas_of_three_dimensions)
{
    enum { WIDTH = 5, HEIGHT = 3, DEPTH = 2, ALL = WIDTH * HEIGHT * DEPTH };
    unsigned char in[ALL], out[ALL];
    struct cudaExtent whole = {WIDTH, HEIGHT, DEPTH};
    struct cudaPitchedPtr area = given(struct cudaPitchedPtr, cudaMalloc3D, whole);
    cr_assert(area.pitch >= WIDTH && area.pitch % 256 == 0);
    cr_assert(area.xsize == WIDTH && area.ysize == HEIGHT);
    for (int i = 0; i < ALL; i++) in[i] = (unsigned char)(i + 1);
    struct cudaMemcpy3DParms p = {.srcPtr = {in, WIDTH, WIDTH, HEIGHT},
                                  .dstPtr = area,
                                  .extent = whole,
                                  .kind = cudaMemcpyHostToDevice};
    ok(cudaMemset3D(area, 0xEE, whole));
    ok(cudaMemcpy3D(&p));
    ok(cudaMemcpy2D(out, WIDTH, area.ptr, area.pitch, WIDTH, HEIGHT * DEPTH, cudaMemcpyDefault));
    cr_assert(!memcmp(in, out, ALL));
    is(cudaMemset3D(area, 1, (struct cudaExtent){WIDTH, HEIGHT + 1, DEPTH}), cudaErrorInvalidValue);
    is(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static uint64_t of_pool(cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
    return given_last(uint64_t, cudaMemPoolGetAttribute, pool, attribute);
}

Test(memory_kinds, pools_count_what_they_give)
{
    enum { BYTES = 1 << 20 };
    void *a, *b;
    cudaStream_t stream = given(cudaStream_t, cudaStreamCreate);
    cudaMemPool_t pool = given(cudaMemPool_t, cudaDeviceGetDefaultMemPool, 0);
    cr_assert(pool == given(cudaMemPool_t, cudaDeviceGetMemPool, 0));
    ok(cudaMallocAsync(&a, BYTES, stream));
    ok(cudaMallocAsync(&b, BYTES, stream));
    cr_assert(of_pool(pool, cudaMemPoolAttrUsedMemCurrent) == 2 * BYTES);
    ok(cudaFreeAsync(a, stream));
    cr_assert(of_pool(pool, cudaMemPoolAttrUsedMemCurrent) == BYTES);
    cr_assert(of_pool(pool, cudaMemPoolAttrUsedMemHigh) == 2 * BYTES);
    cr_assert(of_pool(pool, cudaMemPoolAttrReservedMemCurrent) == BYTES);
    uint64_t keep = UINT64_MAX, zero = 0, one = 1;
    ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    ok(cudaFree(b)); /* either function frees */
    cr_assert(of_pool(pool, cudaMemPoolAttrUsedMemCurrent) == 0);
    cr_assert(of_pool(pool, cudaMemPoolAttrReservedMemCurrent) == BYTES);
    ok(cudaMemPoolTrimTo(pool, 0));
    cr_assert(of_pool(pool, cudaMemPoolAttrReservedMemCurrent) == 0);
    ok(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &zero));
    cr_assert(of_pool(pool, cudaMemPoolAttrUsedMemHigh) == 0);
    is(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &one), cudaErrorInvalidValue);
    is(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &zero), cudaErrorInvalidValue);
    int reuse = given_last(int, cudaMemPoolGetAttribute, pool, cudaMemPoolReuseAllowOpportunistic);
    cr_assert(reuse == 1);
    is(cudaFreeAsync(a, stream), cudaErrorInvalidValue);
    is(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
}

Test(memory_kinds, pools_of_the_programs_own)
{
    setenv("EMU_DEVICES", "2", 1);
    cr_redirect_stderr();
    struct cudaMemPoolProps props = {.allocType = cudaMemAllocationTypePinned,
                                     .location = {cudaMemLocationTypeDevice, 1}};
    cudaMemPool_t pool, shared;
    int *memory;
    ok(cudaMemPoolCreate(&pool, &props));
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    is(cudaMemPoolCreate(&shared, &props), cudaErrorNotSupported);
    cudaGetLastError();
    ok(cudaMallocFromPoolAsync((void **)&memory, sizeof *memory, pool, NULL));
    cr_assert(given(struct cudaPointerAttributes, cudaPointerGetAttributes, memory).device == 1);

    struct cudaMemAccessDesc give = {{cudaMemLocationTypeDevice, 0},
                                     cudaMemAccessFlagsProtReadWrite};
    enum cudaMemAccessFlags flags;
    ok(cudaMemPoolGetAccess(&flags, pool, &give.location));
    cr_assert(flags == cudaMemAccessFlagsProtNone);
    ok(cudaMemset(memory, 0, sizeof *memory));
    ok(cudaMemPoolSetAccess(pool, &give, 1));
    ok(launch_add(memory, 3, NULL)); /* on device 0 */
    cr_assert(value_at(memory) == 3);
    ok(cudaDeviceSetMemPool(1, pool));
    is(cudaDeviceSetMemPool(0, pool), cudaErrorInvalidValue);
    ok(cudaFreeAsync(memory, NULL));
    ok(cudaMemPoolDestroy(pool));
    is(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);
    is(cudaMallocFromPoolAsync((void **)&memory, 4, pool, NULL), cudaErrorInvalidValue);
}

/* ---- managed --------------------------------------------------------------------------------- */

Test(memory_kinds, managed_variables)
{
    int *value = managed_value_address(), *array = managed_array_address();
    cr_assert(*value == 7 && array[99] == 0); /* as they are initialised */
    *value = 20;
    ok(launch_managed());
    ok(cudaDeviceSynchronize());
    cr_assert(*value == 21 && array[99] == 20);
    ok(set_managed_value(50));
    cr_assert(*value == 50);
    struct cudaPointerAttributes attributes;
    ok(cudaPointerGetAttributes(&attributes, value));
    cr_assert(attributes.type == cudaMemoryTypeManaged && attributes.devicePointer == value);
    ok(cudaDeviceReset());
    ok(launch_managed()); /* loaded again: 7 */
    ok(cudaDeviceSynchronize());
    cr_assert(*value == 8 && array[99] == 7, "%d", *value);
}

Test(memory_kinds, advice_is_kept)
{
    enum { BYTES = 4096 };
    void *memory;
    int value, users[3];
    struct cudaMemLocation device = {cudaMemLocationTypeDevice, 0},
                           host = {cudaMemLocationTypeHost, 0},
                           none = {cudaMemLocationTypeDevice, 7};
    ok(cudaMallocManaged(&memory, BYTES, cudaMemAttachGlobal));
    ok(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, memory, BYTES));
    cr_assert(value == cudaInvalidDeviceId);
    ok(cudaMemAdvise(memory, BYTES, cudaMemAdviseSetPreferredLocation, device));
    ok(cudaMemAdvise(memory, BYTES, cudaMemAdviseSetReadMostly, device));
    ok(cudaMemAdvise(memory, BYTES, cudaMemAdviseSetAccessedBy, host));
    ok(cudaMemPrefetchAsync(memory, BYTES, host, 0, NULL));
    ok(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributePreferredLocation, memory, BYTES));
    cr_assert(value == 0);
    ok(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, memory, BYTES));
    cr_assert(value == 1);
    ok(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeLastPrefetchLocation, memory, 1));
    cr_assert(value == cudaCpuDeviceId);
    ok(cudaMemRangeGetAttribute(users, sizeof users, cudaMemRangeAttributeAccessedBy, memory, 1));
    cr_assert(users[0] == cudaCpuDeviceId && users[1] == cudaInvalidDeviceId);

    is(cudaMemAdvise(memory, BYTES, cudaMemAdviseSetAccessedBy, none), cudaErrorInvalidDevice);
    is(cudaMemPrefetchAsync(memory, BYTES + 1, device, 0, NULL), cudaErrorInvalidValue);
    is(cudaMemPrefetchAsync(device_memory(4), 4, device, 0, NULL), cudaErrorInvalidValue);
    is(cudaMemPrefetchAsync(&value, 4, device, 0, NULL), cudaErrorInvalidValue);
    ok(cudaStreamAttachMemAsync(NULL, memory, 0, cudaMemAttachGlobal));
    is(cudaStreamAttachMemAsync(NULL, &value, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
}

/* ---- pinned ---------------------------------------------------------------------------------- */

Test(memory_kinds, flags_of_pinned_memory)
{
    void *memory, *device;
    int plain[16];
    ok(cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    unsigned flags = given(unsigned, cudaHostGetFlags, memory);
    cr_assert(flags == (cudaHostAllocMapped | cudaHostAllocWriteCombined));
    ok(cudaHostGetDevicePointer(&device, (char *)memory + 8, 0));
    cr_assert(device == (char *)memory + 8);
    is(cudaHostAlloc(&memory, 64, 0x80), cudaErrorInvalidValue);
    is(cudaHostGetDevicePointer(&device, plain, 0), cudaErrorInvalidValue);
    ok(cudaHostRegister(plain, sizeof plain, cudaHostRegisterMapped));
    is(cudaHostRegister(plain, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
    is(cudaHostRegister(plain + 2, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
    ok(cudaHostUnregister(plain));
    is(cudaHostRegister(plain, sizeof plain, 0x100), cudaErrorInvalidValue);
}

/* ---- memory for bookkeeping that cannot be had ----------------------------------------------- */

Test(no_memory, ends_the_program, .exit_code = 2) { allocated(NULL); }

/* ---- copies and fills in one, two and three dimensions --------------------------------------- */

/* They change exactly the bytes that they should, up to the last byte of an allocation and not
 * beyond it. */

/* An area of slices of rows. The last row is as long as the others. */
enum { PITCH = 13, ROWS = 5, SLICES = 4, SLICE = PITCH * ROWS, BYTES = SLICE * SLICES };

static unsigned char in[BYTES], out[BYTES], model[BYTES];
static unsigned char *device;

static void setup(void)
{
    ok(cudaMalloc((void **)&device, BYTES));
    for (int i = 0; i < BYTES; i++) in[i] = (unsigned char)(i + 1);
}

static void teardown(void) { ok(cudaFree(device)); }

TestSuite(copies, .init = setup, .fini = teardown);

/* The device and its model on the host hold zeros. */
static void clear(void)
{
    ok(cudaMemset(device, 0, BYTES));
    memset(model, 0, BYTES);
}

static void expect_model(const char *what, int number)
{
    ok(cudaDeviceSynchronize());
    ok(cudaMemcpy(out, device, BYTES, cudaMemcpyDefault));
    cr_assert(!memcmp(out, model, BYTES), "%s %d", what, number);
}

static struct cudaPitchedPtr area_at(void *first)
{
    return (struct cudaPitchedPtr){first, PITCH, PITCH, ROWS};
}

/* ---- boxes ----------------------------------------------------------------------------------- */

struct box {
    struct cudaPos from, to;
    struct cudaExtent extent;
};

/* A repeatable number below `count`. */
static size_t below(size_t count)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return (size_t)(state >> 33) % count;
}

static void side_of_box(size_t whole, size_t *from, size_t *to, size_t *extent)
{
    *extent = below(whole + 1);
    *from = below(whole - *extent + 1);
    *to = below(whole - *extent + 1);
}

static struct box random_box(void)
{
    struct box b;
    side_of_box(PITCH, &b.from.x, &b.to.x, &b.extent.width);
    side_of_box(ROWS, &b.from.y, &b.to.y, &b.extent.height);
    side_of_box(SLICES, &b.from.z, &b.to.z, &b.extent.depth);
    return b;
}

static size_t offset(const struct cudaPos *at, size_t x, size_t y, size_t z)
{
    return (at->z + z) * SLICE + (at->y + y) * PITCH + at->x + x;
}

/* The new content of the box in `model`: the bytes of `in`, or `value`. */
static void change_model(const struct box *b, const unsigned char *value)
{
    for (size_t z = 0; z < b->extent.depth; z++)
        for (size_t y = 0; y < b->extent.height; y++)
            for (size_t x = 0; x < b->extent.width; x++)
                model[offset(&b->to, x, y, z)] = value ? *value : in[offset(&b->from, x, y, z)];
}

Test(copies, boxes_to_the_device_and_back)
{
    for (int i = 0; i < 300; i++) {
        struct box b = random_box();
        struct cudaMemcpy3DParms p = {.srcPtr = area_at(in),
                                      .srcPos = b.from,
                                      .dstPtr = area_at(device),
                                      .dstPos = b.to,
                                      .extent = b.extent,
                                      .kind = i % 2 ? cudaMemcpyDefault : cudaMemcpyHostToDevice};
        clear();
        ok(i % 3 ? cudaMemcpy3D(&p) : cudaMemcpy3DAsync(&p, NULL));
        change_model(&b, NULL);
        expect_model("box", i);
        /* Copies the bytes back to the place that they came from. */
        unsigned char back[BYTES] = {0};
        struct cudaMemcpy3DParms q = {.srcPtr = area_at(device),
                                      .srcPos = b.to,
                                      .dstPtr = area_at(back),
                                      .dstPos = b.from,
                                      .extent = b.extent,
                                      .kind = cudaMemcpyDeviceToHost};
        ok(cudaMemcpy3D(&q));
        memset(model, 0, BYTES);
        b.to = b.from;
        change_model(&b, NULL);
        cr_assert(!memcmp(back, model, BYTES), "box %d comes back", i);
    }
}

Test(copies, boxes_are_filled)
{
    for (int i = 0; i < 200; i++) {
        struct box b = random_box();
        unsigned char value = (unsigned char)(i + 1);
        b.to = (struct cudaPos){below(PITCH - b.extent.width + 1), 0, 0};
        if (b.extent.height == 0 || b.extent.depth == 0) continue;
        clear();
        struct cudaPitchedPtr area = {device + b.to.x, PITCH, PITCH, ROWS};
        ok(i % 2 ? cudaMemset3D(area, value, b.extent)
                 : cudaMemset3DAsync(area, value, b.extent, NULL));
        change_model(&b, &value);
        expect_model("fill", i);
        b.extent.depth = 1;
        clear();
        ok(i % 2 ? cudaMemset2D(device + b.to.x, PITCH, value, b.extent.width, b.extent.height)
                 : cudaMemset2DAsync(device + b.to.x, PITCH, value, b.extent.width, b.extent.height,
                                     NULL));
        change_model(&b, &value);
        expect_model("fill in two dimensions", i);
    }
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* The error of a copy of these extents to the first byte of the device. */
static cudaError_t copy_extent(size_t width, size_t height, size_t depth, size_t pitch, size_t rows)
{
    static unsigned char much[4 * BYTES];
    struct cudaMemcpy3DParms p = {.srcPtr = {much, pitch, pitch, rows},
                                  .dstPtr = {device, pitch, pitch, rows},
                                  .extent = {width, height, depth},
                                  .kind = cudaMemcpyHostToDevice};
    return cudaMemcpy3D(&p);
}

Test(copies, end_with_the_allocation)
{
    ok(copy_extent(PITCH, ROWS, SLICES, PITCH, ROWS));
    ok(copy_extent(BYTES, 1, 1, PITCH, ROWS));
    ok(copy_extent(1, SLICE - PITCH + 1, SLICES, 1, SLICE));
    is(copy_extent(BYTES + 1, 1, 1, PITCH, ROWS), cudaErrorInvalidValue);
    is(copy_extent(PITCH, ROWS * SLICES + 1, 1, PITCH, ROWS), cudaErrorInvalidValue);
    is(copy_extent(PITCH, ROWS, SLICES + 1, PITCH, ROWS), cudaErrorInvalidValue);
    /* The last slice need not be complete. */
    ok(copy_extent(PITCH, ROWS - 1, SLICES, PITCH, ROWS));
    is(copy_extent(2, ROWS * SLICES, 1, PITCH + 1, ROWS), cudaErrorInvalidValue);
    is(cudaMemset(device, 0, BYTES + 1), cudaErrorInvalidValue);
    is(cudaMemset(in, 0, 1), cudaErrorInvalidValue);
    is(cudaMemset2D(device, PITCH, 0, PITCH, ROWS * SLICES + 1), cudaErrorInvalidValue);
    ok(cudaMemset2D(device, PITCH, 0, PITCH, ROWS * SLICES));
}

Test(copies, rows_longer_than_their_distance)
{
    is(copy_extent(PITCH + 1, 2, 1, PITCH, ROWS), cudaErrorInvalidPitchValue);
    is(copy_extent(PITCH + 1, 1, 2, PITCH, ROWS), cudaErrorInvalidPitchValue);
    ok(copy_extent(PITCH + 1, 1, 1, PITCH, ROWS));
    is(copy_extent(PITCH, ROWS + 1, 2, PITCH, ROWS), cudaErrorInvalidValue);
    ok(copy_extent(PITCH, ROWS + 1, 1, PITCH, ROWS));
    is(cudaMemcpy2D(device, 4, in, 5, 5, 1, cudaMemcpyDefault), cudaErrorInvalidPitchValue);
    is(cudaMemcpy2D(device, 5, in, 4, 5, 1, cudaMemcpyDefault), cudaErrorInvalidPitchValue);
    ok(cudaMemcpy2D(device, 5, in, 5, 5, 1, cudaMemcpyDefault));
    is(cudaMemcpy2DAsync(device, 4, in, 5, 5, 1, cudaMemcpyDefault, 0), cudaErrorInvalidPitchValue);
    is(cudaMemcpy2DAsync(device, 5, in, 4, 5, 1, cudaMemcpyDefault, 0), cudaErrorInvalidPitchValue);
    ok(cudaMemcpy2DAsync(device, 5, in, 5, 5, 1, cudaMemcpyDefault, 0));
    is(cudaMemset2D(device, 4, 0, 5, 1), cudaErrorInvalidValue);
    is(cudaMemset2DAsync(device, 4, 0, 5, 1, NULL), cudaErrorInvalidValue);
    ok(cudaMemset2D(device, 5, 0, 5, 1));
    ok(cudaMemset2DAsync(device, 5, 0, 5, 1, NULL));
    struct cudaPitchedPtr area = area_at(device);
    is(cudaMemset3D(area, 0, (struct cudaExtent){PITCH + 1, 1, 1}), cudaErrorInvalidValue);
    is(cudaMemset3D(area, 0, (struct cudaExtent){PITCH, ROWS + 1, 2}), cudaErrorInvalidValue);
    ok(cudaMemset3D(area, 0, (struct cudaExtent){PITCH, ROWS + 1, 1}));
    ok(cudaMemset3D(area, 0, (struct cudaExtent){PITCH, ROWS, 2}));
}

/* A position reduces the bytes that are allowed. */
Test(copies, positions_are_inside_their_rows)
{
    struct cudaMemcpy3DParms p = {.srcPtr = area_at(in),
                                  .dstPtr = area_at(device),
                                  .extent = {PITCH, ROWS, 2},
                                  .kind = cudaMemcpyHostToDevice};
    ok(cudaMemcpy3D(&p));
    struct cudaPos *const sides[] = {&p.srcPos, &p.dstPos};
    for (int i = 0; i < 2; i++) {
        *sides[i] = (struct cudaPos){1, 0, 0};
        is(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
        *sides[i] = (struct cudaPos){0, 1, 0};
        is(cudaMemcpy3D(&p), cudaErrorInvalidValue);
        *sides[i] = (struct cudaPos){0, 0, 2};
        ok(cudaMemcpy3D(&p));
        *sides[i] = (struct cudaPos){0, 0, 0};
    }
    p.dstPos.z = 3;
    is(cudaMemcpy3D(&p), cudaErrorInvalidValue);
}

Test(copies, of_nothing_need_no_memory)
{
    ok(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    ok(cudaMemset(NULL, 0, 0));
    for (int i = 0; i < 3; i++) {
        struct cudaMemcpy3DParms p = {.extent = {i == 0 ? 0 : 1, i == 1 ? 0 : 1, i == 2 ? 0 : 1},
                                      .kind = cudaMemcpyHostToDevice};
        ok(cudaMemcpy3D(&p));
    }
    is(cudaMemcpy(device, NULL, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    is(cudaMemcpy(NULL, in, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
}

/* ---- directions ------------------------------------------------------------------------------ */

Test(copies, directions_must_be_right)
{
    unsigned char *other;
    ok(cudaMalloc((void **)&other, BYTES));
    const struct {
        void *to;
        const void *from;
        bool right[5]; /* by cudaMemcpyKind */
    } pairs[] = {
        {out, in, {true, false, false, false, true}},
        {device, in, {false, true, false, false, true}},
        {out, device, {false, false, true, false, true}},
        {other, device, {false, false, false, true, true}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int kind = 0; kind < 5; kind++)
            is(cudaMemcpy(pairs[i].to, pairs[i].from, 8, (enum cudaMemcpyKind)kind),
               pairs[i].right[kind] ? cudaSuccess : cudaErrorInvalidValue);
    is(cudaMemcpy(device, in, 8, (enum cudaMemcpyKind)5), cudaErrorInvalidMemcpyDirection);
    is(cudaMemcpy(device, in, 8, (enum cudaMemcpyKind) - 1), cudaErrorInvalidMemcpyDirection);
    ok(cudaFree(other));
}
