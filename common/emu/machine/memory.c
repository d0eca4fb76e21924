#include "memory.h"
#include <stdlib.h>
#include <string.h>

/* Filling more memory would take too long. */
#define FRESH_LIMIT ((size_t)64 << 20)

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

bool memory_open(struct memory *memory, size_t capacity, unsigned number, size_t spare)
{
    /* Twice the addresses, so that freed addresses are not used again soon. */
    uint64_t bytes = round_up(2 * (uint64_t)capacity + 4 * RANGES_GAP, RANGES_GAP);
    if (!address_space_open(&memory->space, bytes, number, spare)) return false;
    memory->next = memory->space.base + RANGES_GAP;
    memory->capacity = capacity;
    pthread_mutex_init(&memory->lock, NULL);
    return true;
}

void memory_close(struct memory *memory)
{
    if (!memory->space.base) return;
    ipc_close_all(memory);
    address_space_close(&memory->space);
    ranges_close(&memory->allocations);
    ranges_close(&memory->mapped);
    pthread_mutex_destroy(&memory->lock);
}

const struct range *memory_find_hidden(const struct memory *memory, uint64_t address)
{
    bool own = address - memory->space.base < memory->space.bytes;
    const struct range *range = ranges_at(own ? &memory->allocations : &memory->mapped, address);
    return range && address - range->base < range->bytes ? range : NULL;
}

const struct range *memory_find(const struct memory *memory, uint64_t address)
{
    const struct range *range = memory_find_hidden(memory, address);
    return range && !range->is_hidden ? range : NULL;
}

bool memory_passes(const struct memory *memory, uint64_t address, int64_t *delta)
{
    const uint64_t page = 2 << 20, near = RANGES_GAP - 1;
    bool own = address - memory->space.base < memory->space.bytes;
    uint64_t first = own ? address & ~(page - 1) : address - near;
    const struct range *last = own ? ranges_at(&memory->allocations, first + page - 1)
                                   : ranges_at(&memory->mapped, address + near);
    if (last) *delta = last->delta;
    return last && last->base + last->bytes > first;
}

/* The distance of an address from a range; 0: inside. */
static uint64_t distance(const struct range *range, uint64_t address)
{
    if (address < range->base) return range->base - address;
    uint64_t offset = address - range->base;
    return offset < range->bytes ? 0 : offset - range->bytes;
}

const struct range *memory_nearest(const struct memory *memory, uint64_t address)
{
    const struct ranges *all[] = {&memory->allocations, &memory->mapped};
    const struct range *nearest = NULL;
    for (int i = 0; i < 2; i++) {
        const struct range *two[] = {ranges_at(all[i], address), ranges_above(all[i], address)};
        for (int k = 0; k < 2; k++)
            if (two[k] && (!nearest || distance(two[k], address) < distance(nearest, address)))
                nearest = two[k];
    }
    return nearest;
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

static struct range *insert(struct memory *memory, struct ranges *ranges, struct range range)
{
    pthread_mutex_lock(&memory->lock);
    struct range *kept = ranges_add(ranges, range);
    pthread_mutex_unlock(&memory->lock);
    return kept;
}

static void take_out(struct memory *memory, struct ranges *ranges, uint64_t base)
{
    pthread_mutex_lock(&memory->lock);
    ranges_remove(ranges, base);
    pthread_mutex_unlock(&memory->lock);
}

/* The first free place at an address or above it; 0: no place is free. */
static uint64_t find_place(const struct memory *memory, uint64_t from, uint64_t bytes)
{
    const struct ranges *all = &memory->allocations;
    const struct range *before = ranges_at(all, from), *behind = ranges_above(all, from);
    uint64_t end = memory->space.base + memory->space.bytes;
    uint64_t place = before ? ranges_behind(before->base + before->bytes) : from;
    if (place < from) place = from;
    if (place + bytes + RANGES_GAP <= (behind ? behind->base : end)) return place;
    if (!behind) return 0;
    place = ranges_hole(all, behind->base, bytes);
    if (place) return place;
    const struct range *last = ranges_at(all, end);
    place = ranges_behind(last->base + last->bytes);
    return place + bytes + RANGES_GAP <= end ? place : 0;
}

/* Where `bytes` bytes fit; 0: nowhere. */
static uint64_t find_free(const struct memory *memory, uint64_t bytes)
{
    uint64_t place = find_place(memory, memory->next, bytes);
    return place ? place : find_place(memory, memory->space.base + RANGES_GAP, bytes);
}

/* Adds the range that begins at a free place. NULL: out of memory. */
static const struct range *add_range(struct memory *memory, struct range range)
{
    range.delta = (int64_t)((uint64_t)(uintptr_t)memory->space.store - memory->space.base);
    memory->next = ranges_behind(range.base + range.bytes);
    return insert(memory, &memory->allocations, range);
}

size_t emu_alignment(size_t bytes)
{
    static const size_t limits[][2] = {{32 << 20, 32 << 20}, {2 << 20, 2 << 20}, {1 << 20, 1024}};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++)
        if (bytes >= limits[k][0]) return limits[k][1];
    return RANGES_ALIGNMENT;
}

