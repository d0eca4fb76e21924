/* parser.h — what the files of the parser share. */
#ifndef EMU_PARSER_H
#define EMU_PARSER_H

#include "ptx.h"
#include "common/tools/emu/emu.h"
#include <setjmp.h>

/* ---- splits PTX text into words, numbers, strings and punctuation ---------------------------- */

/* A word is a run of letters, digits and _ $ % . (and "::" inside it), so that an opcode with its
 * modifiers ("ld.global.v4.f32"), a directive (".visible"), a register ("%r1"), a special register
 * ("%tid.x") and a label are one word each. */

enum token_kind {
    TOKEN_END, TOKEN_WORD, TOKEN_INTEGER, TOKEN_FLOAT32, TOKEN_FLOAT64, TOKEN_STRING,
    TOKEN_PUNCTUATION, /* one character, in .start[0] */
    TOKEN_BAD,         /* unterminated string or comment, stray byte, malformed number */
};

struct token {
    enum token_kind kind;
    const char *start; /* into the text; strings without their quotes, with their escapes */
    size_t length;
    uint64_t bits; /* value of a number */
    unsigned line;
};

struct lexer { const char *next, *end; unsigned line; };

/* The next token; comments and white space are skipped. */
struct token lexer_next(struct lexer *);

/* Moves from behind a { to behind its }, over the braces inside. False: the } is missing. */
bool lexer_skip_braces(struct lexer *);

bool token_is(const struct token *, const char *text); /* a word or a punctuation character */

/* ---- what the files of the parser share ------------------------------------------------------ */

/* An error in any of them is a longjmp to ptx_parse, with a sentence in parser->message.
 *
 *   ptx.c           the module: its directives, names that texts share, registers, labels, scopes
 *   ptx_variable.c  variables, their initial values, and constant expressions
 *   ptx_function.c  functions: their heads, and later their bodies
 *   ptx_lexer.c     tokens, and memory */

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
 * register gets its index when it is first used, so unused registers cost nothing. */
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
/* A label, or another name that is declared: of one register, a variable or a parameter. */
struct label {
    const char *name;
    size_t length;
    unsigned scope, position, line;
};
/* A use of a label before its definition, which is resolved at the end of the function. */
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
    struct token token; /* the current token */
    struct arena *arena;
    jmp_buf failed;
    int error;
    char *message;
    size_t message_size;
    const char *name;
    unsigned unit, file_base; /* the index of this text, and where its files begin */
    unsigned target;          /* 90 for .target sm_90 */
    bool is_specific;         /* for .target sm_90a */
    bool is_debug;            /* the text has .target …, debug */

    struct list variables, functions, files, code_files; /* of the module */

    /* The rest is about the function that is being parsed. */
    struct ptx_function *function;
    struct list instructions, registers, locals, declarations, used, labels, names, references,
        scopes, tables;
    int buckets[REGISTER_BUCKETS]; /* indices in `used`; -1: empty */
    unsigned scope;                /* scopes[i] is the index of the scope around scope i */
    unsigned file, source_line, home_file, home_line, used_bytes;
    const struct ptx_location *location;
    struct ptx_location *locations[LOCATION_BUCKETS]; /* hashed by their own place */
    unsigned loc_count;
    const struct ptx_text *text; /* the module's; NULL while it is being read */
    bool in_call;   /* parentheses hold arguments, not a constant */
    bool in_access; /* by ld, ldu or st: name[i] is an address */
};

/* ---- tokens and memory (ptx_lexer.c) */

_Noreturn void parse_fail(struct parser *, unsigned line, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
_Noreturn void fail_expected(struct parser *, const char *what);
void *take(struct parser *, size_t bytes); /* zeroed */
const char *copy_text(struct parser *, const char *text, size_t length);
/* Copies the current token, a string, and replaces its escapes: \303 (octal), \t, \\ and others as
 * in C. */
const char *copy_string(struct parser *);
void *list_add(struct parser *, struct list *); /* returns the new item; not always zeroed */

void advance(struct parser *);
bool at(struct parser *, const char *text);     /* is this the current token? */
bool accept(struct parser *, const char *text); /* if it is, moves to the next token */
void expect(struct parser *, const char *text); /* the same, but fails if it is not */
uint64_t expect_integer(struct parser *);
const char *expect_word(struct parser *, const char *what);
bool same(const char *a, size_t a_length, const char *b, size_t b_length);
enum ptx_type type_of_directive(const struct token *); /* ".u32" → PTX_U32 */

/* ---- names (ptx.c) */

void open_scope(struct parser *);
/* The index of a register of the function; -1: no register of this name is declared. */
int find_register(struct parser *, const char *name, size_t length);
void parse_register_declaration(struct parser *);
/* Notes the name of what is declared in this scope; fails if something else there has it. */
void declare_name(struct parser *, const char *what, const char *name, size_t length,
                  unsigned line);
void define_label(struct parser *, const char *name, size_t length);
/* Turns the symbols that are labels into PTX_LABEL; the others are variables or functions. */
void resolve_labels(struct parser *);

/* ---- variables (ptx_variable.c) */

/* Takes a state space, like `.global`; false: the token is not a state space. */
bool accept_space(struct parser *, enum ptx_space *);
/* Reads what follows a state space: [.align n] .type [.ptr …] name [dimensions] */
struct ptx_variable parse_variable(struct parser *, enum ptx_space);
/* Reads the same with an initial value and the semicolon, and adds it to a list. */
void parse_variable_declaration(struct parser *, struct list *, enum ptx_space, enum ptx_linkage);

/* ---- functions (ptx_function.c) */

/* Reads what follows .entry or .func, and skips the body. */
void parse_function(struct parser *, bool is_entry, enum ptx_linkage);
/* .pragma "…"; */
void parse_pragma(struct parser *);
/* Reads the body of p->function, which begins at the current token. */
void parse_body(struct parser *);

/* ---- constants (ptx_variable.c) */

/* Reads a constant expression. Its kind is TOKEN_INTEGER, TOKEN_FLOAT32 or TOKEN_FLOAT64. */
enum token_kind parse_constant(struct parser *, uint64_t *bits);
/* Reads the offset behind a base: + 4, +-4 or - 4; 0 if it is missing. */
int64_t parse_offset(struct parser *);

/* ---- instructions (ptx_function.c) */

#endif
