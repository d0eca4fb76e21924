/*
 * ptx_parser.h — what the parts of the parser share. An error in any of them jumps back to
 * ptx_parse, with a sentence in parser->message.
 *
 *   ptx.c              the module: its directives, in order
 *   ptx_link.c         the names that several texts share
 *   ptx_variable.c     variables and their initial values
 *   ptx_function.c     functions: their heads, and later their bodies
 *   ptx_instruction.c  instructions and operands
 *   ptx_constant.c     constant expressions
 *   ptx_names.c        registers, labels, and the scopes that braces make
 *   ptx_tokens.c       looking at tokens, and memory
 */
#ifndef EMU_PTX_PARSER_H
#define EMU_PTX_PARSER_H

#include "arena.h"
#include "common/emu/emu.h"
#include "ptx.h"
#include "ptx_lexer.h"
#include <setjmp.h>

enum {
    MAX_NESTING = 64,           /* of operands, of scopes and of inlined calls */
    MAX_REGISTERS = 1 << 20,    /* in one declaration */
    MAX_STATIC_BYTES = 1 << 30, /* of one variable */
};

/* A list that grows inside the arena. */
struct list {
    void *items;
    size_t count, room, size;
};

/* `.reg .b32 %r<75>;` declares 75 registers by prefix; `.reg .pred p;` one by its whole name. A
 * register gets its index when it is first used, so that declared but unused ones cost nothing. */
struct declaration {
    const char *name;
    size_t length;
    unsigned count, scope;
    enum ptx_type type;
};
struct used_register {
    const char *name;
    size_t length;
    unsigned scope, index;
    int next;
};
struct label {
    const char *name;
    size_t length;
    unsigned scope, position, line;
};
/* A label used before it is defined: patched at the end of the function. */
struct reference {
    struct ptx_operand *operand;
    const char *name;
    size_t length;
    unsigned scope, line;
};

enum { REGISTER_BUCKETS = 1024 };

enum { LOCATION_BUCKETS = 256 };

struct parser {
    struct lexer lexer;
    struct token token; /* the one that is looked at */
    struct arena *arena;
    jmp_buf failed;
    int error;
    char *message;
    size_t message_size;
    const char *name;
    unsigned unit, file_base; /* which of the texts this is */
    bool is_debug;            /* .target … debug */

    struct list variables, functions, files; /* of the module */

    /* of the function being read */
    struct ptx_function *function;
    struct list instructions, registers, locals, declarations, used, labels, references, scopes,
        tables;
    int buckets[REGISTER_BUCKETS]; /* of `used`, -1: empty */
    unsigned scope;                /* scopes[i] is the index of the enclosing one */
    unsigned file, source_line, home_file, used_bytes;
    const struct ptx_location *location;
    struct ptx_location *locations[LOCATION_BUCKETS]; /* by own place */
    unsigned loc_count;
    bool in_call; /* parentheses hold arguments, not a constant */
};

/* ---- tokens and memory (ptx_tokens.c) */

_Noreturn void parse_fail(struct parser *, unsigned line, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void fail_expected(struct parser *, const char *what);
void *take(struct parser *, size_t bytes); /* zeroed */
const char *copy_text(struct parser *, const char *text, size_t length);
void *list_add(struct parser *, struct list *); /* the new item, zeroed only at first */

void advance(struct parser *);
bool at(struct parser *, const char *text);     /* is this the token? */
bool accept(struct parser *, const char *text); /* takes it if it is */
void expect(struct parser *, const char *text); /* fails if it is not */
uint64_t expect_integer(struct parser *);
const char *expect_word(struct parser *, const char *what);
bool same(const char *a, size_t a_length, const char *b, size_t b_length);
enum ptx_type type_of_directive(const struct token *); /* ".u32" → PTX_U32 */

/* ---- names (ptx_names.c) */

void open_scope(struct parser *);
/* The index of a register of the function, or -1 if none of that name is declared. */
int find_register(struct parser *, const char *name, size_t length);
void parse_register_declaration(struct parser *);
void define_label(struct parser *, const char *name, size_t length);
/* Turns the symbols that are labels into PTX_LABEL; the others are variables or functions. */
void resolve_labels(struct parser *);

/* ---- variables (ptx_variable.c) */

/* Takes `.global` and the like; false: something else stands here. */
bool accept_space(struct parser *, enum ptx_space *);
/* Reads from behind the state space: [.align n] .type [.ptr …] name [dimensions] */
struct ptx_variable parse_variable(struct parser *, enum ptx_space);
/* The same with an initial value and the semicolon, into a list. */
void parse_variable_declaration(struct parser *, struct list *, enum ptx_space, enum ptx_linkage);

/* ---- functions (ptx_function.c) */

/* From behind .entry or .func. The body is skipped. */
void parse_function(struct parser *, bool is_entry, enum ptx_linkage);
/* .pragma "…"; */
void parse_pragma(struct parser *);
/* The body of p->function, which the parser stands before. */
void parse_body(struct parser *);

/* ---- constants (ptx_constant.c) */

/* A constant expression's value, which is a TOKEN_INTEGER, TOKEN_FLOAT32 or TOKEN_FLOAT64. */
enum token_kind parse_constant(struct parser *, uint64_t *bits);
/* + 4, +-4, - 4 behind a base; 0 if nothing stands there. */
int64_t parse_offset(struct parser *);

/* ---- names of the module (ptx_link.c) */

/* Builds out->symbols. Fails if a name is defined twice. */
void link_names(struct parser *, struct ptx_text *out);

/* ---- instructions (ptx_instruction.c) */

void parse_instruction(struct parser *);
/* TABLE: .branchtargets A, B, C; */
void parse_branch_targets(struct parser *, const char *name);

#endif
