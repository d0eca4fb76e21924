/*
 * ring.cu — step 12's pipeline on few blocks, so that its ring goes round often, for
 * test_hazards.c:
 *
 *   ring right BLOCKS TILES         as in steps/12-pipeline
 *   ring unsynced BLOCKS TILES      a lane arrives at barriers for its warp without a __syncwarp()
 *
 * The input are TILES tiles of ones, less a few elements. Prints whether the result is right.
 */
#include "steps/12-pipeline/memory.cuh"
#include "steps/12-pipeline/prefix.cuh"
#include "steps/12-pipeline/ring.cuh"

namespace right
{
#include "steps/12-pipeline/pipeline.cuh"
}

namespace unsynced
{
#undef STEP12_PIPELINE_CUH
#define __syncwarp()
#include "steps/12-pipeline/pipeline.cuh"
#undef __syncwarp
} // namespace unsynced

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

int main(int count, char **words)
{
    if (count != 4) return 2;
    unsigned blocks = atoi(words[2]), tiles = atoi(words[3]);
    size_t n = tiles * (size_t)TILE(sizeof(float)) - 1234, wrong = 0;
    using namespace right; // for PIPELINE_THREADS
    int shared = sizeof(ring_of<float, float>);
    auto kernel = strcmp(words[1], "right") == 0 ? right::scan_pipeline<false, float, float>
                                                 : unsynced::scan_pipeline<false, float, float>;
    std::vector<float> ones(n, 1), result(n);
    float *data;
    struct workspace *w;

    cudaMalloc(&data, n * sizeof(float));
    cudaMemcpy(data, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMalloc(&w, sizeof *w + tiles * sizeof(state<float>));
    cudaMemset(w, 0, sizeof *w + tiles * sizeof(state<float>));
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);
    kernel<<<blocks, PIPELINE_THREADS, shared>>>(data, data, n, tiles, w);
    cudaError_t error = cudaMemcpy(result.data(), data, n * sizeof(float), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorName(error));
        return 1;
    }
    for (size_t i = 0; i < n; i++) wrong += result[i] != (float)i;
    printf("%zu of %zu wrong\n", wrong, n);
    cudaFree(data);
    cudaFree(w);
    return wrong > 0;
}
