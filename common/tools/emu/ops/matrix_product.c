/* matrix_product.c — products of matrices, and the sums of products in them, as tensor cores form
 * them. */
#include "ops.h"
#include <fenv.h>
#include <math.h>

/* ---- sums of products of f16 ----------------------------------------------------------------- */

/* Sums of products of f16, bf16, tf32 and 8-bit floating-point numbers, to the bit as an H200 forms
 * them. notes/more/tensor-cores.md has the rules, and how they were compared. */

/* ---- numbers --------------------------------------------------------------------------------- */

/* A format: how many bits its exponent and its mantissa have, and how many bits below these are
 * ignored. */
struct real_format {
    uint8_t exponent, mantissa, unused;
};

static struct real_format format_of(enum element e)
{
    static const struct real_format formats[ELEMENTS] = {
        [ELEMENT_F16] = {5, 10, 0}, [ELEMENT_BF16] = {8, 7, 0}, [ELEMENT_TF32] = {8, 10, 13},
        [ELEMENT_F32] = {8, 23, 0}, [ELEMENT_E4M3] = {4, 3, 0}, [ELEMENT_E5M2] = {5, 2, 0}};
    return formats[e];
}

/* The number that these bits are. */
static struct real real_of_bits(enum element e, uint32_t bits)
{
    struct real_format f = format_of(e);
    bits >>= f.unused;
    uint32_t mantissa = bits & ((1u << f.mantissa) - 1), most = (1u << f.exponent) - 1;
    uint32_t exponent = bits >> f.mantissa & most;
    int bias = (int)(most >> 1), leading = (int)(exponent ? exponent : 1) - bias;
    struct real real = {.is_negative = bits >> (f.mantissa + f.exponent) & 1};
    bool has_infinity = e != ELEMENT_E4M3; /* E4M3 has a NaN only */
    if (exponent == most && (has_infinity || mantissa == 7))
        real.kind = mantissa ? REAL_NAN : REAL_INFINITE;
    real.significand = (int32_t)(mantissa | (exponent ? 1u << f.mantissa : 0));
    if (real.is_negative) real.significand = -real.significand;
    real.exponent = leading - f.mantissa;
    real.leading = (int16_t)leading;
    return real;
}

/* ---- sums ------------------------------------------------------------------------------------ */

enum { FRACTION = 25, NOTHING = -10000 }; /* bits that are kept below the largest exponent */

/* An addend: significand · 2^exponent, less than 2^(leading + 2). */
struct addend {
    int64_t significand;
    int exponent, leading;
};

/* The significand of an addend with the exponent `lowest`. The bits below it are cut off. */
static int64_t aligned(struct addend a, int lowest)
{
    int shift = a.exponent - lowest;
    if (shift >= 0) return a.significand << shift;
    if (shift <= -63) return 0;
    return a.significand < 0 ? -(-a.significand >> -shift) : a.significand >> -shift;
}

/* The float of sum · 2^exponent. Bits that do not fit are cut off. */
static uint32_t f32_towards_zero(int64_t sum, int exponent)
{
    enum { MANTISSA = 23, BIAS = 127, LOWEST = -149 };
    uint32_t sign = sum < 0 ? 0x80000000 : 0;
    uint64_t magnitude = sum < 0 ? -(uint64_t)sum : (uint64_t)sum;
    if (!sum) return 0;
    int high = 63 - __builtin_clzll(magnitude), shift = high - MANTISSA;
    if (exponent + shift < LOWEST) shift = LOWEST - exponent;
    magnitude = shift > 63 ? 0 : shift >= 0 ? magnitude >> shift : magnitude << -shift;
    if (!magnitude) return 0; /* a sum is never -0 */
    if (high + exponent > BIAS) return sign | 0x7f800000;
    int field = exponent + shift - LOWEST; /* of a normal number the leading bit adds 1 */
    return sign | ((uint32_t)magnitude + ((uint32_t)field << MANTISSA));
}

static struct addend addend_of(struct real r)
{
    return (struct addend){r.significand, r.exponent, r.significand ? r.leading : NOTHING};
}

/* The sum of c and products, all aligned to the largest of them. */
static uint32_t sum_of(const struct addend *all, unsigned count, enum element to)
{
    int leading = NOTHING;
    int64_t sum = 0;
    for (unsigned k = 0; k < count; k++)
        if (all[k].leading > leading) leading = all[k].leading;
    for (unsigned k = 0; k < count; k++)
        if (all[k].significand) sum += aligned(all[k], leading - FRACTION);
    if (to == ELEMENT_F32) return f32_towards_zero(sum, leading - FRACTION);
    double exact = (double)sum; /* has at most 53 bits */
    for (int e = leading - FRACTION; e < 0 && exact != 0; e++) exact *= 0.5;
    for (int e = leading - FRACTION; e > 0 && exact != 0; e--) exact *= 2;
    uint16_t rounded = f16_of_f64(exact, ROUND_NEAREST);
    return rounded & 0x7fff ? rounded : 0; /* a sum is never -0 */
}

