/*
 * tensor.cu — what a GPU's tensor cores compute, as raw bits, where no documentation says it: which
 * products are added at once, how many bits the sum keeps, how it is rounded, what becomes of NaNs,
 * infinities and zeros, and which lane holds which element of a wmma fragment.
 *
 *   build/fidelity/tensor >native            on a GPU
 *   build/emu/emu --log-file /dev/null build/fidelity/tensor >emulated
 *
 * Columns: kind,instruction,case,bits. Bits are hexadecimal. The kinds are
 *   random    a hash of ROUNDS results; the case says how the inputs were chosen
 *   order     for x[0], x[1], … of lane 0, then of lane 1, …, the place in memory (decimal)
 *   moved     what ldmatrix, stmatrix and movmatrix leave in registers and memory
 *   others    probes: one element of the result for each input of a series
 */
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mma.h>

using namespace nvcuda;

/* Lanes of a warp; launches of random inputs; the registers of an operand, in words. */
enum { LANES = 32, ROUNDS = 64, MOST = 16 };

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ == cudaSuccess) break;                                                          \
        fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorName(error_));                      \
        exit(1);                                                                                   \
    } while (0)

/* A warp's operands a, b and c, and the result d: words of a register lie side by side. */
struct operands {
    uint32_t a[MOST][LANES], b[MOST][LANES], c[MOST][LANES], d[MOST][LANES];
};

/* ---- the instructions ------------------------------------------------------------------------ */

enum type { F16, BF16, TF32, F32, F64, E4M3, E5M2, BITS };

/* Bits of an element, of its exponent and of its mantissa; the lowest bit of the mantissa. */
static const struct { int bits, exponent, mantissa, low; } formats[] = {
    {16, 5, 10, 0}, {16, 8, 7, 0},   {32, 8, 10, 13}, {32, 8, 23, 0},
    {64, 11, 52, 0}, {8, 4, 3, 0}, {8, 5, 2, 0},   {32, 0, 32, 0}};

#define R1(P)       "{" P "0}"
#define R2(P)       "{" P "0," P "1}"
#define R4(P)       "{" P "0," P "1," P "2," P "3}"
#define R8(P)       "{" P "0," P "1," P "2," P "3," P "4," P "5," P "6," P "7}"

/* Loads 8 registers of each operand, whatever number of them the instruction has, and stores 8. */
#define TO(W, R, AT, BY)   "ld.global.b" #W " " R ", [" AT "+" #BY "];"
#define FROM(W, R, AT, BY) "st.global.b" #W " [" AT "+" #BY "], " R ";"
#define ALL(X, W, P, AT, S)                                                                        \
    X(W, P "0", AT, 0 * S) X(W, P "1", AT, 1 * S) X(W, P "2", AT, 2 * S) X(W, P "3", AT, 3 * S)    \
    X(W, P "4", AT, 4 * S) X(W, P "5", AT, 5 * S) X(W, P "6", AT, 6 * S) X(W, P "7", AT, 7 * S)
#define NOTHING(W, R, AT, BY) "mov.b" #W " " R ", 0;"

/* FUNCTION becomes a kernel with the instruction TEXT, whose registers have W bits. */
#define KERNEL(FUNCTION, W, STEP, TEXT)                                                            \
    static __global__ void FUNCTION(struct operands *all)                                          \
    {                                                                                              \
        struct operands *o = all + blockIdx.x;                                                     \
        size_t at = threadIdx.x * (W / 8);                                                         \
        asm volatile("{.reg .b" #W " a<8>, b<8>, c<8>, d<8>;" ALL(TO, W, "a", "%0", STEP)         \
                     ALL(TO, W, "b", "%1", STEP) ALL(TO, W, "c", "%2", STEP)                       \
                     ALL(NOTHING, W, "d", "", STEP) TEXT ALL(FROM, W, "d", "%3", STEP) "}"         \
                     :: "l"((char *)o->a + at), "l"((char *)o->b + at), "l"((char *)o->c + at),    \
                     "l"((char *)o->d + at) : "memory");                                           \
    }
