/*
 * diagnostic.h — places in the text, and what is wrong there.
 */
#ifndef CC_DIAGNOSTIC_H
#define CC_DIAGNOSTIC_H

#include "arena.h"
#include "common/cc/cc.h"

/* A place in the text. What a macro has made stands at the macro's use. */
struct position {
    int file; /* an index into source_files.files */
    int line, column, length;
    const char *macro; /* what has made it; NULL: it is as written */
};

/* The files of a compilation, in the order in which they were opened: 0 is the text itself. */
struct source_file {
    const char *name, *text;
};

struct source_files {
    struct source_file *files;
    int count;
};

/* The problems found so far, at most one error a line. After MANY_ERRORS it gives up. */
enum { MANY_ERRORS = 20 };

struct diagnostics {
    struct arena *arena;
    struct source_files *sources;
    struct found {
        enum cc_severity severity;
        struct position at;
        const char *text, *hint;
    } * found;
    size_t count, errors;
};

/* An error or a warning at a place, without a full stop. `hint` is NULL or what to do. A second
 * error of a line is dropped, since it follows from the first, mostly. */
void error_at(struct diagnostics *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void warn_at(struct diagnostics *, struct position, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* True if more errors would not help: enough have been reported. */
bool enough_errors(const struct diagnostics *);

/* The diagnostics in the order of the text, for the caller of the compiler. */
const struct cc_diagnostic *diagnostics_sorted(const struct diagnostics *);

#endif