/* ---- products -------------------------------------------------------------------------------- */

/* What decides whether a sum is infinite or a NaN: the NaNs and infinities among its addends. */
struct unusual {
    bool is_nan, plus, minus;
};

static void note(struct unusual *s, bool is_nan, bool is_infinite, bool is_negative)
{
    s->is_nan |= is_nan;
    s->plus |= is_infinite && !is_negative;
    s->minus |= is_infinite && is_negative;
}

static void note_product(struct unusual *s, const struct real *a, const struct real *b)
{
    bool is_infinite = a->kind == REAL_INFINITE || b->kind == REAL_INFINITE;
    bool is_nan = a->kind == REAL_NAN || b->kind == REAL_NAN;
    bool is_zero =
        (a->kind == REAL_FINITE && !a->significand) || (b->kind == REAL_FINITE && !b->significand);
    note(s, is_nan || (is_infinite && is_zero), is_infinite, a->is_negative != b->is_negative);
}

static uint32_t unusual_bits(const struct unusual *s, enum element to)
{
    uint32_t infinity = to == ELEMENT_F32 ? 0x7f800000 : 0x7c00, sign = to == ELEMENT_F32 ? 31 : 15;
    if (s->is_nan || (s->plus && s->minus)) return to == ELEMENT_F32 ? 0x7fffffff : 0x7fff;
    return infinity | (uint32_t)s->minus << sign;
}

/* Which products a machine instruction adds: `run` of them from k = begin on, as many from
 * k = begin + step on, and so on. */
struct taken {
    unsigned begin, run, step;
};

/* One machine instruction (HMMA): c and the products of a part. */
static uint32_t hmma(const struct real *a, const struct real *b, unsigned count, struct taken part,
                     enum element from, uint32_t c, enum element to)
{
    struct addend addends[MOST_K + 1];
    struct unusual unusual = {0};
    struct real start = real_of_bits(from, c);
    unsigned found = 0;
    note(&unusual, start.kind == REAL_NAN, start.kind == REAL_INFINITE, start.is_negative);
    for (unsigned k = 0; k < count; k++) {
        if (k < part.begin || (k - part.begin) % part.step >= part.run) continue;
        int64_t significand = (int64_t)a[k].significand * b[k].significand;
        note_product(&unusual, &a[k], &b[k]);
        addends[found++] = (struct addend){significand, a[k].exponent + b[k].exponent,
                                           significand ? a[k].leading + b[k].leading : NOTHING};
    }
    addends[found++] = addend_of(start);
    if (unusual.is_nan || unusual.plus || unusual.minus) return unusual_bits(&unusual, to);
    return sum_of(addends, found, to);
}

/* ---- what ptxas makes of products that have no machine instruction of their own -------------- */

static uint32_t float_bits(float value) { return value != value ? 0x7fffffff : bits_of_f32(value); }

static uint32_t add_floats(uint32_t a, uint32_t b)
{
    return float_bits(f32_of_bits(a) + f32_of_bits(b));
}

/* ptxas converts four bytes of a row to two pairs of f16. One instruction adds the products of all
 * first pairs, the next one those of all second pairs. */
static uint32_t dot_of_bytes(const struct real *a, const struct real *b, unsigned count, uint32_t c)
{
    uint32_t sum = hmma(a, b, count, (struct taken){0, 2, 4}, ELEMENT_F32, 0, ELEMENT_F32);
    sum = hmma(a, b, count, (struct taken){2, 2, 4}, ELEMENT_F32, sum, ELEMENT_F32);
    return add_floats(c, sum);
}

static float float_of(const struct real *r)
{
    float sign = r->is_negative ? -1 : 1;
    if (r->kind == REAL_NAN) return NAN;
    if (r->kind == REAL_INFINITE) return sign * INFINITY;
    return sign * ldexpf(fabsf((float)r->significand), r->exponent);
}

