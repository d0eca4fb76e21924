/*
 * test_textures.c — textures and tensor maps.
 */
#define _POSIX_C_SOURCE 200809L /* setenv */
#include "tests/support/command.h"
#include "tests/support/cudart_check.h"
#include <cuda.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bulk copies of tensors ------------------------------------------------------------------ */

/* What is said to programs that use them wrongly, and what the checkers find. That the right bytes
 * are copied is tested by programs/textures.cu. */

TestSuite(tensors, .init = command_init, .fini = command_fini, .timeout = 120);

#define CHECK(tool) "$emu --tool " tool " --error-exitcode 9 "
#define NO_ERRORS   "ERROR SUMMARY: 0 errors\n"

#define TEXTURES    "$p/../cases/programs/O3/textures "

/* Every form of a copy, checked by every tool, and an image on three generations of GPUs. */
Test(tensors, right_programs_have_no_findings_slow)
{
    RUNS({0, CHECK("all") TEXTURES "tensor_maps", {NO_ERRORS, ": right\n"}},
         {0, CHECK("all") "--gpu t4 " TEXTURES "texture_turn", {NO_ERRORS, ": right\n"}},
         {0, CHECK("all") TEXTURES "texture_turn", {NO_ERRORS, ": right\n"}},
         {0, CHECK("all") "--gpu b200 " TEXTURES "texture_turn", {NO_ERRORS, ": right\n"}},
         {0, CHECK("all") "$p/tensors right", {NO_ERRORS, "right: cudaSuccess, 1\n"}},
         {0, CHECK("all") "$p/tensors before", {NO_ERRORS, "before: cudaSuccess, 1\n"}},
         {0, "$emu --page raw $p/tensors right",
          {"; approximate for bulk copies of tensors (sm_90)\n"}});
}

#define BETWEEN                                                                                    \
    "the box of a tensor begins at coordinate 2 of dimension 0, which is not a multiple of 16 "    \
    "bytes; begin boxes at multiples of 4 elements, at "
#define BEFORE                                                                                     \
    "a bulk copy to a tensor begins at coordinate -1 of dimension 1, and only loads may begin "    \
    "below 0; begin at 0, by a map with a smaller box if need be, at "
static const struct {
    const char *way, *error, *says;
} wrong[] = {
    {"unaligned", "MisalignedAddress", "shared address 0x10 is not a multiple of 128"},
    {"large", "IllegalAddress", "2048 bytes at shared address 0x0 are out of bounds"},
    {"zeros", "IllegalInstruction", "are no tensor map that cuTensorMapEncodeTiled has made"},
    {"unwritten", "IllegalInstruction", "are no tensor map that cuTensorMapEncodeTiled has made"},
    {"local", "IllegalAddress", "a tensor map is in .local memory; it can be a "},
    {"rank", "IllegalInstruction", "is for 2 dimensions, and the instruction for 1"},
    {"outside", "IllegalAddress", "a bulk copy of a tensor accesses global address 0x"},
    {"narrow", "IllegalAddress", "); stores and reductions write whole units of 16 bytes"},
    {"between", "IllegalInstruction", BETWEEN},
    {"stored-between", "IllegalInstruction", BETWEEN},
    {"added-between", "IllegalInstruction", BETWEEN},
    {"stored-before", "IllegalInstruction", BEFORE},
    {"added-before", "IllegalInstruction", BEFORE},
    {"ahead-between", "IllegalInstruction", BETWEEN},
};

Test(tensors, wrong_copies_are_told)
{
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char line[100];
        expect_status(0, "$emu --log-file /dev/null $p/tensors %s 2>&1", wrong[k].way);
        snprintf(line, sizeof line, "%s: cudaError%s, 0\n", wrong[k].way, wrong[k].error);
        expect(line);
        expect(wrong[k].says);
        expect("in kernel add");
    }
}

