/* product.c — products of matrices: mma.sync and wmma.mma. */
#include "common/emu/ptx/half.h"
#include "common/emu/ptx/warp_ops.h"
#include "matrix_ops.h"
#include <fenv.h>
#include <math.h>
#include <string.h>

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
