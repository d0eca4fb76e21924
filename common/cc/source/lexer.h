/*
 * lexer.h — a file's text as a list of tokens.
 */
#ifndef CC_LEXER_H
#define CC_LEXER_H

#include "token.h"

/* The tokens of a file, up to and with TOKEN_END. Comments are left out; one without an end is an
 * error. `file` is an index into the sources. */
struct token *lex(struct diagnostics *, int file);

/* The tokens of a piece of text that a macro has made, at a place of the source. */
struct token *lex_piece(struct arena *, const char *text, struct position);

/* The character at *text, between quotes, which goes on to the next one. */
char read_character(const char **text, bool *known);

#endif
