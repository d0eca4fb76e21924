/* race-pipeline.cu — step 12's pipeline. One lane arrives at its barriers for a warp, behind a
 * __syncwarp(); the wrong one does so without. */
#include "pair.h"
#pragma nv_diag_suppress 177 /* what is included for both is not used twice */
#include "../../steps/12-pipeline/memory.cuh"
#include "../../steps/12-pipeline/prefix.cuh"
#include "../../steps/12-pipeline/ring.cuh"

namespace synced
{
#include "../../steps/12-pipeline/pipeline.cuh"
}

namespace unsynced
{
#undef STEP12_PIPELINE_CUH
#define __syncwarp()
#include "../../steps/12-pipeline/pipeline.cuh"
#undef __syncwarp
} // namespace unsynced

int main(int argc, char **argv)
{
    enum { BLOCKS = 4, TILES = 60 };
    int n = TILES * TILE(sizeof(float)) - 1234;
    float *in = zeros<float>(n), *out = zeros<float>(n);
    struct workspace *w = (struct workspace *)zeros<char>(sizeof *w + TILES * sizeof(state<float>));
    auto kernel = is_right(argc, argv) ? synced::scan_pipeline<false, float, float>
                                       : unsynced::scan_pipeline<false, float, float>;
    int shared = sizeof(ring_of<float, float>);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<BLOCKS, synced::PIPELINE_WARPS * LANES, shared>>>(out, in, n, TILES, w);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
    cudaFree(w);
}
