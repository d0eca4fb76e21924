/*
 * numbers.h — PTX's number types for the tests' references: reading and writing them as integers
 * or as real numbers, rounding, and the edge values that every operation is tried on.
 *
 * It is written from the definitions (IEEE 754, PTX ISA "Fundamental Types"), not from the
 * emulator, so that the two check each other.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "ptx_run.h"

enum kind { UNSIGNED, SIGNED, BITS, FLOAT, PREDICATE };

struct type {
    const char *name; /* "s32" */
    enum kind kind;
    unsigned bits;
    char letter;  /* the register that holds it, see ptx_run.h */
    int mantissa; /* floating point: bits of precision, with the hidden one … */
    int exponent; /* … and the greatest exponent */
};

/* The type with this name; aborts the test if the name is unknown. Packed pairs ("f16x2") have no
 * kind of their own: packed_type() returns their half, or NULL. */
const struct type *find_type(const char *name);
const struct type *packed_type(const char *name);

enum rounding { NEAREST, ZERO, DOWN, UP };

typedef unsigned __int128 wide; /* integers modulo 2^128 */

/* The value as an integer, sign-extended to 128 bits if the type is signed. */
wide get_integer(const struct type *, union value);
/* The low bits of an integer; the rest of the union becomes zero. */
union value put_integer(const struct type *, wide);
/* The smallest and the greatest value of an integer type. */
__int128 least(const struct type *);
__int128 greatest(const struct type *);

/* The value as a real number: long double holds every f64, and s64 and u64, exactly. */
long double get_real(const struct type *, union value);
/* The number hi + lo rounded to the type. lo is a correction of at most half a unit in the last
 * place of hi as a double (0 where hi is exact) and only serves rounding to nearest. NaN becomes
 * the type's canonical NaN: all bits set except the sign's (f64: any quiet NaN). */
union value put_real(const struct type *, long double hi, long double lo, enum rounding);

bool is_nan(const struct type *, union value);
bool is_subnormal(const struct type *, union value);
/* The value, or zero of the same sign if it is subnormal. */
union value flush(const struct type *, union value);
union value negate(const struct type *, union value);

/* Values worth trying for a type: limits, powers of two and their neighbours, shift amounts, NaNs,
 * infinities, subnormals … Returns their number; `few`: only about a dozen of the most important
 * ones. */
enum { MAX_EDGES = 64 };
size_t edge_values(const struct type *, bool few, union value edges[MAX_EDGES]);

#endif
