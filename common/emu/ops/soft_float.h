/*
 * soft_float.h — floating-point arithmetic in integers, for processors that have no rounding modes
 * and no flush-to-zero (WebAssembly). The result is rounded once, from the exact one.
 */
#ifndef EMU_SOFT_FLOAT_H
#define EMU_SOFT_FLOAT_H

#include <stdbool.h>
#include <stdint.h>

enum soft_operation {
    SOFT_ADD,
    SOFT_SUB,
    SOFT_MUL,
    SOFT_FMA,
    SOFT_DIV,
    SOFT_SQRT,
    SOFT_RCP,
    SOFT_CONVERT, /* only rounds */
};

struct soft_rules {
    bool is_double; /* the result is rounded to 53 bits, otherwise to the 24 of a float */
    int rounding;   /* FE_… of <fenv.h> */
    bool flush;     /* a result below the normal numbers becomes a zero of its sign */
};

/* Computes with operands that the result's type can hold; SOFT_CONVERT takes any double. The result
 * is a float's value if it is not a double. Denormal operands are not flushed. */
double soft_float(enum soft_operation, const double operands[3], const struct soft_rules *);
/* Rounds an integer. */
double soft_of_integer(bool is_negative, uint64_t magnitude, const struct soft_rules *);

#endif
