/* arithmetic.cu — operators that nvcc builds from several instructions, and tensor cores. */
#include "check.cuh"

#include <cuda_fp16.h>
#include <mma.h>
#include <type_traits>

/* C's operators on integers of 8 to 128 bits. One function is compiled for the host and for the
 * device, and all results are compared. */
namespace integer_types
{
typedef __int128 i128;
typedef unsigned __int128 u128;

enum { RESULTS = 24, INPUTS = 2500 };

/* Operands whose result C leaves undefined are replaced. Sums and products are computed unsigned:
 * they wrap. */
template <typename T> static __host__ __device__ void compute(T a, T b, u128 *out)
{
    typedef typename std::make_unsigned<T>::type U;
    const T minus_one = (T)-1, least = (T)((U)1 << (8 * sizeof(T) - 1));
    const T negated = a == least ? (T)1 : a; /* ptxas makes 32768 of -(int16_t)-32768 */
    const int by = (int)(b & (8 * sizeof(T) - 1));
    const T divisor = b == 0 || (minus_one < 0 && a == least && b == minus_one) ? (T)3 : b;
    const T results[] = {
        (T)((U)a + (U)b), (T)((U)a - (U)b), (T)((u128)(U)a * (U)b), (T)(a / divisor),
        (T)(a % divisor), (T)((U)a << by), (T)(a >> by), (T)(a & b), (T)(a | b), (T)(a ^ b),
        (T)~a, (T)(0 - (U)negated), (T)(a < b ? a : b),
        (T)((a < b) | (a <= b) << 1 | (a == b) << 2 | !a << 3 | (a && b) << 4 | (b > a) << 5),
        /* Results of several operators. */
        (T)((U)a - (U)b + ((U)a < (U)b)), (T)((U)a + (U)b - ((U)((U)a + (U)b) < (U)a)),
        (T)(a / divisor * (U)divisor + a % divisor), (T)((U)a << by | (U)b >> by),
    };
    int k = 0;
    for (T result : results) out[k++] = (u128)result;
    out[k++] = (u128)(int8_t)a + (u128)(uint8_t)a;
    out[k++] = (u128)(int16_t)a + (u128)(uint16_t)a;
    out[k++] = (u128)(int32_t)a + (u128)(uint32_t)a;
    out[k++] = (u128)(int64_t)a + (u128)(uint64_t)a;
    out[k++] = (u128)(i128)a * (u128)(U)b;
    out[k++] = (u128)(i128)(double)(long long)a + (u128)(double)(unsigned long long)b * 5 +
               (u128)(i128)(float)(int)a + (u128)(float)(unsigned)b;
    static_assert(sizeof results / sizeof *results + 6 == RESULTS, "a place for each result");
}

template <typename T> static __global__ void on_device(const u128 *a, const u128 *b, u128 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < INPUTS) compute((T)a[i], (T)b[i], out + (size_t)i * RESULTS);
}

/* Half of the inputs are special: a power of two, a number close to one, or their complements. */
static u128 input(void)
{
    u128 value = 0;
    for (int k = 0; k < 4; k++) value = value << 32 | (next_random() << 16 ^ next_random());
    unsigned kind = next_random() % 8;
    int width = 8 << next_random() % 5, bit = (int)(next_random() % width);
    if (kind < 4) return value >> next_random() % 128;
    u128 power = (u128)1 << bit;
    return kind == 4 ? power : kind == 5 ? power - 1 : kind == 6 ? ~power : 0 - power + (value & 3);
}

template <typename T> static void check(const char *name, const u128 *a, const u128 *b)
{
    std::vector<u128> x(a, a + INPUTS), y(b, b + INPUTS);
    u128 *out = device_array<u128>((size_t)INPUTS * RESULTS), want[RESULTS];
    on_device<T><<<blocks_for(INPUTS, 128), 128>>>(device_copy(x), device_copy(y), out);
    CUDA_LAUNCHED();
    std::vector<u128> got = host_copy(out, (size_t)INPUTS * RESULTS);
    for (int i = 0; i < INPUTS; i++) {
        compute((T)a[i], (T)b[i], want);
        for (int k = 0; k < RESULTS; k++) {
            if (got[(size_t)i * RESULTS + k] == want[k]) continue;
            printf("%s: result %d of pair %d is wrong\n", name, k, i);
            exit(EXIT_WRONG);
        }
    }
}

static int run()
{
    static u128 a[INPUTS], b[INPUTS];
    for (int i = 0; i < INPUTS; i++) a[i] = input(), b[i] = i % 16 ? input() : a[i];
#define CHECK(T) check<T>(#T, a, b)
    CHECK(int8_t), CHECK(uint8_t), CHECK(int16_t), CHECK(uint16_t), CHECK(int32_t), CHECK(uint32_t);
    CHECK(int64_t), CHECK(uint64_t), CHECK(i128), CHECK(u128);
    return right("%d results of %d pairs of integers, in 10 types", RESULTS, INPUTS);
}
} // namespace integer_types

/* C = A·B + C by tensor cores, through nvcuda::wmma: fragments of 16-bit floats in three shapes and
 * all layouts, and of bytes, from global and from shared memory. Compute capability 7.5. */
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

PROGRAMS({"integer_types", integer_types::run}, {"wmma_multiply", wmma_multiply::run})
