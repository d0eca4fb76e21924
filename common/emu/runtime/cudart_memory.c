/*
 * cudart_memory.c — the table of the program's allocations, and allocating device memory.
 */
#define _GNU_SOURCE /* posix_memalign */
#include "cudart_capture.h"
#include "cudart_graph.h"
#include "cudart_memory.h"
#include "cudart_order.h"
#include "common/emu/machine/memory/address_table.h"

#include <stdlib.h>

static struct address_table allocations; /* of struct block, owned */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects the table */

enum { ALIGNMENT = 256, PITCH_ALIGNMENT = 512 };

int cudart_map(void *host, size_t bytes)
{
    for (int i = 0; i < cudart_device_count(); i++) {
        int error = emu_map_host(cudart_device_at(i)->emu, host, bytes);
        if (error == EMU_OK) continue;
        while (i-- > 0) emu_unmap_host(cudart_device_at(i)->emu, host);
        return error;
    }
    return EMU_OK;
}

int cudart_unmap(void *host)
{
    int error = EMU_OK;
    for (int i = 0; i < cudart_device_count(); i++) {
        int result = emu_unmap_host(cudart_device_at(i)->emu, host);
        if (result != EMU_OK) error = result;
    }
    return error;
}

void *cudart_map_new(size_t bytes)
{
    void *memory;
    if (posix_memalign(&memory, ALIGNMENT, bytes) != 0) return NULL;
    if (cudart_map(memory, bytes) == EMU_OK) return memory;
    free(memory);
    return NULL;
}

cudaError_t cudart_remember(struct runtime_allocation allocation)
{
    struct runtime_allocation *kept = malloc(sizeof *kept);
    if (kept == NULL) return cudaErrorMemoryAllocation;
    *kept = allocation;
    if (allocation.pool == NULL) kept->device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    bool done = address_table_set(&allocations, (uint64_t)allocation.address, kept);
    pthread_mutex_unlock(&mutex);
    if (!done) free(kept);
    return done ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* Frees the memory of an allocation. */
static int release(const struct runtime_allocation *allocation)
{
    void *address = allocation->address;
    free(allocation->advice);
    if (allocation->pool != NULL) cudart_pool_give(allocation->pool, allocation->bytes);
    if (allocation->kind == DEVICE) return emu_free(cudart_owner(address)->emu, (emu_addr)address);
    if (allocation->kind == IMPORTED) {
        while (emu_close_import(cudart_owner(address)->emu, (emu_addr)address) == EMU_OK) continue;
        return EMU_OK;
    }
    int error = cudart_unmap(address);
    if (error == EMU_OK && allocation->kind != REGISTERED) free(address);
    return error;
}

int cudart_forget(void *address, unsigned kinds)
{
    int error = cudaErrorInvalidValue;
    pthread_mutex_lock(&mutex);
    struct runtime_allocation *allocation = address_table_find(&allocations, (uint64_t)address);
    if (allocation != NULL && kinds & 1u << allocation->kind) {
        address_table_remove(&allocations, (uint64_t)address);
        error = release(allocation);
        free(allocation);
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

bool cudart_recall(const void *address, struct runtime_allocation *found)
{
    pthread_mutex_lock(&mutex);
    const struct runtime_allocation *allocation =
        address_table_find(&allocations, (uint64_t)address);
    if (allocation != NULL) *found = *allocation;
    pthread_mutex_unlock(&mutex);
    return allocation != NULL;
}

void cudart_each_host(void (*visit)(const struct runtime_allocation *, void *), void *context)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < allocations.size; i++) {
        const struct runtime_allocation *allocation = allocations.entries[i].kept;
        if (allocation != NULL && allocation->kind != DEVICE && allocation->kind != IMPORTED)
            visit(allocation, context);
    }
    pthread_mutex_unlock(&mutex);
}

void cudart_free_all(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < allocations.size;) {
        struct runtime_allocation *allocation = allocations.entries[i].kept;
        if (allocation == NULL || allocation->device != device) {
            i++;
            continue;
        }
        address_table_remove(&allocations,
                             allocations.entries[i].address); /* another entry may move to i */
        release(allocation);
        free(allocation);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- device memory --------------------------------------------------------------------------- */

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
    if (free_bytes == NULL || total_bytes == NULL) return cudart_done(cudaErrorInvalidValue);
    emu_memory_info(emu_runtime(), free_bytes, total_bytes);
    return cudaSuccess;
}
