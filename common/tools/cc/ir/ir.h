/*
 * ir.h — blocks of values in SSA form, and the passes over them.
 */
#ifndef CC_IR_H
#define CC_IR_H

#include "common/tools/cc/syntax/ast.h"

/*
 * What the compiler computes with between the tree and PTX: a kernel as blocks of values, in
 * SSA form (each value is computed at one place, and never changes).
 *
 *     temp[bi] += temp[ai];          %7 = load.shared.f32 %6
 *                                    %8 = load.shared.f32 %5
 *                                    %9 = add.f32 %8, %7
 *                                    store.shared.f32 %5, %9
 *
 * Device functions are inlined while the tree is lowered, so a kernel has no calls. Where control
 * flow joins, a phi is the value that comes from the block that came before.
 */

/* What a register can hold. Pointers are I64; integers of 8 and 16 bits are I32, extended. */
enum ir_type { IR_VOID, IR_BOOL, IR_I32, IR_I64, IR_F32, IR_F64 };

enum { IR_CALL_HOST = 1, IR_CALL_EXIT };

enum ir_op {
    IR_CONSTANT,  /* `bits`; belongs to no block */
    IR_PARAMETER, /* of the kernel: number `bits` */
    IR_SPECIAL,   /* a special register: enum special in `bits` */
    IR_SYMBOL,    /* the address of `symbol`: shared, global or constant memory */
    IR_SLOT,      /* the address of local memory: `bits` is its number in ir_function.slots */
    IR_TO_SPACE,  /* the generic address operand 0 as one in `space` */
    IR_PHI,       /* `incoming`, in the order of block->before */
    IR_ADD,       /* integers and reals, up to IR_REMAINDER */
    IR_SUBTRACT,
    IR_MULTIPLY,
    IR_DIVIDE,    /* signed or not: `is_signed` */
    IR_REMAINDER, /* integers from here */
    IR_AND,       /* also of IR_BOOL, up to IR_XOR */
    IR_OR,
    IR_XOR,
    IR_SHIFT_LEFT, /* operand 1 is an I32 */
    IR_SHIFT_RIGHT,
    IR_MIN, /* reals, too */
    IR_MAX,
    IR_ABS,
    IR_NEGATE,
    IR_COMPLEMENT, /* also of IR_BOOL */
    IR_SQRT,
    IR_FMA,
    IR_EQUAL, /* comparisons: IR_BOOL of two operands of one type */
    IR_NOT_EQUAL,
    IR_LESS,
    IR_LESS_EQUAL,
    IR_GREATER,
    IR_GREATER_EQUAL,
    IR_SELECT,  /* operand 0 ? operand 1 : operand 2 */
    IR_CONVERT, /* between types; integers: widen by `is_signed`, or cut off */
    IR_EXTEND,  /* the low `bytes` of an I32, extended by `is_signed` */
    IR_LOAD,    /* `bytes` at operand 0 + `offset`; small integers are extended by `is_signed` */
    IR_STORE,   /* operand 1 to operand 0 + `offset` */
    IR_PART,    /* part number `bits` of operand 0: a load of `parts` > 1, instructions */
    IR_PTX,     /* the instructions `ptx`; operand 0 + `offset` may be an address */
    IR_STRUCT,  /* while lowering: `incoming` are the members of a struct; belongs to no block */
    IR_BARRIER,
    IR_TEXT,   /* the address of the string `text` */
    IR_PRINTF, /* operand 0: the format's address; operand 1: that of the arguments, or NULL. I32.
                  `bits`: IR_CALL_HOST: host_call() with a name, of any type; IR_CALL_EXIT: does not
                  return */
};

/* The generic address space holds all others. Addresses of symbols and slots are generic at first;
 * those that accesses use become addresses in one space (memory.c): an I32 in shared memory. */
enum ir_space { IR_GENERIC, IR_GLOBAL, IR_SHARED, IR_LOCAL, IR_CONST };

