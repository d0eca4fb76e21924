/*
 * ticket.cu — step 11's scan, and the same without the ticket, for test_single_pass.c:
 *
 *   ticket drawn N       a block's tile is the number that it draws, as in steps/11-single-pass
 *   ticket index N       it is blockIdx.x: right as long as blocks begin in that order
 *
 * The input are N ones. Prints whether the result is right, or the error.
 */
#include "common/step.h"
#include "steps/11-single-pass/float4.cuh"
#include "steps/11-single-pass/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace drawn
{
#include "steps/11-single-pass/scan.cu"
}

namespace index_is_tile
{
#undef STEP11_LOOK_BACK_CUH
#define step11_scan              scan_by_index
#define atomicAdd(g_ticket, one) (int)blockIdx.x
#include "steps/11-single-pass/scan.cu"
#undef atomicAdd
#undef step11_scan
} // namespace index_is_tile

static __global__ void fill(float *data, size_t n)
{
    for (size_t i = threadIdx.x; i < n; i += blockDim.x) data[i] = 1;
}

int main(int count, char **words)
{
    if (count != 3) return 2;
    size_t n = strtoul(words[2], NULL, 10), wrong = 0;
    scan_fn *scan =
        strcmp(words[1], "drawn") == 0 ? drawn::step11_scan : index_is_tile::scan_by_index;
    float *data, *result = (float *)malloc(n * sizeof(float));
    void *workspace;

    cudaMalloc(&data, n * sizeof(float));
    cudaMalloc(&workspace, (n / TILE(2) + 2) * sizeof(uint64_t));
    fill<<<1, 1024>>>(data, n);
    scan(data, data, n, TILE_2048, workspace, NULL);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("%s\n", cudaGetErrorName(error));
        return 1;
    }
    cudaMemcpy(result, data, n * sizeof(float), cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++) wrong += result[i] != (float)i;
    printf("%zu of %zu wrong\n", wrong, n);
    free(result);
    return wrong > 0;
}
