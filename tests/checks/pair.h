/*
 * pair.h — what the programs in this folder share.
 *
 * Each shows one mistake and its correction: `NAME wrong` has it, `NAME right` does not. They run
 * under compute-sanitizer on a GPU and under the emulator's checkers, and the findings are compared
 * (profiles/measure/checks.sh, notes/checks.md). Host code checks nothing, so that the tools must.
 *
 * A comment at a line says what the emulator finds there in the wrong version, as "memcheck:
 * Invalid __global__ read": tests/emulator/test_checks.c has the rules. main does not return:
 * group.sh makes it a function without a result.
 */
#ifndef PAIR_H
#define PAIR_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

static inline bool is_right(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "right") == 0) return true;
    if (argc == 2 && strcmp(argv[1], "wrong") == 0) return false;
    fprintf(stderr, "usage: %s wrong|right\n", argv[0]);
    exit(2);
}

/* Device memory for n elements, all 0. */
template <typename T> static T *zeros(int n)
{
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}

/* Launches the chosen kernel, which is a template over `right`. */
#define LAUNCH(kernel, right, blocks, threads, ...)                                                \
    do {                                                                                           \
        if (right)                                                                                 \
            kernel<true><<<blocks, threads>>>(__VA_ARGS__);                                        \
        else                                                                                       \
            kernel<false><<<blocks, threads>>>(__VA_ARGS__);                                       \
    } while (0)

#endif
