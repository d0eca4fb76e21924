/*
 * arrivals: at step 12's barriers every lane arrives. Is one arrival per warp faster?
 *
 * What it shows: the arrivals of a warp's lanes at a word of shared memory are carried out one
 * after the other. But a warp arrives only three times per tile and does not wait for its arrivals.
 * How to run it: make experiment-12-arrivals
 */
#include "common/experiment/experiment.h"
#include "common/step/gpu.cuh"
#include "steps/12-pipeline/parts/segment.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

#include <stdlib.h>

namespace each_lane
{
#include "steps/12-pipeline/pipeline.cuh"
}

/* Lane 0 arrives for all active lanes. */
[[maybe_unused]] static __device__ void arrive_for_all(barrier *b)
{
    __syncwarp(__activemask());
    if (threadIdx.x % LANES == 0) barrier_arrive(b);
}

namespace one_lane
{
#undef STEP12_PIPELINE_CUH
#define barrier_arrive            arrive_for_all
#define barrier_init(b, arrivals) (barrier_init)(b, (arrivals) / LANES)
#include "steps/12-pipeline/pipeline.cuh"
#undef barrier_arrive
#undef barrier_init
} // namespace one_lane

typedef void scan_fn_f32(float *, const float *, size_t, unsigned, struct workspace *);

struct scan {
    scan_fn_f32 *kernel;
    float *out, *in;
    size_t n;
    unsigned tiles, blocks;
    struct workspace *workspace;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    const struct scan *s = (const struct scan *)context;
    const size_t shared = sizeof(each_lane::ring_of<float, float>);
    s->kernel<<<s->blocks, each_lane::PIPELINE_WARPS * LANES, shared, stream>>>(
        s->out, s->in, s->n, s->tiles, s->workspace);
    return cudaGetLastError();
}

static __global__ void ones(float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = i % 16 == 0; // few ones, so every sum is exact
}

static int measure(struct experiment *e, struct scan *s, const char *who, scan_fn_f32 *kernel,
                   struct fault *fault)
{
    size_t shared = sizeof(each_lane::ring_of<float, float>);
    s->kernel = kernel;
    CUDA_CHECK(fault, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)shared));
    experiment_at(e, who, "n=%zu", s->n);
    if (experiment_measure(e, launch, s, NULL, fault)) return fault->code;

    float *out = (float *)malloc(s->n * sizeof(float));
    CUDA_CHECK(fault, cudaMemcpy(out, s->out, s->n * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < s->n; i++)
        if (out[i] != (float)((i + 15) / 16))
            return fail(fault, EXIT_WRONG, "element %zu is %g.", i, out[i]);
    free(out);
    return 0;
}

static int scan(struct experiment *e, size_t n, struct fault *fault)
{
    struct scan s = {};
    s.n = n;
    s.tiles = (unsigned)(n / TILE(sizeof(float)));
    size_t bytes = sizeof(struct workspace) + s.tiles * sizeof(state<float>);

    s.blocks = e->emulated ? 2 : e->device.sms;
    CUDA_CHECK(fault, cudaMalloc(&s.in, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.out, n * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.workspace, bytes));
    CUDA_CHECK(fault, cudaMemset(s.workspace, 0, bytes));
    ones<<<(unsigned)((n - 1) / 256 + 1), 256>>>(s.in, n);
    if (measure(e, &s, "each lane", each_lane::scan_pipeline<false, float, float>, fault) ||
        measure(e, &s, "one lane", one_lane::scan_pipeline<false, float, float>, fault))
        return fault->code;
    CUDA_CHECK(fault, cudaFree(s.workspace));
    CUDA_CHECK(fault, cudaFree(s.out));
    CUDA_CHECK(fault, cudaFree(s.in));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    struct gpu gpu;
    e->lesson = "one arrival per warp is no faster than one per lane.";
    CUDA_CHECK(fault, look_at_gpu(&gpu));
    if (gpu.capability < 90)
        return fail(fault, EXIT_DEVICE,
                    "the pipeline needs compute capability 9.0; the code for this GPU has %d.%d.",
                    gpu.capability / 10, gpu.capability % 10);
    if (e->emulated) return scan(e, 1 << 18, fault);
    for (int log = 24; log <= 28; log += 2)
        if (scan(e, (size_t)1 << log, fault)) return fault->code;
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("12-arrivals",
                           "Arrivals at step 12's barriers: all lanes, or one per warp", run, argc,
                           argv);
}
