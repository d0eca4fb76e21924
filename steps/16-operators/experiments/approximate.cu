/*
 * approximate: how wrong the instructions for 2^x and log2 x are.
 *
 * What it shows: `worst` is the largest error of ex2.approx.ftz for all floats from -126 to 0,
 * relative, and of lg2.approx.ftz for all floats from 1/√2 to √2, absolute. Both are in units of
 * 2^-24, the unit roundoff u of a float. judge.c builds on the first one.
 * How to run it: make experiment-16-approximate
 */
#include "common/experiment/experiment.h"

#define THREADS         256
#define BLOCKS          1024
#define EMULATED_STRIDE (1u << 17) // the emulator takes every 2^17th float
#define MORE_THAN_ANY   16.0       // u; an error like this is a fault of the program

/* Floats by their bits, which are consecutive: from `first`, `count` of them. */
struct range {
    const char *name;
    unsigned first, count, stride;
};
static const struct range EXPONENTIALS = {"ex2", 0x80000000u, 0x42fc0001u, 1}; // -0 to -126
static const struct range LOGARITHMS = {"lg2", 0x3f3504f3u, 0x00800000u, 1};

static __device__ double error_of_ex2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fabs(y / exp2((double)x) - 1);
}

static __device__ double error_of_lg2(float x)
{
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return fabs(y - log2((double)x));
}

/* The largest error, as bits: those of doubles from 0 on are in the order of the doubles. */
template <double ERROR(float)>
static __global__ void largest(struct range r, unsigned long long *worst)
{
    const unsigned all = gridDim.x * THREADS;
    double most = 0;
    for (size_t i = blockIdx.x * THREADS + threadIdx.x; i * r.stride < r.count; i += all)
        most = fmax(most, ERROR(__uint_as_float(r.first + (unsigned)i * r.stride)));
    atomicMax(worst, (unsigned long long)__double_as_longlong(most));
}

static int measure(struct experiment *e, struct range r,
                   void (*kernel)(struct range, unsigned long long *), unsigned long long *worst,
                   struct fault *fault)
{
    double error;
    if (e->emulated) r.stride = EMULATED_STRIDE;
    CUDA_CHECK(fault, cudaMemset(worst, 0, sizeof *worst));
    kernel<<<e->emulated ? 1 : BLOCKS, THREADS>>>(r, worst);
    CUDA_CHECK(fault, cudaGetLastError());
    CUDA_CHECK(fault, cudaMemcpy(&error, worst, sizeof error, cudaMemcpyDeviceToHost));
    double units = error * 0x1p24;
    experiment_at(e, r.name, "every=%u", r.stride);
    experiment_value(e, "worst", units, "u");
    if (units < MORE_THAN_ANY) return 0;
    return fail(fault, EXIT_WRONG, "%s.approx is wrong by %g u.", r.name, units);
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "One instruction for 2^x is wrong by a few units u at most.";
    unsigned long long *worst;
    CUDA_CHECK(fault, cudaMalloc(&worst, sizeof *worst));
    int code = measure(e, EXPONENTIALS, largest<error_of_ex2>, worst, fault);
    if (!code) code = measure(e, LOGARITHMS, largest<error_of_lg2>, worst, fault);
    cudaFree(worst);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("16-approximate", "How wrong the instructions for 2^x and log2 x are",
                           run, argc, argv);
}
