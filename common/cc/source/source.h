/* source.h — from a file's text to the tokens that the parser reads. */
#ifndef CC_SOURCE_H
#define CC_SOURCE_H

#include "diagnostic.h"

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

/* ---- condition.c: the condition of an #if ---------------------------------------------------- */

/* Is the condition of the line (after `#if`, up to TOKEN_END) other than 0? False after errors. */
bool condition_holds(struct macros *, struct token *line);

/* ---- preprocess.c: directives: #include, #define, #if and so on ------------------------------ */

/* Between TOKEN_PRAGMA tokens "unroll" and END_OF_PRAGMA stands how often, or nothing. */
#define END_OF_PRAGMA "end"

/* The tokens of the text, and of the headers that it includes, up to TOKEN_END. The text is opened
 * as file 0 of the sources. */
struct token *preprocess(struct diagnostics *, const char *name, const char *text,
                         const struct cc_options *);

/* The tokens of another text, such as what a caller asks for; its positions are of `name`. */
struct token *preprocess_more(struct diagnostics *, const char *name, const char *text);

/* ---- headers.c: the headers of CUDA and C that are built in ---------------------------------- */

/* What every text begins with: nvcc includes the CUDA runtime's header by itself. */
extern const char BEGINNING[];

/* The text of <name>; "" for a header that only host code needs; NULL for any other. */
const char *built_in_header(const char *name);

#endif
