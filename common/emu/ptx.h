/*
 * ptx.h — PTX text, read into structures and nothing more.
 *
 * PTX is the assembly language that nvcc writes for a virtual GPU: typed instructions on any number
 * of virtual registers. The parser resolves names (registers and labels are scoped by braces) and
 * keeps everything else as it was written; decode.c gives it meaning. Source: PTX ISA, "Syntax" and
 * "Directives".
 */
#ifndef EMU_PTX_H
#define EMU_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_type {
    PTX_NONE,
    PTX_B8,
    PTX_B16,
    PTX_B32,
    PTX_B64,
    PTX_B128,
    PTX_U8,
    PTX_U16,
    PTX_U32,
    PTX_U64,
    PTX_S8,
    PTX_S16,
    PTX_S32,
    PTX_S64,
    PTX_F16,
    PTX_BF16,
    PTX_F16X2,
    PTX_BF16X2,
    PTX_U16X2,
    PTX_S16X2,
    PTX_F32,
    PTX_F64,
    PTX_PRED,
    PTX_TYPES
};

/* "u32" → PTX_U32; PTX_NONE for any other word. */
enum ptx_type ptx_type_named(const char *word);
const char *ptx_type_name(enum ptx_type);
size_t ptx_type_size(enum ptx_type); /* bytes; 0 for PTX_NONE and PTX_PRED */
bool ptx_type_is_float(enum ptx_type);
bool ptx_type_is_signed(enum ptx_type);

enum ptx_space { PTX_GENERIC, PTX_GLOBAL, PTX_SHARED, PTX_LOCAL, PTX_CONST, PTX_PARAM, PTX_SPACES };
const char *ptx_space_name(enum ptx_space);

/* A declared variable or parameter: `.shared .align 16 .b8 temp[1024];` */
struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    size_t align, bytes; /* bytes = 0: `extern … temp[]`, sized by the launch */
    bool is_extern;
    unsigned line; /* of the PTX text */
    /* Initial bytes (`bytes` of them), or NULL for zeros; and the addresses to be put into them. */
    unsigned char *initial;
    struct ptx_address_of {
        size_t offset;
        const char *symbol;
        int64_t addend;
    } * address_of;
    size_t address_ofs;
};

enum ptx_operand_kind {
    PTX_REGISTER, /* .index into the function's registers */
    PTX_SPECIAL,  /* %tid.x: .name holds "tid.x" */
    PTX_INTEGER,  /* .bits */
    PTX_FLOAT32,  /* .bits = the 32 bits of 0f… */
    PTX_FLOAT64,  /* .bits = the 64 bits of 0d… */
    PTX_SYMBOL,   /* .name (+ .offset): a variable, a function */
    PTX_LABEL,    /* .index of the instruction it stands before */
    PTX_ADDRESS,  /* [register or symbol + offset]: .base is the former as an operand */
    PTX_VECTOR,   /* {a, b, …}, or (a, b, …) in calls: .items, .count */
    PTX_SINK,     /* _ */
};

struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated; /* !%p */
    unsigned index;
    uint64_t bits;
    int64_t offset;
    const char *name;
    struct ptx_operand *base;   /* PTX_ADDRESS */
    struct ptx_operand **items; /* PTX_VECTOR */
    unsigned count;
    struct ptx_operand *other; /* the q of p|q, or NULL */
};

enum { PTX_MAX_WORDS = 16, PTX_MAX_OPERANDS = 8 };

/* `@!%p1 add.rn.f32 %f1, %f2, %f3;` : words[0] = "add", words[1] = "rn", words[2] = "f32". */
struct ptx_instruction {
    const char *words[PTX_MAX_WORDS];
    unsigned word_count;
    struct ptx_operand *operands;
    unsigned operand_count;
    int guard; /* register of the guard predicate, -1: none */
    bool guard_negated;
    unsigned line;              /* of the PTX text */
    unsigned file, source_line; /* from .loc: the CUDA source; 0: unknown */
    unsigned
        used_bytes; /* .pragma "used_bytes_mask": bit per byte of the load that counts; 0: all */
};

/* TABLE: .branchtargets A, B, C; — a vector of labels */
struct ptx_branch_table {
    const char *name;
    const struct ptx_operand *targets;
};

struct ptx_register {
    const char *name;
    enum ptx_type type;
};

struct ptx_function {
    const char *name;
    bool is_entry, has_body;
    unsigned line;
    struct ptx_variable *params, *results; /* results: of a .func, in the order of its definition */
    size_t param_count, result_count;
    struct ptx_variable *variables; /* .shared and .local inside the body */
    size_t variable_count;
    struct ptx_register *registers;
    size_t register_count;
    struct ptx_instruction *instructions;
    size_t instruction_count;
    struct ptx_branch_table *tables;
    size_t table_count;
    unsigned max_threads;    /* .maxntid or .reqntid, x*y*z; 0: not given */
    unsigned exact_block[3]; /* .reqntid; 0: not given */
};

struct ptx_text {
    unsigned version_major, version_minor, target; /* target: 90 for sm_90 */
    struct ptx_variable *variables;                /* of the module: .global, .const, .shared */
    size_t variable_count;
    struct ptx_function *functions;
    size_t function_count;
    const char **files; /* by the number that .loc gives; NULL where undeclared */
    size_t file_count;
    struct arena *arena; /* holds all of the above */
};

/* Parses `length` bytes of text. Returns 0 and fills *out, or an enum emu_error with one sentence
 * in message[size] that names the line. On success the caller ends with ptx_free. */
int ptx_parse(const char *text, size_t length, const char *name, struct ptx_text *out,
              char *message, size_t size);
void ptx_free(struct ptx_text *);

#endif