Test(tensors, the_checkers_see_the_elements_of_a_box)
{
    RUNS({9, CHECK("memcheck") "$p/tensors narrow",
          {"stores and reductions write whole units of 16 bytes"}},
         {9, CHECK("initcheck") "$p/tensors fresh",
          {"Uninitialized __global__ memory read of size 16 bytes"}},
         {9, CHECK("initcheck") "$p/tensors unwritten",
          {"Uninitialized __global__ memory read of size 16 bytes"}},
         {9, CHECK("racecheck") "$p/tensors early", {"No wait for that copy"}},
         {9, CHECK("racecheck") "$p/tensors unfenced",
          {"is a fence.proxy.async missing between"}});
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* The arguments of cuTensorMapEncodeTiled. */
struct request {
    CUtensorMap map[2];
    size_t shift; /* of the map's address */
    int type;
    cuuint32_t rank;
    char *address;
    cuuint64_t size[5], stride[4];
    cuuint32_t box[5], step[5];
    int interleave, swizzle, promotion, fill;
};

static CUresult encode(struct request *r)
{
    return cuTensorMapEncodeTiled((CUtensorMap *)((char *)r->map + r->shift), r->type, r->rank,
                                  r->address, r->size, r->stride, r->box, r->step, r->interleave,
                                  r->swizzle, r->promotion, r->fill);
}

/* Changes a right request, which must give this error. */
#define REQUEST(change, error)                                                                     \
    do {                                                                                           \
        struct request r = good;                                                                   \
        change;                                                                                    \
        CUresult got = encode(&r);                                                                 \
        cr_expect(got == CUDA_##error, "%s: error %d", #change, (int)got);                         \
    } while (0)

/* cuda.h's contract, and what the emulator leaves out. */
Test(tensors, wrong_maps_are_refused)
{
    static struct request good = {.type = CU_TENSOR_MAP_DATA_TYPE_INT32,
                                  .rank = 2,
                                  .size = {32, 8},
                                  .stride = {128},
                                  .box = {32, 8},
                                  .step = {1, 1},
                                  .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};
    good.address = device_memory(1024);
    cr_redirect_stderr();
    REQUEST((void)r, SUCCESS);
    REQUEST(r.size[1] = 1ull << 32, SUCCESS);
    REQUEST(r.step[0] = 9, SUCCESS);
    REQUEST(r.shift = 16, ERROR_INVALID_VALUE);
    REQUEST(r.type = 99, ERROR_INVALID_VALUE);
    REQUEST(r.rank = 0, ERROR_INVALID_VALUE);
    REQUEST(r.rank = 6, ERROR_INVALID_VALUE);
    REQUEST(r.address += 8, ERROR_INVALID_VALUE);
    REQUEST(r.size[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.size[1] = (1ull << 32) + 1, ERROR_INVALID_VALUE);
    REQUEST(r.stride[0] += 8, ERROR_INVALID_VALUE);
    REQUEST(r.stride[0] = 1ull << 40, ERROR_INVALID_VALUE);
    REQUEST(r.box[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.box[1] = 257, ERROR_INVALID_VALUE);
    REQUEST(r.box[0] = 3, ERROR_INVALID_VALUE);
    REQUEST(r.step[1] = 0, ERROR_INVALID_VALUE);
    REQUEST(r.step[1] = 9, ERROR_INVALID_VALUE);
    REQUEST(r.interleave = 3, ERROR_INVALID_VALUE);
    REQUEST(r.swizzle = CU_TENSOR_MAP_SWIZZLE_64B, ERROR_INVALID_VALUE);
    REQUEST(r.swizzle = 7, ERROR_INVALID_VALUE);
    REQUEST(r.promotion = 4, ERROR_INVALID_VALUE);
    REQUEST(r.fill = 1, ERROR_INVALID_VALUE);
    REQUEST(r.interleave = CU_TENSOR_MAP_INTERLEAVE_16B, ERROR_NOT_SUPPORTED);
    REQUEST(r.swizzle = CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, ERROR_NOT_SUPPORTED);
    REQUEST(r.type = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, ERROR_NOT_SUPPORTED);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address) == CUDA_ERROR_INVALID_VALUE);
    cr_expect(encode(&good) == CUDA_SUCCESS);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address + 8) == CUDA_ERROR_INVALID_VALUE);
    cr_expect(cuTensorMapReplaceAddress(good.map, good.address + 16) == CUDA_SUCCESS);
    const char *text = read_stderr();
    cr_expect(strstr(text, "emu: a tensor map: boxDim[1] is 257; it can be 1 to 256\n"));
    cr_expect(strstr(text, "makes rows of 128 bytes, and the swizzle is for up to 64\n"));
    cr_expect(strstr(text, "emu: a tensor map with an interleaved layout is not supported"));
}

