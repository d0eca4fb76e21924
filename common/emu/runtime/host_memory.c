/*
 * host_memory.c — host memory that kernels can access: pinned, registered, managed.
 *
 * It has the same address on every device, and it never moves.
 */
#include "capture.h"
#include "allocations.h"

#include <stdlib.h>

/* If host memory is short, this returns NULL, and advice is not kept. */
static struct advice *no_advice(void)
{
    struct advice *advice = calloc(1, sizeof *advice);
    if (advice == NULL) return NULL;
    advice->preferred.id = advice->prefetched.id = cudaInvalidDeviceId;
    return advice;
}

static cudaError_t allocate_host(void **pointer, size_t bytes, enum memory_kind kind,
                                 unsigned flags)
{
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    void *memory = cudart_map_new(bytes);
    if (memory == NULL) return cudart_done(cudaErrorMemoryAllocation);
    struct runtime_allocation allocation = {
        .address = memory, .bytes = bytes, .kind = kind, .flags = flags};
    if (kind == MANAGED) allocation.advice = no_advice();
    cudaError_t error = cudart_remember(allocation);
    if (error != cudaSuccess) {
        cudart_unmap(memory);
        free(allocation.advice);
        free(memory);
        return cudart_done(error);
    }
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_UNSAFE();
    unsigned known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (flags & ~known) return cudart_done(cudaErrorInvalidValue);
    return allocate_host(pointer, bytes, PINNED, flags);
}

cudaError_t CUDARTAPI cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void *pointer)
{
    RETURN_IF_UNSAFE();
    return cudart_done_free(pointer == NULL ? cudaSuccess : cudart_forget(pointer, 1u << PINNED),
                            pointer);
}

cudaError_t CUDARTAPI cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_UNSAFE();
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return cudart_done(cudaErrorInvalidValue);
    return allocate_host(pointer, bytes, MANAGED, flags);
}

cudaError_t CUDARTAPI cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_UNSAFE();
    struct runtime_allocation allocation = {
        .address = pointer, .bytes = bytes, .kind = REGISTERED, .flags = flags};
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |
                     cudaHostRegisterReadOnly;
    if (pointer == NULL || bytes == 0 || flags & ~known) return cudart_done(cudaErrorInvalidValue);
    if (cudart_is_reachable(pointer, 1)) return cudart_done(cudaErrorHostMemoryAlreadyRegistered);
    int error = cudart_map(pointer, bytes);
    if (error == EMU_OK) error = cudart_remember(allocation);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaHostUnregister(void *pointer)
{
    RETURN_IF_UNSAFE();
    struct runtime_allocation found;
    int error = cudart_forget(pointer, 1u << REGISTERED);
    bool is_unknown = error == cudaErrorInvalidValue && !cudart_recall(pointer, &found);
    return cudart_done(is_unknown ? cudaErrorHostMemoryNotRegistered : error);
}

cudaError_t CUDARTAPI cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    RETURN_IF_FAULTY();
    emu_addr base;
    size_t bytes;
    if (device == NULL || flags != 0 || cudart_owner(host) != NULL ||
        !emu_find(emu_runtime(), (emu_addr)host, &base, &bytes))
        return cudart_done(cudaErrorInvalidValue);
    *device = host;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostGetFlags(unsigned *flags, void *host)
{
    RETURN_IF_FAULTY();
    struct runtime_allocation allocation;
    if (flags == NULL || !cudart_recall(host, &allocation) || allocation.kind != PINNED)
        return cudart_done(cudaErrorInvalidValue);
    *flags = allocation.flags;
    return cudaSuccess;
}
