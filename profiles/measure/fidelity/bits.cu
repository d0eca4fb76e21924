/*
 * bits.cu — what a GPU computes, bit for bit, where PTX leaves it open.
 *
 *   build/fidelity/bits                what operations compute: NaNs, remainders by 0, atomics on
 *                                      floats, conversions, operations that saturate
 *   build/fidelity/bits carries        the carry flag after instructions with .cc
 *   build/fidelity/bits contraction    of which products and sums ptxas makes one fma
 *
 * Each prints a table, which fidelity.py records.
 */
#include <cstdint>
#include <cstdio>
#include <cstring>

/* ---- operations ------------------------------------------------------------------------------ */

namespace operations
{
/* Each case runs on all pairs of 16 operands of its kind. A row has the case and a digest. */
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

static int print_digests()
{
#define NAME(kind, D, T, text) text,
    const char *const names[] = {CASES(NAME)};
    enum { COUNT = sizeof names / sizeof *names };
    static_assert(COUNT <= MOST, "out has two words for each case");
    unsigned long long *out;
    float4 *words;
    if (cudaMallocManaged(&out, LANES * 2 * MOST * sizeof *out) ||
        cudaMalloc(&words, LANES * sizeof *words) || cudaMemset(words, 0, LANES * sizeof *words))
        return 1;
    run<<<1, LANES>>>(out, words);
    if (cudaGetLastError() || cudaDeviceSynchronize()) return 1;
    puts("case,digest");
    for (int k = 0; k < COUNT; k++) {
        unsigned long long digest = 14695981039346656037u;
        for (int w = 0; w < 2 * LANES; w++)
            digest = (digest ^ out[w / 2 * 2 * MOST + 2 * k + w % 2]) * 1099511628211u;
        printf("\"%s\",%016llx\n", names[k], digest);
    }
    return 0;
}

} // namespace operations

/* ---- the carry flag -------------------------------------------------------------------------- */

/* Each instruction with .cc is followed by addc, subc and chains of both, which read the flag. PTX
 * defines only chains of one kind, such as sub.cc and subc, but nvcc's 128-bit division mixes
 * kinds. A row has a case and its results for each pair of operands. */
namespace carries
{
#undef NAME
enum { MOST = 128 };
static const uint64_t OPERANDS[] = {3, 5, ~0ull, 0x8000000080000000};
enum { SIDE = sizeof OPERANDS / sizeof *OPERANDS, LANES = SIDE * SIDE };

struct lane {
    uint64_t a, b, *out; /* out: one word for each case */
    int next;
};

/* The flag that `first` leaves is read by `second` into d; s is the sum itself. */
#define MIX(type, letter, first, second)                                                           \
    {                                                                                              \
        type a = (type)l.a, b = (type)l.b, s = 7, d = 0;                                           \
        asm volatile(first "\n\t" second : "+" letter(s), "+" letter(d) : letter(a), letter(b));   \
        l.out[l.next++] = d ^ (uint64_t)s << 7;                                                    \
    }
#define MIX_32(first, second) MIX(uint32_t, "r", first, second)
#define READERS(X, T, first)                                                                       \
    X(first, "addc" T " %1, 10, 0;")                                                               \
    X(first, "subc" T " %1, 10, 0;")                                                               \
    X(first, "subc.cc" T " %1, %2, %3; addc" T " %1, %1, 0;")                                      \
    X(first, "addc.cc" T " %1, %2, %3; subc" T " %1, %1, 0;")
#define WRITERS(X, T)                                                                              \
    READERS(X, T, "add.cc" T " %0, %2, %3;")                                                       \
    READERS(X, T, "sub.cc" T " %0, %2, %3;")                                                       \
    READERS(X, T, "sub.cc" T " %0, 1, 0; addc.cc" T " %0, %2, %3;")                                \
    READERS(X, T, "add.cc" T " %0, 1, 0; subc.cc" T " %0, %2, %3;")
#define WITH_PRODUCTS(X, T)                                                                        \
    WRITERS(X, T)                                                                                  \
    READERS(X, T, "mad.lo.cc" T " %0, %2, %3, -1;")                                                \
    READERS(X, T, "mad.hi.cc" T " %0, %2, %3, -1;")                                                \
    READERS(X, T, "sub.cc" T " %0, %2, %3; madc.hi.cc" T " %0, %2, %3, %3;")                       \
    X("sub.cc" T " %0, %2, %3;", "madc.lo" T " %1, %2, %3, 0;")                                    \
    X("sub.cc" T " %0, %2, %3;", "madc.hi" T " %1, %2, %3, 0;")
/* The flag under a guard, across a branch, a loop and a call. */
#define LIVES(X)                                                                                   \
    X("{.reg .pred p; setp.lt.u32 p, %2, %3; add.cc.u32 %0, -1, 1; @p sub.cc.u32 %0, %2, %3;",     \
      "addc.u32 %1, 10, 0;}")                                                                      \
    X("{.reg .pred p; setp.lt.u32 p, %2, 5; sub.cc.u32 %0, %2, %3; @p bra SKIP%=; xor.b32 %1, "    \
      "%2, 77;", "SKIP%=: addc.u32 %1, %1, 0;}")                                                   \
    X("{.reg .pred p; .reg .u32 k; mov.u32 k, 0; sub.cc.u32 %0, %2, %3; LOOP%=: addc.cc.u32 %0, "  \
      "%0, %3; subc.cc.u32 %1, %1, %2; xor.b32 k, k, 1; setp.ne.u32 p, k, 0; @p bra LOOP%=;",      \
      "subc.u32 %1, %1, 0;}")

static __device__ __noinline__ uint32_t between(uint32_t x) { return x * 3; }

static __global__ void run(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
    struct lane l = {a[threadIdx.x], b[threadIdx.x], out + threadIdx.x * MOST, 0};
    WITH_PRODUCTS(MIX_32, ".u32")
#define MIX_64(first, second) MIX(uint64_t, "l", first, second)
    WRITERS(MIX_64, ".u64")
    LIVES(MIX_32)
    uint32_t s, d, x = (uint32_t)l.a, y = (uint32_t)l.b;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(s) : "r"(x), "r"(y));
    s = between(s);
    asm volatile("addc.u32 %0, %1, 0;" : "=r"(d) : "r"(s));
    l.out[l.next++] = d;
}

