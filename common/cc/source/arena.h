/*
 * arena.h — memory of one compilation, freed all at once.
 */
#ifndef CC_ARENA_H
#define CC_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;

/* Begins as zeros, but for `no_memory`. */
struct arena {
    struct arena_chunk *chunks;
    size_t used, size;  /* bytes of the first chunk */
    jmp_buf *no_memory; /* where to go if there is none */
};

/* Zeroed memory, aligned for any type. Does not return if there is none. */
void *cc_take(struct arena *, size_t size);
#define ARENA_NEW(arena, type) ((type *)cc_take((arena), sizeof(type)))

/* `length` bytes of `text`, and a zero. */
char *cc_text(struct arena *, const char *text, size_t length);
char *cc_format(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *cc_format_list(struct arena *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));

/* A larger copy of an array of `count` elements if it has no room for one more. Room is doubled:
 * 8, 16, 32 … elements. */
void *cc_grow(struct arena *, void *array, size_t count, size_t element);

void cc_give_back(struct arena *);

#endif
