/*
 * test_memory_kinds.c — memory beyond cudaMalloc: in three dimensions, from pools, managed, pinned;
 * and the attributes of each.
 */
#define _GNU_SOURCE /* setenv */
#include "tests/support/cudart_check.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- two and three dimensions ---------------------------------------------------------------- */

enum { WIDTH = 5, HEIGHT = 3, DEPTH = 2 };

/* A box of 2 x 1 x 2 bytes goes to (1, 2, 0) of an area and comes back. */
Test(memory_kinds, copies_in_three_dimensions)
{
    unsigned char in[DEPTH][HEIGHT][WIDTH], out[DEPTH][HEIGHT][WIDTH];
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++) (&in[0][0][0])[i] = (unsigned char)(i + 1);
    struct cudaPitchedPtr area;
    struct cudaExtent whole = {WIDTH, HEIGHT, DEPTH}, box = {2, 1, 2};
    ok(cudaMalloc3D(&area, whole));
    cr_assert(area.pitch >= WIDTH && area.xsize == WIDTH && area.ysize == HEIGHT);
    ok(cudaMemset3D(area, 0xEE, whole));
    struct cudaMemcpy3DParms p = {.srcPtr = {in, WIDTH, WIDTH, HEIGHT},
                                  .srcPos = {3, 0, 0},
                                  .dstPtr = area,
                                  .dstPos = {1, 2, 0},
                                  .extent = box,
                                  .kind = cudaMemcpyHostToDevice};
    ok(cudaMemcpy3D(&p));
    p = (struct cudaMemcpy3DParms){.srcPtr = area,
                                   .dstPtr = {out, WIDTH, WIDTH, HEIGHT},
                                   .extent = whole,
                                   .kind = cudaMemcpyDeviceToHost};
    ok(cudaMemcpy3DAsync(&p, NULL));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                bool inside = y == 2 && x >= 1 && x < 3;
                unsigned char expected = inside ? in[z][0][x + 2] : 0xEE;
                cr_assert(out[z][y][x] == expected, "%d %d %d: %d", z, y, x, out[z][y][x]);
            }
    p.extent.width = area.pitch + 1;
    is(cudaMemcpy3D(&p), cudaErrorInvalidPitchValue);
    p.extent = (struct cudaExtent){WIDTH, HEIGHT + 1, DEPTH};
    is(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.extent = (struct cudaExtent){WIDTH, HEIGHT, DEPTH + 1}; /* beyond the allocation */
    is(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.extent = (struct cudaExtent){0, HEIGHT, DEPTH};
    ok(cudaMemcpy3D(&p));
    is(cudaMemcpy3D(NULL), cudaErrorInvalidValue);
}

/* A fill of a part of each slice does not change the rest. */
Test(memory_kinds, fills_in_three_dimensions)
{
    unsigned char out[DEPTH][HEIGHT][WIDTH];
    struct cudaPitchedPtr area;
    ok(cudaMalloc3D(&area, (struct cudaExtent){WIDTH, HEIGHT, DEPTH}));
    ok(cudaMemset3D(area, 1, (struct cudaExtent){WIDTH, HEIGHT, DEPTH}));
    ok(cudaMemset3DAsync(area, 2, (struct cudaExtent){WIDTH - 1, HEIGHT - 1, DEPTH}, NULL));
    ok(cudaMemcpy2D(out, WIDTH, area.ptr, area.pitch, WIDTH, HEIGHT * DEPTH, cudaMemcpyDefault));
    for (int i = 0; i < DEPTH * HEIGHT * WIDTH; i++) {
        bool inside = i % WIDTH < WIDTH - 1 && i / WIDTH % HEIGHT < HEIGHT - 1;
        cr_assert((&out[0][0][0])[i] == (inside ? 2 : 1), "%d", i);
    }
    is(cudaMemset3D(area, 1, (struct cudaExtent){WIDTH, HEIGHT + 1, 2}), cudaErrorInvalidValue);
}

/* ---- pools ----------------------------------------------------------------------------------- */

static uint64_t of_pool(cudaMemPool_t pool, enum cudaMemPoolAttr attribute)
{
    uint64_t value;
    ok(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

Test(memory_kinds, pools_count_what_they_give)
{
    enum { BYTES = 1 << 20 };
    cudaMemPool_t pool, current;
    cudaStream_t stream;
    void *a, *b;
    ok(cudaStreamCreate(&stream));
    ok(cudaDeviceGetDefaultMemPool(&pool, 0));
    ok(cudaDeviceGetMemPool(&current, 0));
    cr_assert(pool == current);
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
    int reuse;
    ok(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &reuse));
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
    struct cudaPointerAttributes attributes;
    ok(cudaPointerGetAttributes(&attributes, memory));
    cr_assert(attributes.device == 1);

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
    unsigned flags;
    int plain[16];
    ok(cudaHostAlloc(&memory, 64, cudaHostAllocMapped | cudaHostAllocWriteCombined));
    ok(cudaHostGetFlags(&flags, memory));
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