static int print_carries()
{
    const char *names[] = {
#define NAME(first, second) first " " second,
        WITH_PRODUCTS(NAME, ".u32") WRITERS(NAME, ".u64")
        LIVES(NAME) "sub.cc.u32, a call, addc.u32"};
    static_assert(sizeof names / sizeof *names <= MOST, "out has a word for each case");
    uint64_t *in, *out;
    if (cudaMallocManaged(&in, 2 * LANES * sizeof *in) ||
        cudaMallocManaged(&out, LANES * MOST * sizeof *out))
        return 1;
    for (int k = 0; k < LANES; k++)
        in[k] = OPERANDS[k / SIDE], in[LANES + k] = OPERANDS[k % SIDE];
    run<<<1, LANES>>>(in, in + LANES, out);
    if (cudaDeviceSynchronize()) return 1;
    puts("case,words");
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        printf("\"%s\",", names[k]);
        for (int l = 0; l < LANES; l++)
            printf("%s%llx", l ? " " : "", (unsigned long long)out[l * MOST + k]);
        puts("");
    }
    return 0;
}

} // namespace carries

/* ---- products and sums ----------------------------------------------------------------------- */

/* If PTX gives them no rounding: the emulator's decode_passes.c. A row has a type, a case, and a
 * digest of its results for 1024 operands, among them cancellations, denormal numbers and zeros.
 * All NaNs count as one. */
