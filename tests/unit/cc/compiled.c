/* compiled.c — compiling texts and files in tests of the compiler. */
#define _GNU_SOURCE /* asprintf, strdup */
#include "compiled.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADERS = 40 };

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, '\0', file);
    fclose(file);
    return length < 0 ? strdup("") : text;
}

char *file_text(const char *path)
{
    char *text = read_file(path);
    cr_assert(text != NULL, "%s cannot be read", path);
    return text;
}

/* Headers are read once in a test's process. */
static const char *find_header(void *context, const char *path)
{
    static struct {
        char *path, *text;
    } known[HEADERS];
    static int count;
    (void)context;
    for (int i = 0; i < count; i++)
        if (strcmp(known[i].path, path) == 0) return known[i].text;
    if (count == HEADERS) return NULL;
    known[count].path = strdup(path);
    known[count].text = read_file(path);
    return known[count++].text;
}

static struct cc_result *run(const char *name, const char *text, bool check_only)
{
    const struct cc_options options = {.header = find_header, .check_only = check_only};
    return cc_compile(name, text, &options);
}

struct cc_result *checked(const char *name, const char *text) { return run(name, text, true); }
struct cc_result *compiled(const char *name, const char *text) { return run(name, text, false); }

char *said_of(const char *text)
{
    struct cc_result *result = checked("text.cu", text);
    char *said = strdup("");
    for (size_t i = 0; i < result->count; i++) {
        const struct cc_diagnostic *d = &result->diagnostics[i];
        char *longer;
        cr_assert(asprintf(&longer, "%s%s%s%d:%d %s", said, i == 0 ? "" : "\n",
                           d->severity == CC_WARNING ? "warning " : "", d->line, d->column,
                           d->text) >= 0);
        free(said);
        said = longer;
    }
    cc_free(result);
    return said;
}
