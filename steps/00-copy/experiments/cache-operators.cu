/*
 * cache-operators: the time of loads and stores with each cache operator.
 *
 * What it shows: PTX lets a load say how it will be used: .ca (cache at all levels, the default),
 * .cg (only in L2), .cs (streaming, likely once), .lu (last use), .cv (do not cache, fetch again).
 * A copy reads everything once, so it does not matter in which cache the data are kept. But .nc
 * also promises that the data are not written, so ptxas may move all loads of a thread before its
 * first store. When a block reads its 4 KiB again and again, L1 serves the loads that it may cache;
 * the other loads go to L2 each time.
 * From: lecture (CS 380, lecture 25), "PTX Cache Operators".
 * How to run it: make experiment-00-cache-operators
 */
#include "common/experiment/experiment.h"

#define THREADS 256
#define EACH    4  // floats that a thread reads; those of a block are 4 KiB
#define ROUNDS  64 // number of times that `again` reads them

// asm volatile: the compiler must keep each load.
#define LOAD(name, instruction)                                                                    \
    struct name {                                                                                  \
        static __device__ float load(const float *from)                                            \
        {                                                                                          \
            float x;                                                                               \
            asm volatile(instruction ".f32 %0, [%1];" : "=f"(x) : "l"(from));                      \
            return x;                                                                              \
        }                                                                                          \
    }
LOAD(ld_plain, "ld.global");
LOAD(ld_ca, "ld.global.ca");
LOAD(ld_cg, "ld.global.cg");
LOAD(ld_cs, "ld.global.cs");
LOAD(ld_lu, "ld.global.lu");
LOAD(ld_cv, "ld.global.cv");
LOAD(ld_nc, "ld.global.nc");

// Reads every float once.
template <typename how> static __global__ void once(float *out, const float *in)
{
    size_t i = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x;
    for (int k = 0; k < EACH; k++) out[i + k * THREADS] = how::load(&in[i + k * THREADS]);
}

static __constant__ int zero; // unknown to the compiler, so it keeps all ROUNDS loads

// Reads the block's own floats ROUNDS times.
template <typename how> static __global__ void again(float *out, const float *in)
{
    size_t i = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x;
    float sum[EACH] = {};
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < EACH; k++) sum[k] += how::load(&in[i + k * THREADS + round * zero]);
    for (int k = 0; k < EACH; k++) out[i + k * THREADS] = sum[k];
}

#define STORE(name, instruction)                                                                   \
    static __global__ void name(float *out, const float *in)                                       \
    {                                                                                              \
        size_t i = (size_t)blockIdx.x * THREADS * EACH + threadIdx.x;                              \
        for (int k = 0; k < EACH; k++)                                                             \
            asm volatile(instruction ".f32 [%0], %1;" ::"l"(&out[i + k * THREADS]),                \
                         "f"(in[i + k * THREADS])                                                  \
                         : "memory");                                                              \
    }
STORE(st_plain, "st.global")
STORE(st_wb, "st.global.wb")
STORE(st_cg, "st.global.cg")
STORE(st_cs, "st.global.cs")
STORE(st_wt, "st.global.wt")

typedef void kernel(float *, const float *);
static const struct {
    const char *name, *what;
    kernel *run;
    int rounds; // each result is this multiple of the input
} cases[] = {
#define BOTH(how)                                                                                  \
    {#how, "once", once<how>, 1}, { #how, "again", again < how>, ROUNDS }
    BOTH(ld_plain),
    BOTH(ld_ca),
    BOTH(ld_cg),
    BOTH(ld_cs),
    BOTH(ld_lu),
    BOTH(ld_cv),
    BOTH(ld_nc),
    {"st_plain", "once", st_plain, 1},
    {"st_wb", "once", st_wb, 1},
    {"st_cg", "once", st_cg, 1},
    {"st_cs", "once", st_cs, 1},
    {"st_wt", "once", st_wt, 1},
};

struct copy {
    kernel *run;
    float *out, *in;
    size_t n;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct copy *copy = (struct copy *)context;
    copy->run<<<copy->n / (THREADS * EACH), THREADS, 0, stream>>>(copy->out, copy->in);
    return cudaGetLastError();
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "on a GPU, operators do not matter for a copy; for data read again, "
                "cg, lu and cv are slow.";
    size_t n = e->emulated ? 1 << 13 : 1 << 26, bytes = n * sizeof(float);
    float *host = (float *)malloc(bytes);
    struct copy copy = {.run = NULL, .out = NULL, .in = NULL, .n = n};
    CUDA_CHECK(fault, cudaMalloc(&copy.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&copy.out, bytes));
    for (size_t i = 0; i < n; i++) host[i] = i % 1000;
    CUDA_CHECK(fault, cudaMemcpy(copy.in, host, bytes, cudaMemcpyHostToDevice));

    for (auto &it : cases) {
        copy.run = it.run;
        CUDA_CHECK(fault, cudaMemset(copy.out, 0xff, bytes));
        experiment_at(e, it.name, "%s", it.what);
        if (experiment_measure(e, launch, &copy, NULL, fault)) return fault->code;

        CUDA_CHECK(fault, cudaMemcpy(host, copy.out, bytes, cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < n; i++)
            if (host[i] != it.rounds * (float)(i % 1000))
                return fail(fault, EXIT_WRONG, "%s, %s: out[%zu] is %g.", it.name, it.what, i,
                            host[i]);
    }
    free(host);
    CUDA_CHECK(fault, cudaFree(copy.in));
    CUDA_CHECK(fault, cudaFree(copy.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("00-cache-operators",
                           "What the cache operators of loads and stores cost", run, argc, argv);
}
