/* diagnostic.c — collects what is wrong, and puts it into the order of the text. */
#include "diagnostic.h"

#include <stdlib.h>

static bool same_line(struct position a, struct position b)
{
    return a.file == b.file && a.line == b.line;
}

/* A second error of a line, or a warning beside one, follows from the first, mostly; and instances
 * of a template repeat what another one has said. */
static bool is_said(const struct diagnostics *d, enum cc_severity severity, struct position at)
{
    for (size_t i = 0; i < d->count; i++) {
        const struct found *found = &d->found[i];
        if (!same_line(found->at, at)) continue;
        if (found->severity == CC_ERROR) return true;
        if (severity == CC_WARNING && found->at.column == at.column) return true;
    }
    return false;
}

static void add(struct diagnostics *d, enum cc_severity severity, struct position at,
                const char *hint, const char *format, va_list arguments)
{
    if (is_said(d, severity, at) || enough_errors(d)) return;
    const char *text = arena_format_list(d->arena, format, arguments);
    if (at.macro != NULL)
        text = arena_format(d->arena, "%s (in what the macro %s makes)", text, at.macro);
    d->found = arena_grow(d->arena, d->found, d->count, sizeof(*d->found));
    d->found[d->count++] = (struct found){severity, at, text, hint};
    d->errors += severity == CC_ERROR;
}

void error_at(struct diagnostics *d, struct position at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(d, CC_ERROR, at, hint, format, arguments);
    va_end(arguments);
}

void warn_at(struct diagnostics *d, struct position at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(d, CC_WARNING, at, hint, format, arguments);
    va_end(arguments);
}

bool enough_errors(const struct diagnostics *d) { return d->errors >= MANY_ERRORS; }

static int compare(const void *left, const void *right)
{
    const struct found *a = left, *b = right;
    if (a->at.file != b->at.file) return a->at.file < b->at.file ? -1 : 1;
    if (a->at.line != b->at.line) return a->at.line < b->at.line ? -1 : 1;
    return (a->at.column > b->at.column) - (a->at.column < b->at.column);
}

const struct cc_diagnostic *diagnostics_sorted(const struct diagnostics *d)
{
    struct cc_diagnostic *sorted = arena_take(d->arena, d->count * sizeof(*sorted));
    if (d->count > 0) qsort(d->found, d->count, sizeof(*d->found), compare);
    for (size_t i = 0; i < d->count; i++) {
        const struct found *f = &d->found[i];
        sorted[i] = (struct cc_diagnostic){f->severity,  d->sources->files[f->at.file].name,
                                           f->at.line,   f->at.column,
                                           f->at.length, f->text,
                                           f->hint};
    }
    return sorted;
}
