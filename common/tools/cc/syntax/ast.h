/*
 * ast.h — the tree: types, nodes, and how a text becomes one.
 */
#ifndef CC_AST_H
#define CC_AST_H

#include "common/tools/cc/source/source.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- the types of the language --------------------------------------------------------------- */

/* Arithmetic types stand in the order of their rank: char has the same values as signed char, and
 * unsigned types come after the signed ones of their size. size_t is
 * TYPE_UNSIGNED_LONG, as with nvcc on 64-bit Linux. */
enum type_kind {
    TYPE_VOID, TYPE_BOOL, TYPE_CHAR, TYPE_SIGNED_CHAR, TYPE_UNSIGNED_CHAR, TYPE_SHORT,
    TYPE_UNSIGNED_SHORT, TYPE_INT, TYPE_UNSIGNED, TYPE_LONG, TYPE_UNSIGNED_LONG, TYPE_LONG_LONG,
    TYPE_UNSIGNED_LONG_LONG, TYPE_FLOAT, TYPE_DOUBLE,
    TYPE_ENUM,    /* computed with as the int, or unsigned, `base` */
    TYPE_POINTER, /* 8 bytes, to `base` */
    TYPE_ARRAY,   /* of `length` elements `base` */
    TYPE_STRUCT,  /* of `members`, in `length` bytes: also float4 and the like */
    TYPE_NULL,    /* of nullptr and NULL; no variable and no loaded value has it */
    TYPE_HOST,    /* of host code: a struct, or another type that only has a name */
    TYPE_UNKNOWN, /* after an error, which was reported; never in a tree that is lowered */
};

/* Length of an array whose size is given at the launch, or by its initialiser. */
enum { NO_LENGTH = -1 };

struct member {
    const char *name;
    const struct type *type; /* a number or a pointer */
    int64_t offset;
};
enum { MOST_MEMBERS = 16 };

struct type {
    enum type_kind kind;
    bool is_const, is_volatile;
    const struct type *base;
    int64_t length, align;        /* align: of a struct */
    const char *name;             /* of an enum, a struct, a host type */
    const struct member *members; /* of a struct; two types with the same ones are the same */
    int member_count;
    int parameter; /* of a type that a template's parameter stands for: its number from 1 on */
};

/* The types without a base, not const. */
const struct type *type_basic(enum type_kind);
const struct type *type_pointer(struct arena *, const struct type *base);
const struct type *type_array(struct arena *, const struct type *base, int64_t length);
const struct type *type_with_const(struct arena *, const struct type *);
const struct type *type_with_volatile(struct arena *, const struct type *);
/* Without its own const and volatile. */
const struct type *type_plain(struct arena *, const struct type *);

/* The same but for const and volatile at the top. */
bool type_same(const struct type *, const struct type *);

/* In bytes; 0 for void, functions, host types, and arrays without a length. */
int64_t type_size(const struct type *);
int64_t type_align(const struct type *);

bool type_is_integer(const struct type *);    /* also bool, char and enums */
bool type_is_signed(const struct type *);     /* of an integer type, also an enum */
bool type_is_real(const struct type *);       /* float, double */
bool type_is_arithmetic(const struct type *); /* integers and reals */
bool type_is_pointer(const struct type *);

/* "const float *", as it is written. */
const char *type_text(struct arena *, const struct type *);

/* An integer as a value of the type: cut to its width, then extended by its sign. */
int64_t type_wrap(const struct type *, int64_t value);

/* ---- the device code of a text as a tree ----------------------------------------------------- */

/*
 * The device code of a text as a tree: names are resolved, types are known, every
 * conversion is a node, templates are instances.
 *
 * Lvalues (places in memory) are EXPR_SYMBOL, EXPR_DEREF, and EXPR_MEMBER of an lvalue. They stand
 * only below EXPR_LOAD, EXPR_DECAY, EXPR_ADDRESS and EXPR_MEMBER, on the left of EXPR_ASSIGN and
 * EXPR_UPDATE, and as results of EXPR_PTX.
 *
 * A tree without errors has no TYPE_UNKNOWN and no TYPE_HOST in it.
 */

