/*
 * ipc.c — memory that several processes share.
 *
 * As on a GPU, only memory of cudaMalloc can be shared, and a process cannot open a handle of its
 * own. Where CUDA's documentation leaves it open what happens if the other process frees the memory
 * or ends, the memory stays here until it is closed.
 */
#include "capture.h"
#include "allocations.h"

_Static_assert(sizeof(cudaIpcMemHandle_t) == EMU_HANDLE_BYTES, "the size of a handle");

/* Protects the numbers of open handles, which the emulator keeps, and the table's entries. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Any address inside of an allocation means all of it. */
cudaError_t CUDARTAPI cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer)
{
    RETURN_IF_FAULTY();
    emu_addr base;
    size_t bytes;
    struct runtime_allocation allocation;
    const struct device *owner = cudart_owner(pointer);
    if (handle == NULL || owner == NULL ||
        !emu_find(owner->emu, (emu_addr)pointer, &base, &bytes) ||
        !cudart_recall((const void *)base, &allocation) || allocation.kind != DEVICE ||
        allocation.pool != NULL)
        return cudart_done(cudaErrorInvalidValue);
    return cudart_done(emu_export(owner->emu, base, handle));
}

/* Opens a handle and, if it was not open yet, remembers the memory. */
static int import(const cudaIpcMemHandle_t *handle, emu_addr *address)
{
    struct emu *emu = emu_runtime();
    int error = emu_import(emu, handle, address);
    if (error != EMU_OK || emu_imported(emu, *address) > 1) return error;
    error =
        cudart_remember((struct runtime_allocation){.address = (void *)*address, .kind = IMPORTED});
    if (error != cudaSuccess) emu_close_import(emu, *address);
    return error;
}

cudaError_t CUDARTAPI cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle,
                                           unsigned flags)
{
    RETURN_IF_FAULTY();
    emu_addr address;
    if (pointer == NULL || flags != cudaIpcMemLazyEnablePeerAccess)
        return cudart_done(cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    int error = import(&handle, &address);
    pthread_mutex_unlock(&mutex);
    if (error == EMU_OK) *pointer = (void *)address;
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaIpcCloseMemHandle(void *pointer)
{
    RETURN_IF_UNSAFE();
    const struct device *owner = cudart_owner(pointer);
    if (owner == NULL) return cudart_done(cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    int error = emu_imported(owner->emu, (emu_addr)pointer) == 1
                    ? cudart_forget(pointer, 1u << IMPORTED)
                    : emu_close_import(owner->emu, (emu_addr)pointer);
    pthread_mutex_unlock(&mutex);
    return cudart_done(error);
}
