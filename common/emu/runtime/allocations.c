#define _GNU_SOURCE /* posix_memalign */
#include "allocations.h"
#include "common/emu/machine/address_table.h"

#include <stdlib.h>

static struct address_table allocations;                  /* of struct runtime_allocation, owned */
static pthread_mutex_t allocation_mutex = PTHREAD_MUTEX_INITIALIZER; /* protects the table */

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
    if (posix_memalign(&memory, emu_alignment(bytes), bytes) != 0) return NULL;
    if (cudart_map(memory, bytes) == EMU_OK) return memory;
    free(memory);
    return NULL;
}

/* For memcheck; 0 bytes: it is freed. */
static void log_host(const struct runtime_allocation *allocation, size_t bytes)
{
    for (int i = 0; i < cudart_device_count(); i++)
        emu_log_host(cudart_device_at(i)->emu, allocation->address, bytes);
}

cudaError_t cudart_remember(struct runtime_allocation allocation)
{
    struct runtime_allocation *kept = malloc(sizeof *kept);
    if (kept == NULL) return cudaErrorMemoryAllocation;
    *kept = allocation;
    if (allocation.pool == NULL) kept->device = cudart_device()->number;
    kept->context = cudart_owning_context(kept->device);
    pthread_mutex_lock(&allocation_mutex);
    bool done = address_table_set(&allocations, (uint64_t)allocation.address, kept);
    pthread_mutex_unlock(&allocation_mutex);
    if (!done) free(kept);
    bool is_of_host = allocation.kind == PINNED || allocation.kind == MANAGED;
    if (done && is_of_host) log_host(&allocation, allocation.bytes);
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
    if (error == EMU_OK && allocation->kind != REGISTERED) {
        log_host(allocation, 0);
        free(address);
    }
    return error;
}

int cudart_forget(void *address, unsigned kinds)
{
    int error = cudaErrorInvalidValue;
    pthread_mutex_lock(&allocation_mutex);
    struct runtime_allocation *allocation = address_table_find(&allocations, (uint64_t)address);
    if (allocation != NULL && kinds & 1u << allocation->kind) {
        address_table_remove(&allocations, (uint64_t)address);
        error = release(allocation);
        free(allocation);
    }
    pthread_mutex_unlock(&allocation_mutex);
    return error;
}

bool cudart_recall(const void *address, struct runtime_allocation *found)
{
    pthread_mutex_lock(&allocation_mutex);
    const struct runtime_allocation *allocation =
        address_table_find(&allocations, (uint64_t)address);
    if (allocation != NULL) *found = *allocation;
    pthread_mutex_unlock(&allocation_mutex);
    return allocation != NULL;
}

void cudart_each_host(void (*visit)(const struct runtime_allocation *, void *), void *context)
{
    pthread_mutex_lock(&allocation_mutex);
    for (size_t i = 0; i < allocations.size; i++) {
        const struct runtime_allocation *allocation = allocations.entries[i].kept;
        if (allocation != NULL && allocation->kind != DEVICE && allocation->kind != IMPORTED)
            visit(allocation, context);
    }
    pthread_mutex_unlock(&allocation_mutex);
}

void cudart_free_all(const struct context *context)
{
    pthread_mutex_lock(&allocation_mutex);
    for (size_t i = 0; i < allocations.size;) {
        struct runtime_allocation *allocation = allocations.entries[i].kept;
        if (allocation == NULL || allocation->context != context) {
            i++;
            continue;
        }
        address_table_remove(&allocations,
                             allocations.entries[i].address); /* another entry may move to i */
        release(allocation);
        free(allocation);
    }
    pthread_mutex_unlock(&allocation_mutex);
}
