/* memory.c — device memory, shared memory, and the heap of kernels. */
#include "device.h"
#include "events.h"
#include <inttypes.h>

/* ---- device memory --------------------------------------------------------------------------- */

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

/* Adds the range that begins at a free place. */
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
    add_range(memory, (struct range){.base = place, .bytes = bytes, .is_imported = true});
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

/* Make and free the heap of malloc in kernels, which the host cannot access. */
static int memory_alloc_heap(struct memory *memory, size_t bytes, emu_addr *address)
{
    int error = memory_alloc(memory, bytes, address);
    if (!error) ranges_at(&memory->allocations, *address)->is_heap = true;
    return error;
}

static void memory_free_heap(struct memory *memory, emu_addr address)
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
    insert(memory, &memory->mapped, (struct range){.base = address, .bytes = bytes});
    return EMU_OK;
}

int memory_unmap(struct memory *memory, void *host)
{
    const struct range *range = memory_find(memory, (uint64_t)(uintptr_t)host);
    if (!range || range->base != (uint64_t)(uintptr_t)host || range->delta)
        return EMU_INVALID_VALUE;
    take_out(memory, &memory->mapped, range->base);
    return EMU_OK;
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* The block that an address of a warp refers to; NULL after a fault. */
static struct block *owner_of(struct warp *w, const struct insn *i, int lane, uint64_t address,
                              bool own)
{
    struct block *block = w->block;
    struct cluster *cluster = block->cluster;
    uint64_t rank = address >> RANK_SHIFT;
    if (own && rank && rank != block->rank) {
        fault(
            w, i, lane, EMU_ILLEGAL_ADDRESS,
            "shared address 0x%llx belongs to the block of rank %llu, and this instruction reaches "
            "only its own block (rank %u): .shared::cluster reaches others",
            (unsigned long long)address, (unsigned long long)rank, block->rank);
        return NULL;
    }
    if (own) return block;
    if (rank >= cluster->size) {
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "shared address 0x%llx names the block of rank %llu, in a cluster of %u",
              (unsigned long long)address, (unsigned long long)rank, cluster->size);
        return NULL;
    }
    if (cluster->blocks[rank]->ended) {
        if (announces(block, ANNOUNCE_ORDER))
            event_use_after_end(w, i, lane, cluster->blocks[rank], shared_offset(address));
        fault(
            w, i, lane, EMU_LAUNCH_FAILURE,
            "the block of rank %llu has exited, and its shared memory is gone: a cluster.sync() at "
            "its end would keep it (barrier.cluster)",
            (unsigned long long)rank);
        return NULL;
    }
    return cluster->blocks[rank];
}

struct block *shared_enter(struct warp *w, const struct insn *i, struct access *access, bool own)
{
    int first = __builtin_ctz(access->mask);
    struct block *owner = owner_of(w, i, first, access->address[first], own);
    if (!owner) return NULL;
    uint32_t kept = 0;
    for (int l = 0; l < WARP; l++) {
        uint64_t rank = access->address[l] >> RANK_SHIFT;
        if (rank == owner->rank || (own && !rank)) kept |= UINT32_C(1) << l;
    }
    access->mask &= kept;
    for (int l = 0; l < WARP; l++)
        access->address[l] = shared_offset(access->address[access->mask >> l & 1 ? l : first]);
    return owner;
}

bool shared_find(struct warp *w, const struct insn *i, int lane, enum ptx_space space,
                 uint64_t address, uint64_t bytes, unsigned alignment, struct shared_place *place)
{
    if (space == PTX_GENERIC) {
        if (address - SHARED_WINDOW >= WINDOW_BYTES) {
            fault(w, i, lane, EMU_INVALID_ADDRESS_SPACE,
                  "generic address 0x%llx is not in shared memory", (unsigned long long)address);
            return false;
        }
        address -= SHARED_WINDOW;
    }
    struct block *owner = owner_of(w, i, lane, address, space == PTX_SHARED);
    if (!owner) return false;
    uint64_t offset = shared_offset(address);
    if (offset % alignment) {
        fault(w, i, lane, EMU_MISALIGNED_ADDRESS, "shared address 0x%llx is not a multiple of %u",
              (unsigned long long)address, alignment);
        return false;
    }
    if (bytes > owner->shared_bytes || offset > owner->shared_bytes - bytes) {
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "%llu bytes at shared address 0x%llx are out of bounds (%zu bytes of shared memory a "
              "block)",
              (unsigned long long)bytes, (unsigned long long)address, owner->shared_bytes);
        return false;
    }
    *place = (struct shared_place){owner, (uint32_t)offset};
    return true;
}

/* ---- the heap of kernels --------------------------------------------------------------------- */

enum { GRANULE = 16, DEFAULT_BYTES = 8 << 20 };
#define MAX_BYTES ((size_t)UINT32_MAX * GRANULE)

int heap_open(struct heap *heap, struct memory *memory)
{
    if (heap->base) return EMU_OK;
    size_t bytes = heap->wanted ? heap->wanted : DEFAULT_BYTES;
    if (bytes > MAX_BYTES) return EMU_OUT_OF_MEMORY;
    heap->granules = heap->free = (bytes + GRANULE - 1) / GRANULE;
    heap->next = 0;
    int error = memory_alloc_heap(memory, heap->granules * GRANULE, &heap->base);
    if (error) return error;
    heap->owner = allocated(calloc(heap->granules, sizeof *heap->owner));
    heap->bytes = allocated(calloc(heap->granules, sizeof *heap->bytes));
    pthread_mutex_init(&heap->lock, NULL);
    return EMU_OK;
}

