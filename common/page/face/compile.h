/* compile.h — compiles the CUDA C of a request. */
#ifndef PAGE_COMPILE_H
#define PAGE_COMPILE_H

#include "common/cc/cc.h"
#include "common/emu/report/json.h"
#include "request.h"
#include <stdio.h>

/* Writes the answer to a request whose `source` is not NULL, as face.h describes it. */
void compile_answer(FILE *out, const struct request *);

/* Compiles that source. NULL: out of memory. The caller frees the result. */
struct cc_result *compile_request(const struct request *);
/* Writes the list "diagnostics"; it is empty if the result is NULL. */
void compile_diagnostics(struct json *, const struct cc_result *);

#endif
