/*
 * array_copy.c — copies from and to arrays. They are carried out as copies of rows in memory.
 */
#include "arrays.h"
#include "work.h"

/* ---- three-dimensional copies ---------------------------------------------------------------- */

static bool is_inside(size_t from, size_t count, size_t size)
{
    return from <= size && count <= size - from;
}

/* The memory of an array. */
static struct cudaPitchedPtr memory_of(const struct cudaArray *array)
{
    size_t height = cudart_array_size(array).height;
    return (struct cudaPitchedPtr){array->memory, array->row, array->row, height};
}

/* Turns a side that is an array into memory, if the copy is inside of it. *element becomes the
 * bytes of its element. */
static cudaError_t flatten(cudaArray_t handle, struct cudaPitchedPtr *memory, struct cudaPos *at,
                           const struct cudaExtent *extent, size_t *element)
{
    if (handle == NULL) return cudaSuccess;
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL || memory->ptr != NULL) return cudaErrorInvalidValue;
    struct cudaExtent size = cudart_array_size(array);
    if (!is_inside(at->x, extent->width, size.width) ||
        !is_inside(at->y, extent->height, size.height) ||
        !is_inside(at->z, extent->depth, size.depth) ||
        (*element != 0 && *element != array->element))
        return cudaErrorInvalidValue;
    *memory = memory_of(array);
    *element = array->element;
    at->x *= array->element;
    return cudaSuccess;
}

cudaError_t cudart_flatten_copy(const struct cudaMemcpy3DParms *p, struct cudaMemcpy3DParms *flat)
{
    size_t element = 0;
    *flat = *p;
    cudaError_t error = flatten(p->srcArray, &flat->srcPtr, &flat->srcPos, &p->extent, &element);
    if (error == cudaSuccess)
        error = flatten(p->dstArray, &flat->dstPtr, &flat->dstPos, &p->extent, &element);
    if (error != cudaSuccess) return error;
    flat->srcArray = flat->dstArray = NULL;
    if (element != 0) flat->extent.width *= element;
    return cudaSuccess;
}

/* ---- two-dimensional copies ------------------------------------------------------------------ */

/* One side of a copy of rows: an array, from a byte of a row on at which an element begins, or
 * memory. */
struct rows {
    bool is_array;
    cudaArray_const_t array;
    size_t x, y;
    void *memory;
    size_t pitch;
};

static cudaError_t take_rows(const struct rows *rows, size_t width, size_t height,
                             struct cudaPitchedPtr *memory, struct cudaPos *at)
{
    *memory = (struct cudaPitchedPtr){rows->memory, rows->pitch, width, height};
    if (!rows->is_array) return rows->memory != NULL ? cudaSuccess : cudaErrorInvalidValue;
    const struct cudaArray *array = cudart_array(rows->array);
    if (array == NULL) return cudaErrorInvalidResourceHandle;
    if (array->extent.depth > 0 || !is_inside(rows->x, width, array->row) ||
        !is_inside(rows->y, height, cudart_array_size(array).height))
        return cudaErrorInvalidValue;
    *memory = memory_of(array);
    *at = (struct cudaPos){rows->x, rows->y, 0};
    return cudaSuccess;
}

static cudaError_t copy_of_rows(const struct rows *to, const struct rows *from, size_t width,
                                size_t height, enum cudaMemcpyKind kind,
                                struct cudaMemcpy3DParms *copy)
{
    *copy = (struct cudaMemcpy3DParms){.extent = {width, height, 1}, .kind = kind};
    if ((!to->is_array && width > to->pitch) || (!from->is_array && width > from->pitch))
        return cudaErrorInvalidPitchValue;
    cudaError_t error = take_rows(to, width, height, &copy->dstPtr, &copy->dstPos);
    return error != cudaSuccess ? error
                                : take_rows(from, width, height, &copy->srcPtr, &copy->srcPos);
}

static cudaError_t copy_rows(struct rows to, struct rows from, size_t width, size_t height,
                             enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = copy_of_rows(&to, &from, width, height, kind, &copy);
    return error != cudaSuccess ? cudart_done(error) : cudart_copy_now(&copy);
}

static cudaError_t submit_rows(struct rows to, struct rows from, size_t width, size_t height,
                               enum cudaMemcpyKind kind, cudaStream_t stream)
{
    struct cudaMemcpy3DParms copy;
    cudaError_t error = copy_of_rows(&to, &from, width, height, kind, &copy);
    return error != cudaSuccess ? cudart_done(error) : cudart_submit_copy(&copy, stream);
}

