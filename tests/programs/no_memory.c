/*
 * no_memory.c — makes one allocation fail in a program that this library is loaded into by
 * LD_PRELOAD: the one with number FAIL_AT, from 0, of those that the program and the emulator make
 * by malloc, calloc and realloc. If there are fewer, it says so when the program exits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EARLY_BYTES = 1 << 16, ALIGNMENT = 16 };

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static long left = -1; /* allocations before the one that fails; below 0: it has failed */
static bool is_ready;
static _Thread_local bool is_inside;

/* For what dlsym allocates before the next malloc is known. It is never freed. */
static void *early(size_t bytes)
{
    static _Alignas(ALIGNMENT) char memory[EARLY_BYTES];
    static size_t used;
    void *place = memory + used;
    used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return used <= EARLY_BYTES ? place : NULL;
}

static void begin(void)
{
    if (is_ready) return;
    is_ready = is_inside = true;
    *(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
    *(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
    const char *number = getenv("FAIL_AT");
    if (number) left = atol(number);
    is_inside = false;
}

/* The system's libraries allocate, too, and what they do without memory is not tested here. */
static bool is_of_the_system(const void *caller)
{
    Dl_info info;
    is_inside = true;
    bool known = dladdr(caller, &info) && info.dli_fname;
    is_inside = false;
    return !known || !strncmp(info.dli_fname, "/lib", 4) || !strncmp(info.dli_fname, "/usr/", 5);
}

static bool fails(const void *caller)
{
    if (is_inside || left < 0 || is_of_the_system(caller)) return false;
    if (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) != 0) return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    begin();
    if (!next_malloc) return early(bytes);
    return fails(__builtin_return_address(0)) ? NULL : next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    begin();
    if (!next_calloc) return early(count * bytes);
    return fails(__builtin_return_address(0)) ? NULL : next_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    begin();
    return fails(__builtin_return_address(0)) ? NULL : next_realloc(old, bytes);
}

__attribute__((destructor)) static void end(void)
{
    if (left >= 0) fputs("no allocation failed\n", stderr);
}
