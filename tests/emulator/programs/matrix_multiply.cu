/* matrix_multiply.cu — C = A·B, once from global memory alone and once with tiles in shared memory;
 * no size is a multiple of the tile. */
#include "check.cuh"

static const int TILE = 16;

static __global__ void multiply_naive(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

static __global__ void multiply_tiled(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

int main()
{
    const int M = 67, N = 93, K = 45;
    std::vector<float> a = random_values<float>(M * K, 16), b = random_values<float>(K * N, 16);
    std::vector<float> expected(M * N, 0.0f); /* small integers: exact in any order */
    for (int row = 0; row < M; row++)
        for (int column = 0; column < N; column++)
            for (int i = 0; i < K; i++)
                expected[row * N + column] += a[row * K + i] * b[i * N + column];

    float *device_a = device_copy(a), *device_b = device_copy(b);
    float *device_c = device_array<float>(M * N);
    dim3 block(TILE, TILE), grid(blocks_for(N, TILE), blocks_for(M, TILE));
    multiply_naive<<<grid, block>>>(device_a, device_b, device_c, M, N, K);
    CUDA_LAUNCHED();
    expect_same("naive", host_copy(device_c, M * N), expected);

    CUDA(cudaMemset(device_c, 0, M * N * sizeof(float)));
    multiply_tiled<<<grid, block>>>(device_a, device_b, device_c, M, N, K);
    CUDA_LAUNCHED();
    expect_same("tiled", host_copy(device_c, M * N), expected);
    return right("matrix multiply %dx%d by %dx%d, naive and tiled", M, K, K, N);
}
