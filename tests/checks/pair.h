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

/* What the host's part of a pair has allocated, and how it is freed at the end. */
static struct {
    void *memory;
    cudaError_t (*release)(void *);
} allocated[32];
static int allocations;

template <typename T> static T *keep(T *memory, cudaError_t (*release)(void *))
{
    allocated[allocations].memory = memory;
    allocated[allocations++].release = release;
    return memory;
}

/* Device memory for n elements: nothing is written, all are 0, or they are 0, 1, 2, …; and pinned
 * memory of the host, all 0. */
template <typename T> static T *unwritten(int n)
{
    T *p = nullptr;
    cudaMalloc(&p, n * sizeof(T));
    return keep(p, cudaFree);
}

template <typename T> static T *zeros(int n)
{
    T *p = unwritten<T>(n);
    cudaMemset(p, 0, n * sizeof(T));
    return p;
}

template <typename T> static T *numbers(int n)
{
    T *p = unwritten<T>(n), *host = (T *)malloc(n * sizeof(T));
    for (int i = 0; i < n; i++) host[i] = i;
    cudaMemcpy(p, host, n * sizeof(T), cudaMemcpyHostToDevice);
    free(host);
    return p;
}

template <typename T> static T *pinned(int n)
{
    T *p = nullptr;
    cudaMallocHost(&p, n * sizeof(T));
    memset(p, 0, n * sizeof(T));
    return keep(p, cudaFreeHost);
}

static inline cudaStream_t new_stream(unsigned flags = cudaStreamNonBlocking)
{
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, flags);
    return stream;
}

static inline cudaEvent_t new_event()
{
    cudaEvent_t event;
    cudaEventCreate(&event);
    return event;
}

static inline void finish()
{
    cudaDeviceSynchronize();
    for (int i = 0; i < allocations; i++) allocated[i].release(allocated[i].memory);
}

/* What the host does, HOST { … }, as a template over `right`. Then the device is waited for, and
 * the memory is freed. */
#define HOST                                                                                       \
    template <bool right> static void host();                                                      \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        is_right(argc, argv) ? host<true>() : host<false>();                                       \
        finish();                                                                                  \
    }                                                                                              \
    template <bool right> static void host()

/* A pair whose host only launches a kernel: PAIR(kernel<right>, blocks, threads, arguments), or
 * COOPERATIVE(…) with a barrier of the grid. In braces, the arguments are made in their order.
 * Tests read these lines: tests/emulator/ptx/pairs.h. */
#define PAIR(...)                                                                                  \
    HOST { launch{__VA_ARGS__}; }
#define COOPERATIVE(...)                                                                           \
    HOST { launch_together{__VA_ARGS__}; }

template <typename... P> struct launch {
    template <typename... A> launch(void (*kernel)(P...), dim3 blocks, dim3 threads, A... arguments)
    {
        kernel<<<blocks, threads>>>(arguments...);
    }
};

template <typename... P> struct launch_together {
    template <typename... A>
    launch_together(void (*kernel)(P...), dim3 blocks, dim3 threads, A... arguments)
    {
        void *pointers[] = {&arguments...};
        cudaLaunchCooperativeKernel(kernel, blocks, threads, pointers);
    }
};

#endif
