/*
 * matrix_ops.h — what the files of this folder share: which lane holds which element of a matrix,
 * and sums of products as tensor cores form them.
 *
 * place.c says where an element is, product.c carries out mma, matrix_product.c sums floating-point
 * numbers, matrix_move.c moves matrices between memory and registers.
 */
#ifndef EMU_MATRIX_OPS_H
#define EMU_MATRIX_OPS_H

#include "common/emu/ptx/matrix.h"
#include "common/emu/machine/machine.h"

/* The largest number of rows, of columns, and of elements in a row of a. */
enum { MOST_ROWS = 32, MOST_COLUMNS = 32, MOST_K = 64 };

/* ---- matrix_move.c */

/* Do all lanes of the warp take part? False: a fault. */
bool has_all_lanes(struct warp *, const struct insn *, uint32_t mask);

/* ---- place.c */

struct place {
    unsigned row, column;
};

/* The elements of a register: 1, or as many as fit. Single bits count as words of 32 bits. */
unsigned elements_of_register(const struct matrix_fragment *);
/* Where element number `part` of a lane's register stands in the matrix. Single bits: the column of
 * a, or the row of b, is that of a word. */
struct place spot_of_element(const struct matrix_fragment *, unsigned lane, unsigned reg,
                             unsigned part);

/* ---- matrix_product.c */

/* A floating-point number: significand · 2^exponent. `leading` is the exponent of the place before
 * the binary point: a subnormal number's leading bit is not there. */
struct real {
    int32_t significand, exponent;
    int16_t leading;
    enum { REAL_FINITE, REAL_INFINITE, REAL_NAN } kind;
    bool is_negative;
};

/* The number that these bits are. */
struct real real_of_bits(enum element, uint32_t bits);
/* The bits of c + a[0] b[0] + … as an H200 forms them. */
uint32_t dot_of_reals(const struct matrix_insn *, const struct real *a, const struct real *b,
                      uint32_t c);

#endif
