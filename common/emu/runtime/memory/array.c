/*
 * array.c — allocating CUDA arrays.
 */
#include "array.h"
#include "common/emu/runtime/allocations.h"
#include "common/emu/runtime/stream/capture.h"
#include "common/emu/runtime/stream/order.h"

#include <stdlib.h>

static struct address_table arrays;                       /* of struct cudaArray, owned */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects the table */

const struct cudaArray *cudart_array(cudaArray_const_t handle)
{
    pthread_mutex_lock(&mutex);
    const struct cudaArray *array = address_table_find(&arrays, (uint64_t)handle);
    pthread_mutex_unlock(&mutex);
    return array;
}

static size_t at_least_one(size_t size) { return size > 0 ? size : 1; }

struct cudaExtent cudart_array_size(const struct cudaArray *array)
{
    return (struct cudaExtent){array->extent.width, at_least_one(array->extent.height),
                               at_least_one(array->extent.depth)};
}

/* ---- what is allowed ------------------------------------------------------------------------- */

struct cudaExtent cudart_largest_array(enum emu_texture_shape shape, bool is_surface)
{
    static const struct cudaExtent sizes[EMU_TEXTURE_SHAPES] = {
        [EMU_TEXTURE_1D] = {131072, 1, 1},
        [EMU_TEXTURE_2D] = {131072, 65536, 1},
        [EMU_TEXTURE_3D] = {16384, 16384, 16384},
        [EMU_TEXTURE_1D_LAYERED] = {32768, 1, 2048},
        [EMU_TEXTURE_2D_LAYERED] = {32768, 32768, 2048},
        [EMU_TEXTURE_CUBE] = {32768, 32768, 6},
        [EMU_TEXTURE_CUBE_LAYERED] = {32768, 32768, 2046},
    };
    struct cudaExtent size = sizes[shape];
    if (is_surface && shape == EMU_TEXTURE_1D) size.width = 32768;
    return size;
}

cudaError_t cudart_take_format(const struct cudaChannelFormatDesc *f, struct emu_texture *t)
{
    static const enum emu_channel channels[] = {
        [cudaChannelFormatKindSigned] = EMU_CHANNEL_SIGNED,
        [cudaChannelFormatKindUnsigned] = EMU_CHANNEL_UNSIGNED,
        [cudaChannelFormatKindFloat] = EMU_CHANNEL_FLOAT,
    };
    const int bits[] = {f->x, f->y, f->z, f->w};
    if (f->f > cudaChannelFormatKindNone)
        return cudart_not_supported("a channel format other than signed, unsigned and float",
                                    "its elements are compressed or of a video; store them as "
                                    "integers or floats");
    if (f->f == cudaChannelFormatKindNone || (int)f->f < 0)
        return cudaErrorInvalidChannelDescriptor;
    t->channel = channels[f->f];
    t->channels = 0;
    while (t->channels < 4 && bits[t->channels] != 0) t->channels++;
    for (unsigned k = 0; k < 4; k++)
        if (bits[k] != (k < t->channels ? f->x : 0)) return cudaErrorInvalidChannelDescriptor;
    bool is_size = f->x == 32 || f->x == 16 || (f->x == 8 && t->channel != EMU_CHANNEL_FLOAT);
    if (!is_size || t->channels == 3) return cudaErrorInvalidChannelDescriptor;
    t->channel_bytes = (unsigned)f->x / 8;
    return cudaSuccess;
}

/* The shape that an extent and flags ask for. False: there is none. */
static bool shape_of(const struct cudaExtent *e, unsigned flags, enum emu_texture_shape *shape)
{
    enum { FACES = 6 };
    bool is_layered = flags & cudaArrayLayered;
    if (flags & cudaArrayCubemap) {
        *shape = is_layered ? EMU_TEXTURE_CUBE_LAYERED : EMU_TEXTURE_CUBE;
        return e->width == e->height && e->depth > 0 && e->depth % FACES == 0 &&
               (is_layered || e->depth == FACES);
    }
    if (is_layered) {
        *shape = e->height > 0 ? EMU_TEXTURE_2D_LAYERED : EMU_TEXTURE_1D_LAYERED;
        return e->depth > 0;
    }
    *shape = e->depth > 0 ? EMU_TEXTURE_3D : e->height > 0 ? EMU_TEXTURE_2D : EMU_TEXTURE_1D;
    return e->depth == 0 || e->height > 0;
}

