/*
 * entered.c — a library that cover.py preloads. The first time that a process enters a function
 * compiled with -finstrument-functions, a line "program offset" is added to the file $ENTERED.
 * Signal handlers and threads may enter functions, too; a process that is killed has its lines.
 */
#define _GNU_SOURCE /* _dl_find_object */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PLACES = 1 << 16 }; /* more than any process has functions */
static _Atomic(uintptr_t) entered[PLACES];

static void write_line(uintptr_t function)
{
    char program[512] = "", line[600];
    const char *path = getenv("ENTERED");
    struct dl_find_object object;
    int before = errno;
    if (path == NULL || _dl_find_object((void *)function, &object) != 0) return;
    const struct link_map *map = object.dlfo_link_map;
    if (map->l_name[0] == '\0' && readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return;
    int length = snprintf(line, sizeof line, "%s %jx\n", program[0] ? program : map->l_name,
                          (uintmax_t)(function - map->l_addr));
    int file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0 && length < (int)sizeof line) (void)!write(file, line, (size_t)length);
    if (file >= 0) close(file);
    errno = before;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    uintptr_t wanted = (uintptr_t)function;
    (void)caller;
    for (uintptr_t at = wanted / 16;; at++) {
        uintptr_t there = entered[at % PLACES];
        if (there == wanted) return;
        if (there == 0 && atomic_compare_exchange_strong(&entered[at % PLACES], &there, wanted))
            return write_line(wanted);
        if (there == wanted) return;
    }
}
