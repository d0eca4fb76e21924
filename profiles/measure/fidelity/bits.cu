/*
 * bits.cu — what a GPU computes, bit for bit, where PTX leaves it open or names an approximation:
 * NaNs, remainders by 0, atomics on floats, conversions, and operations that saturate. Each case
 * runs on all pairs of 16 operands of its kind. A row has the case and a digest of its results.
 *
 *   build/fidelity/bits             the table, which fidelity.sh records
 *   build/fidelity/bits --whole     the results instead of the digests
 */
#include <cstdint>
#include <cstdio>
#include <cstring>

enum { SIDE = 16, LANES = SIDE * SIDE, MOST = 256 };
enum kind { INTEGERS, FLOATS, DOUBLES, HALVES, BRAINS, DIVISORS, RANDOM };
static __constant__ uint64_t operands[RANDOM][SIDE] = {
    {0, 1, 3, 7, 100, ~0ull, -7ull, 0x7f, 0x80, 0x7fff, 0x8000, 0x7fffffff, 0x80000000,
     0x8000000080008080, 0x7fffffffffffffff, 0x0123456789abcdef},
    {0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800001, 0x80800000, 0x3f800000, 0xbfc01001,
     0x477ff000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xff800001, 0xffc12345},
    {0, 1ull << 63, 1, 0x36a8000000000000, 0x3ff0000000000000, 0xbff8000000000001,
     0x40effe0000000001, 0x47efffffffffffff, 0x7fefffffffffffff, 0x7ff0000000000000,
     0xfff0000000000000, 0x7ff8000000000123, 0x7ff0000000000001, 0xfff7ffffffffffff,
     0x7ff4aaaaaaaaaaaa, 0xfff8000000000000},
    {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbe01, 0x57f8, 0xd7f9, 0x7bff, 0x7c00, 0xfc00,
     0x7e00, 0xfc01, 0xfe55},
    {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xc06d, 0x42c9, 0xc348, 0x7f7f, 0x7f80, 0xff80,
     0x7fc0, 0xff81, 0xffd5},
    {0, 0x80000000, 1, 0x00400000, 0x3f800000, 0xbf800000, 0x7b800000, 0x7e800000, 0x7e800001,
     0x7ec00000, 0xfea00000, 0x7f000000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001}};

typedef uint16_t H;
typedef uint32_t R;
typedef uint64_t L;
#define LETTER_H "h"
#define LETTER_R "r"
#define LETTER_L "l"

#define SAME(X, K, T, type)                                                                        \
    X(K, T, T, "neg." type " %0, %1;") X(K, T, T, "abs." type " %0, %1;")                          \
    X(K, T, T, "add." type " %0, %1, %2;") X(K, T, T, "sub." type " %0, %1, %2;")                  \
    X(K, T, T, "mul." type " %0, %1, %2;") X(K, T, T, "fma.rn." type " %0, %1, %2, %3;")           \
    X(K, T, T, "min." type " %0, %1, %2;") X(K, T, T, "max." type " %0, %1, %2;")
#define INTEGER(X, T, bits)                                                                        \
    X(INTEGERS, T, T, "div.u" bits " %0, %1, %2;") X(INTEGERS, T, T, "rem.u" bits " %0, %1, %2;")  \
    X(INTEGERS, T, T, "div.s" bits " %0, %1, %2;") X(INTEGERS, T, T, "rem.s" bits " %0, %1, %2;")
#define ROUNDED(X, K, D, T, types)                                                                 \
    X(K, D, T, "cvt.rn" types " %0, %1;") X(K, D, T, "cvt.rz" types " %0, %1;")                    \
    X(K, D, T, "cvt.rm" types " %0, %1;") X(K, D, T, "cvt.rp" types " %0, %1;")
