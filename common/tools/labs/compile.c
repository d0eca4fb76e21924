/* compile.c — how nvcc compiles a lab's file, and what its messages mean. */
#include "compile.h"

#include <stddef.h>
#include <string.h>

void compile_arguments(const char *nvcc, const char *source, const char *ptx,
                       const char *argv[COMPILE_ARGUMENTS])
{
    /* -lineinfo: findings and counters name lines. 177 and 550: gaps leave variables unused. */
    const char *const all[] = {
        nvcc,   "-ptx", "-O3", "-lineinfo", "-arch=compute_90", "-diag-suppress=177,550",
        source, "-o",   ptx,   NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) argv[i] = all[i];
}

void compile_own_arguments(const char *upcc, const char *source, const char *ptx,
                           const char *argv[COMPILE_ARGUMENTS])
{
    const char *const all[] = {upcc, source, "-o", ptx, NULL};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) argv[i] = all[i];
}

bool compile_exceeded(int code, const char *messages)
{
    enum { BY_SIGNAL = 128, LAST_SIGNAL = 64 };
    static const char *const signs[] = {"died due to signal", "limit exceeded", "out of memory",
                                        "Killed"};
    if (code > BY_SIGNAL && code <= BY_SIGNAL + LAST_SIGNAL) return true;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(messages, signs[i]) != NULL) return true;
    return false;
}