/* ptxas makes scalar instructions of mma.m8n8k4. */
static uint32_t dot_of_quad(const struct matrix_insn *m, const struct real *a, const struct real *b,
                            uint32_t c)
{
    enum { K = 4 };
    float x[K], y[K], sum = 0;
    float start = m->c.element == ELEMENT_F16 ? f32_of_f16((uint16_t)c) : f32_of_bits(c);
    for (unsigned k = 0; k < K; k++) x[k] = float_of(&a[k]), y[k] = float_of(&b[k]);
    if (m->d.element == ELEMENT_F16) {
        float first = fmaf(x[1], y[1], x[0] * y[0]), second = fmaf(x[3], y[3], x[2] * y[2]);
        return f16_of_f32(start + first + second);
    }
    for (unsigned k = 0; k < K; k++) sum = fmaf(x[k], y[k], sum);
    return float_bits(start + sum);
}

/* The bits of c + a[0] b[0] + … as an H200 forms them. */
static uint32_t dot_of_reals(const struct matrix_insn *m, const struct real *a,
                             const struct real *b, uint32_t c)
{
    enum { HALF_OF_8 = 4 };
    struct taken all = {0, m->k, m->k};
    enum element from = (enum element)m->c.element, to = (enum element)m->d.element;
    if (m->a.distribution == DISTRIBUTION_QUADS) return dot_of_quad(m, a, b, c);
    if (element_bits((enum element)m->a.element) == 8) return dot_of_bytes(a, b, m->k, c);
    if (m->a.element == ELEMENT_TF32 && m->a.distribution == DISTRIBUTION_WMMA) {
        c = hmma(a, b, HALF_OF_8, all, from, c, to);
        return hmma(a + HALF_OF_8, b + HALF_OF_8, HALF_OF_8, all, from, c, to);
    }
    if (from == to) return hmma(a, b, m->k, all, from, c, to);
    if (from == ELEMENT_F16) c = bits_of_f32(f32_of_f16((uint16_t)c));
    c = hmma(a, b, m->k, all, ELEMENT_F32, c, ELEMENT_F32);
    return to == ELEMENT_F16 ? f16_of_f32(f32_of_bits(c)) : c;
}

/* ---- products of matrices: mma.sync and wmma.mma --------------------------------------------- */

/* The bits of each element of a matrix: [row][column], but [column][row] of b. */
struct bits {
    uint64_t at[MOST_ROWS][MOST_K];
};

enum { WORD = 32 };

/* ---- from registers and back ----------------------------------------------------------------- */

/* Reads a fragment. If the instruction computes four products, it is that of product `quad`. */
static void read_fragment(const struct warp *w, const struct matrix_fragment *f, unsigned quad,
                          struct bits *bits)
{
    unsigned parts = elements_of_register(f), width = WORD / parts;
    for (unsigned r = 0; r < f->registers; r++) {
        const void *lanes = slot_at(w, f->slot[r]);
        for (unsigned l = 0; l < WARP; l++) {
            if (f->distribution == DISTRIBUTION_QUADS && l % 16 / 4 != quad) continue;
            for (unsigned p = 0; p < parts; p++) {
                struct place s = spot_of_element(f, l, r, p);
                uint64_t *to =
                    f->use == USE_B ? &bits->at[s.column][s.row] : &bits->at[s.row][s.column];
                if (f->element == ELEMENT_F64)
                    *to = ((const uint64_t *)lanes)[l];
                else
                    *to =
                        ((const uint32_t *)lanes)[l] >> p * width & (UINT32_MAX >> (WORD - width));
            }
        }
    }
}

static void write_fragment(const struct warp *w, const struct matrix_fragment *f, unsigned quad,
                           const struct bits *bits)
{
    unsigned parts = elements_of_register(f), width = WORD / parts;
    for (unsigned r = 0; r < f->registers; r++) {
        void *lanes = slot_at(w, f->slot[r]);
        for (unsigned l = 0; l < WARP; l++) {
            uint32_t word = 0;
            if (f->distribution == DISTRIBUTION_QUADS && l % 16 / 4 != quad) continue;
            for (unsigned p = 0; p < parts; p++) {
                struct place s = spot_of_element(f, l, r, p);
                if (f->element == ELEMENT_F64)
                    ((uint64_t *)lanes)[l] = bits->at[s.row][s.column];
                else
                    word |= (uint32_t)bits->at[s.row][s.column] << p * width;
            }
            if (f->element != ELEMENT_F64) ((uint32_t *)lanes)[l] = word;
        }
    }
}

/* ---- integers -------------------------------------------------------------------------------- */

static int64_t integer_of(enum element e, uint64_t bits)
{
    switch (e) {
    case ELEMENT_S8: return (int8_t)bits;
    case ELEMENT_S4: return (int64_t)(bits ^ 8) - 8;
    default: return (int64_t)bits;
    }
}

