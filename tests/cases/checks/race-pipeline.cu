/* race-pipeline.cu — a pair with step 12's kernel, twice: as it is, and with other barriers. pair.h
 * says how a pair is written. */
#include "pair.h"
#pragma nv_diag_suppress 177 /* not every included function is used */
#include "steps/12-pipeline/parts/segment.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"
#include "steps/12-pipeline/parts/barrier.cuh"

namespace by_each_lane
{
#include "steps/12-pipeline/pipeline.cuh"
}
namespace by_one_lane
{
#undef STEP12_PIPELINE_CUH
#define barrier_init(b, arrivals) (barrier_init)(b, (arrivals) / LANES)
#define barrier_arrive(b)         threadIdx.x % LANES == 0 ? (barrier_arrive)(b) : (void)0
#include "steps/12-pipeline/pipeline.cuh"
#undef barrier_init
#undef barrier_arrive
} // namespace by_one_lane

/* race-pipeline — step 12's pipeline. Each lane arrives at its barriers; in the wrong version one
 * lane arrives for its warp, without a __syncwarp() before. */
HOST(race_pipeline)
{
    enum { BLOCKS = 4, TILES = 60 };
    int n = TILES * TILE(sizeof(float)) - 1234;
    float *in = zeros<float>(n), *out = zeros<float>(n);
    struct workspace *w = (struct workspace *)zeros<char>(sizeof *w + TILES * sizeof(state<float>));
    auto kernel = right ? by_each_lane::scan_pipeline<false, float, float>
                        : by_one_lane::scan_pipeline<false, float, float>;
    int shared = sizeof(by_each_lane::ring_of<float, float>);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    /* racecheck: hazard in pipeline.cuh */
    kernel<<<BLOCKS, by_each_lane::PIPELINE_WARPS * LANES, shared>>>(out, in, n, TILES, w);
}
