/*
 * carve-out: the share of shared memory in the memory that it has in common with L1.
 *
 * What it shows: L1 and shared memory are parts of the same memory of a multiprocessor (256 KiB on
 * an H200), and a kernel may say how much of it should be shared memory. With too little, fewer
 * blocks of a kernel that needs shared memory are resident. With too much, a kernel that reads the
 * same data again and again finds less of it in L1.
 * From: Kepler tuning guide, 1.4.3.2; lecture (CS 380, lecture 25), on the split of L1 and shared
 * memory.
 * How to run it: make experiment-07-carve-out
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

#define THREADS 256
#define SHARED  (24 << 10) // bytes that a block of `in_shared` takes
#define REREAD  (24 << 10) // bytes that a block of `in_l1` reads ROUNDS times
#define ROUNDS  32
#define WORDS   (REREAD / (int)sizeof(int))

// Loads its words once into shared memory and reads them there.
static __global__ void in_shared(int *out, const int *in)
{
    extern __shared__ int words[];
    const int *own = in + (size_t)blockIdx.x * WORDS;
    int thid = threadIdx.x, sum = 0;
    for (int i = thid; i < WORDS; i += THREADS) words[i] = own[i];
    __syncthreads(); // threads read words that other threads have loaded
    for (int round = 0; round < ROUNDS; round++)
        for (int i = THREADS - 1 - thid; i < WORDS; i += THREADS) sum += *(volatile int *)&words[i];
    out[blockIdx.x * THREADS + thid] = sum;
}

// Reads its words from global memory each time; L1 may serve them. (asm volatile: the compiler must
// keep each load.)
static __global__ void in_l1(int *out, const int *in)
{
    const int *own = in + (size_t)blockIdx.x * WORDS;
    int thid = threadIdx.x, sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = THREADS - 1 - thid; i < WORDS; i += THREADS) {
            int word;
            asm volatile("ld.global.s32 %0, [%1];" : "=r"(word) : "l"(own + i));
            sum += word;
        }
    out[blockIdx.x * THREADS + thid] = sum;
}

static const struct {
    const char *name;
    void (*run)(int *, const int *);
    int shared;
} kernels[] = {{"in-shared", in_shared, SHARED}, {"in-l1", in_l1, 0}};

struct work {
    int kernel, blocks, *out, *in;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    kernels[w->kernel].run<<<w->blocks, THREADS, kernels[w->kernel].shared, stream>>>(w->out,
                                                                                      w->in);
    return cudaGetLastError();
}

static int measure(struct experiment *e, struct work *w, int percent, int *host,
                   struct fault *fault)
{
    int fit;
    auto kernel = kernels[w->kernel].run;
    CUDA_CHECK(fault,
               cudaFuncSetAttribute((const void *)kernel,
                                    cudaFuncAttributePreferredSharedMemoryCarveout, percent));
    CUDA_CHECK(fault, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, THREADS,
                                                                    kernels[w->kernel].shared));
    experiment_at(e, kernels[w->kernel].name, "%d", percent);
    experiment_value(e, "blocks_fit", fit, "");
    if (experiment_measure(e, launch, w, NULL, fault)) return fault->code;
    CUDA_CHECK(fault,
               cudaMemcpy(host, w->out, w->blocks * THREADS * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < w->blocks * THREADS; i++)
        if (host[i] != ROUNDS * (WORDS / THREADS))
            return fail(fault, EXIT_WRONG, "%s: out[%d] is %d.", kernels[w->kernel].name, i,
                        host[i]);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "too little shared memory, or too much of it, costs twice the time.";
    static const int percents[] = {0, 25, 50, 75, 100};
    struct work w = {};
    w.blocks = e->emulated ? 2 : 16 * e->device.sms;
    size_t bytes = (size_t)w.blocks * REREAD;
    int *host = (int *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&w.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.out, w.blocks * THREADS * sizeof(int)));
    for (size_t i = 0; i < bytes / sizeof(int); i++) host[i] = 1;
    CUDA_CHECK(fault, cudaMemcpy(w.in, host, bytes, cudaMemcpyHostToDevice));
    for (w.kernel = 0; w.kernel < 2; w.kernel++)
        for (int percent : percents)
            if (measure(e, &w, percent, host, fault)) return fault->code;
    free(host);
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("07-carve-out", "One memory for L1 and shared memory", run, argc, argv);
}