static uint32_t dot_of_integers(const struct matrix_insn *m, const struct bits *a,
                                const struct bits *b, unsigned row, unsigned column, uint32_t c)
{
    int64_t sum = (int32_t)c;
    for (unsigned k = 0; k < m->k; k++)
        sum += integer_of((enum element)m->a.element, a->at[row][k]) *
               integer_of((enum element)m->b.element, b->at[column][k]);
    if (m->saturates) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)sum;
}

static uint32_t dot_of_bits(const struct matrix_insn *m, const struct bits *a, const struct bits *b,
                            unsigned row, unsigned column, uint32_t c)
{
    for (unsigned k = 0; k < m->k / WORD; k++) {
        uint64_t x = a->at[row][k], y = b->at[column][k];
        c += (uint32_t)__builtin_popcountll(m->is_and ? x & y : x ^ y);
    }
    return c;
}

/* ---- doubles --------------------------------------------------------------------------------- */

/* a·b + c. Of several NaNs the result is b, c or a, in this order. */
static double fused(double a, double b, double c)
{
    const uint64_t quiet = UINT64_C(1) << 51, none = UINT64_C(0xfff8000000000000);
    double nan = b != b ? b : c != c ? c : a, sum = fma(a, b, c);
    if (nan != nan) return f64_of_bits(bits_of_f64(nan) | quiet);
    return sum != sum ? f64_of_bits(none) : sum;
}

static uint64_t dot_of_doubles(const struct matrix_insn *m, const struct bits *a,
                               const struct bits *b, unsigned row, unsigned column, uint64_t c)
{
    double sum = f64_of_bits(c);
    for (unsigned k = 0; k < m->k; k++)
        sum = fused(f64_of_bits(a->at[row][k]), f64_of_bits(b->at[column][k]), sum);
    return bits_of_f64(sum);
}

static void multiply_doubles(const struct matrix_insn *m, const struct bits *a,
                             const struct bits *b, struct bits *c)
{
    int rounding = fegetround();
    fesetround(m->rounding);
    for (unsigned r = 0; r < m->d.rows; r++)
        for (unsigned n = 0; n < m->d.columns; n++)
            c->at[r][n] = dot_of_doubles(m, a, b, r, n, c->at[r][n]);
    fesetround(rounding);
}

/* ---- other floating-point numbers ------------------------------------------------------------ */

static void multiply_reals(const struct matrix_insn *m, const struct bits *a, const struct bits *b,
                           struct bits *c)
{
    static _Thread_local struct real rows[MOST_ROWS][MOST_K], columns[MOST_COLUMNS][MOST_K];
    for (unsigned k = 0; k < m->k; k++) {
        for (unsigned r = 0; r < m->d.rows; r++)
            rows[r][k] = real_of_bits((enum element)m->a.element, (uint32_t)a->at[r][k]);
        for (unsigned n = 0; n < m->d.columns; n++)
            columns[n][k] = real_of_bits((enum element)m->b.element, (uint32_t)b->at[n][k]);
    }
    for (unsigned r = 0; r < m->d.rows; r++)
        for (unsigned n = 0; n < m->d.columns; n++)
            c->at[r][n] = dot_of_reals(m, rows[r], columns[n], (uint32_t)c->at[r][n]);
}

/* ---- the instruction ------------------------------------------------------------------------- */

static void multiply_integers(const struct matrix_insn *m, const struct bits *a,
                              const struct bits *b, struct bits *c)
{
    for (unsigned r = 0; r < m->d.rows; r++)
        for (unsigned n = 0; n < m->d.columns; n++) {
            uint32_t old = (uint32_t)c->at[r][n];
            c->at[r][n] = m->a.element == ELEMENT_B1 ? dot_of_bits(m, a, b, r, n, old)
                                                     : dot_of_integers(m, a, b, r, n, old);
        }
}

static void multiply(struct warp *w, const struct matrix_insn *m, unsigned quad)
{
    struct bits a, b, c;
    read_fragment(w, &m->a, quad, &a);
    read_fragment(w, &m->b, quad, &b);
    read_fragment(w, &m->c, quad, &c);
    switch ((enum element)m->d.element) {
    case ELEMENT_S32: multiply_integers(m, &a, &b, &c); break;
    case ELEMENT_F64: multiply_doubles(m, &a, &b, &c); break;
    default: multiply_reals(m, &a, &b, &c); break;
    }
    write_fragment(w, &m->d, quad, &c);
}

void op_matrix_product(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { QUADS = 4 };
    unsigned count = i->matrix->a.distribution == DISTRIBUTION_QUADS ? QUADS : 1;
    if (!has_all_lanes(w, i, mask)) return;
    for (unsigned quad = 0; quad < count; quad++) multiply(w, i->matrix, quad);
}
