/* compile.h — compiles the CUDA C of a request. */
#ifndef PAGE_COMPILE_H
#define PAGE_COMPILE_H

#include "request.h"
#include <stdio.h>

/* Writes the answer to a request whose `source` is not NULL, as face.h describes it. */
void compile_answer(FILE *out, const struct request *);

#endif
