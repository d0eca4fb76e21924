/*
 * arena.h — memory of one compilation, freed all at once.
 */
#ifndef CC_ARENA_H
#define CC_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

/* The emulator has an arena of its own, and programs are linked with both. */
#define arena_take cc_arena_take
#define arena_text cc_arena_text
#define arena_free cc_arena_free

struct arena_chunk;

/* Begins as zeros, but for `no_memory`. */
struct arena {
    struct arena_chunk *chunks;
    size_t used, size;  /* bytes of the first chunk */
    jmp_buf *no_memory; /* where to go if there is none */
};

/* Zeroed memory, aligned for any type. Does not return if there is none. */
void *arena_take(struct arena *, size_t size);
#define ARENA_NEW(arena, type) ((type *)arena_take((arena), sizeof(type)))

/* `length` bytes of `text`, and a zero. */
char *arena_text(struct arena *, const char *text, size_t length);
char *arena_format(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *arena_format_list(struct arena *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));

/* A larger copy of an array of `count` elements if it has no room for one more. Room is doubled:
 * 8, 16, 32 … elements. */
void *arena_grow(struct arena *, void *array, size_t count, size_t element);

void arena_free(struct arena *);

#endif