/* Where an instruction comes from: a place in the text, in a function inlined at another. */
struct ir_place {
    struct position at;
    const struct ir_call *call; /* NULL: in the kernel itself */
};
struct ir_call {
    const struct function *callee;
    struct ir_place from;
};

enum { IR_OPERANDS = 8 };

/* What a variable holds at the end of a block, while lowering. */
struct ir_variable {
    const void *variable;
    struct ir_value *value;
    struct ir_variable *next;
};
struct ir_notes {
    struct ir_variable **buckets; /* by the variable */
    size_t count, room;
};

struct ir_value {
    enum ir_op op;
    enum ir_type type;
    struct ir_value *operand[IR_OPERANDS]; /* NULL after the last; a store of v2 has more */
    struct ir_value **incoming;            /* of a phi */
    struct ir_value *is; /* this value has been replaced by that one; see ir_resolve */
    struct ir_block *block;
    struct ir_value *next, *prev; /* in the block */
    uint64_t bits;                /* of a constant: cut to its type; a number */
    const struct symbol *symbol;
    const struct expr *text;
    const struct ptx *ptx;
    int64_t offset;      /* in bytes, of an access */
    enum ir_space space; /* of an access; of an address */
    uint8_t bytes;       /* of an access: of one part */
    uint8_t parts;       /* of an access: 1, 2 or 4 neighbours */
    bool is_signed;
    bool no_overflow; /* signed arithmetic in C, whose overflow is undefined */
    bool is_pointer;  /* a parameter that points to global memory */
    struct ir_place place;
    int id;                   /* numbered by ir_number */
    int uses;                 /* counted by ir_count_uses */
    struct ir_value *scratch; /* of the pass that runs */
};

/* A block ends with a jump to next[0]; if there is a condition, to next[0] if it is true, else to
 * next[1]; without next[0], the kernel ends. */
struct ir_block {
    struct ir_value *first, *last;
    struct ir_value *condition;
    struct ir_block *next[2];
    struct ir_place place;    /* of the jump */
    struct ir_block **before; /* the blocks that jump here */
    int before_count, before_room;
    int number;                 /* in ir_function.order */
    struct ir_block *above;     /* its immediate dominator; NULL: the first block, or unreachable */
    bool is_sealed;             /* while lowering: all of `before` are known */
    int unroll;                 /* of the first block of a loop: what #pragma unroll says (ast.h) */
    struct ir_notes *variables; /* while lowering; NULL: none yet */
    struct ir_variable *to_fill; /* while lowering: phis that wait for the block to be sealed */
    int mark;                    /* of the pass that runs */
};

struct ir_slot {
    int64_t size, align;
    bool is_gone;            /* its values are in registers, or nothing reads it */
    bool is_known_elsewhere; /* its address is used for more than loads and stores */
};

struct ir_function {
    struct arena *arena;
    struct diagnostics *diagnostics;
    const struct function *source;
    struct ir_block *entry;
    struct ir_block **order; /* reachable blocks, each after those that dominate it */
    int block_count;
    struct ir_value **constants; /* a table, by hash */
    int constant_count, constant_room;
    struct ir_slot *slots;
    int slot_count;
    int value_count; /* made so far; MOST_VALUES is the limit */
    int id_count;
};
enum { MOST_VALUES = 200000, MOST_BLOCKS = 5000 };

/* ---- making (ir.c) --------------------------------------------------------------------------- */

struct ir_block *ir_block_new(struct ir_function *);
struct ir_value *ir_value_new(struct ir_function *, enum ir_op, enum ir_type, struct ir_place);
void ir_append(struct ir_block *, struct ir_value *);
/* Before `at`; NULL: at the block's end. */
void ir_insert(struct ir_block *, struct ir_value *at, struct ir_value *);
void ir_unlink(struct ir_value *);
/* Everything that used `value` uses `by`; the value leaves its block. */
void ir_replace(struct ir_value *value, struct ir_value *by);
struct ir_value *ir_resolve(struct ir_value *); /* what it has been replaced by, or itself */
struct ir_value *ir_operand(struct ir_value *, int index); /* resolved; NULL: there is none */

