/* example.cuh — what the examples share: arrays of ints on the device, and a table of programs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 256 /* elements, and threads of the only block */

/* Runs a kernel on the numbers 0 to N - 1, and gives back what it has stored. */
#define RUN(kernel, got)                                                                           \
    do {                                                                                           \
        int numbers[N], *in, *out;                                                                 \
        for (int i = 0; i < N; i++) numbers[i] = i;                                                \
        cudaMalloc(&in, sizeof numbers);                                                           \
        cudaMalloc(&out, sizeof numbers);                                                          \
        cudaMemset(out, 0, sizeof numbers);                                                        \
        cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice);                           \
        kernel<<<1, N>>>(out, in);                                                                 \
        if (cudaMemcpy(got, out, sizeof numbers, cudaMemcpyDeviceToHost)) exit(1);                 \
        cudaFree(in);                                                                              \
        cudaFree(out);                                                                             \
    } while (0)

/* A program: a kernel, and what has to be in element i after it. */
#define PROGRAM(kernel, expected)                                                                  \
    static int run_##kernel()                                                                      \
    {                                                                                              \
        int got[N], wrong = 0;                                                                     \
        RUN(kernel, got);                                                                          \
        for (int i = 0; i < N; i++) wrong += got[i] != (expected);                                 \
        printf(#kernel ": %d wrong\n", wrong);                                                     \
        return wrong != 0;                                                                         \
    }

struct program {
    const char *name;
    int (*run)();
};

/* main NAME runs a program, and fails if a number is wrong. */
static int choose(int argc, char **argv, const struct program *programs, int count)
{
    for (int i = 0; i < count; i++)
        if (argc == 2 && !strcmp(argv[1], programs[i].name)) return programs[i].run();
    fprintf(stderr, "Give the name of a program of this file.\n");
    return 2;
}
