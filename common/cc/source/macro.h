/*
 * macro.h — macros: what #define defines, and putting it in the place of its name.
 */
#ifndef CC_MACRO_H
#define CC_MACRO_H

#include "token.h"

enum { MACRO_BUCKETS = 256 };

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

#endif
