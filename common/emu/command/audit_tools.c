/*
 * audit_tools.c — nvcc and linkers that a command starts below the command emu go through it,
 * because their words may have to be changed (command_tools.c). So it does not matter how a
 * makefile finds nvcc: by PATH, by CUDA_HOME or by a path of its own.
 *
 * Not noticed: an nvcc or a linker that is itself linked statically.
 */
#define _GNU_SOURCE
#include "start.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Is it nvcc, or a linker such as ld, ld.gold or x86_64-linux-gnu-ld? */
static bool is_tool(const char *path)
{
    static const char *const linkers[] = {"ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"};
    const char *name = audit_last_part(path);
    size_t length = strlen(name);
    if (strcmp(name, "nvcc") == 0) return true;
    for (size_t i = 0; i < sizeof linkers / sizeof *linkers; i++) {
        size_t end = strlen(linkers[i]);
        if (length < end || strcmp(name + length - end, linkers[i]) != 0) continue;
        if (length == end || name[length - end - 1] == '-') return true;
    }
    return false;
}

/* A script called nvcc or ld stays as it is: what it starts is looked at in its turn. */
static bool is_script(const char *path)
{
    char mark[2] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    size_t read = fread(mark, 1, sizeof mark, file);
    fclose(file);
    return read == sizeof mark && memcmp(mark, "#!", sizeof mark) == 0;
}

/* glibc calls it before the program's own code runs. EMU_CHANGED is the process in which the
 * command emu has already been. */
__attribute__((constructor)) static void go_through_emu(int count, char **words)
{
    const char *emu = getenv("EMU_CHANGER"), *process = getenv("EMU_CHANGED"),
               *path = (const char *)getauxval(AT_EXECFN);
    if (emu == NULL || path == NULL || count < 1 || !is_tool(path)) return;
    if (is_script(path) || (process != NULL && atol(process) == (long)getpid())) return;
    char **all = calloc((size_t)count + 3, sizeof *all);
    if (all == NULL) return;
    all[0] = (char *)"emu-tool"; /* main.c */
    all[1] = (char *)path;
    memcpy(all + 2, words, (size_t)count * sizeof *words);
    execv(emu, all);
    audit_say("cannot run %s, so the words of %s are not changed: %s", emu, path, strerror(errno));
    free(all);
}
