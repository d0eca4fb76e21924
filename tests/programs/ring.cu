/*
 * ring.cu — step 12's pipeline on few blocks, so that its ring goes round often, for
 * test_hazards.c:
 *
 *   ring right TYPE BLOCKS TILES         as in steps/12-pipeline; f32, f64, i32, i64, i16 or i8
 *   ring by-one-lane f32 BLOCKS TILES   one lane arrives for its warp, without a __syncwarp()
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

namespace by_one_lane
{
#undef STEP12_PIPELINE_CUH
#define barrier_init(b, arrivals) (barrier_init)(b, (arrivals) / LANES)
#define barrier_arrive(b)         threadIdx.x % LANES == 0 ? (barrier_arrive)(b) : (void)0
#include "steps/12-pipeline/pipeline.cuh"
#undef barrier_init
#undef barrier_arrive
} // namespace by_one_lane

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

template <typename In, typename Sum>
using scan = void(Sum *, const In *, size_t, unsigned, workspace *);

template <typename In, typename Sum>
static int run(scan<In, Sum> *kernel, unsigned blocks, unsigned tiles)
{
    size_t n = tiles * (size_t)TILE(sizeof(Sum)) - 1234, wrong = 0;
    size_t shared = sizeof(ring_of<In, Sum>),
           states = sizeof(workspace) + tiles * sizeof(state<Sum>);
    std::vector<In> ones(n, 1);
    std::vector<Sum> result(n);
    In *in;
    Sum *out;
    workspace *w;

    cudaMalloc(&in, n * sizeof(In));
    cudaMemcpy(in, ones.data(), n * sizeof(In), cudaMemcpyHostToDevice);
    cudaMalloc(&out, n * sizeof(Sum));
    cudaMalloc(&w, states);
    cudaMemset(w, 0, states);
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    kernel<<<blocks, right::PIPELINE_WARPS * LANES, shared>>>(out, in, n, tiles, w);
    cudaError_t error = cudaMemcpy(result.data(), out, n * sizeof(Sum), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorName(error));
        return 1;
    }
    for (size_t i = 0; i < n; i++) wrong += result[i] != (Sum)i;
    printf("%zu of %zu wrong\n", wrong, n);
    cudaFree(in);
    cudaFree(out);
    cudaFree(w);
    return wrong > 0;
}

int main(int count, char **words)
{
    using right::scan_pipeline;
    if (count != 5) return 2;
    std::string type = words[2];
    unsigned blocks = atoi(words[3]), tiles = atoi(words[4]);
    if (strcmp(words[1], "by-one-lane") == 0)
        return run(by_one_lane::scan_pipeline<false, float, float>, blocks, tiles);
    if (type == "f32") return run(scan_pipeline<false, float, float>, blocks, tiles);
    if (type == "f64") return run(scan_pipeline<false, double, double>, blocks, tiles);
    if (type == "i32") return run(scan_pipeline<false, int32_t, int32_t>, blocks, tiles);
    if (type == "i64") return run(scan_pipeline<false, uint64_t, uint64_t>, blocks, tiles);
    if (type == "i16") return run(scan_pipeline<false, int16_t, int32_t>, blocks, tiles);
    if (type == "i8") return run(scan_pipeline<false, int8_t, int32_t>, blocks, tiles);
    return 2;
}