namespace contraction
{
#undef NAME
#undef CASES
#undef ROUNDED
enum { LANES = 1024, OPERANDS = 5, MOST = 80 };

/* %0 is the result, %1 to %5 are operands, %6 is 1 or 2 by turns, and z true where it is 2; %7 is a
 * place in memory. T is the type, B that of its bits. */
#define MUL  "mul" T " "
#define ADD  "add" T " "
#define SUB  "sub" T " "
#define NEG  "neg" T " "
#define MOV  "mov" B " "
#define BOTH "mul.rn" T " %0, s, t;"
#define THEN "mul.rn" T " t, s, t; "
#define P    MUL "p, %1, %2; "
#define Q    MUL "q, %4, %5; "
#define S    SUB "s, p, %3; "
#define LAST SUB "%0, p, %3; "
#define LOOP "add.u32 n, n, 1; setp.le.u32 z, n, %6; @z bra L%=; "

/* clang-format off */
#define CASES(X)                                                                                   \
    X(P ADD "%0, p, %3;") X(P ADD "%0, %3, p;") X(P LAST) X(P SUB "%0, %3, p;")                    \
    X(P "sub.rn" T " %0, p, %3;") X(MUL "p, %1, %1; " SUB "%0, p, %1;")                            \
    X(P NEG "q, p; " ADD "%0, q, %3;") X(P NEG "q, p; " SUB "%0, q, %3;")                          \
    X(P NEG "q, p; " MOV "s, q; " NEG "s, s; " SUB "%0, s, %3;")                                   \
    X(P NEG "q, %3; " ADD "%0, p, q;") X(P NEG "q, p; st" B " [%7], q; " LAST)                     \
    X(P "abs" T " q, p; " SUB "%0, q, %3;") X(P Q ADD "%0, p, q;") X(P Q ADD "%0, q, p;")          \
    X(Q P SUB "%0, p, q;") X(P MUL "q, %2, %1; " SUB "%0, p, q;") X(P ADD "%0, p, p;")             \
    X(P SUB "%0, p, p;") X(P SUB "p, p, %3; " MUL "p, p, %4; " ADD "%0, p, %5;")                   \
    X(P S SUB "t, p, %4; " BOTH) X(P S "mul.rn" T " %0, s, p;") X(P S ADD "%0, s, p;")             \
    X(P S "st" B " [%7], p; " MOV "%0, s;") X(P Q S ADD "t, p, q; " BOTH)                          \
    X(P Q ADD "s, p, q; " SUB "t, q, %3; " BOTH)                                                   \
    X(P Q ADD "t, p, q; " S THEN SUB "s, q, %4; " BOTH)                                            \
    X(P Q S SUB "t, q, %4; " THEN ADD "s, p, q; " BOTH)                                            \
    X(P Q S SUB "t, p, %4; " THEN ADD "s, p, q; " THEN SUB "s, q, %3; " BOTH)                      \
    X(P Q MUL "x, %2, %3; " ADD "s, p, x; " ADD "t, x, q; " THEN ADD "s, q, p; " BOTH)             \
    X(MOV "p, %1; " MUL "p, p, %2; " LAST)                                                         \
    X(MOV "s, %1; " MUL "p, s, %2; " MOV "s, %4; " LAST "mul.rn" T " %0, %0, s;")                  \
    X(MOV "s, %1; " MOV "t, %2; " MUL "p, s, t; " S SUB "t, p, %4; " BOTH)                         \
    X(P MOV "%0, %4; @z bra L%=; " LAST "L%=:") X(MOV "p, %4; @z bra L%=; " P "L%=: " LAST)        \
    X(MOV "%0, %4; " P "@z " LAST) X(P SUB "%0, p, %4; @z " LAST) X(MOV "p, %4; @z " P LAST)       \
    X(P "@z " MOV "p, %4; " LAST)                                                                  \
    X(MOV "s, %3; L%=: " MUL "p, s, %2; " SUB "s, p, %4; " LOOP MOV "%0, s;")                      \
    X(MOV "s, %3; " P "L%=: " SUB "s, p, s; " LOOP MOV "%0, s;") X(P "bar.sync 0; " LAST)          \
    X(P "membar.cta; " LAST) X(P "@z ld.volatile" B " q, [%7]; " LAST)                             \
    X("cvt.rn.f32.u32 f, %6; " P "sqrt.rn.f32 f, f; st.f32 [%7], f; " LAST)                        \
    X("cvt.rn.f32.u32 f, %6; " P "sqrt.approx.f32 f, f; st.f32 [%7], f; " LAST)                    \
    X(P "div.u32 n, 9, %6; st.u32 [%7], n; " LAST) X(P "div.s32 n, 9, %6; st.u32 [%7], n; " LAST)
#define FLUSHED(X)                                                                                 \
    X("mul.sat" T " p, %1, %2; " LAST) X(P "sub.sat" T " %0, p, %3;")                              \
    X("mul.ftz" T " p, %1, %2; " LAST) X(P "sub.ftz" T " %0, p, %3;")                              \
    X("mul.ftz" T " p, %1, %2; sub.ftz" T " %0, p, %3;") X(P "neg.ftz" T " q, p; " ADD "%0, q, %3;")
/* clang-format on */
#define NO_MORE(X)
#define ROUNDED(X)  X("mul.rz" T " p, %1, %2; " LAST) X(P "sub.rz" T " %0, p, %3;")
#define F32_MORE(X) ROUNDED(X) FLUSHED(X)

static uint64_t next_random()
{
    static uint64_t state = 1;
    state = state * 6364136223846793005 + 1442695040888963407;
    return state >> 32 ^ state << 32;
}

/* Mostly a number near `one`; else any, often a denormal one. */
static uint64_t number(int bits, int fraction, uint64_t one)
{
    uint64_t random = next_random() >> (64 - bits), digits = random % ((uint64_t)1 << fraction);
    uint64_t near = one + ((next_random() % 3 - 1) << fraction) + digits;
    return next_random() % 8 ? near | (random & (uint64_t)1 << (bits - 1))
                             : random >> next_random() % bits;
}

template <class word>
static bool measure(const char *type, void (*run)(const word *, word *, uint64_t *),
                    const char *const *cases, int count, int bits, int fraction)
{
    word *in, *out;
    uint64_t *place, all = ~(uint64_t)0 >> (64 - bits), infinity = all >> 1 >> fraction << fraction;
    uint64_t one = (infinity >> 1 >> fraction) << fraction;
    if (cudaMallocManaged(&in, LANES * OPERANDS * sizeof *in) ||
        cudaMallocManaged(&out, LANES * MOST * sizeof *out) ||
        cudaMalloc(&place, LANES * sizeof *place))
        return false;
    for (int k = 0; k < LANES * OPERANDS; k++) {
        in[k] = 0;
        for (int part = 0; part < 8 * (int)sizeof *in; part += bits)
            in[k] |= (word)(number(bits, fraction, one) << part);
        // p - %3 cancels, and shows how p was rounded.
        if (k / OPERANDS % 2 && k % OPERANDS == 2) in[k] = in[k - 2], in[k - 1] = (word)one + 3;
    }
    run<<<1, LANES>>>(in, out, place);
    if (cudaDeviceSynchronize()) return false;
    for (int k = 0; k < count; k++) {
        uint64_t sum = 0;
        for (int part = 0; part < LANES * 8 * (int)sizeof *out; part += bits) {
            int lane = part / (8 * (int)sizeof *out);
            uint64_t value = (uint64_t)out[lane * MOST + k] >> part % (8 * sizeof *out) & all;
            sum = (sum ^ ((value & all >> 1) > infinity ? infinity + 1 : value)) * 1099511628211;
            sum ^= sum >> 32;
        }
        printf("%s,\"%s\",%016llx\n", type, cases[k], (unsigned long long)sum);
    }
    return true;
}

#define CASE(L, text)                                                                              \
    asm volatile("{.reg " B " p, q, s, t, x; .reg .pred z; .reg .u32 n; .reg .f32 f; "             \
                 "mov.u32 n, 0; setp.ne.u32 z, %6, 1; " text "}"                                   \
                 : "=" L(r)                                                                        \
                 : L(v[0]), L(v[1]), L(v[2]), L(v[3]), L(v[4]), "r"(1 + (threadIdx.x & 1)),        \
                   "l"(place)                                                                      \
                 : "memory");                                                                      \
    *out++ = r;
#define CASE_r(text) CASE("r", text)
#define CASE_l(text) CASE("l", text)
#define CASE_h(text) CASE("h", text)
#define NAME(text)   text,
#define TYPE(name, word, letter, bits, fraction, MORE)                                             \
    static __global__ void run_##name(const word *in, word *out, uint64_t *place)                  \
    {                                                                                              \
        word r, v[OPERANDS];                                                                       \
        for (int k = 0; k < OPERANDS; k++) v[k] = in[threadIdx.x * OPERANDS + k];                  \
        out += threadIdx.x * MOST, place += threadIdx.x;                                           \
        CASES(CASE_##letter) MORE(CASE_##letter)                                                   \
    }                                                                                              \
    static bool measure_##name()                                                                   \
    {                                                                                              \
        const char *const cases[] = {CASES(NAME) MORE(NAME)};                                      \
        return measure(#name, run_##name, cases, sizeof cases / sizeof *cases, bits, fraction);    \
    }
#define T ".f32"
#define B ".b32"
TYPE(f32, uint32_t, r, 32, 23, F32_MORE)
#undef T
#define T ".f16x2"
TYPE(f16x2, uint32_t, r, 16, 10, FLUSHED)
#undef T
#define T ".bf16x2"
TYPE(bf16x2, uint32_t, r, 16, 7, NO_MORE)
#undef T
#undef B
#define T ".f16"
#define B ".b16"
TYPE(f16, uint16_t, h, 16, 10, FLUSHED)
#undef T
#define T ".bf16"
TYPE(bf16, uint16_t, h, 16, 7, NO_MORE)
#undef T
#undef B
#define T ".f64"
#define B ".b64"
TYPE(f64, uint64_t, l, 64, 52, ROUNDED)

static int print_contractions()
{
    puts("type,case,digest");
    bool ok = measure_f32() && measure_f64() && measure_f16() && measure_bf16() &&
              measure_f16x2() && measure_bf16x2();
    return !ok;
}

} // namespace contraction

int main(int argc, char **argv)
{
    if (argc < 2) return operations::print_digests();
    return strcmp(argv[1], "carries") ? contraction::print_contractions()
                                      : carries::print_carries();
}
