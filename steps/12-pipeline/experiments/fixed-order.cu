/*
 * fixed-order: the cost of adding in a fixed order and of carrying in double in step 12.
 *
 * What it shows: the pipeline, beside two versions that add the sums of the preceding tiles in
 * another way. `first come` adds the sums in the order in which they are published, so floats
 * differ from run to run. `in float` keeps the order but adds in the type of the sums, so the error
 * grows with n.
 * How to run it: make experiment-12-fixed-order
 */
#include "common/experiment/experiment.h"
#include "common/step/gpu.cuh"
#include "steps/12-pipeline/parts/segment.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

namespace as_it_is
{
#include "steps/12-pipeline/pipeline.cuh"
}

namespace first_come
{
/* Like prefix_from, but a lane adds its LOOK states in the order in which they are published. */
template <typename Sum>
static __device__ typename carry_of<Sum>::type sum_of_any(struct window<Sum> &w,
                                                          const state<Sum> *states, unsigned tile,
                                                          unsigned epoch, struct progress<Sum> *p)
{
    while (p->next < tile) {
        unsigned missing = 0;
#pragma unroll
        for (int k = 0; k < LOOK; k++) missing |= (p->next + k * LANES < tile) << k;
        unsigned count = __popc(missing);
        while (missing) {
#pragma unroll
            for (int k = 0; k < LOOK; k++)
                if (missing >> k & 1 && is_of(w.found[k], epoch)) {
                    p->sum += value_of(w.found[k]);
                    missing &= ~(1u << k);
                }
#pragma unroll
            for (int k = 0; k < LOOK; k++)
                if (missing >> k & 1) w.found[k] = read_state(&states[p->next + k * LANES]);
        }
        p->next += count * LANES;
        load_window(w, states, p->next, tile);
    }
    __syncwarp(); // lanes may have left the loop at different times
    return warp_sum(p->sum);
}

#undef STEP12_PIPELINE_CUH
#define prefix_from sum_of_any
#include "steps/12-pipeline/pipeline.cuh"
#undef prefix_from
} // namespace first_come

namespace in_float
{
template <typename Sum> struct carry_in_sums {
    typedef Sum type;
};
#undef STEP12_PREFIX_CUH
#undef STEP12_PIPELINE_CUH
#define carry_of carry_in_sums
#include "steps/12-pipeline/pipeline.cuh"
#undef carry_of
} // namespace in_float

#define APART 16 // distance of the ones in the input: every sum is exact

typedef void kernel_fn(float *, const float *, size_t, unsigned, struct workspace *);
static const struct {
    const char *name;
    kernel_fn *kernel;
    size_t shared;
} ways[] = {
    {"as it is", as_it_is::scan_pipeline<false, float, float>,
     sizeof(as_it_is::ring_of<float, float>)},
    {"first come", first_come::scan_pipeline<false, float, float>,
     sizeof(first_come::ring_of<float, float>)},
    {"in float", in_float::scan_pipeline<false, float, float>,
     sizeof(in_float::ring_of<float, float>)},
};
#define WAYS (int)(sizeof ways / sizeof *ways)

struct scan {
    int way, blocks;
    float *out, *in;
    size_t n;
    struct workspace *workspace;
    unsigned *wrong;
};

static unsigned tiles_of_scan(const struct scan *s)
{
    return (unsigned)tiles_of(s->n, sizeof(float));
}

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct scan *s = (struct scan *)context;
    ways[s->way]
        .kernel<<<s->blocks, as_it_is::PIPELINE_WARPS * LANES, ways[s->way].shared, stream>>>(
            s->out, s->in, s->n, tiles_of_scan(s), s->workspace);
    return cudaGetLastError();
}

static __global__ void fill(float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) in[i] = i % APART == 0;
}

static __global__ void check(const float *out, size_t n, unsigned *wrong)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && out[i] != (float)((i + APART - 1) / APART)) atomicAdd(wrong, 1);
}

static int measure(struct experiment *e, struct scan *s, struct fault *fault)
{
    unsigned wrong, blocks = (unsigned)((s->n - 1) / 256 + 1);

    experiment_at(e, ways[s->way].name, "n=%zu", s->n);
    CUDA_CHECK(fault, cudaFuncSetAttribute(ways[s->way].kernel,
                                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)ways[s->way].shared));
    CUDA_CHECK(fault, cudaMemset(s->out, 0xff, s->n * sizeof(float)));
    CUDA_CHECK(fault, cudaMemset(s->wrong, 0, sizeof wrong));
    struct timing timing;
    if (timer_run(&e->timer, NULL, launch, s, e->emulated ? 0 : 31, &timing, fault))
        return fault->code;
    check<<<blocks, 256>>>(s->out, s->n, s->wrong);
    CUDA_CHECK(fault, cudaMemcpy(&wrong, s->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong > 0)
        return fail(fault, EXIT_WRONG, "%s, n = %zu: %u elements are wrong.", ways[s->way].name,
                    s->n, wrong);
    if (e->emulated)
        experiment_value(e, "wrong", wrong, "");
    else
        experiment_value(e, "time", timing.median, "s");
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    struct gpu gpu;
    e->lesson = "from 2^26 elements on, neither the fixed order nor the carry in "
                "double costs time.";
    static const size_t on_gpu[] = {1 << 24, 1 << 26, 1 << 28, 0}, emulated[] = {1 << 18, 0};
    const size_t *sizes = e->emulated ? emulated : on_gpu;
    size_t most = e->emulated ? 1 << 18 : 1 << 28;
    struct scan s = {};

    CUDA_CHECK(fault, look_at_gpu(&gpu));
    if (gpu.capability < 90)
        return fail(fault, EXIT_DEVICE,
                    "the pipeline needs compute capability 9.0; the code for this GPU has %d.%d.",
                    gpu.capability / 10, gpu.capability % 10);
    s.blocks = e->emulated ? 2 : e->device.sms;
    size_t bytes = sizeof(struct workspace) + states_for(most, 4) * sizeof(state<float>);
    CUDA_CHECK(fault, cudaMalloc(&s.in, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.out, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&s.workspace, bytes));
    CUDA_CHECK(fault, cudaMalloc(&s.wrong, sizeof *s.wrong));
    CUDA_CHECK(fault, cudaMemset(s.workspace, 0, bytes));
    fill<<<(unsigned)((most - 1) / 256 + 1), 256>>>(s.in, most);
    for (const size_t *n = sizes; *n; n++)
        for (s.way = 0; s.way < WAYS; s.way++) {
            s.n = *n;
            if (measure(e, &s, fault)) return fault->code;
        }
    CUDA_CHECK(fault, cudaFree(s.wrong));
    CUDA_CHECK(fault, cudaFree(s.workspace));
    CUDA_CHECK(fault, cudaFree(s.out));
    CUDA_CHECK(fault, cudaFree(s.in));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("12-fixed-order", "The cost of a fixed order of additions in step 12",
                           run, argc, argv);
}