int memory_alloc(struct memory *memory, size_t bytes, emu_addr *address)
{
    if (!bytes) return EMU_INVALID_VALUE;
    if (bytes > memory->capacity - memory->used) return EMU_OUT_OF_MEMORY;
    uint64_t alignment = emu_alignment(bytes);
    uint64_t place = find_free(memory, bytes + alignment - RANGES_ALIGNMENT);
    if (!place) return EMU_OUT_OF_MEMORY;
    place = round_up(place, alignment);
    const struct range *range = add_range(memory, (struct range){.base = place, .bytes = bytes});
    if (!range) return EMU_OUT_OF_MEMORY;
    memory->used += bytes;
    memset((void *)(uintptr_t)(place + (uint64_t)range->delta), memory->fresh,
           bytes < FRESH_LIMIT ? bytes : FRESH_LIMIT);
    *address = place;
    return EMU_OK;
}

int memory_take(struct memory *memory, size_t bytes, uint64_t page_offset, emu_addr *address)
{
    uint64_t place = find_free(memory, bytes + 2 * RANGES_GAP); /* for the offset */
    if (!place) return EMU_OUT_OF_MEMORY;
    place = round_up(place, RANGES_GAP) + page_offset;
    if (!add_range(memory, (struct range){.base = place, .bytes = bytes, .is_imported = true}))
        return EMU_OUT_OF_MEMORY;
    *address = place;
    return EMU_OK;
}

void memory_give_back(struct memory *memory, emu_addr address)
{
    take_out(memory, &memory->allocations, address);
}

/* Two allocations never share a page of the store, because the gap is as wide as a page. */
void *memory_pages(const struct range *range, uint64_t *bytes)
{
    uint64_t first = range->base / RANGES_GAP * RANGES_GAP;
    *bytes = round_up(range->base + range->bytes, RANGES_GAP) - first;
    return (void *)(uintptr_t)(first + (uint64_t)range->delta);
}

static void free_range(struct memory *memory, const struct range *range)
{
    uint64_t bytes;
    void *first_page = memory_pages(range, &bytes);
    if (range->is_exported)
        ipc_withdraw(memory, range);
    else
        address_space_discard(first_page, bytes);
    memory->used -= range->bytes;
    take_out(memory, &memory->allocations, range->base);
}

int memory_free(struct memory *memory, emu_addr address)
{
    const struct range *range = memory_find(memory, address);
    if (!range || range->base != address || !range->delta || range->is_heap || range->is_imported)
        return EMU_INVALID_VALUE;
    free_range(memory, range);
    return EMU_OK;
}

size_t memory_hide(struct memory *memory, emu_addr address, bool hidden)
{
    struct range *range = ranges_at(&memory->allocations, address);
    if (!range || range->base != address || range->is_hidden == hidden) return 0;
    pthread_mutex_lock(&memory->lock);
    range->is_hidden = hidden;
    pthread_mutex_unlock(&memory->lock);
    return range->bytes;
}

int memory_alloc_heap(struct memory *memory, size_t bytes, emu_addr *address)
{
    int error = memory_alloc(memory, bytes, address);
    if (!error) ranges_at(&memory->allocations, *address)->is_heap = true;
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
    const struct range *last = ranges_at(&memory->mapped, address + bytes - 1);
    if (last && last->base + last->bytes > address)
        return EMU_INVALID_VALUE; /* overlaps mapped memory */
    bool done = insert(memory, &memory->mapped, (struct range){.base = address, .bytes = bytes});
    return done ? EMU_OK : EMU_OUT_OF_MEMORY;
}

int memory_unmap(struct memory *memory, void *host)
{
    const struct range *range = memory_find(memory, (uint64_t)(uintptr_t)host);
    if (!range || range->base != (uint64_t)(uintptr_t)host || range->delta)
        return EMU_INVALID_VALUE;
    take_out(memory, &memory->mapped, range->base);
    return EMU_OK;
}
