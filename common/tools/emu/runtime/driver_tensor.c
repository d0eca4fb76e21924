/* driver_tensor.c — tensor maps, which bulk copies of tensors read (machine/async.h). The
 * checks are those that cuda.h lists for cuTensorMapEncodeTiled, but strides may be so small that
 * rows overlap. */
#include "driver.h"
#include "common/tools/emu/machine/async.h"

#include <inttypes.h>
#include <stdarg.h>

_Static_assert(sizeof(CUtensorMap) == TENSOR_MAP_BYTES, "a map fills a CUtensorMap");

enum {
    UNIT = 16, /* bytes that addresses, strides and rows of a box are multiples of */
    LARGEST_BOX = 256,
    LARGEST_STEP = 8,
    FIRST_MAJOR = 9 /* the first compute capability with tensor maps */
};
#define LARGEST_SIZE (UINT64_C(1) << 32)
#define STRIDE_END   (UINT64_C(1) << 40)

/* The arguments of cuTensorMapEncodeTiled, in their order. */
struct request {
    CUtensorMap *map;
    CUtensorMapDataType type;
    cuuint32_t rank;
    void *address;
    const cuuint64_t *size, *stride;
    const cuuint32_t *box, *step;
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

/* Prints what is wrong. Returns CUDA_ERROR_INVALID_VALUE. */
__attribute__((format(printf, 1, 2))) static int wrong(const char *format, ...)
{
    char text[300] = "a tensor map: ";
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    cudart_print(text);
    return CUDA_ERROR_INVALID_VALUE;
}

/* The type of the elements; PTX_NONE: it is not supported. */
static enum ptx_type type_of(CUtensorMapDataType type)
{
    static const enum ptx_type types[] = {
        [CU_TENSOR_MAP_DATA_TYPE_UINT8] = PTX_U8,    [CU_TENSOR_MAP_DATA_TYPE_UINT16] = PTX_U16,
        [CU_TENSOR_MAP_DATA_TYPE_UINT32] = PTX_U32,  [CU_TENSOR_MAP_DATA_TYPE_INT32] = PTX_S32,
        [CU_TENSOR_MAP_DATA_TYPE_UINT64] = PTX_U64,  [CU_TENSOR_MAP_DATA_TYPE_INT64] = PTX_S64,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT16] = PTX_F16, [CU_TENSOR_MAP_DATA_TYPE_FLOAT32] = PTX_F32,
        [CU_TENSOR_MAP_DATA_TYPE_FLOAT64] = PTX_F64, [CU_TENSOR_MAP_DATA_TYPE_BFLOAT16] = PTX_BF16};
    return type < sizeof types / sizeof *types ? types[type] : PTX_NONE;
}

/* ---- checks: CUDA_SUCCESS, or an error ------------------------------------------------------- */

