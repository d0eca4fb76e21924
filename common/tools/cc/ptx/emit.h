/*
 * emit.h — from the tree, by way of IR, to PTX; and a text that grows.
 */
#ifndef CC_EMIT_H
#define CC_EMIT_H

#include "common/tools/cc/ir/ir.h"
#include "common/tools/cc/source/source.h"

/* ---- a text that grows ----------------------------------------------------------------------- */

struct text {
    struct arena *arena;
    char *bytes; /* ends with zero */
    size_t used, room;
};

void text_add(struct text *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- from the tree, by way of IR, to PTX ----------------------------------------------------- */

/* The kernels of a unit as PTX, which belongs to the unit's arena; NULL: there were errors. */
const char *emit_unit(struct unit *);

/* ---- within this folder ---------------------------------------------------------------------- */

/* What is written: variables and strings of the whole text, and its kernels. */
struct emit {
    struct unit *unit;
    struct text variables, kernels;
    int string_count, kernel_count;
    bool has_host; /* calls of host_call() */
    const struct function **inlined; /* functions that .loc names */
    int inlined_count;
};

enum { REGISTER_KINDS = IR_F64 + 1 };

/* A kernel while it is written. Each value has a register: value->id. */
struct emit_kernel {
    struct emit *module;
    struct ir_function *f;
    struct text body;
    int registers[REGISTER_KINDS]; /* of each type, in use */
    struct ir_place place;         /* of the last .loc */
    int call_count;
    int number; /* of the kernel, in its labels */
};

/* The text of an operand. */
struct operand {
    char text[40];
};

void emit_value(struct emit_kernel *, struct ir_value *);
struct operand emit_register(struct emit_kernel *, enum ir_type); /* a new one */
struct operand emit_operand(struct emit_kernel *, struct ir_value *);
/* The name of a string of the text, which is written among the variables. */
const char *emit_string(struct emit *, const struct expr *);

#endif
