/* arena.h — memory that is freed all at once, for everything that lives as long as a module. */
#ifndef EMU_ARENA_H
#define EMU_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void); /* this and the two below return NULL when out of memory */
/* Returns zeroed bytes, aligned for any type, which live until arena_free. */
void *arena_take(struct arena *, size_t bytes);
char *arena_text(struct arena *, const char *text, size_t length); /* a copy with a NUL */
void arena_free(struct arena *);

#endif
