/* matrices.cu — products of matrices by tensor cores. Compute capability 7.5. */
#include "check.cuh"
#include <cuda_fp16.h>
#include <mma.h>

/* C = A·B + C by tensor cores, through nvcuda::wmma: fragments of 16-bit floats in three shapes and
 * all layouts, and of bytes, from global and from shared memory. */
namespace wmma_multiply
{
using namespace nvcuda;

static const int SIZE = 96; /* a multiple of every side of a fragment */

template <typename Layout> static __device__ int place(int row, int column)
{
    return std::is_same<Layout, wmma::row_major>::value ? row * SIZE + column : column * SIZE + row;
}

/* Each warp computes one fragment of c. The tiles of b go through shared memory. */
template <int M, int N, typename T, typename Sum, typename A, typename B>
static __global__ void multiply(const T *a, const T *b, Sum *c)
{
    const int K = 16, PADDED = 32 + 16;
    __shared__ __align__(32) T tile[K * PADDED];
    wmma::fragment<wmma::matrix_a, M, N, K, T, A> fragment_a;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::row_major> fragment_b;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
    int row = blockIdx.y * M, column = blockIdx.x * N;
    wmma::load_matrix_sync(sum, c + row * SIZE + column, SIZE, wmma::mem_row_major);
    for (int k = 0; k < SIZE; k += K) {
        for (int i = threadIdx.x; i < K * N; i += warpSize)
            tile[i / N * PADDED + i % N] = b[place<B>(k + i / N, column + i % N)];
        __syncwarp();
        wmma::load_matrix_sync(fragment_a, a + place<A>(row, k), SIZE);
        wmma::load_matrix_sync(fragment_b, tile, PADDED);
        wmma::mma_sync(sum, fragment_a, fragment_b, sum);
        __syncwarp();
    }
    for (int e = 0; e < sum.num_elements; e++) sum.x[e] = sum.x[e] + (Sum)1;
    wmma::store_matrix_sync(c + row * SIZE + column, sum, SIZE, wmma::mem_row_major);
}

template <int M, int N, typename T, typename Sum, typename A, typename B>
static void check(const char *what)
{
    std::vector<int> a = random_values<int>(SIZE * SIZE, 8), b = random_values<int>(SIZE * SIZE, 8);
    std::vector<T> a_elements, b_elements;
    std::vector<Sum> c(SIZE * SIZE, (Sum)3), expected; /* small integers: exact in any order */
    bool a_rows = std::is_same<A, wmma::row_major>::value;
    bool b_rows = std::is_same<B, wmma::row_major>::value;
    int shift = std::is_same<T, unsigned char>::value ? 0 : 4; /* negative numbers, too */
    for (int value : a) a_elements.push_back((T)(float)(value - shift));
    for (int value : b) b_elements.push_back((T)(float)value);
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            int sum = 3 + 1;
            for (int k = 0; k < SIZE; k++)
                sum += (a[a_rows ? row * SIZE + k : k * SIZE + row] - shift) *
                       b[b_rows ? k * SIZE + column : column * SIZE + k];
            expected.push_back((Sum)(float)sum);
        }
    Sum *device_c = device_copy(c);
    multiply<M, N, T, Sum, A, B><<<dim3(SIZE / N, SIZE / M), 32>>>(
        device_copy(a_elements), device_copy(b_elements), device_c);
    CUDA_LAUNCHED();
    std::vector<Sum> got = host_copy(device_c, SIZE * SIZE);
    for (int i = 0; i < SIZE * SIZE; i++)
        if ((float)got[i] != (float)expected[i]) {
            printf("%s[%d] is %g, not %g\n", what, i, (float)got[i], (float)expected[i]);
            exit(EXIT_WRONG);
        }
}

template <int M, int N> static void check_shape(void)
{
    typedef wmma::row_major rows;
    typedef wmma::col_major columns;
    check<M, N, __half, float, rows, rows>("half, float, rows");
    check<M, N, __half, float, columns, rows>("half, float, columns of a");
    check<M, N, __half, __half, rows, columns>("half, half, columns of b");
    check<M, N, signed char, int, rows, rows>("bytes, rows");
    check<M, N, unsigned char, int, columns, columns>("unsigned bytes, columns");
}

static int run()
{
    need_capability(7, 5);
    check_shape<16, 16>();
    check_shape<32, 8>();
    check_shape<8, 32>();
    return right("wmma of %dx%d matrices in three shapes", SIZE, SIZE);
}
} // namespace wmma_multiply

/* C = A·B by mma.sync: tiles of A and B in shared memory, with chunks exchanged so that ldmatrix
 * has no bank conflicts; fragments by ldmatrix, which transposes those of B; results by stmatrix
 * where the GPU has it. */
namespace mma_multiply
{
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

static int run()
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
} // namespace mma_multiply

PROGRAMS({"wmma_multiply", wmma_multiply::run}, {"mma_multiply", mma_multiply::run})
