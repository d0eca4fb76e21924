/*
 * wide: 64-bit values by 32-bit shuffles.
 *
 * What it shows: a shuffle moves 32 bits. One mov.b64 splits a double or a 64-bit integer into two
 * registers, each half is shuffled, and another mov.b64 joins them. CUDA's own __shfl_sync of a
 * double does the same with two shuffles.
 * From: lecture (CS 380, lecture 25), "Implement SHFL for 64b Numbers", which prints mov.b32.
 * How to run it: make experiment-09-wide
 */
#include "common/experiment/experiment.h"

#include <string.h>

#define WARP      32
#define ALL_LANES 0xffffffff
#define TURN      5 // lane l takes the value of lane l + 5

static __device__ double by_halves(double x, int from)
{
    int lo, hi;
    asm("mov.b64 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "d"(x));
    lo = __shfl_sync(ALL_LANES, lo, from);
    hi = __shfl_sync(ALL_LANES, hi, from);
    asm("mov.b64 %0, {%1,%2};" : "=d"(x) : "r"(lo), "r"(hi));
    return x;
}

static __device__ long long by_halves(long long x, int from)
{
    int lo, hi;
    asm("mov.b64 {%0,%1}, %2;" : "=r"(lo), "=r"(hi) : "l"(x));
    lo = __shfl_sync(ALL_LANES, lo, from);
    hi = __shfl_sync(ALL_LANES, hi, from);
    asm("mov.b64 %0, {%1,%2};" : "=l"(x) : "r"(lo), "r"(hi));
    return x;
}

template <typename T> static __global__ void turn_by_halves(T *x)
{
    x[threadIdx.x] = by_halves(x[threadIdx.x], (threadIdx.x + TURN) % WARP);
}

template <typename T> static __global__ void turn(T *x)
{
    x[threadIdx.x] = __shfl_sync(ALL_LANES, x[threadIdx.x], (threadIdx.x + TURN) % WARP);
}

template <typename T>
static int run_type(struct experiment *e, const char *type, const T *values, struct fault *fault)
{
    static const struct {
        const char *name;
        void (*kernel)(T *);
    } ways[] = {{"halves", turn_by_halves<T>}, {"cuda", turn<T>}};
    T *x, got[WARP];

    CUDA_CHECK(fault, cudaMalloc(&x, sizeof got));
    for (auto &way : ways) {
        int wrong = 0;
        CUDA_CHECK(fault, cudaMemcpy(x, values, sizeof got, cudaMemcpyHostToDevice));
        way.kernel<<<1, WARP>>>(x);
        CUDA_CHECK(fault, cudaGetLastError());
        CUDA_CHECK(fault, cudaMemcpy(got, x, sizeof got, cudaMemcpyDeviceToHost));
        // Compares all 64 bits, even of a NaN.
        for (int l = 0; l < WARP; l++)
            wrong += memcmp(&got[l], &values[(l + TURN) % WARP], sizeof *got) != 0;
        experiment_at(e, way.name, "%s", type);
        experiment_value(e, "wrong", wrong, "");
        if (wrong)
            return fail(fault, EXIT_WRONG, "%s, %s: %d of %d lanes have a wrong value.", way.name,
                        type, wrong, WARP);
    }
    CUDA_CHECK(fault, cudaFree(x));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "all 64 bits arrive, as two shuffles of 32 bits.";
    double reals[WARP];
    long long integers[WARP];
    for (int l = 0; l < WARP; l++) integers[l] = 0x123456789abcdef * (l + 1);
    for (int l = 0; l < WARP; l++) reals[l] = l % 2 ? 1.0 / (l + 1) : -1e300 / (l + 1);
    reals[3] = NAN, reals[4] = INFINITY, reals[5] = -0.0;
    int code = run_type(e, "double", reals, fault);
    return code ? code : run_type(e, "int64", integers, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("09-wide", "64-bit values by 32-bit shuffles", run, argc, argv);
}
