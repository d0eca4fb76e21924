/*
 * swizzle.cu — make these conflicts zero.
 *
 * The product C = A Bᵀ of square matrices of 16-bit floats, by ldmatrix and mma. A row of a tile is
 * 64 bytes, four chunks of 16 bytes, and the rows that ldmatrix reads at the same time conflict.
 * Change place(), and nothing else, so that neither ldmatrix nor the stores into the tiles have
 * bank conflicts. The tiles have no room for padding. Then: make check-swizzle
 */
#include <cuda_fp16.h>

enum { SIDE = 32, CHUNK = 8, CHUNKS = 4, WIDTH = CHUNK * CHUNKS, LANES = 32 };

/* The place, from 0 to 3, at which a row of a tile (0 to 31) holds one of its chunks (0 to 3). */
static __device__ int place(int row, int chunk)
{
    (void)row;
    return chunk;
}

extern __shared__ __align__(128) __half tiles[];

static __device__ __half *chunk_of(__half *tile, int row, int chunk)
{
    return tile + row * WIDTH + place(row, chunk) * CHUNK;
}

/* Four 8 x 8 matrices that lie below each other: lane i gives the address of row i. */
static __device__ void load_matrices(unsigned m[4], const __half *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(at)
                 : "memory");
}

/* sum += a b, of 16 x 8 and 8 x 8 elements. */
static __device__ void multiply_add(float sum[4], const unsigned a[2], unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
}

/* A block of one warp computes SIDE x SIDE elements of c. */
__global__ void product(float *c, const __half *a, const __half *b, int n)
{
    __half *tile_a = tiles, *tile_b = tiles + SIDE * WIDTH;
    int lane = threadIdx.x, row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
    float sum[2][4][4] = {};
    for (int start = 0; start < n; start += WIDTH) {
        for (int i = lane; i < SIDE * CHUNKS; i += LANES) {
            int y = i / CHUNKS, chunk = i % CHUNKS, from = start + chunk * CHUNK;
            *(uint4 *)chunk_of(tile_a, y, chunk) = *(const uint4 *)&a[(row + y) * n + from];
            *(uint4 *)chunk_of(tile_b, y, chunk) = *(const uint4 *)&b[(column + y) * n + from];
        }
        __syncwarp(); // other lanes stored what is loaded next
        for (int chunk = 0; chunk < CHUNKS; chunk++) {
            unsigned of_a[4], of_b[4];
            load_matrices(of_a, chunk_of(tile_a, lane, chunk));
            load_matrices(of_b, chunk_of(tile_b, lane, chunk));
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) multiply_add(sum[i][j], of_a + 2 * i, of_b[j]);
        }
        __syncwarp(); // other lanes may still load what is overwritten next
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++) {
            float *to = c + (row + 16 * i + lane / 4) * n + column + 8 * j + lane % 4 * 2;
            *(float2 *)to = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(to + 8 * n) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}