/* ---- arrays, texture and surface objects ----------------------------------------------------- */

/* The headers call copies of bytes to arrays deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { WIDTH = 7, HEIGHT = 5, DEPTH = 3, ELEMENTS = WIDTH * HEIGHT * DEPTH };

static const struct cudaChannelFormatDesc words = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};

static cudaArray_t new_array(size_t width, size_t height, size_t depth, unsigned flags)
{
    cudaArray_t array;
    ok(cudaMalloc3DArray(&array, &words, (struct cudaExtent){width, height, depth}, flags));
    return array;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

Test(arrays, shapes_and_formats)
{
    static const struct {
        size_t width, height, depth;
        unsigned flags;
        cudaError_t expected;
    } cases[] = {
        {7, 0, 0, 0, cudaSuccess},
        {7, 5, 0, cudaArrayTextureGather, cudaSuccess},
        {7, 5, 3, cudaArraySurfaceLoadStore, cudaSuccess},
        {7, 0, 3, cudaArrayLayered, cudaSuccess},
        {7, 5, 3, cudaArrayLayered, cudaSuccess},
        {7, 7, 6, cudaArrayCubemap, cudaSuccess},
        {7, 7, 12, cudaArrayCubemap | cudaArrayLayered, cudaSuccess},
        {131072, 0, 0, 0, cudaSuccess},
        {131073, 0, 0, 0, cudaErrorInvalidValue},
        {32769, 0, 0, cudaArraySurfaceLoadStore, cudaErrorInvalidValue},
        {16385, 1, 1, 0, cudaErrorInvalidValue},
        {7, 0, 2049, cudaArrayLayered, cudaErrorInvalidValue},
        {0, 5, 0, 0, cudaErrorInvalidValue},
        {7, 0, 3, 0, cudaErrorInvalidValue},
        {7, 5, 0, cudaArrayLayered, cudaErrorInvalidValue},
        {7, 7, 5, cudaArrayCubemap, cudaErrorInvalidValue},
        {7, 6, 6, cudaArrayCubemap, cudaErrorInvalidValue},
        {7, 7, 12, cudaArrayCubemap, cudaErrorInvalidValue},
        {7, 5, 3, cudaArrayTextureGather, cudaErrorInvalidValue},
        {SIZE_MAX, SIZE_MAX, SIZE_MAX, 0, cudaErrorInvalidValue},
        {7, 5, 0, cudaArraySparse, cudaErrorNotSupported},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cudaExtent extent = {cases[i].width, cases[i].height, cases[i].depth}, told;
        struct cudaChannelFormatDesc format;
        unsigned flags;
        cudaArray_t array = (cudaArray_t)&flags;
        cudaError_t error = cudaMalloc3DArray(&array, &words, extent, cases[i].flags);
        cr_assert(error == cases[i].expected, "case %zu: %s", i, cudaGetErrorName(error));
        cr_assert((array != NULL) == (error == cudaSuccess));
        if (error != cudaSuccess) continue;
        ok(cudaArrayGetInfo(&format, &told, &flags, array));
        cr_expect(!memcmp(&told, &extent, sizeof told) && flags == cases[i].flags);
        cr_expect(!memcmp(&format, &words, sizeof format));
        ok(cudaFreeArray(array));
    }
}

Test(arrays, formats)
{
    static const struct cudaChannelFormatDesc good[] = {{8, 8, 0, 0, cudaChannelFormatKindSigned},
                                                        {16, 0, 0, 0, cudaChannelFormatKindFloat},
                                                        {32, 32, 32, 32,
                                                         cudaChannelFormatKindFloat}},
                                              bad[] = {{8, 0, 0, 0, cudaChannelFormatKindFloat},
                                                       {32, 32, 32, 0, cudaChannelFormatKindFloat},
                                                       {32, 0, 32, 0, cudaChannelFormatKindFloat},
                                                       {32, 16, 0, 0, cudaChannelFormatKindSigned},
                                                       {64, 0, 0, 0, cudaChannelFormatKindSigned},
                                                       {0, 0, 0, 0, cudaChannelFormatKindSigned},
                                                       {-8, 0, 0, 0, cudaChannelFormatKindSigned},
                                                       {32, 0, 0, 0, cudaChannelFormatKindNone}};
    struct cudaChannelFormatDesc told;
    cudaArray_t array;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ok(cudaMallocArray(&array, &good[i], 4, 4, 0));
        ok(cudaGetChannelDesc(&told, array));
        cr_expect(!memcmp(&told, &good[i], sizeof told));
        ok(cudaFreeArray(array));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        is(cudaMallocArray(&array, &bad[i], 4, 4, 0), cudaErrorInvalidChannelDescriptor);
    is(cudaMallocArray(NULL, &words, 4, 4, 0), cudaErrorInvalidValue);
    is(cudaMallocArray(&array, NULL, 4, 4, 0), cudaErrorInvalidValue);
    is(cudaMallocArray(&array, &words, 4, 4, cudaArrayLayered), cudaErrorInvalidValue);
    is(cudaMalloc3DArray(&array, &words, (struct cudaExtent){16384, 16384, 16384}, 0),
       cudaErrorMemoryAllocation);
}

Test(arrays, handles_that_are_none)
{
    cudaArray_t array = new_array(4, 4, 0, 0);
    struct cudaChannelFormatDesc format;
    uint32_t word = 0;
    ok(cudaFreeArray(NULL));
    ok(cudaFreeArray(array));
    is(cudaFreeArray(array), cudaErrorInvalidValue);
    is(cudaArrayGetInfo(&format, NULL, NULL, array), cudaErrorInvalidResourceHandle);
    is(cudaGetChannelDesc(&format, array), cudaErrorInvalidResourceHandle);
    is(cudaMemcpy2DToArray(array, 0, 0, &word, 4, 4, 1, cudaMemcpyHostToDevice),
       cudaErrorInvalidResourceHandle);
    is(cudaMemcpyToArray(array, 0, 0, &word, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    is(cudaMemcpy2DArrayToArray(NULL, 0, 0, NULL, 0, 0, 4, 1, cudaMemcpyDefault),
       cudaErrorInvalidResourceHandle);
    array = new_array(4, 4, 0, 0);
    ok(cudaDeviceReset());
    is(cudaFreeArray(array), cudaErrorInvalidValue);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* A copy of an array to the host, by cudaMemcpy3D. */
