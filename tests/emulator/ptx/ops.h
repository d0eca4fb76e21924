/*
 * ops.h — tests one PTX operation in all its types and modifiers against a reference in C.
 *
 * A row of a table says how the instruction is written, which types and modifiers it takes and
 * what it must give; check_ops() tries every combination on every combination of edge values.
 */
#ifndef OPS_H
#define OPS_H

#include "numbers.h"

/* One instruction: a row with its type and modifiers chosen. */
struct form {
    const struct type *type, *from; /* $T; $S where the row has a second list, otherwise the same */
    const char *modifiers;          /* $M, as written: ".rz.ftz" */
    /* Facts that the modifiers state, if they do. */
    enum rounding rounding;
    bool ftz, sat;
};

/* True if a modifier stands in the form: has(form, "ftz"). */
bool has(const struct form *, const char *modifier);

/* Computes the result that the instruction must have. False: PTX leaves the result open for these
 * inputs (then only a crash or an error is a failure). out is all zeros before. */
typedef bool reference(const struct form *, const union value in[], union value out[]);
#define UNUSED __attribute__((unused))
#define REFERENCE(name)                                                                            \
    static bool name(UNUSED const struct form *f, UNUSED const union value in[],                   \
                     UNUSED union value out[])

/* The allowed error of a floating-point result: in units in the last place, relative, absolute. A
 * result is right if it is within one of these bounds. All zero: the bits must be equal. */
struct tolerance {
    double ulps, relative, absolute;
};

struct op {
    const char *text;      /* "add$M.$T $0, $1, $2;" */
    const char *operands;  /* as in ptx_run.h, and t, s: a register of type $T, $S; w: twice $T */
    const char *types;     /* for $T, separated by blanks */
    const char *from;      /* for $S; NULL: only one type */
    const char *modifiers; /* for $M, separated by blanks; "-": without a modifier; NULL: "-" */
    reference *want;
    struct tolerance within;
    bool any_nan; /* PTX does not say which NaN; otherwise f16, bf16 and f32 have canonical ones */
};

/* A row of a table; fields after the reference may follow by name: .any_nan = true. */
#define OP(text_, operands_, types_, from_, modifiers_, want_, ...)                                \
    {                                                                                              \
        .text = text_, .operands = operands_, .types = types_, .from = from_,                      \
        .modifiers = modifiers_, .want = want_, __VA_ARGS__                                        \
    }

/* Tries every row in every form. A failure prints the instruction, the inputs, the result and the
 * expected result. */
void check_ops(const struct op *ops, size_t count);

#define CHECK_OPS(table) check_ops(table, sizeof(table) / sizeof *(table))

#endif
