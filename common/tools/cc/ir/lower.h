/*
 * lower.h — from the tree to IR: what the files of the lowering share.
 *
 * The kernel's body is walked once. Variables whose address is not taken never get memory
 * (declaration.c); a call is lowered as the body of its function, with the arguments as variables.
 */
#ifndef CC_LOWER_H
#define CC_LOWER_H

#include "ir.h"

enum { SPECIALS = SPECIAL_WARP_SIZE + 1 };

/* Where a symbol lives in the kernel that is lowered: in registers, or at an address. */
struct home {
    struct ir_function *owner;
    struct ir_value *address; /* NULL: in registers, as a variable whose key is this home */
};

/* Where `break` and `continue` lead to. */
struct lower_target {
    struct ir_block *to_break, *to_continue;
};

/* The function whose body is lowered: where `return` leads to, and the variable of its result. */
struct lower_call {
    struct ir_block *end;
    const void *result;
    const struct type *type; /* of the result */
};

struct lower {
    struct ir_function *f;
    struct ir_block *block; /* the current one; after a jump one that nothing reaches */
    struct ir_place place;
    struct lower_target target;
    struct lower_call call;
    struct ir_value *specials[SPECIALS];
    bool is_too_large; /* it was reported, and nothing more is lowered */
};

/* ---- variables (declaration.c) --------------------------------------------------------------- */

void variable_write(struct lower *, const void *variable, struct ir_value *);
struct ir_value *variable_read(struct lower *, const void *variable, enum ir_type);
/* The same for a value of any type; a struct is an IR_STRUCT of its members' values. */
void lower_write(struct lower *, const void *variable, const struct type *, struct ir_value *);
struct ir_value *lower_read(struct lower *, const void *variable, const struct type *);
struct ir_value *lower_zero(struct lower *, const struct type *);
/* What a variable holds at the end of a block; and what it holds at the beginning of the current
 * block, from the notes of the blocks before. For passes: all blocks are sealed. */
void variable_note(struct ir_function *, struct ir_block *, const void *variable,
                   struct ir_value *);
struct ir_value *variable_read_above(struct lower *, const void *variable, enum ir_type);
/* No more jumps to the block will be made. */
void block_seal(struct lower *, struct ir_block *);
/* Phis that have one value only are that value. */
void phis_simplify(struct ir_function *);

/* ---- blocks (lower.c) ------------------------------------------------------------------------ */

/* Goes on in a block, which stands here in the text from now on. */
void lower_begin(struct lower *, struct ir_block *);
void lower_jump(struct lower *, struct ir_block *to);
void lower_branch(struct lower *, struct ir_value *condition, struct ir_block *if_true,
                  struct ir_block *if_false);
struct ir_value *lower_op(struct lower *, enum ir_op, enum ir_type, struct ir_value *,
                          struct ir_value *, bool is_signed);
struct ir_value *lower_new(struct lower *, enum ir_op, enum ir_type);
struct ir_value *lower_add(struct lower *, struct ir_value *); /* ir_build at the current place */
struct ir_value *lower_integer(struct lower *, enum ir_type, int64_t);
enum ir_type lower_type(const struct type *);
/* In the first block: they are the same everywhere. */
struct ir_value *lower_first(struct lower *, struct ir_value *);
/* Gives a local variable or parameter a new home; its value is not set. */
struct home *lower_home(struct lower *, struct symbol *);

/* ---- expressions and statements -------------------------------------------------------------- */

struct ir_value *lower_expr(struct lower *, const struct expr *); /* NULL if of type void */
struct ir_value *lower_moved(struct lower *, struct ir_value *address, int64_t bytes);
void lower_store(struct lower *, const struct type *, struct ir_value *address, struct ir_value *);
/* Jumps by a truth value, with jumps of its own for && and ||. Both blocks are not sealed. */
void lower_condition(struct lower *, const struct expr *, struct ir_block *if_true,
                     struct ir_block *if_false);
struct ir_value *lower_builtin(struct lower *, const struct expr *);
struct ir_value *lower_call(struct lower *, const struct expr *);

/* A kernel as IR. Reports what it cannot do. */
struct ir_function *lower_kernel(struct unit *, struct function *);

#endif
