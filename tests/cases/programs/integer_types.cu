/* integer_types.cu — C's operators on integers of 8 to 128 bits, which nvcc builds from several
 * instructions. One function is compiled for the host and for the device, and all results are
 * compared. */
#include "check.cuh"

#include <type_traits>

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

PROGRAMS({"integer_types", run})
