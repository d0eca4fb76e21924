/*
 * source.h — from a file's text to the tokens that the parser reads: memory, places, messages.
 */
#ifndef CC_SOURCE_H
#define CC_SOURCE_H

#include "common/files/allocated.h"
#include "common/tools/cc/cc.h"
#include <stdarg.h>
#include <stddef.h>

/* ---- in the memory of one compilation, which is freed all at once ---------------------------- */

char *cc_format(struct arena *, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *cc_format_list(struct arena *, const char *format, va_list)
    __attribute__((format(printf, 2, 0)));

/* A larger copy of an array of `count` elements if it has no room for one more. Room is doubled:
 * 8, 16, 32 … elements. */
void *cc_grow(struct arena *, void *array, size_t count, size_t element);

/* ---- places in the text, and what is wrong there --------------------------------------------- */

/* A place in the text. What a macro has made stands at the macro's use. */
struct position {
    int file; /* an index into source_files.files */
    int line, column, length;
    const char *macro; /* what has made it; NULL: it is as written */
};

/* The files of a compilation, in the order in which they were opened: 0 is the text itself. */
struct source_file {
    const char *name, *text;
};

struct source_files {
    struct source_file *files;
    int count;
};

/* The problems found so far, at most one error a line. After MANY_ERRORS it gives up. */
enum { MANY_ERRORS = 20 };

struct diagnostics {
    struct arena *arena;
    struct source_files *sources;
    struct found {
        enum cc_severity severity;
        struct position at;
        const char *text, *hint;
    } * found;
    size_t count, errors;
};

/* An error or a warning at a place, without a full stop. `hint` is NULL or what to do. A second
 * error of a line is dropped, since it follows from the first, mostly. */
void error_at(struct diagnostics *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void warn_at(struct diagnostics *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True if more errors would not help: enough have been reported. */
bool enough_errors(const struct diagnostics *);

/* The diagnostics in the order of the text, for the caller of the compiler. */
const struct cc_diagnostic *diagnostics_sorted(const struct diagnostics *);

/* ---- lexer.c: a file's text as a list of tokens, its words ----------------------------------- */

enum token_kind {
    TOKEN_END, /* of a file, or of the text */
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,    /* with its quotes and escapes */
    TOKEN_CHARACTER, /* likewise */
    TOKEN_MARK,      /* an operator, a bracket, … */
    TOKEN_PRAGMA,    /* `text` is what follows #pragma */
    TOKEN_WRONG,     /* a character that begins no token, or a quote without its end */
};

struct token {
    enum token_kind kind;
    const char *text; /* of the source; not ended by a zero */
    int length;
    struct position at;
    bool begins_line, after_space;
    const struct hidden *hidden; /* macros that have made it, and are not expanded in it again */
    struct token *next;          /* NULL after TOKEN_END */
};

/* False for what follows TOKEN_END. */
bool is_token(const struct token *, const char *text);

/* The tokens of a file, up to and with TOKEN_END. Comments are left out; one without an end is an
 * error. `file` is an index into the sources. */
struct token *lex(struct diagnostics *, int file);

/* The tokens of a piece of text that a macro has made, at a place of the source. */
struct token *lex_piece(struct arena *, const char *text, struct position);

/* The character at *text, between quotes, which goes on to the next one. */
char read_character(const char **text, bool *known);

/* ---- macro.c: stores what #define defines, and puts it in the place of its name -------------- */

enum { MACRO_BUCKETS = 256 };

struct macro;
struct macros {
    struct arena *arena;
    struct diagnostics *diagnostics;
    struct macro *buckets[MACRO_BUCKETS];
    int made;  /* tokens so far; there is a limit, since 20 lines can make a billion of them */
    int depth; /* of macros in arguments of macros */
    bool is_too_much; /* it was reported */
};

/* `name` and what follows it in the line of a #define, up to TOKEN_END. */
void macro_define(struct macros *, struct token *name);
void macro_undefine(struct macros *, const struct token *name);
bool macro_is_defined(const struct macros *, const struct token *name);

/* If *token is the use of a macro, puts in its place what it makes, followed by what comes after
 * it, and returns true. */
bool macro_expand(struct macros *, struct token **token);

/* A list of tokens, up to TOKEN_END, with all macros expanded. */
struct token *macro_expand_all(struct macros *, struct token *);

/* A copy of the token, with another one after it. */
struct token *token_before(struct arena *, const struct token *, struct token *next);

/* ---- preprocess.c: directives: #include, #define, #if and so on ------------------------------ */

/* Between TOKEN_PRAGMA tokens "unroll" and END_OF_PRAGMA stands how often, or nothing. */
#define END_OF_PRAGMA "end"

/* The tokens of the text, and of the headers that it includes, up to TOKEN_END. The text is opened
 * as file 0 of the sources. */
struct token *preprocess(struct diagnostics *, const char *name, const char *text,
                         const struct cc_options *);

/* The tokens of another text, such as what a caller asks for; its positions are of `name`. */
struct token *preprocess_more(struct diagnostics *, const char *name, const char *text);

/* ---- preprocess.c: the headers of CUDA and C that are built in ------------------------------- */

/* What every text begins with: nvcc includes the CUDA runtime's header by itself. */
extern const char BEGINNING[];

#endif
