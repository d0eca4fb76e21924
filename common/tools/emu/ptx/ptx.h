/* ptx.h — PTX text as structures, without meaning; names of kernels; memory of a module. */
#ifndef EMU_PTX_H
#define EMU_PTX_H

#include "common/files/allocated.h"
#include <stdbool.h>
#include <stdint.h>

/* ---- parses PTX text into structures, without giving it meaning ------------------------------ */

/* PTX is the assembly language that nvcc writes for a virtual GPU: typed instructions on any number
 * of virtual registers. The parser resolves names (registers and labels are scoped by braces) and
 * keeps everything else as written. decode.c gives it meaning. Source: PTX ISA, "Syntax" and
 * "Directives".
 *
 * Parsing is lazy: ptx_parse() reads variables and the heads of functions, and ptx_parse_body()
 * reads a function's body when it is needed. A program that uses CUB brings megabytes of PTX and
 * launches three kernels. The cost: mistakes in a function that never runs are not found.
 *
 * Several texts, compiled separately with nvcc -rdc=true, are parsed as one module. Each text is a
 * unit with its own local names; the units share all other names (ptx.c). */

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
    PTX_TF32,
    PTX_E4M3X2,
    PTX_E5M2X2,
    PTX_PRED,
    PTX_TYPES
};

/* "u32" → PTX_U32; PTX_NONE for any other word. */
enum ptx_type ptx_type_named(const char *word);
const char *ptx_type_name(enum ptx_type);
size_t ptx_type_size(enum ptx_type); /* bytes; 0 for PTX_NONE and PTX_PRED */
bool ptx_type_is_float(enum ptx_type);
/* .bf16 and the like are types of operations, whose registers are of type .b16 or .b32. */
bool ptx_type_has_registers(enum ptx_type);
bool ptx_type_is_bits(enum ptx_type);
bool ptx_type_is_signed(enum ptx_type);

enum ptx_space {
    PTX_GENERIC,
    PTX_GLOBAL,
    PTX_SHARED,
    PTX_LOCAL,
    PTX_CONST,
    PTX_PARAM,
    PTX_SHARED_CLUSTER,
    PTX_SPACES
};
const char *ptx_space_name(enum ptx_space);

/* The visibility of a name. EXTERN: another unit defines it. Of several WEAK definitions the first
 * is used, of several COMMON ones the largest. */
enum ptx_linkage { PTX_PRIVATE, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON };

/* A declared variable or parameter: `.shared .align 16 .b8 temp[1024];` */
struct ptx_variable {
    const char *name;
    unsigned unit;
    enum ptx_linkage linkage;
    enum ptx_space space;
    enum ptx_type type;
    size_t align, bytes; /* bytes = 0: `extern … temp[]`, sized by the launch */
    unsigned line;       /* of the PTX text */
    /* The `bytes` initial bytes, or NULL for zeros, and the addresses to store in them: of each
     * address, `size` bytes from bit `shift` on. */
    unsigned char *initial;
    struct ptx_address_of {
        size_t offset, size;
        const char *symbol;
        int64_t addend;
        unsigned shift;
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
    PTX_LABEL,    /* .index of the instruction behind the label */
    PTX_ADDRESS,  /* [register or symbol + offset]: .base is the register or symbol */
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
    struct ptx_operand *other; /* q of p|q, or NULL */
};

enum { PTX_MAX_WORDS = 16, PTX_MAX_OPERANDS = 8 };

/* A place in the CUDA source. */
struct ptx_place {
    unsigned file, line, column;
};

/* A .loc: the place of code, and the chain of calls by which it was inlined into the function. A
 * function has one object for each chain, so pointers are equal if and only if chains are. */
struct ptx_location {
    struct ptx_place own, home;        /* home: the place that it counts for */
    const struct ptx_location *caller; /* NULL: not inlined, or inlined too deeply */
    unsigned depth;                    /* the number of callers */
    struct ptx_location *next;         /* in its bucket, while the body is parsed */
    unsigned last;                     /* the number of the last .loc of the body that names it */
};

/* `@!%p1 add.rn.f32 %f1, %f2, %f3;` : words[0] = "add", words[1] = "rn", words[2] = "f32". */
struct ptx_instruction {
    const char *words[PTX_MAX_WORDS];
    unsigned word_count;
    struct ptx_operand *operands;
    unsigned operand_count;
    int guard; /* index of the guard predicate's register; -1: no guard */
    bool guard_negated;
    unsigned line;                       /* of the PTX text */
    unsigned file, source_line;          /* from .loc: the CUDA source; 0: unknown */
    const struct ptx_location *location; /* the whole .loc; NULL: unknown */
    unsigned used_bytes; /* .pragma "used_bytes_mask": a bit for each used byte of a load; 0: all */
};

/* TABLE: .branchtargets A, B, C; is a vector of labels */
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
    unsigned unit;
    enum ptx_linkage linkage;
    bool is_entry, has_body, is_parsed; /* is_parsed: the fields below `results` are filled in */
    const char *body, *body_end;        /* its text, with the braces */
    unsigned line, body_line;
    struct ptx_variable *params, *results; /* in the order of the definition */
    size_t param_count, result_count;
    struct ptx_variable *variables; /* .shared and .local inside the body */
    size_t variable_count;
    struct ptx_register *registers;
    size_t register_count;
    struct ptx_instruction *instructions;
    size_t instruction_count;
    struct ptx_branch_table *tables;
    size_t table_count;
    unsigned home_file, home_line;          /* of its first .loc, its name's; 0: no .loc */
    unsigned target;                        /* 90 if the text has .target sm_90 */
    bool is_specific;                       /* .target sm_90a: what this architecture alone has */
    bool is_debug;                          /* compiled by nvcc -G, without optimisation */
    unsigned max_threads;                   /* .maxntid or .reqntid, x*y*z; 0: not given */
    unsigned exact_block[3];                /* .reqntid; 0: not given */
    unsigned min_blocks;                    /* per multiprocessor, .minnctapersm; 0: not given */
    unsigned max_registers;                 /* .maxnreg; 0: not given */
    unsigned exact_cluster[3], max_cluster; /* .reqnctapercluster, .maxclusterrank; 0: not given */
};

