/* print.h — diagnostics for people and for programs. */
#ifndef CC_PRINT_H
#define CC_PRINT_H

#include "common/cc/cc.h"

#include <stdio.h>

/* "scan.cu:12:5: error: …", the line, a caret below it, and the hint. `text` is the file's, or
 * NULL. */
void print_diagnostic(FILE *, const struct cc_diagnostic *, const char *text, bool colour);

/* {"diagnostics":[{"severity":"error","file":…,"line":…,"column":…,"length":…,"text":…,
 * "hint":…}]} and, unless it is NULL, "ptx". */
void print_json(FILE *, const struct cc_result *);

#endif