static cudaError_t check_array(struct cudaArray *array)
{
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    const struct cudaExtent *e = &array->extent;
    bool is_surface = array->flags & cudaArraySurfaceLoadStore;
    if (array->flags & ~known)
        return cudart_not_supported("an array that is sparse, mapped later or drawn into",
                                    "allocate it with cudaArrayDefault instead");
    if (e->width == 0 || !shape_of(e, array->flags, &array->shape)) return cudaErrorInvalidValue;
    if (array->flags & cudaArrayTextureGather && array->shape != EMU_TEXTURE_2D)
        return cudaErrorInvalidValue;
    struct cudaExtent most = cudart_largest_array(array->shape, is_surface);
    struct cudaExtent size = cudart_array_size(array);
    return size.width <= most.width && size.height <= most.height && size.depth <= most.depth
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

/* ---- allocating ------------------------------------------------------------------------------ */

/* Fills in the rest of an array and keeps it. */
static cudaError_t allocate(struct cudaArray *array)
{
    struct emu_texture format = {0};
    cudaError_t error = cudart_take_format(&array->format, &format);
    if (error == cudaSuccess) error = check_array(array);
    if (error != cudaSuccess) return error;
    struct cudaExtent size = cudart_array_size(array);
    array->element = (size_t)format.channels * format.channel_bytes;
    array->row = size.width * array->element;
    array->slice = size.height * array->row;
    array->device = cudart_device()->number;
    error = cudart_allocate(&array->memory, size.depth * array->slice, NULL);
    if (error != cudaSuccess) return error;
    pthread_mutex_lock(&mutex);
    bool added = address_table_set(&arrays, (uint64_t)array, array);
    pthread_mutex_unlock(&mutex);
    if (!added) cudart_forget(array->memory, 1u << DEVICE);
    return added ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t CUDARTAPI cudaMalloc3DArray(cudaArray_t *handle,
                                        const struct cudaChannelFormatDesc *format,
                                        struct cudaExtent extent, unsigned flags)
{
    RETURN_IF_UNSAFE();
    if (handle == NULL || format == NULL) return cudart_done(cudaErrorInvalidValue);
    struct cudaArray *array = malloc(sizeof *array);
    if (array == NULL) return cudart_done(cudaErrorMemoryAllocation);
    *array = (struct cudaArray){.format = *format, .extent = extent, .flags = flags};
    cudaError_t error = allocate(array);
    *handle = error == cudaSuccess ? array : NULL;
    if (error != cudaSuccess) free(array);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaMallocArray(cudaArray_t *handle,
                                      const struct cudaChannelFormatDesc *format, size_t width,
                                      size_t height, unsigned flags)
{
    if (flags & (cudaArrayLayered | cudaArrayCubemap)) return cudart_done(cudaErrorInvalidValue);
    return cudaMalloc3DArray(handle, format, (struct cudaExtent){width, height, 0}, flags);
}

cudaError_t CUDARTAPI cudaFreeArray(cudaArray_t handle)
{
    RETURN_IF_UNSAFE();
    if (handle == NULL) return cudaSuccess;
    pthread_mutex_lock(&mutex);
    struct cudaArray *array = address_table_find(&arrays, (uint64_t)handle);
    address_table_remove(&arrays, (uint64_t)handle);
    pthread_mutex_unlock(&mutex);
    if (array == NULL) return cudart_done_free(cudaErrorInvalidValue, handle);
    cudart_order_free_now(array->memory);
    int error = cudart_forget(array->memory, 1u << DEVICE);
    free(array);
    return cudart_done(error);
}

void cudart_drop_arrays(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < arrays.size;) {
        struct cudaArray *array = arrays.entries[i].kept;
        if (array == NULL || array->device != device) {
            i++;
            continue;
        }
        address_table_remove(&arrays, (uint64_t)array); /* another entry may move to i */
        free(array);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- queries --------------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaArrayGetInfo(struct cudaChannelFormatDesc *format,
                                       struct cudaExtent *extent, unsigned *flags,
                                       cudaArray_t handle)
{
    RETURN_IF_FAULTY();
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL) return cudart_done(cudaErrorInvalidResourceHandle);
    if (format != NULL) *format = array->format;
    if (extent != NULL) *extent = array->extent;
    if (flags != NULL) *flags = array->flags;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetChannelDesc(struct cudaChannelFormatDesc *format,
                                         cudaArray_const_t handle)
{
    RETURN_IF_FAULTY();
    const struct cudaArray *array = cudart_array(handle);
    if (format == NULL || array == NULL) return cudart_done(cudaErrorInvalidValue);
    *format = array->format;
    return cudaSuccess;
}

/* Describing a texture's elements needs no device. */
struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
