/*
 * precision: float compared with double.
 *
 * What it shows: three ratios. A double has twice the bytes of a float, in memory and in shared
 * memory. Arithmetic in double is slower: GPUs for computing have half as many units for double as
 * for float, GPUs for graphics far fewer. A scan is limited by memory, so it pays for the bytes and
 * not for the units.
 * From: Kepler tuning guide, 1.4.5.1; 1.4.3.1 on banks and 8-byte words.
 * How to run it: make experiment-06-precision
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

#define THREADS 256
#define CHAINS  8    // independent chains of multiplications and additions per thread
#define ROUNDS  1024 // rounds of each chain

// Does arithmetic only. x = x / 2 + 1 converges to 2, where it is exact.
template <typename real> static __global__ void arithmetic(void *to, const void *)
{
    real x[CHAINS];
    for (int c = 0; c < CHAINS; c++) x[c] = threadIdx.x + c;
    for (int round = 0; round < ROUNDS; round++)
        for (int c = 0; c < CHAINS; c++) x[c] = x[c] * real(0.5) + real(1);
    real sum = 0;
    for (int c = 0; c < CHAINS; c++) sum += x[c];
    ((real *)to)[(size_t)blockIdx.x * THREADS + threadIdx.x] = sum;
}

template <typename real> static __global__ void copy(void *to, const void *from)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    ((real *)to)[i] = ((const real *)from)[i];
}

// Each block scans THREADS elements inclusively, with two arrays (step 2).
template <typename real> static __global__ void scan(void *to, const void *from)
{
    __shared__ real temp[2][THREADS];
    int thid = threadIdx.x, now = 0;
    size_t i = (size_t)blockIdx.x * THREADS + thid;
    temp[0][thid] = ((const real *)from)[i];
    for (int offset = 1; offset < THREADS; offset *= 2) {
        __syncthreads(); // reads what other threads wrote in the sweep before
        temp[1 - now][thid] = temp[now][thid] + (thid >= offset ? temp[now][thid - offset] : 0);
        now = 1 - now;
    }
    ((real *)to)[i] = temp[now][thid];
}

typedef void kernel(void *, const void *);
static const struct {
    const char *name;
    kernel *run[2];
} kinds[] = {{"arithmetic", {arithmetic<float>, arithmetic<double>}},
             {"copy", {copy<float>, copy<double>}},
             {"block-scan", {scan<float>, scan<double>}}};

struct work {
    int kind, wide;
    size_t n;
    void *out, *in;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    kinds[w->kind].run[w->wide]<<<w->n / THREADS, THREADS, 0, stream>>>(w->out, w->in);
    return cudaGetLastError();
}

// The right element i of the result; all elements of the input are 1.
static double want(int kind, size_t i)
{
    return kind == 0 ? 2 * CHAINS : kind == 1 ? 1 : i % THREADS + 1;
}

template <typename real>
static int measure(struct experiment *e, struct work *w, struct fault *fault)
{
    size_t bytes = w->n * sizeof(real);
    real *host = (real *)malloc(bytes);
    for (size_t i = 0; i < w->n; i++) host[i] = 1;
    CUDA_CHECK(fault, cudaMemcpy(w->in, host, bytes, cudaMemcpyHostToDevice));
    for (w->kind = 0; w->kind < 3; w->kind++) {
        experiment_at(e, kinds[w->kind].name, "%s", w->wide ? "double" : "float");
        if (experiment_measure(e, launch, w, NULL, fault)) return fault->code;
        CUDA_CHECK(fault, cudaMemcpy(host, w->out, bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < w->n; i++)
            if (host[i] != (real)want(w->kind, i))
                return fail(fault, EXIT_WRONG, "%s: element %zu is %g.", kinds[w->kind].name, i,
                            (double)host[i]);
    }
    free(host);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "arithmetic in double takes twice the time, a copy and a scan less than that.";
    struct work w = {};
    w.n = e->emulated ? 1 << 10 : 1 << 24;
    CUDA_CHECK(fault, cudaMalloc(&w.in, w.n * sizeof(double)));
    CUDA_CHECK(fault, cudaMalloc(&w.out, w.n * sizeof(double)));
    if (measure<float>(e, &w, fault)) return fault->code;
    w.wide = 1;
    if (measure<double>(e, &w, fault)) return fault->code;
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("06-precision", "Float compared with double", run, argc, argv);
}
