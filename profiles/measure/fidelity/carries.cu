/*
 * carries.cu — what the carry flag, the bit that add.cc leaves for addc, holds after instructions
 * with .cc. Each of them is followed by addc, subc and chains of both, which read the flag. PTX
 * defines only chains of one kind, such as sub.cc and subc, but nvcc's 128-bit division mixes
 * kinds. A row has a case and its results for each pair of operands.
 *
 *   build/fidelity/carries     the table, which fidelity.sh records
 */
#include <cstdint>
#include <cstdio>

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

int main()
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
}
