#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE, MAP_FIXED_NOREPLACE */
#include "memory.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Between two allocations stay addresses that belong to none, so that a step over the end is
 * seen. */
#define ALLOCATION_ALIGNMENT UINT64_C(256)
#define GAP                  UINT64_C(4096)
#define POISON               0xCD
/* Writing more would cost more time than it is worth. */
#define POISON_LIMIT ((size_t)64 << 20)
/* The same addresses in every run where they are free, so that traces repeat. */
#define PREFERRED_BASE UINT64_C(0x300000000000)
#define PER_DEVICE     UINT64_C(0x010000000000)

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

bool memory_open(struct memory *memory, size_t capacity, unsigned number)
{
    /* Twice the addresses, so that freed ones need not be used again soon. */
    memory->reserved = round_up(2 * (uint64_t)capacity + 4 * GAP, GAP);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *preferred = (void *)(uintptr_t)(PREFERRED_BASE + number * PER_DEVICE);
    void *addresses =
        mmap(preferred, memory->reserved, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (addresses == MAP_FAILED) addresses = mmap(NULL, memory->reserved, PROT_NONE, flags, -1, 0);
    if (addresses == MAP_FAILED) return false;
    void *store = mmap(NULL, memory->reserved, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (store == MAP_FAILED) {
        munmap(addresses, memory->reserved);
        return false;
    }
    memory->base = (uint64_t)(uintptr_t)addresses;
    memory->next = memory->base + GAP;
    memory->store = store;
    memory->capacity = capacity;
    pthread_mutex_init(&memory->lock, NULL);
    return true;
}

void memory_close(struct memory *memory)
{
    if (!memory->base) return;
    munmap((void *)(uintptr_t)memory->base, memory->reserved);
    munmap(memory->store, memory->reserved);
    free(memory->ranges);
    pthread_mutex_destroy(&memory->lock);
}

/* The index of the first range that begins above an address. */
static size_t above(const struct memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->range_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct range *memory_find(const struct memory *memory, uint64_t address)
{
    size_t index = above(memory, address);
    if (!index) return NULL;
    const struct range *range = &memory->ranges[index - 1];
    return address - range->base < range->bytes ? range : NULL;
}

bool memory_look(struct memory *memory, uint64_t address, struct range *range)
{
    pthread_mutex_lock(&memory->lock);
    const struct range *found = memory_find(memory, address);
    if (found) *range = *found;
    pthread_mutex_unlock(&memory->lock);
    return found != NULL;
}

void *memory_view(const struct memory *memory, uint64_t address, size_t bytes)
{
    const struct range *range = memory_find(memory, address);
    if (!range || range->is_heap || bytes > range->bytes - (address - range->base)) return NULL;
    return (void *)(uintptr_t)(address + (uint64_t)range->delta);
}

static bool insert_locked(struct memory *memory, struct range range)
{
    if (memory->range_count == memory->range_room) {
        size_t room = memory->range_room ? 2 * memory->range_room : 64;
        struct range *grown = realloc(memory->ranges, room * sizeof *grown);
        if (!grown) return false;
        memory->ranges = grown;
        memory->range_room = room;
    }
    size_t index = above(memory, range.base);
    memmove(&memory->ranges[index + 1], &memory->ranges[index],
            (memory->range_count - index) * sizeof *memory->ranges);
    memory->ranges[index] = range;
    memory->range_count++;
    return true;
}

static bool insert(struct memory *memory, struct range range)
{
    pthread_mutex_lock(&memory->lock);
    bool done = insert_locked(memory, range);
    pthread_mutex_unlock(&memory->lock);
    return done;
}

static void take_out(struct memory *memory, const struct range *range)
{
    size_t index = (size_t)(range - memory->ranges);
    pthread_mutex_lock(&memory->lock);
    memory->range_count--;
    memmove(&memory->ranges[index], &memory->ranges[index + 1],
            (memory->range_count - index) * sizeof *memory->ranges);
    pthread_mutex_unlock(&memory->lock);
}

/* Is [address, address + bytes) free, with a gap on both sides? Otherwise *address moves behind
 * what is there. */
static bool is_free(const struct memory *memory, uint64_t *address, uint64_t bytes)
{
    for (size_t index = above(memory, *address + bytes + GAP); index-- > 0;) {
        const struct range *range = &memory->ranges[index];
        if (range->base < memory->base) return true;
        if (range->base + range->bytes + GAP <= *address) return true;
        if (range->base < *address + bytes + GAP) {
            *address = round_up(range->base + range->bytes + GAP, ALLOCATION_ALIGNMENT);
            return false;
        }
    }
    return true;
}

/* The first free place from an address upward, or 0. */
static uint64_t find_place(const struct memory *memory, uint64_t from, uint64_t bytes)
{
    uint64_t end = memory->base + memory->reserved;
    while (from + bytes + GAP <= end)
        if (is_free(memory, &from, bytes)) return from;
    return 0;
}

int memory_alloc(struct memory *memory, size_t bytes, emu_addr *address)
{
    if (!bytes) return EMU_INVALID_VALUE;
    if (bytes > memory->capacity - memory->used) return EMU_OUT_OF_MEMORY;
    uint64_t place = find_place(memory, memory->next, bytes);
    if (!place) place = find_place(memory, memory->base + GAP, bytes);
    if (!place) return EMU_OUT_OF_MEMORY;
    int64_t delta = (int64_t)((uint64_t)(uintptr_t)memory->store - memory->base);
    if (!insert(memory, (struct range){.base = place, .bytes = bytes, .delta = delta}))
        return EMU_OUT_OF_MEMORY;
    memory->used += bytes;
    memory->next = round_up(place + bytes + GAP, ALLOCATION_ALIGNMENT);
    memset((void *)(uintptr_t)(place + (uint64_t)delta), POISON,
           bytes < POISON_LIMIT ? bytes : POISON_LIMIT);
    *address = place;
    return EMU_OK;
}

static void free_range(struct memory *memory, const struct range *range)
{
    uint64_t address = range->base;
    /* Give whole pages back to the host. */
    uint64_t first = round_up(address, GAP), last = (address + range->bytes) / GAP * GAP;
    if (first < last)
        madvise((void *)(uintptr_t)(first + (uint64_t)range->delta), last - first, MADV_DONTNEED);
    memory->used -= range->bytes;
    take_out(memory, range);
}

int memory_free(struct memory *memory, emu_addr address)
{
    const struct range *range = memory_find(memory, address);
    if (!range || range->base != address || !range->delta || range->is_heap)
        return EMU_INVALID_VALUE;
    free_range(memory, range);
    return EMU_OK;
}

int memory_alloc_heap(struct memory *memory, size_t bytes, emu_addr *address)
{
    int error = memory_alloc(memory, bytes, address);
    if (!error) memory->ranges[above(memory, *address) - 1].is_heap = true;
    return error;
}

void memory_free_heap(struct memory *memory, emu_addr address)
{
    const struct range *range = memory_find(memory, address);
    if (range && range->is_heap) free_range(memory, range);
}

int memory_map(struct memory *memory, void *host, size_t bytes)
{
    uint64_t address = (uint64_t)(uintptr_t)host;
    if (!host || !bytes) return EMU_INVALID_VALUE;
    size_t index = above(memory, address + bytes - 1);
    if (index && memory->ranges[index - 1].base + memory->ranges[index - 1].bytes > address)
        return EMU_INVALID_VALUE; /* overlaps one that is mapped already */
    return insert(memory, (struct range){.base = address, .bytes = bytes}) ? EMU_OK
                                                                           : EMU_OUT_OF_MEMORY;
}

int memory_unmap(struct memory *memory, void *host)
{
    const struct range *range = memory_find(memory, (uint64_t)(uintptr_t)host);
    if (!range || range->base != (uint64_t)(uintptr_t)host || range->delta)
        return EMU_INVALID_VALUE;
    take_out(memory, range);
    return EMU_OK;
}
