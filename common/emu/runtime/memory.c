/*
 * memory.c — memory that graphs allocate and free.
 *
 * The address is fixed when the allocation node is made. So the memory is allocated then, and freed
 * when the last graph that refers to it is destroyed. Between a free node and the next allocation
 * node it only keeps its address: an access is one to freed memory.
 */
#include "graph.h"

#include <stdlib.h>

struct graph_memory {
    void *address;
    size_t bytes;
    unsigned references; /* nodes */
    bool is_live;        /* allocated by a launch, and not freed yet */
    int device;
};

static struct emu *emu_of(const struct graph_memory *memory)
{
    return cudart_device_at(memory->device)->emu;
}

static struct address_table memories;                     /* by their addresses */
static pthread_mutex_t memory_mutex =
    PTHREAD_MUTEX_INITIALIZER; /* of the table and what is in it */

struct graph_memory *cudart_graph_memory_new(size_t bytes)
{
    emu_addr address;
    struct graph_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) return NULL;
    if (emu_alloc(emu_runtime(), bytes, &address) != EMU_OK) {
        free(memory);
        return NULL;
    }
    *memory = (struct graph_memory){.address = (void *)address,
                                    .bytes = bytes,
                                    .references = 1,
                                    .device = cudart_device()->number};
    pthread_mutex_lock(&memory_mutex);
    bool added = address_table_set(&memories, address, memory);
    pthread_mutex_unlock(&memory_mutex);
    emu_hide(emu_runtime(), address, true);
    if (added) return memory;
    emu_hide(emu_runtime(), address, false);
    emu_free(emu_runtime(), address);
    free(memory);
    return NULL;
}

struct graph_memory *cudart_graph_memory_at(const void *address)
{
    pthread_mutex_lock(&memory_mutex);
    struct graph_memory *memory = address_table_find(&memories, (uint64_t)address);
    pthread_mutex_unlock(&memory_mutex);
    return memory;
}

void *cudart_graph_memory_address(const struct graph_memory *memory) { return memory->address; }

size_t cudart_graph_memory_bytes(const struct graph_memory *memory) { return memory->bytes; }

void cudart_graph_memory_share(struct graph_memory *memory)
{
    pthread_mutex_lock(&memory_mutex);
    memory->references++;
    pthread_mutex_unlock(&memory_mutex);
}

/* Frees the memory if no graph refers to it and the program has freed it. */
static void end_if_unused(struct graph_memory *memory)
{
    if (memory->references > 0 || memory->is_live) return;
    address_table_remove(&memories, (uint64_t)memory->address);
    emu_hide(emu_of(memory), (emu_addr)memory->address, false);
    emu_free(emu_of(memory), (emu_addr)memory->address);
    free(memory);
}

void cudart_graph_memory_drop(struct graph_memory *memory)
{
    pthread_mutex_lock(&memory_mutex);
    memory->references--;
    end_if_unused(memory);
    pthread_mutex_unlock(&memory_mutex);
}

/* A second launch must not allocate memory that the first launch has not freed. */
cudaError_t cudart_graph_memory_take(struct graph_memory *memory)
{
    pthread_mutex_lock(&memory_mutex);
    cudaError_t error = memory->is_live ? cudaErrorInvalidValue : cudaSuccess;
    memory->is_live = true;
    if (error == cudaSuccess) emu_hide(emu_of(memory), (emu_addr)memory->address, false);
    pthread_mutex_unlock(&memory_mutex);
    return error;
}

cudaError_t cudart_graph_memory_give(struct graph_memory *memory)
{
    pthread_mutex_lock(&memory_mutex);
    cudaError_t error = memory->is_live ? cudaSuccess : cudaErrorInvalidValue;
    memory->is_live = false;
    if (error == cudaSuccess) emu_hide(emu_of(memory), (emu_addr)memory->address, true);
    end_if_unused(memory);
    pthread_mutex_unlock(&memory_mutex);
    return error;
}

/* ---- attributes of a device ------------------------------------------------------------------ */

cudaError_t CUDARTAPI cudaDeviceGetGraphMemAttribute(int device,
                                                     enum cudaGraphMemAttributeType attribute,
                                                     void *value)
{
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    if (value == NULL || (unsigned)attribute > cudaGraphMemAttrReservedMemHigh)
        return cudart_done(cudaErrorInvalidValue);
    uint64_t used = 0, reserved = 0;
    pthread_mutex_lock(&memory_mutex);
    for (size_t i = 0; i < memories.size; i++) {
        const struct graph_memory *m = memories.entries[i].kept;
        if (m == NULL || m->device != device) continue;
        reserved += m->bytes;
        if (m->is_live) used += m->bytes;
    }
    pthread_mutex_unlock(&memory_mutex);
    bool is_used = attribute == cudaGraphMemAttrUsedMemCurrent ||
                   attribute == cudaGraphMemAttrUsedMemHigh; /* high-water marks are not kept */
    *(uint64_t *)value = is_used ? used : reserved;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceSetGraphMemAttribute(int device,
                                                     enum cudaGraphMemAttributeType attribute,
                                                     void *value)
{
    (void)attribute, (void)value; /* the program can only reset the high-water marks */
    bool exists = device >= 0 && device < cudart_device_count();
    return cudart_done(exists ? cudaSuccess : cudaErrorInvalidDevice);
}

/* The emulator keeps no unused memory of graphs. */
cudaError_t CUDARTAPI cudaDeviceGraphMemTrim(int device)
{
    bool exists = device >= 0 && device < cudart_device_count();
    return cudart_done(exists ? cudaSuccess : cudaErrorInvalidDevice);
}
