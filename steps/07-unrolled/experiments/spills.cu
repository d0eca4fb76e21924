/*
 * spills: more registers per thread, or more warps per multiprocessor?
 *
 * What it shows: in this kernel each thread keeps EACH elements in registers while it waits for the
 * sum of its block, like a scan that loads each element once. The kernel is compiled for 1, 2, 4
 * and 8 resident blocks of 256 threads (__launch_bounds__). With 8 blocks, a thread may have 32
 * registers; values that do not fit are spilled to local memory, which costs a store and a load
 * each.
 * From: Kepler tuning guide, 1.4.4.1, "the optimum balance of spilling vs. occupancy".
 * How to run it: make experiment-07-spills
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

#define THREADS 256
#define EACH    64 // ints per thread: 16 int4
#define VECTORS (EACH / 4)
#define TILE    (THREADS * EACH)

// Adds to each element the sum of its tile.
template <int BLOCKS>
static __global__ void __launch_bounds__(THREADS, BLOCKS) add_sum(int *out, const int *in)
{
    __shared__ int total;
    int4 v[VECTORS];
    const int4 *from = (const int4 *)in + (size_t)blockIdx.x * TILE / 4 + threadIdx.x;
    int4 *to = (int4 *)out + (size_t)blockIdx.x * TILE / 4 + threadIdx.x;
    if (threadIdx.x == 0) total = 0;
    __syncthreads(); // the sum of the block must be 0 before threads add to it
    int sum = 0;
#pragma unroll
    for (int i = 0; i < VECTORS; i++) v[i] = from[i * THREADS];
#pragma unroll
    for (int i = 0; i < VECTORS; i++) sum += v[i].x + v[i].y + v[i].z + v[i].w;
    atomicAdd(&total, sum);
    __syncthreads(); // all threads must have added before the total is read
    sum = total;
#pragma unroll
    for (int i = 0; i < VECTORS; i++)
        to[i * THREADS] = {v[i].x + sum, v[i].y + sum, v[i].z + sum, v[i].w + sum};
}

static const struct {
    int blocks;
    void (*run)(int *, const int *);
} kernels[] = {{1, add_sum<1>}, {2, add_sum<2>}, {4, add_sum<4>}, {8, add_sum<8>}};

struct work {
    int kernel;
    size_t n;
    int *out, *in;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    kernels[w->kernel].run<<<w->n / TILE, THREADS, 0, stream>>>(w->out, w->in);
    return cudaGetLastError();
}

static int measure(struct experiment *e, struct work *w, int *host, struct fault *fault)
{
    struct cudaFuncAttributes attributes;
    auto kernel = kernels[w->kernel].run;
    int fit;
    CUDA_CHECK(fault, cudaFuncGetAttributes(&attributes, (const void *)kernel));
    CUDA_CHECK(fault, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, THREADS, 0));
    experiment_at(e, "add-sum", "%d", kernels[w->kernel].blocks);
    if (!e->emulated) { // the emulator runs PTX, in which registers are not allocated yet
        experiment_value(e, "registers", attributes.numRegs, "");
        experiment_value(e, "local", attributes.localSizeBytes, "B");
        experiment_value(e, "blocks_fit", fit, "");
    }
    if (experiment_measure(e, launch, w, NULL, fault)) return fault->code;
    CUDA_CHECK(fault, cudaMemcpy(host, w->out, w->n * sizeof(int), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < w->n; i++)
        if (host[i] != (int)(i % 8) + 7 * TILE / 2)
            return fail(fault, EXIT_WRONG, "for %d blocks: out[%zu] is %d.",
                        kernels[w->kernel].blocks, i, host[i]);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "with more resident blocks registers are spilled to local memory, and "
                "the time grows.";
    struct work w = {};
    w.n = e->emulated ? TILE : 1 << 26;
    size_t bytes = w.n * sizeof(int);
    int *host = (int *)malloc(bytes);
    CUDA_CHECK(fault, cudaMalloc(&w.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.out, bytes));
    for (size_t i = 0; i < w.n; i++) host[i] = i % 8;
    CUDA_CHECK(fault, cudaMemcpy(w.in, host, bytes, cudaMemcpyHostToDevice));
    for (w.kernel = 0; w.kernel < 4; w.kernel++)
        if (measure(e, &w, host, fault)) return fault->code;
    free(host);
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("07-spills", "Registers per thread against warps per multiprocessor",
                           run, argc, argv);
}
