/*
 * pair.h — what the catalogues in this folder share. Each is a program with many pairs.
 *
 * A pair shows one mistake and its correction: `CATALOGUE NAME wrong` has it, `CATALOGUE NAME
 * right` does not. They run under compute-sanitizer on a GPU and under the emulator's checkers, and
 * the findings are compared (profiles/measure/measure.py, notes/checks.md). Host code checks
 * nothing, so that the tools must.
 *
 * A pair begins with the comment `NAME — what is wrong`, and its lines have no empty line between
 * them. Its macro, one of those below, has the name with underscores. A comment at a line says what
 * the emulator finds there in the wrong version, as "memcheck: Invalid __global__ read":
 * tests/unit/emulator/test_checks.c has the rules.
 */
#ifndef PAIR_H
#define PAIR_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

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

/* ---- pairs ----------------------------------------------------------------------------------- */

struct pair {
    const char *name;
    void (*host[2])(); /* of the wrong and of the right version */
    void (*end)();
    struct pair *next;
};
static struct pair *pairs;

static inline bool add_pair(struct pair *pair)
{
    pair->next = pairs;
    pairs = pair;
    return true;
}

#define DEFINE_PAIR(name, host, end)                                                               \
    template <bool right> static void host();                                                      \
    static struct pair host##_pair = {name, {host<false>, host<true>}, end, nullptr};              \
    static bool host##_added = add_pair(&host##_pair);                                             \
    template <bool right> static void host()
#define DEFINE_NUMBERED(name, number) DEFINE_PAIR(name, host_##number, finish)
#define DEFINE_AT(name, line)         DEFINE_NUMBERED(name, line)

/* What the host does, HOST(NAME) { … }, as a template over `right`. Then the device is waited for,
 * and the memory is freed; after MAIN(NAME) { … } nothing is done. */
#define HOST(name) DEFINE_PAIR(#name, name##_host, finish)
#define MAIN(name) DEFINE_PAIR(#name, name##_host, nullptr)

/* A pair whose host only launches the kernel with its name: PAIR(NAME<right>, blocks, threads,
 * arguments), or COOPERATIVE(…) with a barrier of the grid; LAUNCH(NAME, …) launches a kernel with
 * another name. In braces, the arguments are made in their order. */
#define PAIR(kernel, ...)                                                                          \
    DEFINE_AT(#kernel, __LINE__) { launch{kernel, __VA_ARGS__}; }
#define COOPERATIVE(kernel, ...)                                                                   \
    DEFINE_AT(#kernel, __LINE__) { launch_together{kernel, __VA_ARGS__}; }
#define LAUNCH(name, ...)                                                                          \
    HOST(name) { launch{__VA_ARGS__}; }

/* Whether NAME or NAME<right> is a pair's name, in which a - is written as a _. */
static inline bool is_named(const char *name, const char *asked)
{
    for (; *asked && (*name == *asked || (*name == '_' && *asked == '-')); name++) asked++;
    return !*asked && (!*name || *name == '<');
}

/* With an exit code as a third argument, the program ends with that code. */
int main(int argc, char **argv)
{
    bool right = argc > 2 && strcmp(argv[2], "right") == 0;
    struct pair *pair = right || (argc > 2 && strcmp(argv[2], "wrong") == 0) ? pairs : nullptr;
    while (pair && !is_named(pair->name, argv[1])) pair = pair->next;
    if (!pair) {
        fprintf(stderr, "usage: %s PAIR wrong|right [exit code]\n", argv[0]);
        return 2;
    }
    pair->host[right]();
    if (pair->end) pair->end();
    return argc > 3 ? atoi(argv[3]) : 0;
}

#endif