/* ---- expressions ----------------------------------------------------------------------------- */

/* Operands and result of an operation have one type, but for those marked. Signed or unsigned,
 * integer or real, is a matter of the operands' type: int, unsigned, long, unsigned long, long long
 * and unsigned long long, float or double; smaller types are converted before. */
enum operation {
    OP_ADD, /* of pointers: EXPR_POINTER_ADD */
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER, /* integers only, and so on to OP_SHIFT_RIGHT */
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_SHIFT_LEFT, /* the right operand has an integer type of its own */
    OP_SHIFT_RIGHT,
    OP_LESS, /* comparisons give bool; operands may be pointers, or bool for OP_EQUAL */
    OP_LESS_EQUAL, OP_GREATER, OP_GREATER_EQUAL, OP_EQUAL, OP_NOT_EQUAL};

enum expr_kind {
    EXPR_INTEGER,      /* `integer`, wrapped to `type`: an integer type, bool, or an enum */
    EXPR_REAL,         /* `real`; a float holds a float's value */
    EXPR_NULL,         /* a null pointer of type `type` */
    EXPR_STRING,       /* `string` of `length` bytes; in device code only for printf */
    EXPR_SPECIAL,      /* threadIdx.x … : `special` */
    EXPR_SYMBOL,       /* lvalue: `symbol` */
    EXPR_DEREF,        /* lvalue: where the pointer `left` points */
    EXPR_MEMBER,       /* member number `member` of the struct `left`: an lvalue if `left` is one */
    EXPR_LOAD,         /* the value of the lvalue `left` */
    EXPR_DECAY,        /* a pointer to the first element of the lvalue `left`, an array */
    EXPR_ADDRESS,      /* a pointer to the lvalue `left` */
    EXPR_POINTER_ADD,  /* the pointer `left` moved by `right` (long or unsigned long) elements of
                         left->type->base */
    EXPR_POINTER_DIFF, /* elements between two pointers, a long: left - right */
    EXPR_CONVERT,      /* `left` as `type`: arithmetic types; pointers and integers of 64 bits; to
                          bool: left is not zero */
    EXPR_NEGATE,
    EXPR_COMPLEMENT,  /* ~left */
    EXPR_NOT,         /* !left, bool to bool */
    EXPR_BINARY,      /* left `op` right */
    EXPR_AND_THEN,    /* left && right, all bool; `right` only if it is needed */
    EXPR_OR_ELSE,     /* left || right */
    EXPR_CONDITIONAL, /* `condition` (bool) ? left : right; both have `type`, which may be void */
    EXPR_COMMA,       /* left, then right; left may be of type void */
    EXPR_ASSIGN,      /* *left = right; its value is right's. Both have the same type */
    EXPR_UPDATE,      /* *left `op`= right: see below */
    EXPR_CALL,        /* function `callee` with `arguments`, of the parameters' types */
    EXPR_BUILTIN,     /* `builtin` with `arguments` */
    EXPR_STRUCT,      /* a struct whose members are the `arguments` */
    EXPR_PTX,         /* the instructions `ptx` with `arguments` */
};

/* EXPR_UPDATE, which is also ++ and --. The lvalue `left` is computed once. With T = `computed`:
 *     old = load left;  new = (left's type)((T)old op right);  store new
 * right has type T; for shifts an integer type of its own. If left is a pointer, T is left's type,
 * right is a long or unsigned long, and the operation is a pointer's: `op` is OP_ADD always. Its
 * value is `new`, or `old` if `gives_old` (i++). */

enum special {
    SPECIAL_THREAD_X, /* type unsigned, up to SPECIAL_GRID_Z */
    SPECIAL_THREAD_Y,
    SPECIAL_THREAD_Z,
    SPECIAL_BLOCK_X, /* blockIdx.x */
    SPECIAL_BLOCK_Y,
    SPECIAL_BLOCK_Z,
    SPECIAL_BLOCK_SIZE_X, /* blockDim.x */
    SPECIAL_BLOCK_SIZE_Y,
    SPECIAL_BLOCK_SIZE_Z,
    SPECIAL_GRID_X, /* gridDim.x */
    SPECIAL_GRID_Y,
    SPECIAL_GRID_Z,
    SPECIAL_WARP_SIZE, /* type int */
};

