/* mma_multiply.cu — C = A·B by mma.sync: tiles of A and B in shared memory, with chunks exchanged
 * so that ldmatrix has no bank conflicts; fragments by ldmatrix, which transposes those of B;
 * results by stmatrix where the GPU has it. */
#include "check.cuh"
#include <cuda_fp16.h>

/* The tile of a warp, and what one product takes. A row of a tile is CHUNKS chunks of 16 bytes. */
enum { TILE = 64, M = 16, N = 8, K = 8, CHUNK = 8, CHUNKS = TILE / CHUNK, LANES = 32 };

/* The address in shared memory of a chunk: chunks of neighbouring rows lie in different banks. */
static __device__ unsigned chunk_at(const __half *tile, int row, int chunk)
{
    return (unsigned)__cvta_generic_to_shared(tile + row * TILE + (chunk ^ row % CHUNKS) * CHUNK);
}

static __device__ void load_tile(__half *tile, const __half *from, int n)
{
    for (int i = threadIdx.x; i < TILE * CHUNKS; i += LANES) {
        int row = i / CHUNKS, chunk = i % CHUNKS;
        uint4 *to = (uint4 *)(tile + row * TILE + (chunk ^ row % CHUNKS) * CHUNK);
        *to = *(const uint4 *)(from + row * n + chunk * CHUNK);
    }
}

static __device__ void load_a(unsigned a[2], const __half *tile, int row, int k)
{
    unsigned at = chunk_at(tile, row + threadIdx.x % M, k / CHUNK);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(a[0]), "=r"(a[1])
                 : "r"(at)
                 : "memory");
}

static __device__ void load_b(unsigned *b, const __half *tile, int k, int column)
{
    unsigned at = chunk_at(tile, k + threadIdx.x % K, column / CHUNK);
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(*b)
                 : "r"(at)
                 : "memory");
}

static __device__ void store_c(__half *tile, const unsigned c[2], int row, int column)
{
#if __CUDA_ARCH__ >= 900
    unsigned at = chunk_at(tile, row + threadIdx.x % M, column / CHUNK);
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(at), "r"(c[0]),
                 "r"(c[1])
                 : "memory");
#else
    for (int half = 0; half < 2; half++) {
        int at = row + half * 8 + threadIdx.x / 4;
        __half *chunk = tile + at * TILE + (column / CHUNK ^ at % CHUNKS) * CHUNK;
        ((unsigned *)chunk)[threadIdx.x % 4] = c[half];
    }
#endif
}

/* A warp computes TILE x TILE elements of c. */
static __global__ void multiply(const __half *a, const __half *b, __half *c, int n)
{
    __shared__ __align__(128) __half tile_a[TILE * TILE], tile_b[TILE * TILE];
    unsigned sum[TILE / M][TILE / N][2] = {};
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    for (int start = 0; start < n; start += TILE) {
        load_tile(tile_a, a + row * n + start, n);
        load_tile(tile_b, b + start * n + column, n);
        __syncwarp();
        for (int k = 0; k < TILE; k += K)
            for (int i = 0; i < TILE / M; i++)
                for (int j = 0; j < TILE / N; j++) {
                    unsigned fa[2], fb, *s = sum[i][j];
                    load_a(fa, tile_a, i * M, k);
                    load_b(&fb, tile_b, k, j * N);
                    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, "
                                 "{%2, %3}, {%4}, {%0, %1};"
                                 : "+r"(s[0]), "+r"(s[1])
                                 : "r"(fa[0]), "r"(fa[1]), "r"(fb));
                }
        __syncwarp();
    }
    for (int i = 0; i < TILE / M; i++)
        for (int j = 0; j < TILE / N; j++) store_c(tile_a, sum[i][j], i * M, j * N);
    __syncwarp();
    for (int i = threadIdx.x; i < TILE * CHUNKS; i += LANES) {
        int at = i / CHUNKS, chunk = i % CHUNKS;
        *(uint4 *)(c + (row + at) * n + column + chunk * CHUNK) =
            *(uint4 *)(tile_a + at * TILE + (chunk ^ at % CHUNKS) * CHUNK);
    }
}

int main()
{
    const int SIZE = 2 * TILE;
    need_capability(7, 5);
    std::vector<int> a = random_values<int>(SIZE * SIZE, 5), b = random_values<int>(SIZE * SIZE, 5);
    std::vector<__half> a_halves, b_halves;
    for (int value : a) a_halves.push_back(__float2half((float)(value - 2)));
    for (int value : b) b_halves.push_back(__float2half((float)value));
    __half *device_c = device_array<__half>(SIZE * SIZE);
    multiply<<<dim3(SIZE / TILE, SIZE / TILE), LANES>>>(device_copy(a_halves),
                                                        device_copy(b_halves), device_c, SIZE);
    CUDA_LAUNCHED();
    std::vector<__half> got = host_copy(device_c, SIZE * SIZE);
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            int sum = 0; /* at most 1024: exact in any order */
            for (int k = 0; k < SIZE; k++) sum += (a[row * SIZE + k] - 2) * b[k * SIZE + column];
            float element = __half2float(got[row * SIZE + column]);
            expect_same("c", &element, &sum, 1);
        }
    return right("mma.sync and ldmatrix on %dx%d matrices", SIZE, SIZE);
}