#define PACKED(X, type) X(INTEGERS, R, R, "cvt.pack.sat." type ".s32.b32 %0, %1, %2, %3;")
#define VIDEO(X, types) X(INTEGERS, R, R, "vabsdiff" types " %0, %1, %2, %3;")
#define PLAIN(X)                                                                                   \
    INTEGER(X, H, "16") INTEGER(X, R, "32") INTEGER(X, L, "64")                                    \
    SAME(X, FLOATS, R, "f32") SAME(X, DOUBLES, L, "f64")                                           \
    SAME(X, HALVES, H, "f16") SAME(X, BRAINS, H, "bf16")                                           \
    X(DOUBLES, L, L, "div.rn.f64 %0, %1, %2;") X(FLOATS, R, R, "neg.ftz.f32 %0, %1;")              \
    X(BRAINS, H, H, "{.reg .b8 x; cvt.rzi.s8.bf16 x, %1; mov.b16 %0, {x, 0};}")                    \
    X(BRAINS, H, H, "{.reg .b8 x; cvt.rzi.u8.bf16 x, %1; mov.b16 %0, {x, 0};}")                    \
    ROUNDED(X, DOUBLES, R, L, ".f32.f64") ROUNDED(X, DOUBLES, R, L, ".ftz.sat.f32.f64")            \
    ROUNDED(X, DOUBLES, H, L, ".f16.f64") ROUNDED(X, DOUBLES, H, L, ".bf16.f64")                   \
    ROUNDED(X, FLOATS, H, R, ".f16.f32") ROUNDED(X, FLOATS, H, R, ".ftz.f16.f32")                  \
    ROUNDED(X, FLOATS, H, R, ".ftz.sat.f16.f32") ROUNDED(X, FLOATS, H, R, ".bf16.f32")             \
    X(FLOATS, L, R, "cvt.f64.f32 %0, %1;") X(HALVES, R, H, "cvt.f32.f16 %0, %1;")                  \
    X(HALVES, L, H, "cvt.f64.f16 %0, %1;") X(BRAINS, L, H, "cvt.f64.bf16 %0, %1;")                 \
    X(FLOATS, R, R, "cvt.rna.tf32.f32 %0, %1;") X(FLOATS, R, R, "cvt.rn.tf32.f32 %0, %1;")         \
    X(FLOATS, R, R, "cvt.rz.tf32.f32 %0, %1;") X(FLOATS, R, R, "cvt.rn.relu.tf32.f32 %0, %1;")     \
    X(HALVES, H, R, "cvt.rn.satfinite.relu.e4m3x2.f16x2 %0, %1;")                                  \
    X(HALVES, H, R, "cvt.rn.satfinite.relu.e5m2x2.f16x2 %0, %1;")                                  \
    X(HALVES, R, R, "neg.f16x2 %0, %1;") X(BRAINS, R, R, "abs.bf16x2 %0, %1;")                     \
    X(DIVISORS, R, R, "div.approx.f32 %0, %1, %2;")                                                \
    X(DIVISORS, R, R, "div.approx.ftz.f32 %0, %1, %2;")                                            \
    X(DOUBLES, L, L, "rsqrt.approx.f64 %0, %1;") X(RANDOM, L, L, "rsqrt.approx.f64 %0, %1;")       \
    X(DOUBLES, L, L, "rsqrt.approx.ftz.f64 %0, %1;")                                               \
    X(DOUBLES, L, L, "rcp.approx.ftz.f64 %0, %1;")                                                 \
    X(INTEGERS, R, R, "cvt.pack.sat.u16.s32 %0, %1, %2;")                                          \
    X(INTEGERS, R, R, "cvt.pack.sat.s16.s32 %0, %1, %2;")                                          \
    PACKED(X, "u8") PACKED(X, "s8") PACKED(X, "u4") PACKED(X, "s4") PACKED(X, "u2")                \
    PACKED(X, "s2") VIDEO(X, "2.s32.u32.u32.sat") VIDEO(X, "2.s32.s32.s32.sat")                    \
    VIDEO(X, "4.u32.u32.u32.sat") VIDEO(X, "4.s32.u32.s32.sat") VIDEO(X, "4.u32.s32.s32.add")

/* %4 and %6 are the addresses of words in global and shared memory; %5 is a generic address of the
 * latter. Both hold a. */
#define ATOMIC(X, K, T, operation)                                                                 \
    X(K, T, T, "atom.global" operation " %0, [%4], %2;")                                           \
    X(K, T, T, "atom.shared" operation " %0, [%6], %2;")                                           \
    X(K, T, T, "atom" operation " %0, [%5], %2;") X(K, T, T, "red.global" operation " [%4], %2;")
