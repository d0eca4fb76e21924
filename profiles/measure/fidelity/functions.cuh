/* functions.cuh — what the programs of functions.py share: operands, results, and a digest of the
 * results of each function. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>

enum { LANES = 512, SPECIAL = 16, ARGUMENTS = 6, RESULTS = 4 };
enum kind { WORDS, LONGS, FLOATS, DOUBLES, HALVES, BRAINS, KINDS };
struct alignas(32) cell { unsigned char bytes[32]; };
typedef const cell (*operands)[ARGUMENTS][LANES];

template <class T> struct kind_of { enum { value = sizeof(T) % 8 ? WORDS : LONGS }; };
#define KIND(type, kind) template <> struct kind_of<type> { enum { value = kind }; };
KIND(float, FLOATS) KIND(float2, FLOATS) KIND(float4, FLOATS) KIND(uchar4, WORDS)
KIND(double, DOUBLES) KIND(double2, DOUBLES) KIND(__half, HALVES) KIND(__half2, HALVES)
KIND(__half_raw, HALVES) KIND(__half2_raw, HALVES) KIND(__nv_bfloat16, BRAINS)
KIND(__nv_bfloat162, BRAINS) KIND(__nv_bfloat16_raw, BRAINS) KIND(__nv_bfloat162_raw, BRAINS)

#define LANE (blockIdx.x * blockDim.x + threadIdx.x)
template <class T, int kind = kind_of<T>::value>
static __device__ T get(operands in, int argument)
{
    return *(const T *)&in[kind][argument][LANE];
}

template <class T> static __device__ void put(cell *out, int result, T value)
{
    *(T *)&out[result * LANES + LANE] = value;
}

/* `nans` has a letter for each result: of d(oubles), f(loats), h(alves) all NaNs count as one. */
struct function {
    const char *name;
    void (*run)(operands, cell *);
    const char *nans;
};

static uint64_t next_random()
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return state >> 32 ^ state << 32;
}

struct format { int bits, fraction; };
static const format formats[KINDS] = {{32, 0}, {64, 0}, {32, 23}, {64, 52}, {16, 10}, {16, 7}};

/* Zeros, denormal numbers, one, limits, infinities, NaNs; of integers powers and limits. */
static uint64_t special(format f, int which)
{
    uint64_t sign = (uint64_t)1 << (f.bits - 1), all = 2 * sign - 1;
    if (!f.fraction) {
        const uint64_t of[SPECIAL] = {0, 1, 2, 3, 7, 31, 32, 33, 100, 0x7fff, 0x8000, sign - 1,
                                      sign, all, all - 6, 0x0123456789abcdef & all};
        return of[which];
    }
    uint64_t unit = (uint64_t)1 << f.fraction, infinity = (sign - 1) / unit * unit;
    uint64_t one = infinity / unit / 2 * unit;
    const uint64_t of[SPECIAL] = {0, sign, 1, sign | (unit - 1), unit, one, sign | one,
                                  one + unit / 2, sign | (one + 3 * unit + 1), one - unit - 1,
                                  infinity - 1, sign | (infinity - unit), infinity,
                                  sign | infinity, infinity | unit / 2, sign | infinity | 1};
    return of[which];
}

/* Mostly near one; of integers mostly small. */
static uint64_t any(format f)
{
    uint64_t random = next_random() >> (64 - f.bits), which = next_random() >> 8;
    if (!f.fraction) return which % 4 ? random >> which / 4 % f.bits : random;
    uint64_t unit = (uint64_t)1 << f.fraction;
    uint64_t one = (((uint64_t)1 << (f.bits - 2 - f.fraction)) - 1) * unit;
    uint64_t near = one + (which / 8 % 5) * unit - 2 * unit + random % unit;
    return which % 8 ? near | (random >> (f.bits - 1) << (f.bits - 1)) : random;
}

static void fill(cell (*in)[ARGUMENTS][LANES])
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int k = 0; k < ARGUMENTS * LANES; k++) {
            format f = formats[kind];
            int argument = k / LANES, lane = k % LANES, size = f.bits / 8;
            for (int e = 0; e < 32 / size; e++) {
                int which = (argument ? lane : lane / SPECIAL) + 5 * e;
                uint64_t random = any(f);
                bool is_special = lane < SPECIAL * SPECIAL && argument < 2;
                uint64_t value = is_special ? special(f, which % SPECIAL) : random;
                memcpy(in[kind][argument][lane].bytes + e * size, &value, size);
            }
        }
}

/* All NaNs become one. */
static uint64_t digest(const cell *out, const char *nans)
{
    uint64_t sum = 14695981039346656037u;
    for (; *nans; nans++, out += LANES) {
        format f = formats[*nans == 'd' ? DOUBLES : *nans == 'f' ? FLOATS : HALVES];
        uint64_t most = ((uint64_t)1 << (f.bits - 1)) - 1;
        uint64_t infinity = most >> f.fraction << f.fraction;
        for (int k = 0; k < LANES * 32; k += f.bits / 8) {
            uint64_t word = 0;
            memcpy(&word, (const char *)out + k, f.bits / 8);
            if (*nans != '-' && (word & most) > infinity) word = most;
            sum = (sum ^ word) * 1099511628211u, sum ^= sum >> 29;
        }
    }
    return sum;
}

/* Prints a row for each function. */
static int run_all(const function *functions, int count)
{
    static cell filled[KINDS][ARGUMENTS][LANES], results[RESULTS * LANES];
    cell (*in)[ARGUMENTS][LANES], *out;
    fill(filled);
    if (cudaMalloc(&in, sizeof filled) || cudaMalloc(&out, sizeof results) ||
        cudaMemcpy(in, filled, sizeof filled, cudaMemcpyHostToDevice))
        return 1;
    puts("kind,function,digest");
    for (const function *f = functions; f < functions + count; f++) {
        if (cudaMemset(out, 0, sizeof results)) return 1;
        f->run<<<2, LANES / 2>>>(in, out);
        if (cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost)) {
            fprintf(stderr, "%s: %s\n", f->name, cudaGetErrorString(cudaGetLastError()));
            return 1;
        }
        printf("%s,%016llx\n", f->name, (unsigned long long)digest(results, f->nans));
    }
    return 0;
}
