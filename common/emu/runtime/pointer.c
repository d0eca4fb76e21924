/*
 * pointer.c — attributes of pointers.
 */
#include "allocations.h"

cudaError_t CUDARTAPI cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                               const void *pointer)
{
    RETURN_IF_FAULTY();
    if (attributes == NULL) return cudart_done(cudaErrorInvalidValue);
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};

    emu_addr base;
    size_t bytes;
    const struct device *owner = cudart_owner(pointer);
    struct emu *emu = owner != NULL ? owner->emu : emu_runtime();
    if (!emu_find(emu, (emu_addr)pointer, &base, &bytes)) {
        attributes->hostPointer = (void *)pointer;
        return cudaSuccess;
    }
    attributes->devicePointer = (void *)pointer;
    if (owner != NULL) {
        attributes->device = owner->number;
        attributes->type = cudaMemoryTypeDevice;
        return cudaSuccess;
    }
    struct runtime_allocation allocation = {.kind = MANAGED}; /* a __managed__ variable */
    cudart_recall((const void *)base, &allocation);
    attributes->device = allocation.device;
    attributes->type = allocation.kind == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
    attributes->hostPointer = (void *)pointer;
    return cudaSuccess;
}
