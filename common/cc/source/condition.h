/*
 * condition.h — the condition of an #if.
 */
#ifndef CC_CONDITION_H
#define CC_CONDITION_H

#include "macro.h"

/* Is the condition of the line (after `#if`, up to TOKEN_END) other than 0? False after errors. */
bool condition_holds(struct macros *, struct token *line);

#endif
