/*
 * ptx_lexer.h — splits PTX text into words, numbers, strings and punctuation.
 *
 * A word is a run of letters, digits and _ $ % . (and "::" inside it), so that an opcode with its
 * modifiers ("ld.global.v4.f32"), a directive (".visible"), a register ("%r1"), a special register
 * ("%tid.x") and a label are one word each.
 */
#ifndef EMU_PTX_LEXER_H
#define EMU_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
