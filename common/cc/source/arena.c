/* arena.c — memory of one compilation: chunks from which pieces are taken, and freed together. */
#include "arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 * 1024, ALIGNMENT = 16, FIRST_ROOM = 8 };

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(ALIGNMENT) char bytes[];
};

static void add_chunk(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = calloc(1, sizeof(*chunk) + size);
    if (chunk == NULL) longjmp(*arena->no_memory, 1);
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->used = 0;
    arena->size = size;
}

void *cc_take(struct arena *arena, size_t size)
{
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > arena->size - arena->used) add_chunk(arena, size > CHUNK ? size : CHUNK);
    arena->used += size;
    return arena->chunks->bytes + arena->used - size;
}

char *cc_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = cc_take(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *cc_format_list(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = cc_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    return text;
}

char *cc_format(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cc_format_list(arena, format, arguments);
    va_end(arguments);
    return text;
}

void *cc_grow(struct arena *arena, void *array, size_t count, size_t element)
{
    bool full = count == 0 || (count >= FIRST_ROOM && (count & (count - 1)) == 0);
    if (!full) return array;
    void *larger = cc_take(arena, (count == 0 ? FIRST_ROOM : 2 * count) * element);
    if (count > 0) memcpy(larger, array, count * element);
    return larger;
}

void cc_give_back(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->used = arena->size = 0;
}
