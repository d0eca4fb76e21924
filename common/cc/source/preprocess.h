/*
 * preprocess.h — directives: #include, #define, #if and so on.
 */
#ifndef CC_PREPROCESS_H
#define CC_PREPROCESS_H

#include "token.h"

/* Between TOKEN_PRAGMA tokens "unroll" and END_OF_PRAGMA stands how often, or nothing. */
#define END_OF_PRAGMA "end"

/* The tokens of the text, and of the headers that it includes, up to TOKEN_END. The text is opened
 * as file 0 of the sources. */
struct token *preprocess(struct diagnostics *, const char *name, const char *text,
                         const struct cc_options *);

/* The tokens of another text, such as what a caller asks for; its positions are of `name`. */
struct token *preprocess_more(struct diagnostics *, const char *name, const char *text);

#endif
