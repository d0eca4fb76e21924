/*
 * token.h — the words of the text.
 */
#ifndef CC_TOKEN_H
#define CC_TOKEN_H

#include "diagnostic.h"

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

struct macro;

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

#endif
