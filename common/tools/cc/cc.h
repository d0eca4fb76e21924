/*
 * cc.h — a compiler of a subset of CUDA C to PTX: for reading, and for a page without nvcc.
 *
 * It compiles the device code of a text: kernels, device functions, and the instances of kernel
 * templates that the host code launches. Host functions are skipped (but see cc_options.program).
 * What lies outside of the subset is refused by name; nothing is guessed.
 *
 * There are no globals: a compilation owns all that it makes, and cc_free frees it.
 */
#ifndef CC_H
#define CC_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The text of a header, or NULL if there is none at `path`. For `#include "scan.h"` in
 * steps/x/scan.cu it is asked for steps/x/scan.h, then for scan.h; for <name> only for name.
 * Headers of CUDA and C are built in, and are not asked for. The text must stay until cc_free. */
typedef const char *cc_header_fn(void *context, const char *path);

struct cc_options {
    cc_header_fn *header; /* NULL: there are only built-in headers */
    void *context;
    const char *const *defines; /* "NAME" or "NAME=VALUE", as after -D */
    size_t define_count;
    /* Instances of templates besides those that the text launches: "scan_block<PAD16>". */
    const char *const *instances;
    size_t instance_count;
    bool check_only; /* no PTX, only diagnostics */
    /* Also main, if there is one, and what it calls of the host: as CC_MAIN, a kernel of one
     * thread. It calls host_call(name, arguments), which the caller of the compiler has to supply,
     * for functions of the host's libraries and for launches (syntax/program.c). */
    bool program;
};

#define CC_MAIN "main"

enum cc_severity { CC_ERROR, CC_WARNING };

/* What is wrong, where: `length` bytes from `column` on. Lines and columns begin with 1. */
struct cc_diagnostic {
    enum cc_severity severity;
    const char *file;
    int line, column, length;
    const char *text; /* a sentence, without a full stop */
    const char *hint; /* what to do; NULL: none */
};

/* `ptx` is NULL if there are errors, or if only a check was asked for. Diagnostics are in the order
 * of the text, file by file. */
struct cc_result {
    const char *ptx;
    const struct cc_diagnostic *diagnostics;
    size_t count, errors;
    struct cc_unit *unit; /* what the compilation owns */
};

/* Compiles `text`, which messages and PTX call `name`. */
struct cc_result *cc_compile(const char *name, const char *text, const struct cc_options *);
void cc_free(struct cc_result *);

#ifdef __cplusplus
}
#endif

#endif
