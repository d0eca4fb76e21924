/* allocated.c — memory that cannot be had ends the program. */
#define _GNU_SOURCE /* program_invocation_short_name, syscall */
#include "allocated.h"
#include "files.h"
#include "visible.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STATUS = 2 }; /* as for options that ask for too much */

/* Ends without destructors and without the emulator's reports: they need memory, and locks that
 * this thread may hold. */
_Noreturn static void end(void)
{
#ifdef __wasm__
    exit(STATUS);
#else
    replacement_drop_all();
    for (;;) syscall(SYS_exit_group, STATUS);
#endif
}

void *allocated(void *memory)
{
    char program[NAME_MAX + 1];
    if (memory != NULL) return memory;
    fflush(stdout);
    visible(program, sizeof program, program_invocation_short_name);
    fprintf(stderr, "%s: the host has no memory left; take smaller data, or raise ulimit -v\n",
            program);
    end();
}

/* ---- arenas ---------------------------------------------------------------------------------- */

enum { CHUNK = 64 << 10, ALIGNMENT = 16 };

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(ALIGNMENT) char bytes[];
};

void *arena_take(struct arena *arena, size_t bytes)
{
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > arena->size - arena->used) {
        size_t size = bytes > CHUNK ? bytes : CHUNK;
        struct arena_chunk *chunk = allocated(calloc(1, sizeof *chunk + size));
        chunk->next = arena->chunks;
        *arena = (struct arena){chunk, 0, size};
    }
    arena->used += bytes;
    return arena->chunks->bytes + arena->used - bytes;
}

char *arena_text(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_take(arena, length + 1);
    memcpy(copy, text, length);
    return copy;
}

void arena_free(struct arena *arena)
{
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk != NULL; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    *arena = (struct arena){0};
}