#define MMA(FUNCTION, NAME, D, A, B, C, ...)                                                       \
    KERNEL(FUNCTION, 32, 128,                                                                      \
           "mma.sync.aligned." NAME " " R##D("d") "," R##A("a") "," R##B("b") "," R##C("c") ";")
#define MMA64(FUNCTION, NAME, D, A, B, C, ...)                                                     \
    KERNEL(FUNCTION, 64, 256,                                                                      \
           "mma.sync.aligned." NAME " " R##D("d") "," R##A("a") "," R##B("b") "," R##C("c") ";")

// clang-format off
/* X(kernel, name, registers of d, a, b and c, k, types of a and b, of c and of d) */
#define REALS(X)                                                                                   \
    X(f0, "m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1, 4, 8, F16, F32, F32)                         \
    X(f1, "m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4, 16, F16, F32, F32)                       \
    X(f2, "m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2, 8, F16, F16, F16)                         \
    X(f3, "m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2, 2, 16, F16, F16, F16)                       \
    X(f4, "m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4, 8, BF16, F32, F32)                      \
    X(f5, "m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2, 4, 16, BF16, F32, F32)                    \
    X(f6, "m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4, 4, TF32, F32, F32)                      \
    X(f7, "m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2, 4, 8, TF32, F32, F32)                      \
    X(f8, "m8n8k4.row.col.f32.f16.f16.f32", 8, 2, 2, 8, 4, F16, F32, F32)                          \
    X(f9, "m8n8k4.row.col.f32.f16.f16.f16", 8, 2, 2, 4, 4, F16, F16, F32)                          \
    X(f10, "m8n8k4.row.col.f16.f16.f16.f16", 4, 2, 2, 4, 4, F16, F16, F16)                         \
    X(f11, "m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, 4, 32, E4M3, F32, F32)                   \
    X(f12, "m16n8k32.row.col.f32.e5m2.e5m2.f32", 4, 4, 2, 4, 32, E5M2, F32, F32)
#define DOUBLES(X)                                                                                 \
    X(d0, "m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, 2, 4, F64, F64, F64)                          \
    X(d1, "m16n8k4.row.col.f64.f64.f64.f64", 4, 2, 1, 4, 4, F64, F64, F64)                         \
    X(d2, "m16n8k8.row.col.f64.f64.f64.f64", 4, 4, 2, 4, 8, F64, F64, F64)                         \
    X(d3, "m16n8k16.row.col.f64.f64.f64.f64", 4, 8, 4, 4, 16, F64, F64, F64)
/* Layouts that only m8n8k4 has. */
#define LAYOUTS(X)                                                                                 \
    X(l0, "m8n8k4.row.row.f32.f16.f16.f32", 8, 2, 2, 8, 4, F16, F32, F32)                          \
    X(l1, "m8n8k4.col.col.f32.f16.f16.f32", 8, 2, 2, 8, 4, F16, F32, F32)                          \
    X(l2, "m8n8k4.col.row.f32.f16.f16.f32", 8, 2, 2, 8, 4, F16, F32, F32)                          \
    X(l3, "m8n8k4.row.row.f16.f16.f16.f16", 4, 2, 2, 4, 4, F16, F16, F16)                          \
    X(l4, "m8n8k4.col.col.f16.f16.f16.f16", 4, 2, 2, 4, 4, F16, F16, F16)                          \
    X(l5, "m8n8k4.col.row.f16.f16.f16.f16", 4, 2, 2, 4, 4, F16, F16, F16)                          \
    X(l6, "m8n8k4.col.row.f32.f16.f16.f16", 8, 2, 2, 4, 4, F16, F16, F32)
#define MIDDLE(A, B, SAT, BITS) ".row.col" SAT ".s32." A BITS "." B BITS ".s32"
#define INTEGERS_OF(X, F, A, B, SAT, SUFFIX)                                                       \
    X(F##0##SUFFIX, "m8n8k16" MIDDLE(A, B, SAT, "8"), 2, 1, 1, 2, 16, BITS, BITS, BITS)            \
    X(F##1##SUFFIX, "m16n8k16" MIDDLE(A, B, SAT, "8"), 4, 2, 1, 4, 16, BITS, BITS, BITS)           \
    X(F##2##SUFFIX, "m16n8k32" MIDDLE(A, B, SAT, "8"), 4, 4, 2, 4, 32, BITS, BITS, BITS)           \
    X(F##3##SUFFIX, "m8n8k32" MIDDLE(A, B, SAT, "4"), 2, 1, 1, 2, 32, BITS, BITS, BITS)            \
    X(F##4##SUFFIX, "m16n8k32" MIDDLE(A, B, SAT, "4"), 4, 2, 1, 4, 32, BITS, BITS, BITS)           \
    X(F##5##SUFFIX, "m16n8k64" MIDDLE(A, B, SAT, "4"), 4, 4, 2, 4, 64, BITS, BITS, BITS)
#define INTEGERS(X)                                                                                \
    INTEGERS_OF(X, ss, "s", "s", "", ) INTEGERS_OF(X, su, "s", "u", "", )                          \
    INTEGERS_OF(X, us, "u", "s", "", ) INTEGERS_OF(X, uu, "u", "u", "", )                          \
    INTEGERS_OF(X, ss, "s", "s", ".satfinite", sat) INTEGERS_OF(X, su, "s", "u", ".satfinite", sat)\
    INTEGERS_OF(X, us, "u", "s", ".satfinite", sat) INTEGERS_OF(X, uu, "u", "u", ".satfinite", sat)\
    X(x0, "m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2, 128, BITS, BITS, BITS)            \
    X(x1, "m16n8k128.row.col.s32.b1.b1.s32.xor.popc", 4, 2, 1, 4, 128, BITS, BITS, BITS)           \
    X(x2, "m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 4, 4, 2, 4, 256, BITS, BITS, BITS)           \
    X(x3, "m8n8k128.row.col.s32.b1.b1.s32.and.popc", 2, 1, 1, 2, 128, BITS, BITS, BITS)            \
    X(x4, "m16n8k128.row.col.s32.b1.b1.s32.and.popc", 4, 2, 1, 4, 128, BITS, BITS, BITS)           \
    X(x5, "m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 4, 2, 4, 256, BITS, BITS, BITS)
// clang-format on

REALS(MMA)
DOUBLES(MMA64)
LAYOUTS(MMA)
INTEGERS(MMA)

typedef void kernel(struct operands *);

static const struct instruction {
    kernel *run;
    const char *name;
    int d, a, b, c; /* registers */
    int k;
    enum type in, from, to; /* of a and b; of c; of d */
} reals[] = {
#define ROW(FUNCTION, ...) {FUNCTION, __VA_ARGS__},
    REALS(ROW) DOUBLES(ROW)},
  layouts[] = {LAYOUTS(ROW)}, integers[] = {INTEGERS(ROW)};

/* ---- elements -------------------------------------------------------------------------------- */

static uint64_t state;

static uint32_t random_bits(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 32;
}
static int random_between(int low, int high)
{
    return low + (int)((uint64_t)random_bits() * (high - low + 1) >> 32);
}
static uint64_t random_wide(void)
{
    uint64_t high = random_bits();
    return high << 32 | random_bits();
}

/* The state from which the inputs of this name are made. */
static void begin(const char *name, int number)
{
    state = 1469598103934665603u + number;
    for (; *name; name++) state = (state ^ (unsigned char)*name) * 1099511628211u;
    random_bits();
}

static int bias(enum type t)
{
    return (1 << (formats[t].exponent - 1)) - 1;
}

static uint64_t element(enum type t, int sign, int exponent, uint64_t mantissa)
{
    uint64_t bits = (uint64_t)exponent << formats[t].mantissa | mantissa;
    bits |= (uint64_t)sign << (formats[t].exponent + formats[t].mantissa);
    return bits << formats[t].low;
}

/* ±significand × 2^exponent: the significand has its highest bit at 2^0 and is written in
 * sixteenths, 16 to 31. Too small a number becomes subnormal, with bits cut off; too large a one
 * infinity. */
static uint64_t number(enum type t, int sign, int sixteenths, int exponent)
{
    int field = exponent + bias(t), shift = formats[t].mantissa - 4;
    uint64_t mantissa = shift >= 0 ? (uint64_t)sixteenths << shift : sixteenths >> -shift;
    if (field >= (1 << formats[t].exponent) - 1 && t != E4M3)
        return element(t, sign, (1 << formats[t].exponent) - 1, 0);
    if (field <= 0)
        return element(t, sign, 0, 1 - field < 64 ? mantissa >> (1 - field) : 0);
    return element(t, sign, field, mantissa & ((UINT64_C(1) << formats[t].mantissa) - 1));
}

enum class_ { NEAR, WIDE, FINITE, ANY, POWERS, SMALL, SPECIAL, POOL, CLASSES };
static const char *const class_names[] = {"near",   "wide",  "finite",  "any",
                                          "powers", "small", "special", "pool"};
enum { SPECIALS = 12 };

/* Numbers that are no usual ones. */
static uint64_t special(enum type t, int i)
{
    int most = (1 << formats[t].exponent) - 1;
    uint64_t ones = (UINT64_C(1) << formats[t].mantissa) - 1, half = (ones >> 1) + 1;
    switch (i) {
    case 0: return 0;
    case 1: return element(t, 1, 0, 0);
    case 2: return element(t, 0, bias(t), 0);
    case 3: return element(t, 1, bias(t), 0);
    case 4: return t == E4M3 ? element(t, 0, most, 6) : element(t, 0, most, 0); // infinity
    case 5: return t == E4M3 ? element(t, 1, most, 6) : element(t, 1, most, 0);
    case 6: return element(t, 0, most, ones); // NaN
    case 7: return element(t, 1, most, half | 1);
    case 8: return element(t, 0, most, 1); // a signalling one
    case 9: return element(t, 0, 0, 1);
    case 10: return element(t, 1, 0, ones);
    default: return element(t, 0, most - 1, ones); // the largest number
    }
}

/* The bits that are no part of the number: tf32 has 13 of them. */
static uint64_t unused(enum type t)
{
    return random_bits() & ((1u << formats[t].low) - 1);
}

/* `reach`: how far exponents may be from 0; as far as the products of the other operands go. */
static uint64_t random_element(enum type t, enum class_ how, int reach)
{
    uint64_t mantissa = random_wide() & ((UINT64_C(1) << formats[t].mantissa) - 1);
    int sign = random_between(0, 1), b = bias(t), most = (1 << formats[t].exponent) - 2;
    int low = b - reach < 0 ? 0 : b - reach, high = b + reach > most ? most : b + reach;
    int wide = b - 1 < 12 ? b - 1 : 12, near = random_between(-2, 2);
    switch (how) {
    case NEAR: return element(t, sign, b + near, mantissa) | unused(t);
    case WIDE: return element(t, sign, b + random_between(-wide, wide), mantissa) | unused(t);
    case FINITE: return element(t, sign, random_between(low, high), mantissa) | unused(t);
    case ANY: return random_wide();
    case POWERS:
        return number(t, sign, 16 + (random_between(0, 3) == 0) * random_between(0, 15),
                      random_between(-wide / 2, wide / 2));
    case SMALL: return element(t, sign, random_between(0, 3), mantissa);
    case SPECIAL:
        return random_between(0, 31) ? number(t, sign, 16 + near + 2, near)
                                     : special(t, random_between(0, SPECIALS - 1));
    default: // POOL: two numbers and their negatives, so that much cancels
        mantissa = mantissa & 1 ? UINT64_C(0x1111111111111) : UINT64_C(0x5a5a5a5a5a5a5);
        return element(t, sign, b + near / 2,
                       mantissa & ((UINT64_C(1) << formats[t].mantissa) - 1));
    }
}

/* Fills registers with elements of the type. */
static void fill(uint32_t words[][LANES], int registers, enum type t, enum class_ how, int reach)
{
    int bits = formats[t].bits, per_word = bits >= 32 ? 1 : 32 / bits;
    for (int r = 0; r < registers; r++)
        for (int l = 0; l < LANES; l++) {
            if (bits == 64) {
                uint64_t e = random_element(t, how, reach);
                memcpy((char *)words + (r * LANES + l) * sizeof e, &e, sizeof e);
                continue;
            }
            words[r][l] = 0;
            for (int i = 0; i < per_word; i++) {
                uint32_t e = t == BITS ? random_bits() : random_element(t, how, reach);
                words[r][l] |= per_word == 1 ? e : (e & ((1u << bits) - 1)) << (i * bits);
            }
        }
}

/* ---- random inputs --------------------------------------------------------------------------- */

static struct operands *device, host[ROUNDS];

static void launch(kernel *run, int blocks)
{
    CUDA(cudaMemcpy(device, host, blocks * sizeof *host, cudaMemcpyHostToDevice));
    run<<<blocks, LANES>>>(device);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(host, device, blocks * sizeof *host, cudaMemcpyDeviceToHost));
}

static const uint64_t NOTHING_HASHED = 14695981039346656037u;

static uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return h;
}

static void print_words(const uint32_t *words, int count)
{
    for (int i = 0; i < count; i++) printf("%s%08x", i ? " " : "", words[i]);
    printf("\n");
}

/* Prints a hash of the results. */
static void launch_random(const struct instruction *i, const char *class_name)
{
    int words = formats[i->in].bits == 64 ? 2 : 1;
    uint64_t h = NOTHING_HASHED;
    launch(i->run, ROUNDS);
    for (const auto &o : host) h = hash(h, o.d, i->d * words * sizeof o.d[0]);
    printf("random,%s,%s,%016llx\n", i->name, class_name, (unsigned long long)h);
}

static void random_case(const struct instruction *i, enum class_ how)
{
    int reach = 2 * bias(i->in);
    begin(i->name, how);
    memset(host, 0, sizeof host);
    for (auto &o : host) {
        fill(o.a, i->a, i->in, how, reach);
        fill(o.b, i->b, i->in, how, reach);
        fill(o.c, i->c, i->from, how, reach);
    }
    launch_random(i, i->in == BITS ? "bits" : class_names[how]);
}

/* Integers whose sums overflow. */
static void saturated(const struct instruction *i)
{
    begin(i->name, CLASSES);
    for (auto &o : host) {
        fill(o.a, i->a, BITS, ANY, 0);
        fill(o.b, i->b, BITS, ANY, 0);
        for (int r = 0; r < i->c; r++)
            for (uint32_t &word : o.c[r]) word = INT32_MAX - random_between(-1000, 1000);
    }
    launch_random(i, "overflow");
}

/* ---- probes: all rows of a, all columns of b, and all elements of c are equal ---------------- */

enum { MOST_K = 32, LATEST = 64 };

struct dot {
    uint64_t a[MOST_K], b[MOST_K], c;
};

/* The k of an element of a or b: its register (of one row of a), its place in it, its lane. */
static int k_of(const struct instruction *i, int r, int place, int lane)
{
    int per_word = formats[i->in].bits >= 32 ? 1 : 32 / formats[i->in].bits;
    if (strncmp(i->name, "m8n8k4", 6) == 0 && i->in == F16) return r * per_word + place;
    return (lane % 4) * per_word + place + r * 4 * per_word;
}

static void put(uint32_t words[][LANES], const struct instruction *i, int registers, int rows,
                const uint64_t *elements)
{
    int bits = formats[i->in].bits, per_word = bits >= 32 ? 1 : 32 / bits;
    for (int r = 0; r < registers; r++)
        for (int l = 0; l < LANES; l++) {
            uint64_t word = 0;
            for (int p = 0; p < per_word; p++)
                word |= elements[k_of(i, r / rows, p, l)] << (p * bits % 64);
            memcpy((char *)words + (r * LANES + l) * (bits == 64 ? 8 : 4), &word,
                   bits == 64 ? 8 : 4);
        }
}

static void put_c(struct operands *o, const struct instruction *i, uint64_t c)
{
    if (formats[i->from].bits == 16) c |= c << 16;
    int bytes = formats[i->from].bits == 64 ? 8 : 4;
    for (int n = 0; n < i->c * LANES; n++) memcpy((char *)o->c + n * bytes, &c, bytes);
}

/* A series of dots: the element of d for each of them. */
static void probe(const struct instruction *i, const struct dot *dots, int count, uint64_t *results)
{
    bool is_m8 = strncmp(i->name, "m8", 2) == 0;
    memset(host, 0, count * sizeof *host);
    for (int n = 0; n < count; n++) {
        put(host[n].a, i, i->a, is_m8 ? 1 : 2, dots[n].a);
        put(host[n].b, i, i->b, 1, dots[n].b);
        put_c(&host[n], i, dots[n].c);
    }
    launch(i->run, count);
    for (int n = 0; n < count; n++) {
        memcpy(&results[n], host[n].d, sizeof *results);
        if (formats[i->to].bits < 64)
            results[n] &= (UINT64_C(1) << formats[i->to].bits) - 1;
    }
}

/* Makes a series of dots and prints its case, which the format says, and the results. */
template <typename Make>
static void show(const char *what, const struct instruction *i, int count, const Make &make,
                 const char *format, ...)
{
    static struct dot dots[LATEST];
    uint64_t results[LATEST];
    va_list arguments;
    memset(dots, 0, sizeof dots);
    for (int n = 0; n < count; n++) make(&dots[n], n);
    probe(i, dots, count, results);
    printf("%s,%s,", what, i->name);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    for (int n = 0; n < count; n++)
        printf("%c%0*llx", n ? ' ' : ',', formats[i->to].bits / 4, (unsigned long long)results[n]);
    printf("\n");
}

/* Makes the product at k, or c if k is K, ±sixteenths/16 × 2^exponent. */
static void set(struct dot *dot, const struct instruction *i, int k, int sign, int sixteenths,
                int exponent)
{
    if (k == i->k) {
        dot->c = number(i->from, sign, sixteenths, exponent);
        return;
    }
    int other = exponent >> 1;
    dot->a[k] = number(i->in, sign, sixteenths, exponent - other);
    dot->b[k] = number(i->in, 0, 16, other);
}

/* A large number at i, its negative at j, a small one at l: in which l is it lost? A bit for each
 * l, the highest for c. */
static void groups(const struct instruction *i)
{
    int large = i->in == F64 ? 60 : 14, small = i->in == F64 ? 0 : -16;
    for (int first = 0; first <= i->k; first += i->k > 16 ? i->k : 1)
        for (int second = 0; second <= i->k; second++) {
            static struct dot dots[LATEST];
            uint64_t results[LATEST], kept = 0;
            if (first == second) continue;
            memset(dots, 0, sizeof dots);
            for (int l = 0; l <= i->k; l++) {
                set(&dots[l], i, first, 0, 16, large);
                set(&dots[l], i, second, 1, 16, large);
                if (l != first && l != second) set(&dots[l], i, l, 0, 16, small);
            }
            probe(i, dots, i->k + 1, results);
            for (int l = 0; l <= i->k; l++) kept |= (uint64_t)(results[l] != 0) << l;
            printf("groups,%s,%d and %d,%llx\n", i->name, first, second, (unsigned long long)kept);
        }
}

/* ±sixteenths: what is added to a sum of other numbers. */
static const struct { int sign, sixteenths; } addends[] = {{0, 16}, {0, 24}, {0, 28}, {0, 31},
                                                           {1, 16}, {1, 24}, {1, 28}, {1, 31}};

/* Numbers at `places` (large, its negative, small; perhaps a second small one), the small ones
 * 2^-s times smaller, for a range of s. */
static void width(const struct instruction *i, const int places[4], int sixteenths, bool cancels)
{
    for (const auto &addend : addends)
        show(cancels ? "width" : "rounding", i, 28, [&](struct dot *dot, int s) {
            int shift = s + (i->in == F64 ? 40 : 6);
            set(dot, i, places[0], 0, sixteenths, 0);
            if (cancels) set(dot, i, places[1], 1, sixteenths, 0);
            set(dot, i, places[2], addend.sign, addend.sixteenths, -shift);
            if (places[3] >= 0) set(dot, i, places[3], addend.sign, addend.sixteenths, -shift);
        }, "%d/16 at %d%s and %s%d/16 at %d %d", sixteenths, places[0],
             cancels ? " cancelled" : "", addend.sign ? "-" : "", addend.sixteenths, places[2],
             places[3]);
}

static void widths(const struct instruction *i)
{
    const int c = i->k, last = i->k - 1;
    const int places[][4] = {{0, 1, 2, -1}, {0, 1, 2, 3},     {c, 0, 1, -1},
                             {0, 1, c, -1}, {last, c, 0, -1}, {c, 0, 2, 3}};
    for (const int *p : places) {
        width(i, p, 16, true);
        width(i, p, 16, false);
    }
    width(i, places[2], 31, true);
    width(i, places[2], 31, false);
    width(i, places[3], 31, true);
}

/* Products of which both factors are not powers of two: the product may be 2 or more. */
static void wide_products(const struct instruction *i)
{
    for (int factor = 20; factor <= 31; factor += 3)
        for (bool cancelled : {false, true})
            show("product", i, 28, [&](struct dot *dot, int s) {
                dot->a[0] = dot->b[0] = dot->b[1] = number(i->in, 0, factor, 0);
                if (cancelled) dot->a[1] = number(i->in, 1, factor, 0);
                set(dot, i, 2, 0, 24, -(s + (i->in == F64 ? 40 : 6)));
            }, "(%d/16)^2%s and 24/16 at 2", factor, cancelled ? " cancelled" : "");
}

/* Each special number with each, as factors, as product and c, and as two products. */
static void specials(const struct instruction *i)
{
    static const char *const ways[] = {"factors", "product and c", "two products"};
    for (int sign : {0, 1})
        for (int way = 0; way < 3; way++)
            for (int x = 0; x < SPECIALS; x++)
                show("special", i, SPECIALS, [&](struct dot *d, int y) {
                    for (int k = 0; k < i->k; k++)
                        d->a[k] = special(i->in, sign), d->b[k] = special(i->in, 2);
                    d->c = special(i->from, way == 1 ? y : sign);
                    d->a[0] = special(i->in, x);
                    if (way == 0) d->b[0] = special(i->in, y);
                    if (way == 2) d->a[1] = special(i->in, y);
                }, "%s of %d%s", ways[way], x, sign ? " with -0" : "");
}

/* Single products, single c, and pairs of products, near the limits of the result's type. */
static void limits(const struct instruction *i)
{
    static const char *const ways[] = {"product", "c", "two products", "product and c"};
    int e = bias(i->to);
    for (int start : {-e - formats[i->to].mantissa - 4, e - 20})
        for (int sixteenths = 16; sixteenths <= 28; sixteenths += 4)
            for (int way = 0; way < 4; way++)
                show("limit", i, 32, [&](struct dot *dot, int s) {
                    if (way != 1) set(dot, i, 0, 0, sixteenths, start + s);
                    if (way == 1 || way == 3) set(dot, i, i->k, 0, sixteenths, start + s);
                    if (way == 2) set(dot, i, 1, 0, sixteenths, start + s);
                }, "%s of %d/16 from 2^%d", ways[way], sixteenths, start);
}

/* The largest number as c, and products that bring the sum to infinity or back. */
static void overflow(const struct instruction *i)
{
    int ulp = bias(i->to) - formats[i->to].mantissa;
    for (bool negative : {false, true})
        show("overflow", i, 16, [&](struct dot *dot, int s) {
            dot->c = special(i->from, 11);
            set(dot, i, 0, 0, s % 2 ? 31 : 16, ulp - 4 + s / 2);
            if (negative) set(dot, i, 1, 1, 16, ulp + 2);
        }, negative ? "and back" : "of c");
}

/* Numbers near the smallest ones: a small c beside the product of two subnormal factors, and sums
 * of all products where each is too small for the result. */
static void tiny(const struct instruction *i)
{
    const int smallest = 1 - bias(i->in) - formats[i->in].mantissa; // exponent of the least factor
    show("tiny", i, 40, [&](struct dot *dot, int s) {
        dot->a[0] = number(i->in, 0, 16, smallest);
        dot->b[0] = number(i->in, 0, 16, i->in == F16 ? smallest : 0);
        dot->c = number(i->from, 0, 16, (i->in == F16 ? 2 : 1) * smallest - s);
    }, "subnormal factor and c");
    for (int c : {1, 0})
        for (int sixteenths = 16; sixteenths < 32; sixteenths += 6)
            show("tiny", i, 40, [&](struct dot *dot, int s) {
                for (int k = 0; k < i->k; k++) set(dot, i, k, 0, sixteenths, -160 + s);
                dot->c = c;
            }, "%d/16 at all, c is %d", sixteenths, c);
}

/* One more bit of a factor: which bits of tf32 matter? */
static void low_bits(const struct instruction *i)
{
    for (bool is_b : {false, true})
        for (uint32_t base : {0x3f800000u, 0x3f801000u, 0x3f801fffu, 0x7f800000u, 0u})
            show("bits", i, 32, [&](struct dot *dot, int s) {
                dot->a[0] = dot->b[0] = 0x3f800000;
                (is_b ? dot->b : dot->a)[0] = base | 1u << s;
            }, "%c of %08x", "ab"[is_b], base);
}

static void probes(const struct instruction *i)
{
    groups(i);
    widths(i);
    wide_products(i);
    specials(i);
    limits(i);
    overflow(i);
    tiny(i);
    if (i->in == TF32) low_bits(i);
}

/* ---- wmma ------------------------------------------------------------------------------------ */

enum { MATRIX = 1024 }; /* elements of the largest matrix, and more */

/* A fragment of c needs a layout. */
template <typename Fragment, typename T, wmma::layout_t... layout>
static __global__ void read_order(const T *from, T *to, int stride)
{
    Fragment f;
    wmma::load_matrix_sync(f, from, stride, layout...);
    for (int e = 0; e < f.num_storage_elements; e++)
        to[threadIdx.x * f.num_storage_elements + e] = f.x[e];
}

/* Elements are their places in memory; bytes need two runs, for both halves of a place. */
template <typename Fragment, typename T, wmma::layout_t... layout>
static void order(const char *name, int stride)
{
    enum { COUNT = LANES * Fragment::num_storage_elements };
    static unsigned char in[MATRIX * sizeof(T)], out[MATRIX * sizeof(T)];
    unsigned places[COUNT] = {};
    for (int half = 0; half < (sizeof(T) == 1 ? 2 : 1); half++) {
        for (uint64_t n = 0; n < MATRIX; n++) {
            uint64_t value = n >> half * 8;
            memcpy(in + n * sizeof(T), &value, sizeof(T));
        }
        CUDA(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
        T *to = (T *)((char *)device + sizeof in);
        read_order<Fragment, T, layout...><<<1, LANES>>>((T *)device, to, stride);
        CUDA(cudaMemcpy(out, to, COUNT * sizeof(T), cudaMemcpyDeviceToHost));
        for (int n = 0; n < COUNT; n++) {
            uint64_t value = 0;
            memcpy(&value, out + n * sizeof(T), sizeof(T));
            places[n] |= value << half * 8;
        }
    }
    printf("order,%s,", name);
    for (int n = 0; n < COUNT; n++) printf("%s%u", n ? " " : "", places[n]);
    printf("\n");
}

#define ORDER_AB(M, N, K, TYPE, STORAGE)                                                           \
    order<wmma::fragment<wmma::matrix_a, M, N, K, TYPE, wmma::row_major>, STORAGE>(                \
        #TYPE " " #M "x" #N "x" #K ",a row", K);                                                   \
    order<wmma::fragment<wmma::matrix_b, M, N, K, TYPE, wmma::col_major>, STORAGE>(                \
        #TYPE " " #M "x" #N "x" #K ",b col", K);
#define ORDER_OTHER(M, N, K, TYPE, STORAGE)                                                        \
    order<wmma::fragment<wmma::matrix_a, M, N, K, TYPE, wmma::col_major>, STORAGE>(                \
        #TYPE " " #M "x" #N "x" #K ",a col", M);                                                   \
    order<wmma::fragment<wmma::matrix_b, M, N, K, TYPE, wmma::row_major>, STORAGE>(                \
        #TYPE " " #M "x" #N "x" #K ",b row", N);
#define ORDER_C(M, N, K, TYPE)                                                                     \
    order<wmma::fragment<wmma::accumulator, M, N, K, TYPE>, TYPE, wmma::mem_row_major>(            \
        #TYPE " " #M "x" #N "x" #K ",c row", N);                                                   \
    order<wmma::fragment<wmma::accumulator, M, N, K, TYPE>, TYPE, wmma::mem_col_major>(            \
        #TYPE " " #M "x" #N "x" #K ",c col", M);
#define SHAPES(X, ...)                                                                             \
    X(16, 16, 16, __VA_ARGS__) X(32, 8, 16, __VA_ARGS__) X(8, 32, 16, __VA_ARGS__)

namespace small = wmma::experimental::precision;

static void orders(void)
{
    SHAPES(ORDER_AB, __half, __half)
    SHAPES(ORDER_OTHER, __half, __half)
    SHAPES(ORDER_C, __half)
    SHAPES(ORDER_C, float)
    SHAPES(ORDER_AB, __nv_bfloat16, __nv_bfloat16)
    SHAPES(ORDER_OTHER, __nv_bfloat16, __nv_bfloat16)
    SHAPES(ORDER_AB, signed char, signed char)
    SHAPES(ORDER_OTHER, signed char, signed char)
    SHAPES(ORDER_AB, unsigned char, unsigned char)
    SHAPES(ORDER_OTHER, unsigned char, unsigned char)
    SHAPES(ORDER_C, int)
    ORDER_AB(16, 16, 8, wmma::precision::tf32, float)
    ORDER_OTHER(16, 16, 8, wmma::precision::tf32, float)
    ORDER_C(16, 16, 8, float)
    ORDER_AB(8, 8, 4, double, double)
    ORDER_OTHER(8, 8, 4, double, double)
    ORDER_C(8, 8, 4, double)
    ORDER_AB(8, 8, 32, small::s4, int)
    ORDER_AB(8, 8, 32, small::u4, unsigned)
    ORDER_C(8, 8, 32, int)
    ORDER_AB(8, 8, 128, small::b1, unsigned)
    ORDER_C(8, 8, 128, int)
}

/* d = a·b + c of matrices in memory. */
template <int M, int N, int K, typename T, typename LA, typename LB, typename From, typename To,
          typename Stored>
static __global__ void multiply(const Stored *a, const Stored *b, const From *c, To *d)
{
    const bool a_rows = std::is_same<LA, wmma::row_major>::value;
    const bool b_rows = std::is_same<LB, wmma::row_major>::value;
    wmma::fragment<wmma::matrix_a, M, N, K, T, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, From> fc;
    wmma::fragment<wmma::accumulator, M, N, K, To> fd;
    wmma::load_matrix_sync(fa, a, a_rows ? K : M);
    wmma::load_matrix_sync(fb, b, b_rows ? N : K);
    wmma::load_matrix_sync(fc, c, N, wmma::mem_row_major);
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::store_matrix_sync(d, fd, N, wmma::mem_row_major);
}

static void fill_matrix(void *matrix, enum type t, enum class_ how, int reach)
{
    for (int n = 0; n < MATRIX; n++) {
        uint64_t e = random_element(t, how, reach);
        memcpy((char *)matrix + n * formats[t].bits / 8, &e, formats[t].bits / 8);
    }
}

template <int M, int N, int K, typename T, typename LA, typename LB, typename From, typename To,
          typename Stored>
static void product(const char *name, enum type in, enum type from)
{
    enum { BYTES = MATRIX * 8, TIMES = 8 };
    static char a[BYTES], b[BYTES], c[BYTES];
    static uint32_t d[BYTES / 4];
    char *at = (char *)device;
    for (int how = 0; how < CLASSES; how++) {
        uint64_t h = NOTHING_HASHED;
        begin(name, how);
        for (int round = 0; round < TIMES; round++) {
            fill_matrix(a, in, (enum class_)how, 2 * bias(in));
            fill_matrix(b, in, (enum class_)how, 2 * bias(in));
            fill_matrix(c, from, (enum class_)how, 2 * bias(in));
            CUDA(cudaMemcpy(at, a, BYTES, cudaMemcpyHostToDevice));
            CUDA(cudaMemcpy(at + BYTES, b, BYTES, cudaMemcpyHostToDevice));
            CUDA(cudaMemcpy(at + 2 * BYTES, c, BYTES, cudaMemcpyHostToDevice));
            multiply<M, N, K, T, LA, LB, From, To, Stored>
                <<<1, LANES>>>((Stored *)at, (Stored *)(at + BYTES), (From *)(at + 2 * BYTES),
                               (To *)(at + 3 * BYTES));
            CUDA(cudaGetLastError());
            CUDA(cudaMemcpy(d, at + 3 * BYTES, M * N * sizeof(To), cudaMemcpyDeviceToHost));
            h = hash(h, d, M * N * sizeof(To));
        }
        printf("random,%s,%s,%016llx\n", name, class_names[how], (unsigned long long)h);
    }
}

#define PRODUCT(M, N, K, T, STORED, LA, LB, FROM, TO, IN_TYPE, FROM_TYPE)                          \
    product<M, N, K, T, wmma::LA, wmma::LB, FROM, TO, STORED>(                                     \
        "wmma " #M "x" #N "x" #K " " #LA " " #LB " " #T " " #FROM " " #TO, IN_TYPE, FROM_TYPE);
#define HALVES(M, N, K, LA, LB)                                                                    \
    PRODUCT(M, N, K, __half, __half, LA, LB, float, float, F16, F32)                          \
    PRODUCT(M, N, K, __half, __half, LA, LB, __half, __half, F16, F16)                        \
    PRODUCT(M, N, K, __half, __half, LA, LB, __half, float, F16, F16)                         \
    PRODUCT(M, N, K, __half, __half, LA, LB, float, __half, F16, F32)
#define BFLOATS(M, N, K, LA, LB)                                                                   \
    PRODUCT(M, N, K, __nv_bfloat16, __nv_bfloat16, LA, LB, float, float, BF16, F32)

static void products(void)
{
    SHAPES(HALVES, row_major, col_major)
    SHAPES(HALVES, col_major, row_major)
    SHAPES(BFLOATS, row_major, col_major)
    SHAPES(BFLOATS, col_major, row_major)
    PRODUCT(16, 16, 8, wmma::precision::tf32, float, row_major, col_major, float, float, TF32, F32)
    PRODUCT(8, 8, 4, double, double, row_major, col_major, double, double, F64, F64)
    PRODUCT(8, 8, 4, double, double, col_major, row_major, double, double, F64, F64)
}

/* ---- moves of matrices ----------------------------------------------------------------------- */

/* What each lane reads: each 8x8 matrix holds its own places; stores go the other way. */
#define MOVED(NAME, LOAD, STORE_TEXT, LINES)                                                       \
    static __global__ void NAME(uint32_t *out)                                                     \
    {                                                                                              \
        __shared__ __align__(16) uint16_t tile[256];                                               \
        uint32_t r[4] = {0, 0, 0, 0};                                                              \
        uint32_t at = __cvta_generic_to_shared(tile) + threadIdx.x % (LINES) * 16;                 \
        for (int n = 0; n < 8; n++) tile[threadIdx.x * 8 + n] = threadIdx.x * 8 + n;               \
        __syncwarp();                                                                              \
        asm volatile(LOAD : "+r"(r[0]), "+r"(r[1]), "+r"(r[2]), "+r"(r[3]) : "r"(at) : "memory");  \
        __syncwarp();                                                                              \
        asm volatile(STORE_TEXT ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(at) : "memory"); \
        __syncwarp();                                                                              \
        for (int n = 0; n < 4; n++) out[n * LANES + threadIdx.x] = r[n];                           \
        for (int n = 0; n < 4; n++)                                                                \
            out[(n + 4) * LANES + threadIdx.x] = ((uint32_t *)tile)[n * LANES + threadIdx.x];      \
    }
#define LOADS(N, T, LIST)  "ldmatrix.sync.aligned.m8n8." N T ".shared.b16 " LIST ", [%4];"
#define STORES(N, T, LIST) "stmatrix.sync.aligned.m8n8." N T ".shared.b16 [%4], " LIST ";"
MOVED(moved_1, LOADS("x1", , "{%0}"), STORES("x1", ".trans", "{%0}"), 8)
MOVED(moved_2, LOADS("x2", , "{%0,%1}"), STORES("x2", ".trans", "{%0,%1}"), 16)
MOVED(moved_4, LOADS("x4", , "{%0,%1,%2,%3}"), STORES("x4", ".trans", "{%0,%1,%2,%3}"), 32)
MOVED(moved_4t, LOADS("x4", ".trans", "{%0,%1,%2,%3}"), STORES("x4", , "{%0,%1,%2,%3}"), 32)
MOVED(moved_m,
      LOADS("x1", , "{%0}") "movmatrix.sync.aligned.m8n8.trans.b16 %1, %0;", "", 8)

static void moves(void)
{
    static uint32_t out[8 * LANES];
    static const struct { const char *name; void (*run)(uint32_t *); } all[] = {
        {"x1 and x1.trans", moved_1}, {"x2 and x2.trans", moved_2}, {"x4 and x4.trans", moved_4},
        {"x4.trans and x4", moved_4t}, {"movmatrix", moved_m}};
    for (const auto &m : all) {
        m.run<<<1, LANES>>>((uint32_t *)device);
        CUDA(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
        printf("moved,matrix,%s,", m.name);
        print_words(out, 8 * LANES);
    }
}

int main()
{
    CUDA(cudaMalloc(&device, sizeof host));
    printf("kind,instruction,case,bits\n");
    moves();
    orders();
    for (const auto &i : integers) random_case(&i, ANY), saturated(&i);
    for (const auto &i : reals)
        for (int how = 0; how < CLASSES; how++) random_case(&i, (enum class_)how);
    for (const auto &i : layouts)
        for (int how = 0; how < CLASSES; how++) random_case(&i, (enum class_)how);
    products();
    for (const auto &i : reals) probes(&i);
    return 0;
}