/* The name of a function or variable; with unit PTX_ALL_UNITS, all units share it. */
enum { PTX_ALL_UNITS = -1 };
struct ptx_symbol {
    const char *name;
    int unit;
    bool is_function;
    size_t index; /* of the definition, or else of a declaration */
    int next;     /* in its bucket, -1: the last */
};

/* One text that was given to ptx_parse. */
struct ptx_source {
    const char *text;
    size_t length;
    const char *name; /* for messages */
};

struct ptx_text {
    struct ptx_source *units; /* with copies of text and name */
    size_t unit_count;
    unsigned *file_base;            /* by unit: added to the numbers in its .file and .loc */
    struct ptx_variable *variables; /* of the module: .global, .const, .shared */
    size_t variable_count;
    struct ptx_function *functions;
    size_t function_count;
    const char **files;      /* by number; NULL: not declared */
    const char **code_files; /* the same, by the names that they have in machine code */
    size_t file_count;
    struct ptx_symbol *symbols;
    size_t symbol_count, bucket_count;
    int *buckets;
    struct arena arena; /* holds all of the above */
};

/* Parses texts, without the bodies of functions, and links their names. Returns 0 and fills *out,
 * or an enum emu_error with one sentence in message[size] that names the line. On success the
 * caller must call ptx_free. */
int ptx_parse(const struct ptx_source *, size_t count, struct ptx_text *out, char *message,
              size_t size);
/* Parses a function's body, unless it has been parsed. Returns the same as ptx_parse. */
int ptx_parse_body(struct ptx_text *, struct ptx_function *, char *message, size_t size);
void ptx_free(struct ptx_text *);

/* The variable or function that a name means in a unit: the unit's own, or the one that all units
 * share. NULL: not found. (ptx.c) */
const struct ptx_symbol *ptx_find(const struct ptx_text *, unsigned unit, const char *name);

/* Does code of `file`, inlined into a kernel of the file `home`, count for the line of the call? It
 * does if `file` is a header of the toolkit (__ldg, cooperative groups) and `home` is not. All
 * other code counts for its own line, as in ncu. */
bool ptx_counts_at_caller(const char *file, const char *home);

/* ---- turns a mangled kernel name into the name in the source --------------------------------- */

/* Writes the function's own name, without namespaces, template arguments and parameters, into
 * name[size]: "scan" for "_ZN3foo4scanIfEEvPT_". A name that is not mangled stays as it is. ncu
 * prints this name with --print-kernel-base function, and its --kernel-name compares it. */
void kernel_base_name(const char *mangled, char *name, size_t size);

/* Writes the whole name, with namespaces, template arguments and parameters. If the program is not
 * linked with the C++ library, writes the base name. */
void kernel_whole_name(const char *mangled, char *name, size_t size);

#endif
