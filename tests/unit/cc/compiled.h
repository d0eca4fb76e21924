/* compiled.h — compiling texts and files in tests of the compiler. */
#ifndef TESTS_COMPILED_H
#define TESTS_COMPILED_H

#include "common/tools/cc/cc.h"

/* A file of the tree, as text; the test fails if it cannot be read. The caller frees it. */
char *file_text(const char *path);

/* Checks, or compiles, a text as if it were the file `name`; headers are those of the tree. The
 * caller frees the result by cc_free. */
struct cc_result *checked(const char *name, const char *text);
struct cc_result *compiled(const char *name, const char *text);

/* "3:5 sentence", one a line; warnings begin with "warning ". The caller frees it. */
char *said_of(const char *text);

#endif