struct ir_value *ir_constant(struct ir_function *, enum ir_type, uint64_t bits);
struct ir_value *ir_float(struct ir_function *, enum ir_type, double);
bool ir_is_real(enum ir_type); /* a float or a double */
bool ir_is_constant(const struct ir_value *);
int64_t ir_signed(const struct ir_value *constant); /* an integer constant, extended by its sign */
double ir_real(const struct ir_value *constant);

void ir_connect(struct ir_function *, struct ir_block *from, struct ir_block *to);
/* Which of the block's edges comes from `before`; -1: none. */
int ir_edge(const struct ir_block *, const struct ir_block *before);
/* Takes one edge away, and what phis have for it. */
void ir_disconnect(struct ir_block *from, struct ir_block *to);

/* Computed from its operands alone: it may be computed twice, moved, or left out. */
bool ir_is_pure(const struct ir_value *);
bool ir_is_access(const struct ir_value *); /* a load or a store */
bool ir_has_effect(const struct ir_value *);
enum ir_type ir_accessed(struct ir_value *access); /* the type of what it loads or stores */
int64_t ir_bytes(const struct ir_value *access);
/* What a sum of addresses begins with: a symbol or a slot, mostly. */
struct ir_value *ir_base(struct ir_value *address);
enum ir_space ir_space_of(const struct symbol *);
/* Two pure values, or loads, that compute the same from the same operands. */
bool ir_same(struct ir_value *, struct ir_value *);
uint64_t ir_hash(struct ir_value *);

void ir_count_uses(struct ir_function *);

/* Computes `order`, `number` and `above`, and drops blocks that nothing reaches. */
void ir_order(struct ir_function *);
bool ir_dominates(const struct ir_block *, const struct ir_block *);

/* ---- values that are simpler (fold.c) -------------------------------------------------------- */

/* Appends a new value to a block, or finds what it is: a constant, an operand, a simpler value.
 * Operands after the last are NULL. */
struct ir_value *ir_build(struct ir_function *, struct ir_block *, struct ir_value *);
/* Puts a new value before `at`, or finds what it is. */
struct ir_value *ir_build_before(struct ir_function *, struct ir_value *at, struct ir_value *);

/* The constant that a value of constants is, computed as the GPU computes it; NULL: an operand is
 * no constant, or the result is undefined in C, and left to the GPU. */
struct ir_value *fold_constants(struct ir_function *, struct ir_value *);

/* ---- what is done with a kernel between the tree and PTX, in this order ---------------------- */

/*
 * Each pass opens with the question that it answers.
 *
 * They make the counters those of nvcc: the same accesses to shared and global memory by the same
 * lanes, the same additions. No pass moves a barrier, or moves an access across one; a barrier is
 * copied with its whole loop alone (loops.c).
 */

void passes_run(struct ir_function *);

/* Values that are computed twice; loads of what is known already. */
void pass_same_values(struct ir_function *);
/* Short loops with a constant number of iterations, as copies. */
void pass_unroll(struct ir_function *);
void pass_addresses(struct ir_function *);
void pass_loads(struct ir_function *);
/* What is the same in each iteration of a loop. */
void pass_loops(struct ir_function *);
/* Arrays and variables in local memory that registers can hold. */
void pass_slots(struct ir_function *);
/* What is common to both arms of an `if`; arms that are no branch. */
void pass_branches(struct ir_function *);
/* Values that nothing uses; stores that nothing reads. */
void pass_unused(struct ir_function *);
/* Neighbouring accesses become one. */
void pass_pairs(struct ir_function *);
/* a * b + c */
void pass_fuse(struct ir_function *);

/* ---- whether accesses touch the same memory (memory.c) --------------------------------------- */

/* Addresses as pass_addresses leaves them. */
bool same_address(struct ir_value *a, struct ir_value *b);
/* May anything that `value` does change what the load reads? (Or, for a store: read or change.) */
bool may_change(struct ir_function *, struct ir_value *value, struct ir_value *access);
bool may_touch(struct ir_function *, struct ir_value *value, struct ir_value *access);

#endif