#define BULK(X, K, T, type, operation)                                                             \
    X(K, T, T,                                                                                     \
      "st.shared." type " [%6], %2; fence.proxy.async; "                                           \
      "cp.reduce.async.bulk.global.shared::cta.bulk_group." operation " [%4], [%6], 16; "          \
      "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;")
#define CASES(X)                                                                                   \
    PLAIN(X) ATOMIC(X, FLOATS, R, ".add.f32") ATOMIC(X, DOUBLES, L, ".add.f64")                    \
    ATOMIC(X, HALVES, R, ".add.noftz.f16x2") ATOMIC(X, BRAINS, H, ".add.noftz.bf16")               \
    X(FLOATS, R, R, "{.reg .b32 x, y; atom.global.add.v2.f32 {%0, x}, [%4], {%2, %2};}")           \
    X(FLOATS, R, R, "red.global.add.v4.f32 [%4], {%2, %2, %2, %2};")                               \
    X(HALVES, R, R, "red.global.min.noftz.v2.f16x2 [%4], {%2, %2};")                               \
    X(BRAINS, R, R, "red.global.max.noftz.v4.bf16x2 [%4], {%2, %2, %2, %2};")                      \
    BULK(X, FLOATS, R, "b32", "add.f32") BULK(X, DOUBLES, L, "b64", "add.f64")

static __device__ uint64_t operand(int kind, int k)
{
    uint64_t mixed = (threadIdx.x + 1) * 0x9e3779b97f4a7c15; /* a positive double */
    return kind == RANDOM ? mixed >> 1 : operands[kind][k % SIDE];
}

/* Halves come in pairs where the type has 32 bits. */
#define RUN(kind, D, T, text)                                                                      \
    {                                                                                              \
        T a = (T)operand(kind, x), b = (T)operand(kind, y), c = (T)operand(kind, x + 5 * y);       \
        if (sizeof a == 4 && (kind == HALVES || kind == BRAINS)) a |= b << 16, b = c | b << 16;    \
        volatile T *in_global = (T *)(words + threadIdx.x), *in_shared = (T *)(all + threadIdx.x); \
        *in_global = *in_shared = a;                                                               \
        D d = 0;                                                                                   \
        asm volatile(text                                                                          \
                     : "+" LETTER_##D(d)                                                           \
                     : LETTER_##T(a), LETTER_##T(b), LETTER_##T(c), "l"(in_global),                \
                       "l"(in_shared), "r"((uint32_t)__cvta_generic_to_shared(all + threadIdx.x))  \
                     : "memory");                                                                  \
        *out++ = d, *out++ = *in_global ^ *in_shared;                                              \
    }

static __global__ void run(unsigned long long *out, float4 *words)
{
    __shared__ float4 all[LANES];
    int x = threadIdx.x / SIDE, y = threadIdx.x % SIDE;
    out += threadIdx.x * 2 * MOST;
    CASES(RUN)
}

int main(int argc, char **argv)
{
#define NAME(kind, D, T, text) text,
    const char *const names[] = {CASES(NAME)};
    enum { COUNT = sizeof names / sizeof *names };
    static_assert(COUNT <= MOST, "out has two words for each case");
    bool whole = argc == 2 && !strcmp(argv[1], "--whole");
    unsigned long long *out;
    float4 *words;
    if (cudaMallocManaged(&out, LANES * 2 * MOST * sizeof *out) ||
        cudaMalloc(&words, LANES * sizeof *words) || cudaMemset(words, 0, LANES * sizeof *words))
        return 1;
    run<<<1, LANES>>>(out, words);
    if (cudaGetLastError() || cudaDeviceSynchronize()) return 1;
    puts(whole ? "case,words" : "case,digest");
    for (int k = 0; k < COUNT; k++) {
        unsigned long long digest = 14695981039346656037u;
        printf("\"%s\",", names[k]);
        for (int w = 0; w < 2 * LANES; w++) {
            unsigned long long word = out[w / 2 * 2 * MOST + 2 * k + w % 2];
            digest = (digest ^ word) * 1099511628211u;
            if (whole) printf("%llx ", word);
        }
        printf(whole ? "\n" : "%016llx\n", digest);
    }
}
