#include "files.h"

#include "common/harness/report/output.h"

#include <string.h>

#define FILES 6 /* at most: those that files_check lists */

struct named_file {
    const char *option; /* for the sentence */
    const char *name;   /* as the user gave it; "": the option says it all */
    const char *path;   /* NULL: there is no such file */
    bool written;
};

/* Both are the shell's, which may well send them to one place. */
static bool both_standard(const struct named_file *a, const struct named_file *b)
{
    return !*a->name && !*b->name;
}

static int refuse(const struct named_file *written, const struct named_file *other,
                  struct fault *fault)
{
    return fail(fault, EXIT_USAGE, "%s%s%s is the same file as %s%s%s; write to another one.",
                written->option, *written->name ? " " : "", written->name, other->option,
                *other->name ? " " : "", other->name);
}

int files_check(const struct options *o, struct fault *fault)
{
    bool from_stdin = o->input && strcmp(o->input, "-") == 0;
    bool to_stdout = o->output && output_is_stdout(o->output);
    const struct named_file files[FILES] = {
        {"this program", "", "/proc/self/exe", false},
        {"--input", o->input, from_stdin ? "/dev/stdin" : o->input, false},
        {"--output", o->output, to_stdout ? NULL : o->output, true},
        {"--trace", o->trace, o->trace, true},
        {"stdout", "", "/dev/stdout", true},
        {"stderr", "", "/dev/stderr", true},
    };
    for (size_t i = 0; i < FILES; i++)
        for (size_t k = 0; k < i; k++) {
            const struct named_file *written = &files[i], *other = &files[k];
            if (!written->written || !written->path || !other->path) continue;
            if (both_standard(written, other)) continue;
            if (replacement_same(written->path, other->path)) return refuse(written, other, fault);
        }
    return 0;
}