/* Values that no enumeration of cuda.h has, then those that the emulator does not support. */
static int check_kinds(const struct request *r)
{
    if (r->type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
        return wrong("there is no data type %d", (int)r->type);
    if (r->interleave > CU_TENSOR_MAP_INTERLEAVE_32B)
        return wrong("there is no interleave %d", (int)r->interleave);
    if (r->swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B)
        return wrong("there is no swizzle %d", (int)r->swizzle);
    if (r->promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B)
        return wrong("there is no L2 promotion %d", (int)r->promotion);
    if (r->fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)
        return wrong("there is no fill %d", (int)r->fill);
    if (type_of(r->type) == PTX_NONE)
        return cudart_not_supported(
            "a tensor map of packed, .tf32 or flushed elements",
            "use the type of the elements in memory instead, such as FLOAT32");
    if (r->interleave != CU_TENSOR_MAP_INTERLEAVE_NONE)
        return cudart_not_supported("a tensor map with an interleaved layout",
                                    "use CU_TENSOR_MAP_INTERLEAVE_NONE instead");
    if (r->swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
        return cudart_not_supported("a tensor map with a swizzle of atoms other than 16 bytes",
                                    "use CU_TENSOR_MAP_SWIZZLE_128B instead");
    if (r->fill && !ptx_type_is_float(type_of(r->type)))
        return wrong("integers cannot be filled with NaN");
    return CUDA_SUCCESS;
}

static int check_pointers(const struct request *r)
{
    if (r->rank < 1 || r->rank > TENSOR_RANKS)
        return wrong("its rank is %u; it can be 1 to %d", r->rank, TENSOR_RANKS);
    if (r->size == NULL || r->box == NULL || r->step == NULL || (r->stride == NULL && r->rank > 1))
        return wrong("globalDim, globalStrides, boxDim or elementStrides is NULL");
    if ((uintptr_t)r->address % UNIT != 0)
        return wrong("globalAddress %p is not a multiple of %d", r->address, UNIT);
    return CUDA_SUCCESS;
}

static int check_dimension(const struct request *r, unsigned d)
{
    if (r->size[d] < 1 || r->size[d] > LARGEST_SIZE)
        return wrong("globalDim[%u] is %" PRIu64 "; it can be 1 to 2^32", d, r->size[d]);
    if (d > 0 && (r->stride[d - 1] % UNIT != 0 || r->stride[d - 1] >= STRIDE_END))
        return wrong("globalStrides[%u] is %" PRIu64 "; it can be a multiple of %d below 2^40",
                     d - 1, r->stride[d - 1], UNIT);
    if (r->box[d] < 1 || r->box[d] > LARGEST_BOX)
        return wrong("boxDim[%u] is %u; it can be 1 to %d", d, r->box[d], LARGEST_BOX);
    if (d > 0 && (r->step[d] < 1 || r->step[d] > LARGEST_STEP)) /* step[0] is ignored */
        return wrong("elementStrides[%u] is %u; it can be 1 to %d", d, r->step[d], LARGEST_STEP);
    return CUDA_SUCCESS;
}

static int check_row(const struct request *r)
{
    unsigned bytes = r->box[0] * (unsigned)ptx_type_size(type_of(r->type));
    unsigned most = (unsigned)UNIT << r->swizzle;
    if (bytes % UNIT != 0)
        return wrong("boxDim[0] makes rows of %u bytes, which is not a multiple of %d", bytes,
                     UNIT);
    if (r->swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && bytes > most)
        return wrong("boxDim[0] makes rows of %u bytes, and the swizzle is for up to %u", bytes,
                     most);
    return CUDA_SUCCESS;
}

static int check(const struct request *r)
{
    int error = check_kinds(r);
    if (error == CUDA_SUCCESS) error = check_pointers(r);
    for (unsigned d = 0; error == CUDA_SUCCESS && d < r->rank; d++) error = check_dimension(r, d);
    return error != CUDA_SUCCESS ? error : check_row(r);
}

/* ---- encoding -------------------------------------------------------------------------------- */

static int check_map(const CUtensorMap *map)
{
    int major = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, cudart_device()->number);
    if (major < FIRST_MAJOR)
        return cudart_not_supported("a tensor map for a GPU below compute capability 9.0",
                                    "emulate an H200 (EMU_GPU=h200) instead");
    if (map == NULL || (uintptr_t)map % TENSOR_MAP_ALIGNMENT != 0)
        return wrong("its own address %p is not a multiple of %d", (const void *)map,
                     TENSOR_MAP_ALIGNMENT);
    return CUDA_SUCCESS;
}

static int encode(const struct request *r)
{
    int error = check_map(r->map);
    if (error == CUDA_SUCCESS) error = check(r);
    if (error != CUDA_SUCCESS) return error;
    struct tensor_map map = {.address = (uintptr_t)r->address,
                             .rank = (uint8_t)r->rank,
                             .type = (uint8_t)type_of(r->type),
                             .swizzle = (uint8_t)r->swizzle,
                             .fills_nan = r->fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE};
    for (unsigned d = 0; d < r->rank; d++) {
        map.size[d] = r->size[d];
        map.box[d] = (uint16_t)r->box[d];
        map.step[d] = d > 0 ? (uint8_t)r->step[d] : 1;
        if (d > 0) map.stride[d - 1] = r->stride[d - 1];
    }
    map.seal = tensor_map_seal(&map);
    memcpy(r->map, &map, sizeof map);
    return CUDA_SUCCESS;
}

static int replace_address(CUtensorMap *opaque, void *address)
{
    struct tensor_map map;
    int error = check_map(opaque);
    if (error != CUDA_SUCCESS) return error;
    memcpy(&map, opaque, sizeof map);
    if (map.seal != tensor_map_seal(&map) || (uintptr_t)address % UNIT != 0)
        return wrong("cuTensorMapReplaceAddress needs a map that was encoded, and an address that "
                     "is a multiple of %d",
                     UNIT);
    map.address = (uintptr_t)address;
    map.seal = tensor_map_seal(&map);
    memcpy(opaque, &map, sizeof map);
    return CUDA_SUCCESS;
}

DRIVER(cuTensorMapEncodeTiled,
       (CUtensorMap * map, CUtensorMapDataType type, cuuint32_t rank, void *address,
        const cuuint64_t *size, const cuuint64_t *stride, const cuuint32_t *box,
        const cuuint32_t *step, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
        CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
       encode(&(struct request){map, type, rank, address, size, stride, box, step, interleave,
                                swizzle, promotion, fill}))
DRIVER(cuTensorMapReplaceAddress, (CUtensorMap * map, void *address), replace_address(map, address))
