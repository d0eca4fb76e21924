/*
 * array.c — allocating CUDA arrays.
 */
#include "allocations.h"
#include "arrays.h"
#include "capture.h"
#include "order.h"

#include <stdlib.h>

/* The shape that an extent and flags ask for. False: no array has it. */
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

/* Does an array of this shape have at most the sizes that the device's properties tell? */
static bool is_small_enough(const struct cudaArray *array)
{
    struct cudaDeviceProp p;
    struct cudaExtent size = cudart_array_size(array);
    if (cudaGetDeviceProperties(&p, cudart_device()->number) != cudaSuccess) return false;
    bool is_surface = array->flags & cudaArraySurfaceLoadStore;
    const int most[EMU_TEXTURE_SHAPES][3] = {
        [EMU_TEXTURE_1D] = {is_surface ? p.maxSurface1D : p.maxTexture1D, 1, 1},
        [EMU_TEXTURE_2D] = {p.maxTexture2D[0], p.maxTexture2D[1], 1},
        [EMU_TEXTURE_3D] = {p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]},
        [EMU_TEXTURE_1D_LAYERED] = {p.maxTexture1DLayered[0], 1, p.maxTexture1DLayered[1]},
        [EMU_TEXTURE_2D_LAYERED] = {p.maxTexture2DLayered[0], p.maxTexture2DLayered[1],
                                    p.maxTexture2DLayered[2]},
        [EMU_TEXTURE_CUBE] = {p.maxTextureCubemap, p.maxTextureCubemap, 6},
        [EMU_TEXTURE_CUBE_LAYERED] = {p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[0],
                                      p.maxTextureCubemapLayered[1]},
    };
    const int *of_shape = most[array->shape];
    return size.width <= (size_t)of_shape[0] && size.height <= (size_t)of_shape[1] &&
           size.depth <= (size_t)of_shape[2];
}

static cudaError_t check_array(struct cudaArray *array)
{
    const unsigned known =
        cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap | cudaArrayTextureGather;
    const unsigned refused = cudaArraySparse | cudaArrayDeferredMapping | 0x100; /* for video */
    const struct cudaExtent *e = &array->extent;
    if (array->flags & ~(known | refused)) return cudaErrorInvalidValue;
    if (array->flags & refused)
        return cudart_not_supported("an array that is sparse, mapped later or for video",
                                    "allocate it with cudaArrayDefault instead");
    if (e->width == 0 || !shape_of(e, array->flags, &array->shape)) return cudaErrorInvalidValue;
    if (array->flags & cudaArrayTextureGather && array->shape != EMU_TEXTURE_2D)
        return cudaErrorInvalidValue;
    return is_small_enough(array) ? cudaSuccess : cudaErrorInvalidValue;
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
    if (cudart_add_array(array)) return cudaSuccess;
    cudart_forget(array->memory, 1u << DEVICE);
    return cudaErrorMemoryAllocation;
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
    if (!cudart_take_array(handle)) return cudart_done_free(cudaErrorInvalidValue, handle);
    cudart_order_free_now(handle->memory);
    int error = cudart_forget(handle->memory, 1u << DEVICE);
    free(handle);
    return cudart_done(error);
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
    if (format == NULL) return cudart_done(cudaErrorInvalidValue);
    if (array == NULL) return cudart_done(cudaErrorInvalidResourceHandle);
    *format = array->format;
    return cudaSuccess;
}

/* Describing a texture's elements needs no device. */
struct cudaChannelFormatDesc CUDARTAPI cudaCreateChannelDesc(int x, int y, int z, int w,
                                                             enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
