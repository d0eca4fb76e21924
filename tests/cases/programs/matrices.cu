/* matrices.cu — a product of matrices by tensor cores. Compute capability 7.5. */
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

PROGRAMS({"wmma_multiply", wmma_multiply::run})
