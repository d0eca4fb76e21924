#include "heap.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { GRANULE = 16, DEFAULT_BYTES = 8 << 20 };
#define MAX_BYTES ((size_t)UINT32_MAX * GRANULE)

int heap_open(struct heap *heap, struct memory *memory)
{
    if (heap->base) return EMU_OK;
    size_t bytes = heap->wanted ? heap->wanted : DEFAULT_BYTES;
    if (bytes > MAX_BYTES) return EMU_OUT_OF_MEMORY;
    heap->granules = heap->free = (bytes + GRANULE - 1) / GRANULE;
    heap->next = 0;
    heap->owner = calloc(heap->granules, sizeof *heap->owner);
    heap->bytes = calloc(heap->granules, sizeof *heap->bytes);
    int error = heap->owner && heap->bytes
                    ? memory_alloc_heap(memory, heap->granules * GRANULE, &heap->base)
                    : EMU_OUT_OF_MEMORY;
    if (error) {
        free(heap->owner);
        free(heap->bytes);
        return error;
    }
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
    else
        snprintf(text, size,
                 "%" PRIu64 " bytes past the end of the block of %" PRIu64 " bytes at 0x%" PRIx64
                 " of malloc",
                 address - base - bytes, bytes, base);
    pthread_mutex_unlock(&heap->lock);
}