/* min, max and abs of several types are one builtin: the expression's type says which. Arguments
 * have the expression's type. */
enum builtin {
    BUILTIN_SYNCTHREADS, /* __syncthreads(), void */
    BUILTIN_PRINTF,      /* EXPR_STRING, then values after the usual promotions: int, …, double,
                            pointers. Type int */
    BUILTIN_HOST,        /* EXPR_STRING, the name of a function or kernel, then its arguments; of
                            a kernel first 3 + 3 numbers and the dynamic bytes */
    BUILTIN_MIN,         /* integers of 4 or 8 bytes, float (also fminf), double (also fmin) */
    BUILTIN_MAX,
    BUILTIN_ABS, /* int, long, long long, float (fabsf), double (fabs) */
    BUILTIN_FMA, /* float (fmaf), double (fma) */
    BUILTIN_SQRT,
};

/* What instructions do besides computing their results. */
enum ptx_effect {
    PTX_NONE,   /* they may be left out, moved, or done twice */
    PTX_LANES,  /* they stay where they are: other lanes take part, or the text says volatile */
    PTX_PLACE,  /* … and change memory at the first argument, an address */
    PTX_MEMORY, /* … and order or change any memory */
};

/* In `text`, %0 %1 … are the results and then the arguments, %a is [the first argument], %s its
 * state space (.shared, or nothing). Without results, %0 is the value of the expression. */
struct ptx {
    const char *text;
    enum ptx_effect effect;
    bool has_place;        /* %a stands in it */
    bool is_inline;        /* inline assembly: constants are put into registers */
    struct expr **results; /* lvalues of 4 or 8 bytes */
    int result_count;
    int *first; /* for each result, the argument that it begins with ("+r"); -1: none */
};

struct expr {
    enum expr_kind kind;
    const struct type *type; /* of an lvalue: of what is stored there */
    struct position at;
    struct expr *condition, *left, *right;
    struct expr **arguments;
    int argument_count;
    union {
        int64_t integer;
        double real;
        struct {
            const char *string; /* after escapes; zero after its end */
            int64_t length;
        };
        enum special special;
        struct symbol *symbol;
        struct function *callee;
        enum builtin builtin;
        int member;
        const struct ptx *ptx;
        struct {
            enum operation op;
            bool gives_old;
            const struct type *computed;
        };
    };
};

/* ---- symbols --------------------------------------------------------------------------------- */

enum symbol_kind {
    SYMBOL_LOCAL,          /* a variable of a function */
    SYMBOL_PARAMETER,      /* its value is that of the argument at first; it may be assigned to */
    SYMBOL_SHARED,         /* __shared__, in a function or at file scope */
    SYMBOL_SHARED_DYNAMIC, /* extern __shared__ T name[]; all of them begin at the same address */
    SYMBOL_GLOBAL,         /* __device__ */
    SYMBOL_CONSTANT,       /* __constant__ */
};

/* A value at `offset` bytes of a variable. */
struct initial {
    int64_t offset;
    struct expr *value; /* of an element's type; a constant if the variable is not a local one */
    struct initial *next;
};

struct symbol {
    enum symbol_kind kind;
    const char *name,
        *mangled; /* mangled: of shared, global and constant ones, as nvcc names them */
    const struct type *type;
    int64_t align; /* what the type needs, or __align__ */
    struct position at;
    bool addressed; /* a local or parameter that is an array, or whose address is taken */
    bool is_static; /* of SYMBOL_GLOBAL and SYMBOL_CONSTANT; nvcc makes no difference in PTX */
    bool is_of_gpu; /* of these: __device__ or __constant__ */
    /* If `initialized`, what `initials` does not name is zero. SYMBOL_LOCAL: STMT_DECLARE does
     * it each time. Others begin with it, and as zeros otherwise; shared ones have none. */
    bool initialized;
    struct initial *initials;
    void *lowered; /* for the lowering; NULL at first */
    struct symbol *next;
};

