/*
 * cuda.c — fuzzes the compiler of CUDA C: the bytes are a text. A compilation must keep its
 * promise: PTX and no error, or errors, each with a place and a sentence.
 */
#include "fuzz.h"

#include "common/tools/cc/cc.h"

#include <stdlib.h>
#include <string.h>

int fuzz_cuda(const uint8_t *data, size_t size)
{
    static const struct cc_options options;
    char *text = calloc(1, size + 1);
    if (text == NULL) return 0;
    memcpy(text, data, size);
    struct cc_result *result = cc_compile("fuzz.cu", text, &options);
    size_t errors = 0;
    for (size_t i = 0; i < result->count; i++) {
        const struct cc_diagnostic *d = &result->diagnostics[i];
        errors += d->severity == CC_ERROR;
        if (d->text == NULL || *d->text == '\0' || d->line < 1 || d->column < 1) abort();
    }
    if (errors != result->errors || (result->ptx != NULL) != (errors == 0)) abort();
    cc_free(result);
    free(text);
    return 0;
}