#define ARRAY(from, x, y)        ((struct rows){true, .array = from, x, y})
#define MEMORY(first, row_bytes) ((struct rows){.memory = (void *)(first), .pitch = row_bytes})

cudaError_t CUDARTAPI cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                          size_t pitch, size_t width, size_t height,
                                          enum cudaMemcpyKind kind)
{
    return copy_rows(ARRAY(to, x, y), MEMORY(from, pitch), width, height, kind);
}

cudaError_t CUDARTAPI cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                               size_t pitch, size_t width, size_t height,
                                               enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return submit_rows(ARRAY(to, x, y), MEMORY(from, pitch), width, height, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArray(void *to, size_t pitch, cudaArray_const_t from,
                                            size_t x, size_t y, size_t width, size_t height,
                                            enum cudaMemcpyKind kind)
{
    return copy_rows(MEMORY(to, pitch), ARRAY(from, x, y), width, height, kind);
}

cudaError_t CUDARTAPI cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, cudaArray_const_t from,
                                                 size_t x, size_t y, size_t width, size_t height,
                                                 enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return submit_rows(MEMORY(to, pitch), ARRAY(from, x, y), width, height, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpy2DArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                               cudaArray_const_t from, size_t from_x, size_t from_y,
                                               size_t width, size_t height,
                                               enum cudaMemcpyKind kind)
{
    return copy_rows(ARRAY(to, to_x, to_y), ARRAY(from, from_x, from_y), width, height, kind);
}

/* ---- copies of bytes, which go on in the next row -------------------------------------------- */

/* The headers call these functions deprecated. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* The memory of `count` bytes of an array. NULL: they are not inside of it. */
static void *bytes_of(cudaArray_const_t handle, size_t x, size_t y, size_t count)
{
    const struct cudaArray *array = cudart_array(handle);
    if (array == NULL || array->extent.depth > 0 || x >= array->row ||
        y >= cudart_array_size(array).height || !is_inside(y * array->row + x, count, array->slice))
        return NULL;
    return (char *)array->memory + y * array->row + x;
}

cudaError_t CUDARTAPI cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y, const void *from,
                                        size_t count, enum cudaMemcpyKind kind)
{
    return cudaMemcpy(bytes_of(to, x, y, count), from, count, kind);
}

cudaError_t CUDARTAPI cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y, const void *from,
                                             size_t count, enum cudaMemcpyKind kind,
                                             cudaStream_t stream)
{
    return cudaMemcpyAsync(bytes_of(to, x, y, count), from, count, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpyFromArray(void *to, cudaArray_const_t from, size_t x, size_t y,
                                          size_t count, enum cudaMemcpyKind kind)
{
    return cudaMemcpy(to, bytes_of(from, x, y, count), count, kind);
}

cudaError_t CUDARTAPI cudaMemcpyFromArrayAsync(void *to, cudaArray_const_t from, size_t x, size_t y,
                                               size_t count, enum cudaMemcpyKind kind,
                                               cudaStream_t stream)
{
    return cudaMemcpyAsync(to, bytes_of(from, x, y, count), count, kind, stream);
}

cudaError_t CUDARTAPI cudaMemcpyArrayToArray(cudaArray_t to, size_t to_x, size_t to_y,
                                             cudaArray_const_t from, size_t from_x, size_t from_y,
                                             size_t count, enum cudaMemcpyKind kind)
{
    return cudaMemcpy(bytes_of(to, to_x, to_y, count), bytes_of(from, from_x, from_y, count), count,
                      kind);
}

ALSO_PTDS(cudaMemcpy2DToArray);
ALSO_PTSZ(cudaMemcpy2DToArrayAsync);
ALSO_PTDS(cudaMemcpy2DFromArray);
ALSO_PTSZ(cudaMemcpy2DFromArrayAsync);
ALSO_PTDS(cudaMemcpy2DArrayToArray);
ALSO_PTDS(cudaMemcpyToArray);
ALSO_PTSZ(cudaMemcpyToArrayAsync);
ALSO_PTDS(cudaMemcpyFromArray);
ALSO_PTSZ(cudaMemcpyFromArrayAsync);
ALSO_PTDS(cudaMemcpyArrayToArray);