static void expect_array(cudaArray_t array, const uint32_t *model)
{
    uint32_t out[ELEMENTS];
    struct cudaMemcpy3DParms back = {
        .srcArray = array,
        .dstPtr = {out, WIDTH * sizeof *out, WIDTH * sizeof *out, HEIGHT},
        .extent = {WIDTH, HEIGHT, DEPTH},
        .kind = cudaMemcpyDeviceToHost};
    ok(cudaMemcpy3D(&back));
    cr_assert(!memcmp(out, model, sizeof out));
}

/* Extents and places in an array are in elements; those in memory in bytes. */
Test(arrays, copies_of_boxes)
{
    uint32_t in[ELEMENTS], model[ELEMENTS] = {0};
    cudaArray_t array = new_array(WIDTH, HEIGHT, DEPTH, 0), other = new_array(4, 4, 4, 0);
    for (uint32_t i = 0; i < ELEMENTS; i++) in[i] = i;
    struct cudaPitchedPtr host = {in, WIDTH * sizeof *in, WIDTH * sizeof *in, HEIGHT};
    struct cudaMemcpy3DParms whole = {.srcPtr = host,
                                      .dstArray = array,
                                      .extent = {WIDTH, HEIGHT, DEPTH},
                                      .kind = cudaMemcpyHostToDevice};
    ok(cudaMemcpy3DAsync(&whole, NULL));
    memcpy(model, in, sizeof model);
    expect_array(array, model);
    struct cudaMemcpy3DParms part = {.srcArray = array,
                                     .srcPos = {2, 1, 0},
                                     .dstArray = other,
                                     .dstPos = {1, 2, 1},
                                     .extent = {3, 2, 2},
                                     .kind = cudaMemcpyDeviceToDevice};
    ok(cudaMemcpy3D(&part));
    struct cudaMemcpy3DParms back = {.srcArray = other,
                                     .srcPos = {1, 2, 1},
                                     .dstArray = array,
                                     .dstPos = {4, 3, 1},
                                     .extent = {3, 2, 2},
                                     .kind = cudaMemcpyDefault};
    ok(cudaMemcpy3D(&back));
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 2; y++)
            for (int x = 0; x < 3; x++)
                model[((z + 1) * HEIGHT + y + 3) * WIDTH + x + 4] =
                    in[(z * HEIGHT + y + 1) * WIDTH + x + 2];
    expect_array(array, model);
    back.extent.width = 4;
    is(cudaMemcpy3D(&back), cudaErrorInvalidValue);
    part.dstPos.z = 3;
    is(cudaMemcpy3D(&part), cudaErrorInvalidValue);
    whole.srcPtr.ptr = NULL;
    is(cudaMemcpy3D(&whole), cudaErrorInvalidValue);
    whole.srcPtr.ptr = in;
    whole.dstPtr = host;
    is(cudaMemcpy3D(&whole), cudaErrorInvalidValue);
    ok(cudaFreeArray(array));
    ok(cudaFreeArray(other));
}

