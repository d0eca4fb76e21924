/*
 * parse.h — the tokens of a text as a checked tree.
 */
#ifndef CC_PARSE_H
#define CC_PARSE_H

#include "ast.h"
#include "common/cc/source/source.h"

/* What can be lowered if there are no errors in the diagnostics afterwards. `wanted` are the tokens
 * of instances besides those that the text launches, such as `scan_block<PAD16>`. */
struct unit *parse(struct token *, struct token *const *wanted, size_t wanted_count,
                   struct diagnostics *);

#endif