/* ---- statements ------------------------------------------------------------------------------ */

enum stmt_kind {
    STMT_EXPR,     /* `value`, whose result is not used */
    STMT_DECLARE,  /* `symbol`, a SYMBOL_LOCAL, begins here, with its initials */
    STMT_BLOCK,    /* the statements of the list `body`; an empty statement is one, too */
    STMT_IF,       /* `value` (bool): `body`, or `otherwise` unless that is NULL */
    STMT_FOR,      /* `first` (may be NULL); while `value` (bool; NULL: always) `body`, `step`
                      (NULL: none). A while loop is one, too */
    STMT_DO,       /* `body`, while `value` (bool) */
    STMT_SWITCH,   /* `value`, an int type of 4 or 8 bytes; `body` is a STMT_BLOCK, in whose list
                      itself all labels stand */
    STMT_CASE,     /* a label: `integer`, of the type of the switch's value */
    STMT_DEFAULT,  /* a label */
    STMT_BREAK,    /* of the nearest loop or switch */
    STMT_CONTINUE, /* of the nearest loop */
    STMT_RETURN,   /* `value`, of the function's type; NULL: none */
};

/* What #pragma unroll before a loop says; N: unroll N times. */
enum { UNROLL_UNSAID = 0, UNROLL_NOT = 1, UNROLL_FULLY = -1 };

struct stmt {
    enum stmt_kind kind;
    struct position at;  /* of its first token: nvcc's .loc says it of all that a statement does */
    struct position end; /* of a STMT_BLOCK: its } */
    struct expr *value, *step;
    struct stmt *first, *body, *otherwise;
    struct symbol *symbol;
    int64_t integer;
    int unroll;
    struct stmt *next; /* in the list of a block */
};

/* ---- functions ------------------------------------------------------------------------------- */

/* A kernel or a device function, or an instance of a template of one. No function calls itself,
 * not even by way of others. */
struct function {
    const char *name, *mangled; /* "scan_block", "_Z10scan_blockIL7padding1EEvPfPKfi" */
    bool is_kernel;
    bool is_host, is_device; /* device: __device__ without __host__ */
    bool is_outside;         /* only declared: host_call() does it */
    bool is_static; /* nvcc writes .visible unless a function is static, or an instance of a
                       static template */
    int max_threads, min_blocks; /* __launch_bounds__; 0: not said */
    const struct type *result;
    struct symbol *parameters; /* a list */
    int parameter_count;
    struct symbol *shared; /* __shared__ variables declared in it, but no dynamic ones: a list */
    struct stmt *body;     /* a STMT_BLOCK; NULL: declared only, and never called */
    struct position at;    /* of its name */
    bool is_called;        /* by a function */
    int state;             /* the parser's own */
    void *lowered;         /* for the lowering; NULL at first */
    struct function *next;
};

/* What is compiled. A dynamic shared array of one name is one symbol of `globals`, in whichever
 * functions it is declared; `align` is the largest that was asked for. */
struct unit {
    struct function *functions; /* with a body, in the order of the text */
    struct symbol *globals;     /* __device__, __constant__, dynamic shared arrays, and what is
                                   __shared__ outside of functions */
    struct source_files *sources;
    struct diagnostics *diagnostics;
    struct arena *arena;
};

/* ---- the tokens of a text as a checked tree -------------------------------------------------- */

/* What can be lowered if there are no errors in the diagnostics afterwards. `wanted` are the tokens
 * of instances besides those that the text launches, such as `scan_block<PAD16>`. `program` are
 * those of PROGRAM, if main is wanted, too. */
struct unit *parse(struct token *, struct token *const *wanted, size_t wanted_count,
                   struct token *program, struct diagnostics *);

extern const char PROGRAM[]; /* what the host's headers declare (program.c) */

#endif