/* In two dimensions, widths and first bytes of rows are in bytes. */
Test(arrays, copies_of_rows_and_bytes)
{
    unsigned char in[64], out[64];
    cudaArray_t array = new_array(4, 3, 0, 0), other = new_array(4, 3, 0, 0);
    for (int i = 0; i < 64; i++) in[i] = (unsigned char)i;
    ok(cudaMemcpy2DToArray(array, 0, 0, in, 16, 16, 3, cudaMemcpyHostToDevice));
    ok(cudaMemcpy2DToArrayAsync(array, 4, 1, in + 48, 3, 3, 2, cudaMemcpyHostToDevice, NULL));
    ok(cudaMemcpy2DArrayToArray(other, 8, 0, array, 4, 1, 8, 2, cudaMemcpyDeviceToDevice));
    ok(cudaMemcpy2DFromArray(out, 8, other, 8, 0, 8, 2, cudaMemcpyDeviceToHost));
    static const unsigned char rows[] = {48, 49, 50, 23, 24, 25, 26, 27,
                                         51, 52, 53, 39, 40, 41, 42, 43};
    cr_expect(!memcmp(out, rows, sizeof rows));
    memset(out, 0, sizeof out);
    ok(cudaMemcpy2DFromArrayAsync(out, 8, other, 8, 1, 8, 1, cudaMemcpyDeviceToHost, NULL));
    cr_expect(!memcmp(out, rows + 8, 8));

    ok(cudaMemcpyToArray(array, 12, 0, in, 24, cudaMemcpyHostToDevice)); /* goes on in row 1 */
    ok(cudaMemcpyArrayToArray(other, 0, 1, array, 12, 0, 24, cudaMemcpyDeviceToDevice));
    ok(cudaMemcpyFromArray(out, other, 0, 1, 24, cudaMemcpyDeviceToHost));
    cr_expect(!memcmp(out, in, 24));
    is(cudaMemcpyToArray(array, 12, 2, in, 5, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    is(cudaMemcpyFromArray(out, array, 16, 0, 1, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    is(cudaMemcpy2DToArray(array, 4, 0, in, 16, 16, 1, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    ok(cudaMemcpy2DToArray(array, 1, 0, in, 16, 4, 1, cudaMemcpyHostToDevice)); /* no element */
    is(cudaMemcpy2DToArray(array, 0, 1, in, 16, 16, 3, cudaMemcpyHostToDevice),
       cudaErrorInvalidValue);
    is(cudaMemcpy2DToArray(array, 0, 0, in, 15, 16, 3, cudaMemcpyHostToDevice),
       cudaErrorInvalidPitchValue);
    is(cudaMemcpy2DToArray(array, 0, 0, in, 16, 16, 3, cudaMemcpyDeviceToHost),
       cudaErrorInvalidValue);
    ok(cudaFreeArray(array));
    ok(cudaFreeArray(other));
}

/* ---- objects --------------------------------------------------------------------------------- */

static struct cudaResourceDesc of_array(cudaArray_t array)
{
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray};
    r.res.array.array = array;
    return r;
}

static struct cudaResourceDesc of_memory(void *memory, size_t bytes)
{
    struct cudaResourceDesc r = {.resType = cudaResourceTypeLinear};
    r.res.linear.devPtr = memory;
    r.res.linear.desc = words;
    r.res.linear.sizeInBytes = bytes;
    return r;
}

static struct cudaResourceDesc of_rows(void *memory, size_t width, size_t height, size_t pitch)
{
    struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D};
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = words;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    return r;
}

static const struct cudaTextureDesc plain;

static void expect_texture(struct cudaResourceDesc r, const struct cudaTextureDesc *d,
                           cudaError_t expected, int line)
{
    cudaTextureObject_t texture = 0;
    struct cudaResourceDesc told;
    struct cudaTextureDesc description;
    cudaError_t error = cudaCreateTextureObject(&texture, &r, d, NULL);
    cr_assert(error == expected, "line %d: %s", line, cudaGetErrorName(error));
    cr_assert((texture != 0) == (error == cudaSuccess));
    if (error != cudaSuccess) return;
    ok(cudaGetTextureObjectResourceDesc(&told, texture));
    ok(cudaGetTextureObjectTextureDesc(&description, texture));
    cr_expect(!memcmp(&told, &r, sizeof told) && !memcmp(&description, d, sizeof description));
    is(cudaDestroySurfaceObject(texture), cudaErrorInvalidValue);
    ok(cudaDestroyTextureObject(texture));
    is(cudaDestroyTextureObject(texture), cudaErrorInvalidValue);
    is(cudaGetTextureObjectTextureDesc(&description, texture), cudaErrorInvalidValue);
}
#define TEXTURE(resource, description, expected)                                                   \
    expect_texture(resource, description, expected, __LINE__)

Test(textures_api, resources)
{
    char *memory;
    cudaArray_t array = new_array(4, 4, 0, 0);
    struct cudaResourceDesc other = {.resType = (enum cudaResourceType)9}, bad;
    ok(cudaMalloc((void **)&memory, 4096));
    TEXTURE(of_array(array), &plain, cudaSuccess);
    TEXTURE(of_array(NULL), &plain, cudaErrorInvalidResourceHandle);
    TEXTURE(of_array((cudaArray_t)memory), &plain, cudaErrorInvalidResourceHandle);
    TEXTURE(of_memory(memory, 4096), &plain, cudaSuccess);
    TEXTURE(of_memory(memory + 512, 3584), &plain, cudaSuccess);
    TEXTURE(of_memory(memory, 4097), &plain, cudaErrorInvalidValue);
    TEXTURE(of_memory(memory + 4, 16), &plain, cudaErrorInvalidValue);
    TEXTURE(of_memory(memory, 3), &plain, cudaErrorInvalidValue);
    TEXTURE(of_memory(NULL, 16), &plain, cudaErrorInvalidValue);
    TEXTURE(of_memory(&other, 16), &plain, cudaErrorInvalidValue);
    TEXTURE(of_rows(memory, 8, 128, 32), &plain, cudaSuccess);
    TEXTURE(of_rows(memory, 8, 129, 32), &plain, cudaErrorInvalidValue);
    TEXTURE(of_rows(memory, 9, 4, 32), &plain, cudaErrorInvalidValue);
    TEXTURE(of_rows(memory, 8, 4, 36), &plain, cudaErrorInvalidValue);
    TEXTURE(of_rows(memory, 0, 4, 32), &plain, cudaErrorInvalidValue);
    TEXTURE(other, &plain, cudaErrorInvalidValue);
    bad = of_memory(memory, 16);
    bad.res.linear.desc.y = 32;
    bad.res.linear.desc.z = 32;
    TEXTURE(bad, &plain, cudaErrorInvalidChannelDescriptor);
    other.resType = cudaResourceTypeMipmappedArray;
    TEXTURE(other, &plain, cudaErrorNotSupported);
    ok(cudaFree(memory));
    TEXTURE(of_memory(memory, 16), &plain, cudaErrorInvalidValue);
    ok(cudaFreeArray(array));
    TEXTURE(of_array(array), &plain, cudaErrorInvalidResourceHandle);
}

Test(textures_api, descriptions)
{
    cudaTextureObject_t texture;
    cudaArray_t array = new_array(4, 4, 0, 0), bytes, floats;
    struct cudaChannelFormatDesc byte = {8, 0, 0, 0, cudaChannelFormatKindUnsigned},
                                 real = {32, 0, 0, 0, cudaChannelFormatKindFloat};
    ok(cudaMallocArray(&bytes, &byte, 4, 4, 0));
    ok(cudaMallocArray(&floats, &real, 4, 4, 0));
    const struct cudaTextureDesc linear = {.filterMode = cudaFilterModeLinear},
                                 fractions = {.readMode = cudaReadModeNormalizedFloat},
                                 both = {.filterMode = cudaFilterModeLinear,
                                         .readMode = cudaReadModeNormalizedFloat},
                                 filter = {.filterMode = (enum cudaTextureFilterMode)2},
                                 read = {.readMode = (enum cudaTextureReadMode) - 1},
                                 address = {.addressMode = {0, (enum cudaTextureAddressMode)4}},
                                 border = {.addressMode = {cudaAddressModeBorder},
                                           .borderColor = {1}},
                                 srgb = {.sRGB = 1}, seamless = {.seamlessCubemap = 1};
    TEXTURE(of_array(array), &linear, cudaErrorInvalidFilterSetting);
    TEXTURE(of_array(bytes), &linear, cudaErrorInvalidFilterSetting);
    TEXTURE(of_array(floats), &linear, cudaSuccess);
    TEXTURE(of_array(array), &fractions, cudaErrorInvalidNormSetting);
    TEXTURE(of_array(bytes), &both, cudaSuccess);
    TEXTURE(of_array(floats), &both, cudaErrorInvalidNormSetting);
    TEXTURE(of_array(floats), &filter, cudaErrorInvalidValue);
    TEXTURE(of_array(floats), &read, cudaErrorInvalidValue);
    TEXTURE(of_array(floats), &address, cudaErrorInvalidValue);
    TEXTURE(of_array(floats), &border, cudaSuccess);
    TEXTURE(of_array(array), &border, cudaErrorNotSupported);
    TEXTURE(of_array(bytes), &srgb, cudaErrorNotSupported);
    TEXTURE(of_array(floats), &seamless, cudaErrorNotSupported);
    struct cudaResourceDesc r = of_array(array);
    struct cudaResourceViewDesc view = {0};
    is(cudaCreateTextureObject(NULL, &r, &plain, NULL), cudaErrorInvalidValue);
    is(cudaCreateTextureObject(&texture, NULL, &plain, NULL), cudaErrorInvalidValue);
    is(cudaCreateTextureObject(&texture, &r, NULL, NULL), cudaErrorInvalidValue);
    is(cudaCreateTextureObject(&texture, &r, &plain, &view), cudaErrorNotSupported);
    ok(cudaDestroyTextureObject(0));
    is(cudaGetTextureObjectResourceViewDesc(&view, 0), cudaErrorInvalidValue);
    size_t most = given(size_t, cudaDeviceGetTexture1DLinearMaxWidth, &words, 0);
    cr_expect(most == 1 << 28);
    is(cudaDeviceGetTexture1DLinearMaxWidth(&most, &words, 1), cudaErrorInvalidDevice);
}

Test(textures_api, surfaces_and_a_reset)
{
    cudaSurfaceObject_t surface, again;
    struct cudaResourceDesc told, r = of_array(new_array(4, 4, 0, cudaArraySurfaceLoadStore)),
                                  no_surface = of_array(new_array(4, 4, 0, 0)),
                                  linear = of_memory(device_memory(64), 64), none = of_array(NULL);
    ok(cudaCreateSurfaceObject(&surface, &r));
    ok(cudaGetSurfaceObjectResourceDesc(&told, surface));
    cr_expect(told.res.array.array == r.res.array.array);
    is(cudaGetTextureObjectResourceDesc(&told, surface), cudaErrorInvalidValue);
    is(cudaCreateSurfaceObject(&again, &no_surface), cudaErrorInvalidValue);
    is(cudaCreateSurfaceObject(&again, &linear), cudaErrorInvalidValue);
    is(cudaCreateSurfaceObject(&again, &none), cudaErrorInvalidResourceHandle);
    is(cudaCreateSurfaceObject(NULL, &r), cudaErrorInvalidValue);
    ok(cudaDeviceReset());
    is(cudaDestroySurfaceObject(surface), cudaErrorInvalidValue);
    is(cudaCreateSurfaceObject(&again, &r), cudaErrorInvalidResourceHandle);
}

/* Copies of arrays as nodes of a graph. */
Test(textures_api, graphs)
{
    uint32_t in[4] = {1, 2, 3, 4}, out[4] = {0};
    cudaArray_t array = new_array(4, 0, 0, 0);
    cudaGraphNode_t first, second;
    struct cudaMemcpy3DParms to = {.srcPtr = {in, 16, 16, 1},
                                   .dstArray = array,
                                   .extent = {4, 1, 1},
                                   .kind = cudaMemcpyHostToDevice},
                             from = {.srcArray = array,
                                     .dstPtr = {out, 16, 16, 1},
                                     .extent = {4, 1, 1},
                                     .kind = cudaMemcpyDeviceToHost},
                             told;
    cudaGraph_t graph = given(cudaGraph_t, cudaGraphCreate, 0);
    ok(cudaGraphAddMemcpyNode(&first, graph, NULL, 0, &to));
    ok(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &from));
    ok(cudaGraphMemcpyNodeGetParams(second, &told));
    cr_expect(told.srcArray == array);
    cudaGraphExec_t executable = given(cudaGraphExec_t, cudaGraphInstantiate, graph, 0);
    ok(cudaGraphLaunch(executable, NULL));
    ok(cudaDeviceSynchronize());
    cr_expect(!memcmp(in, out, sizeof in));
}

/* A device's arrays are copied from and to, but are not textures of another device. */
Test(textures_api, two_devices)
{
    setenv("EMU_DEVICES", "2", 1);
    uint32_t in[4] = {1, 2, 3, 4}, out[4] = {0};
    cudaArray_t first = new_array(4, 0, 0, 0);
    ok(cudaMemcpyToArray(first, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    ok(cudaSetDevice(1));
    cudaArray_t second = new_array(4, 0, 0, 0);
    struct cudaMemcpy3DPeerParms copy = {
        .srcArray = first, .srcDevice = 0, .dstArray = second, .dstDevice = 1, .extent = {4, 1, 1}};
    ok(cudaMemcpy3DPeer(&copy));
    copy.srcDevice = 1;
    is(cudaMemcpy3DPeer(&copy), cudaErrorInvalidValue);
    ok(cudaMemcpyFromArray(out, second, 0, 0, sizeof out, cudaMemcpyDeviceToHost));
    cr_expect(!memcmp(in, out, sizeof in));
    TEXTURE(of_array(second), &plain, cudaSuccess);
    TEXTURE(of_array(first), &plain, cudaErrorInvalidResourceHandle);
    ok(cudaDeviceReset()); /* of device 1 only */
    is(cudaFreeArray(second), cudaErrorInvalidValue);
    ok(cudaFreeArray(first));
}
