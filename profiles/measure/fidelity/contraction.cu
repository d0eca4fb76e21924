/*
 * contraction.cu — of which products and sums ptxas makes one fma, if PTX gives them no rounding:
 * common/emu/ptx/decode_passes.c. A row has a type, a case, and a digest of its results for 1024
 * operands, among them cancellations, denormal numbers and zeros. All NaNs count as one.
 *
 *   build/fidelity/contraction     the table, which fidelity.sh records
 */
#include <cstdint>
#include <cstdio>

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

int main()
{
    puts("type,case,digest");
    bool ok = measure_f32() && measure_f64() && measure_f16() && measure_bf16() &&
              measure_f16x2() && measure_bf16x2();
    return !ok;
}
