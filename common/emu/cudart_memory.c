/*
 * cudart_memory.c — allocating memory: on the device, and on the host where kernels can reach it.
 */
#define _GNU_SOURCE /* posix_memalign */
#include "cudart.h"

#include <stdlib.h>

/* An allocation of the program. Device memory belongs to the emulator; the rest is host memory that
 * is mapped into the device under its own address. */
enum kind { DEVICE, PINNED, MANAGED, REGISTERED };

struct block {
    void *address;
    enum kind kind;
    unsigned flags;
    int device; /* the one that was current */
    struct block *next;
};

static struct block *blocks;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the list */

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

/* Writes an allocation down. */
static cudaError_t remember(void *address, enum kind kind, unsigned flags)
{
    struct block *block = malloc(sizeof *block);
    if (block == NULL) return cudaErrorMemoryAllocation;
    *block = (struct block){
        .address = address, .kind = kind, .flags = flags, .device = cudart_device()->number};
    pthread_mutex_lock(&mutex);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

/* Gives back what an allocation of this kind holds. */
static int release(void *address, enum kind kind)
{
    if (kind == DEVICE) return emu_free(cudart_owner(address)->emu, (emu_addr)address);
    int error = cudart_unmap(address);
    if (error == EMU_OK && kind != REGISTERED) free(address);
    return error;
}

/* Frees an allocation, if it is one of the kinds whose bits are set in `kinds`. */
static int forget(void *address, unsigned kinds)
{
    int error = cudaErrorInvalidValue;
    pthread_mutex_lock(&mutex);
    for (struct block **link = &blocks; *link != NULL; link = &(*link)->next) {
        struct block *block = *link;
        if (block->address != address || !(kinds & 1u << block->kind)) continue;
        *link = block->next;
        error = release(address, block->kind);
        free(block);
        break;
    }
    pthread_mutex_unlock(&mutex);
    return error;
}

/* The allocation that begins at an address. False: none does. */
static bool recall(const void *address, struct block *found)
{
    bool is_known = false;
    pthread_mutex_lock(&mutex);
    for (const struct block *b = blocks; b != NULL && !is_known; b = b->next) {
        is_known = b->address == address;
        if (is_known) *found = *b;
    }
    pthread_mutex_unlock(&mutex);
    return is_known;
}

void cudart_free_all(void)
{
    int device = cudart_device()->number;
    pthread_mutex_lock(&mutex);
    for (struct block **link = &blocks; *link != NULL;) {
        struct block *block = *link;
        if (block->device != device) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        release(block->address, block->kind);
        free(block);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- device memory --------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaMalloc(void **pointer, size_t bytes)
{
    RETURN_IF_FAULTY();
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;

    emu_addr address;
    int error = emu_alloc(emu_runtime(), bytes, &address);
    if (error != EMU_OK) return cudart_done(error);
    error = remember((void *)address, DEVICE, 0);
    if (error != cudaSuccess) {
        emu_free(emu_runtime(), address);
        return cudart_done(error);
    }
    *pointer = (void *)address;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaFree(void *pointer)
{
    RETURN_IF_FAULTY();
    return cudart_done_free(
        pointer == NULL ? cudaSuccess : forget(pointer, 1u << DEVICE | 1u << MANAGED), pointer);
}

cudaError_t CUDARTAPI cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaMalloc(pointer, bytes);
}

cudaError_t CUDARTAPI cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return cudaFree(pointer);
}

cudaError_t CUDARTAPI cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (pitch == NULL || width > SIZE_MAX - PITCH_ALIGNMENT)
        return cudart_done(cudaErrorInvalidValue);
    *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (*pitch != 0 && height > SIZE_MAX / *pitch) return cudart_done(cudaErrorMemoryAllocation);
    return cudaMalloc(pointer, *pitch * height);
}

cudaError_t CUDARTAPI cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    RETURN_IF_FAULTY();
    if (free_bytes == NULL || total_bytes == NULL) return cudart_done(cudaErrorInvalidValue);
    emu_memory_info(emu_runtime(), free_bytes, total_bytes);
    return cudaSuccess;
}

/* ---- host memory that kernels can reach ------------------------------------------------------ */

static cudaError_t allocate_host(void **pointer, size_t bytes, enum kind kind, unsigned flags)
{
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    *pointer = NULL;
    void *memory = cudart_map_new(bytes);
    if (memory == NULL) return cudart_done(cudaErrorMemoryAllocation);
    int error = remember(memory, kind, flags);
    if (error != cudaSuccess) {
        release(memory, kind);
        return cudart_done(error);
    }
    *pointer = memory;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaHostAlloc(void **pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_FAULTY();
    if (pointer != NULL && bytes == 0) {
        *pointer = NULL;
        return cudaSuccess;
    }
    return allocate_host(pointer, bytes, PINNED, flags);
}

cudaError_t CUDARTAPI cudaMallocHost(void **pointer, size_t bytes)
{
    return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}

cudaError_t CUDARTAPI cudaFreeHost(void *pointer)
{
    RETURN_IF_FAULTY();
    return cudart_done_free(pointer == NULL ? cudaSuccess : forget(pointer, 1u << PINNED), pointer);
}

cudaError_t CUDARTAPI cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_FAULTY();
    if (bytes == 0 || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return cudart_done(cudaErrorInvalidValue);
    return allocate_host(pointer, bytes, MANAGED, flags);
}

cudaError_t CUDARTAPI cudaHostRegister(void *pointer, size_t bytes, unsigned flags)
{
    RETURN_IF_FAULTY();
    struct block known;
    if (pointer == NULL || bytes == 0) return cudart_done(cudaErrorInvalidValue);
    if (recall(pointer, &known)) return cudart_done(cudaErrorHostMemoryAlreadyRegistered);
    int error = cudart_map(pointer, bytes);
    if (error == EMU_OK) error = remember(pointer, REGISTERED, flags);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaHostUnregister(void *pointer)
{
    RETURN_IF_FAULTY();
    int error = forget(pointer, 1u << REGISTERED);
    return cudart_done(error == cudaErrorInvalidValue ? cudaErrorHostMemoryNotRegistered : error);
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
    struct block block;
    if (flags == NULL || !recall(host, &block) || block.kind != PINNED)
        return cudart_done(cudaErrorInvalidValue);
    *flags = block.flags;
    return cudaSuccess;
}

/* ---- what a pointer is ----------------------------------------------------------------------- */

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
    struct block block = {.kind = MANAGED}; /* a __managed__ variable is in no list */
    recall((const void *)base, &block);
    attributes->device = block.device;
    attributes->type = block.kind == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
    attributes->hostPointer = (void *)pointer;
    return cudaSuccess;
}

/* Where managed memory lies makes no difference here: both are only checked. */
static cudaError_t check_managed(const void *pointer, size_t bytes)
{
    RETURN_IF_FAULTY();
    emu_addr base;
    size_t size;
    bool inside = emu_find(emu_runtime(), (emu_addr)pointer, &base, &size) &&
                  bytes <= size - ((emu_addr)pointer - base);
    return cudart_done(inside ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                           struct cudaMemLocation where, unsigned flags,
                                           cudaStream_t stream)
{
    (void)where, (void)flags, (void)stream;
    return check_managed(pointer, bytes);
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation where)
{
    (void)advice, (void)where;
    return check_managed(pointer, bytes);
}

ALSO_PTSZ(cudaMallocAsync);
ALSO_PTSZ(cudaFreeAsync);
ALSO_PTSZ(cudaMemPrefetchAsync);
