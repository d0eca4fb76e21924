/*
 * device_memory.c — allocating device memory.
 */
#include "allocations.h"
#include "capture.h"
#include "graph.h"
#include "order.h"

enum { PITCH_ALIGNMENT = 512 };

cudaError_t cudart_allocate(void **pointer, size_t bytes, struct memory_pool *pool)
{
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    emu_addr address;
    int error = emu_alloc(emu_runtime(), bytes, &address);
    if (error != EMU_OK) return (cudaError_t)error;
    error = cudart_remember((struct runtime_allocation){.address = (void *)address,
                                                        .bytes = bytes,
                                                        .kind = DEVICE,
                                                        .device = cudart_device()->number,
                                                        .pool = pool});
    if (error != cudaSuccess) {
        emu_free(emu_runtime(), address);
        return (cudaError_t)error;
    }
    if (pool != NULL) cudart_pool_take(pool, bytes);
    *pointer = (void *)address;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMalloc(void **pointer, size_t bytes)
{
    if (pointer != NULL && bytes == 0) {
        *pointer = NULL;
        return cudaSuccess;
    }
    RETURN_IF_UNSAFE();
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_allocate(pointer, bytes, NULL));
}

cudaError_t CUDARTAPI cudaFree(void *pointer)
{
    RETURN_IF_UNSAFE();
    if (pointer == NULL) return cudaSuccess;
    cudart_order_free_now(pointer);
    struct graph_memory *memory = cudart_graph_memory_at(pointer);
    if (memory != NULL) return cudart_done(cudart_graph_memory_give(memory));
    return cudart_done_free(cudart_forget(pointer, 1u << DEVICE | 1u << MANAGED), pointer);
}

cudaError_t CUDARTAPI cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (pitch == NULL || width > SIZE_MAX - PITCH_ALIGNMENT)
        return cudart_done(cudaErrorInvalidValue);
    *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (*pitch != 0 && height > SIZE_MAX / *pitch) return cudart_done(cudaErrorMemoryAllocation);
    return cudaMalloc(pointer, *pitch * height);
}

cudaError_t CUDARTAPI cudaMalloc3D(struct cudaPitchedPtr *area, struct cudaExtent extent)
{
    if (area == NULL || (extent.depth > 0 && extent.height > SIZE_MAX / extent.depth))
        return cudart_done(cudaErrorInvalidValue);
    *area = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return cudaMallocPitch(&area->ptr, &area->pitch, extent.width, extent.height * extent.depth);
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    RETURN_IF_FAULTY();
    size_t left, all;
    emu_memory_info(emu_runtime(), &left, &all);
    if (free_bytes != NULL) *free_bytes = left;
    if (total_bytes != NULL) *total_bytes = all;
    return cudaSuccess;
}
