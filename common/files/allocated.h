/* allocated.h — memory for what a program keeps about its work. If the host has none left, the
 * program ends with a sentence: there is nothing that it could do. What is as large as a user's
 * numbers, such as device memory, is asked for with malloc and its like, and has an error. */
#ifndef ALLOCATED_H
#define ALLOCATED_H

#include <stddef.h>
#include <stdlib.h>

/* What malloc and its like, or open_memstream, have returned, which is never NULL then. */
void *allocated(void *memory);

/* An array of `count` elements with room for at least one more. Whenever the number is a power of
 * two, the array becomes twice as large. */
static inline void *grown(void *array, size_t count, size_t size)
{
    return count & (count - 1) ? array
                               : allocated(realloc(array, (count > 0 ? 2 * count : 1) * size));
}

/* Memory that is freed all at once. An arena begins as zeros. */
struct arena {
    struct arena_chunk *chunks;
    size_t used, size; /* bytes of the first chunk */
};

void *arena_take(struct arena *, size_t bytes); /* zeroed, and aligned for any type */
#define ARENA_NEW(arena, type) ((type *)arena_take((arena), sizeof(type)))
char *arena_text(struct arena *, const char *text, size_t length); /* a copy with a NUL */
void arena_free(struct arena *);

#endif
