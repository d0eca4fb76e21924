/*
 * fill.c — fills: rows of elements of 1, 2 or 4 bytes get one value.
 */
#include "capture.h"
#include "order.h"
#include "work.h"

#include <stdlib.h>
#include <string.h>

cudaError_t cudart_check_fill(const struct cudaMemsetParams *p)
{
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    if (p->width == 0 || p->height == 0) return cudaSuccess;
    if (p->dst == NULL || (p->height > 1 && p->width * p->elementSize > p->pitch))
        return cudaErrorInvalidValue;
    bool is_there =
        cudart_is_reachable(p->dst, (p->height - 1) * p->pitch + p->width * p->elementSize);
    return is_there ? cudaSuccess : cudaErrorInvalidValue;
}

/* Writes one row; `pattern` is its content, or NULL if all its bytes are p->value. */
static int fill_row(const struct cudaMemsetParams *p, char *to, const char *pattern)
{
    size_t bytes = p->width * p->elementSize;
    const struct device *owner = cudart_owner(to);
    if (owner != NULL && pattern == NULL)
        return emu_fill(owner->emu, (emu_addr)to, (unsigned char)p->value, bytes);
    if (owner != NULL) return emu_write(owner->emu, (emu_addr)to, pattern, bytes);
    if (pattern == NULL)
        memset(to, (int)p->value, bytes);
    else
        memcpy(to, pattern, bytes);
    return cudaSuccess;
}

cudaError_t cudart_run_fill(const struct cudaMemsetParams *p)
{
    int error = cudart_check_fill(p);
    if (error != cudaSuccess || p->width == 0 || p->height == 0) return (cudaError_t)error;
    size_t bytes = p->width * p->elementSize;
    cudart_order_access(
        p->dst,
        &(struct emu_rows){.bytes = bytes, .rows = p->height, .slices = 1, .from_row = p->pitch},
        true);
    char *pattern = p->elementSize > 1 ? malloc(bytes) : NULL;
    if (p->elementSize > 1 && pattern == NULL) return cudaErrorMemoryAllocation;
    for (size_t i = 0; pattern != NULL && i < p->width; i++) /* host and device are little-endian */
        memcpy(pattern + i * p->elementSize, &p->value, p->elementSize);
    for (size_t row = 0; row < p->height && error == cudaSuccess; row++)
        error = fill_row(p, (char *)p->dst + row * p->pitch, pattern);
    free(pattern);
    return (cudaError_t)error;
}

static struct cudaMemsetParams bytes_2d(void *to, size_t pitch, int value, size_t width,
                                        size_t height)
{
    return (struct cudaMemsetParams){.dst = to,
                                     .pitch = pitch,
                                     .value = (unsigned char)value,
                                     .elementSize = 1,
                                     .width = width,
                                     .height = height};
}

/* ---- at once, and in a stream ---------------------------------------------------------------- */

cudaError_t cudart_fill_now(const struct cudaMemsetParams *fill)
{
    RETURN_IF_FAULTY();
    cudaError_t error = cudart_check_wait(NULL);
    if (error != cudaSuccess) return cudart_done(error);
    cudart_order_begin(NULL, &(struct work){.type = cudaGraphNodeTypeMemset});
    cudart_work_begins(cudart_device()->number);
    error = cudart_run_fill(fill);
    cudart_work_ends(cudart_device()->number);
    cudart_order_return(fill->dst, fill->dst, true);
    return cudart_done(error);
}

cudaError_t cudart_submit_fill(const struct cudaMemsetParams *fill, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeMemset, .fill = *fill};
    return cudart_submit(stream, &work);
}

cudaError_t CUDARTAPI cudaMemset(void *to, int value, size_t bytes)
{
    struct cudaMemsetParams fill = bytes_2d(to, bytes, value, bytes, 1);
    return cudart_fill_now(&fill);
}

cudaError_t CUDARTAPI cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
    struct cudaMemsetParams fill = bytes_2d(to, bytes, value, bytes, 1);
    return cudart_submit_fill(&fill, stream);
}

cudaError_t CUDARTAPI cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
    struct cudaMemsetParams fill = bytes_2d(to, pitch, value, width, height);
    if (width > pitch) return cudart_done(cudaErrorInvalidValue);
    return cudart_fill_now(&fill);
}

cudaError_t CUDARTAPI cudaMemset2DAsync(void *to, size_t pitch, int value, size_t width,
                                        size_t height, cudaStream_t stream)
{
    struct cudaMemsetParams fill = bytes_2d(to, pitch, value, width, height);
    if (width > pitch) return cudart_done(cudaErrorInvalidValue);
    return cudart_submit_fill(&fill, stream);
}

/* A three-dimensional fill is one two-dimensional fill if there are no gaps between its slices;
 * otherwise it is one fill for each slice. */
static cudaError_t fill_3d(struct cudaPitchedPtr area, int value, struct cudaExtent extent,
                           cudaStream_t stream, bool now)
{
    if (extent.width > area.pitch || (extent.depth > 1 && extent.height > area.ysize))
        return cudart_done(cudaErrorInvalidValue);
    bool whole = extent.height == area.ysize;
    size_t rows = whole ? extent.height * extent.depth : extent.height;
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < (whole ? 1 : extent.depth) && error == cudaSuccess; z++) {
        struct cudaMemsetParams fill = bytes_2d((char *)area.ptr + z * area.pitch * area.ysize,
                                                area.pitch, value, extent.width, rows);
        error = now ? cudart_fill_now(&fill) : cudart_submit_fill(&fill, stream);
    }
    return error;
}

cudaError_t CUDARTAPI cudaMemset3D(struct cudaPitchedPtr area, int value, struct cudaExtent extent)
{
    return fill_3d(area, value, extent, NULL, true);
}

cudaError_t CUDARTAPI cudaMemset3DAsync(struct cudaPitchedPtr area, int value,
                                        struct cudaExtent extent, cudaStream_t stream)
{
    return fill_3d(area, value, extent, stream, false);
}

ALSO_PTDS(cudaMemset);
ALSO_PTSZ(cudaMemsetAsync);
ALSO_PTDS(cudaMemset2D);
ALSO_PTSZ(cudaMemset2DAsync);
ALSO_PTDS(cudaMemset3D);
ALSO_PTSZ(cudaMemset3DAsync);
