#include "arena.h"
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10, ALIGNMENT = 16 };

struct chunk {
    struct chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

struct arena {
    struct chunk *first;
};

struct arena *arena_new(void) { return calloc(1, sizeof(struct arena)); }

void *arena_take(struct arena *arena, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct chunk *chunk = arena->first;
    if (!chunk || chunk->size - chunk->used < bytes) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;
        chunk = calloc(1, sizeof *chunk + size);
        if (!chunk) return NULL;
        chunk->size = size;
        chunk->next = arena->first;
        arena->first = chunk;
    }
    void *taken = chunk->bytes + chunk->used;
    chunk->used += bytes;
    return taken;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_take(arena, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    if (!arena) return;
    for (struct chunk *chunk = arena->first, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}