void heap_close(struct heap *heap, struct memory *memory)
{
    if (!heap->base) return;
    memory_free_heap(memory, heap->base);
    pthread_mutex_destroy(&heap->lock);
    free(heap->owner);
    free(heap->bytes);
    *heap = (struct heap){.wanted = heap->wanted};
}

/* The granules of a block: those of its bytes, and an unused one that detects accesses past the
 * end. */
static size_t granules_of(uint64_t bytes) { return (bytes + GRANULE - 1) / GRANULE + 1; }

/* The first of `count` free granules in a row, from `from` on; heap->granules: not found. */
static size_t find_granules(const struct heap *heap, size_t from, size_t count)
{
    size_t run = 0;
    for (size_t g = from; g < heap->granules;) {
        if (heap->owner[g]) {
            size_t first = heap->owner[g] - 1;
            g = first + granules_of(heap->bytes[first]);
            run = 0;
            continue;
        }
        g++;
        if (++run == count) return g - count;
    }
    return heap->granules;
}

/* The search goes round the heap, so freed blocks are used again as late as possible. */
uint64_t heap_alloc(struct heap *heap, uint64_t bytes)
{
    uint64_t address = 0;
    if (bytes > heap->granules * (uint64_t)GRANULE) return 0;
    size_t count = granules_of(bytes), place = heap->granules;
    pthread_mutex_lock(&heap->lock);
    if (count <= heap->free) {
        place = find_granules(heap, heap->next, count);
        if (place == heap->granules) place = find_granules(heap, 0, count);
    }
    if (place < heap->granules) {
        for (size_t g = place; g < place + count; g++) {
            heap->owner[g] = (uint32_t)place + 1;
            heap->bytes[g] = 0;
        }
        heap->bytes[place] = bytes;
        heap->free -= count;
        heap->next = place + count;
        address = heap->base + place * GRANULE;
    }
    pthread_mutex_unlock(&heap->lock);
    return address;
}

static bool is_inside(const struct heap *heap, uint64_t address)
{
    return heap->base && address - heap->base < heap->granules * (uint64_t)GRANULE;
}

const char *heap_free(struct heap *heap, uint64_t address, uint64_t *bytes)
{
    const char *wrong = NULL;
    *bytes = 0;
    if (!is_inside(heap, address)) return "which malloc in a kernel has never given";
    size_t first = (address - heap->base) / GRANULE;
    bool is_start = (address - heap->base) % GRANULE == 0;
    pthread_mutex_lock(&heap->lock);
    if (is_start && heap->owner[first] == first + 1) {
        *bytes = heap->bytes[first];
        size_t count = granules_of(*bytes);
        memset(&heap->owner[first], 0, count * sizeof *heap->owner);
        if (!*bytes) heap->bytes[first] = 1; /* marks that a block was here */
        heap->free += count;
    } else if (heap->owner[first]) {
        wrong = "which is inside of a block, not at its start";
    } else if (is_start && heap->bytes[first]) {
        wrong = "which has been freed already";
    } else {
        wrong = "where no block begins";
    }
    pthread_mutex_unlock(&heap->lock);
    return wrong;
}

bool heap_find(struct heap *heap, uint64_t address, struct range *range)
{
    if (!is_inside(heap, address)) return false;
    size_t granule = (address - heap->base) / GRANULE;
    pthread_mutex_lock(&heap->lock);
    size_t owner = heap->owner[granule];
    if (owner) {
        range->base = heap->base + (owner - 1) * GRANULE;
        range->bytes = heap->bytes[owner - 1];
    }
    pthread_mutex_unlock(&heap->lock);
    return owner && address - range->base < range->bytes;
}

bool heap_walk(struct heap *heap, size_t *granule, struct range *range)
{
    if (!heap->base) return false;
    pthread_mutex_lock(&heap->lock);
    while (*granule < heap->granules && heap->owner[*granule] != *granule + 1) ++*granule;
    bool found = *granule < heap->granules;
    if (found) {
        range->base = heap->base + *granule * GRANULE;
        range->bytes = heap->bytes[(*granule)++];
    }
    pthread_mutex_unlock(&heap->lock);
    return found;
}

void heap_describe(struct heap *heap, uint64_t address, char *text, size_t size)
{
    size_t granule = (address - heap->base) / GRANULE;
    pthread_mutex_lock(&heap->lock);
    size_t first = granule;
    while (first > 0 && !heap->owner[first] && !heap->bytes[first]) first--;
    bool is_freed = !heap->owner[first];
    if (!is_freed) first = heap->owner[first] - 1;
    uint64_t base = heap->base + first * GRANULE, bytes = heap->bytes[first];
    if (!bytes)
        snprintf(text, size, "in the heap of malloc, where no block is");
    else if (address - base < bytes)
        snprintf(text, size,
                 "%" PRIu64 " bytes into the block of %" PRIu64 " bytes at 0x%" PRIx64
                 " of malloc%s",
                 address - base, bytes, base, is_freed ? ", which was freed" : "");
    else if (address - base == bytes)
        snprintf(text, size,
                 "just past the end of the block of %" PRIu64 " bytes at 0x%" PRIx64 " of malloc",
                 bytes, base);
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes past the end of the block of %" PRIu64 " bytes at 0x%" PRIx64
                 " of malloc",
                 address - base - bytes, bytes, base);
    pthread_mutex_unlock(&heap->lock);
}
