#include "same_files.h"

#include "common/harness/print/output.h"
#include "common/step/options.h"

#include <stdlib.h>
#include <string.h>

#define FILES (9 + OWN_FILES) /* at most: those that files_check lists */

struct named_file {
    const char *option; /* for the sentence */
    const char *name;   /* as the user gave it; "": the option names the file */
    const char *path;   /* NULL: there is no such file */
    bool written;
    bool by_emulator; /* which compares it with the emulator's other files itself */
};

/* The shell has opened both, and it is right that both go to one file. */
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

/* A file that the emulator writes because a variable of the environment says so. */
static struct named_file by_variable(const char *variable)
{
    const char *value = getenv(variable);
    bool is_file = value && *value && strcmp(value, "stdout") != 0 && strcmp(value, "stderr") != 0;
    return (struct named_file){variable, is_file ? value : "", is_file ? value : NULL, true, true};
}

static int compare(const struct named_file *files, size_t count, struct fault *fault)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct named_file *written = &files[i], *other = &files[k];
            if (!written->written) written = &files[k], other = &files[i];
            if (!written->written || !written->path || !other->path) continue;
            if (both_standard(written, other)) continue;
            if (written->by_emulator && other->by_emulator) continue;
            if (replacement_same(written->path, other->path)) return refuse(written, other, fault);
        }
    return 0;
}

/* Only one trace is written. --trace sets EMU_TRACE, so both must name the same file. */
static int check_trace(const struct options *o, const struct named_file *variable,
                       struct fault *fault)
{
    if (o->trace && variable->path && strcmp(o->trace, variable->path) != 0)
        return fail(fault, EXIT_USAGE, "--trace %s and EMU_TRACE=%s are two traces; leave one out.",
                    o->trace, variable->path);
    if (o->trace && o->output && output_is_stdout(o->trace) && output_is_stdout(o->output))
        return fail(fault, EXIT_USAGE,
                    "--output and --trace both go to stdout; write one of them to a file.");
    return 0;
}

static bool own_to_stdout(const struct own_file *own)
{
    return own->written && own->path && output_is_stdout(own->path);
}

/* The harness's own option whose result goes to stdout; NULL: none. */
static const char *option_to_stdout(const struct options *o)
{
    if (o->output && output_is_stdout(o->output)) return "--output";
    return o->trace && output_is_stdout(o->trace) ? "--trace" : NULL;
}

bool files_use_stdout(const struct subject *s)
{
    struct own_file own[OWN_FILES];
    size_t count = subject_files(s, own);
    for (size_t i = 0; i < count; i++)
        if (own_to_stdout(&own[i])) return true;
    return option_to_stdout(s->options) != NULL;
}

/* Two results on stdout would be mixed. */
static int check_stdout(const struct options *o, const struct own_file *own, size_t count,
                        struct fault *fault)
{
    const char *first = option_to_stdout(o);
    for (size_t i = 0; i < count; i++) {
        if (!own_to_stdout(&own[i])) continue;
        if (first)
            return fail(fault, EXIT_USAGE,
                        "%s and %s both go to stdout; write one of them to a file.", first,
                        own[i].option);
        first = own[i].option;
    }
    return 0;
}

/* A file of the step's own options; the standard streams are compared as such. */
static struct named_file own_file(const struct own_file *own)
{
    bool standard = own->path && (strcmp(own->path, "-") == 0 || output_is_stdout(own->path));
    return (struct named_file){.option = own->option,
                               .name = own->path ? own->path : "",
                               .path = standard ? NULL : own->path,
                               .written = own->written};
}

int files_check(const struct subject *s, struct fault *fault)
{
    const struct options *o = s->options;
    bool from_stdin = o->input && strcmp(o->input, "-") == 0;
    bool to_stdout = o->output && output_is_stdout(o->output);
    bool trace_to_stdout = o->trace && output_is_stdout(o->trace);
    struct named_file traced = by_variable("EMU_TRACE");
    int code = check_trace(o, &traced, fault);
    if (code) return code;
    if (o->trace) traced.path = NULL;
    struct own_file own[OWN_FILES];
    size_t own_count = subject_files(s, own);
    code = check_stdout(o, own, own_count, fault);
    if (code) return code;
    struct named_file files[FILES] = {
        {.option = "this program", .name = "", .path = "/proc/self/exe"},
        {.option = "--input", .name = o->input, .path = from_stdin ? "/dev/stdin" : o->input},
        {"--output", o->output, to_stdout ? NULL : o->output, .written = true},
        {"--trace", o->trace, trace_to_stdout ? NULL : o->trace, .written = true},
        traced,
        by_variable("EMU_LOG_FILE"),
        by_variable("EMU_CHECK_LOG"),
        {"stdout", "", "/dev/stdout", .written = true},
        {"stderr", "", "/dev/stderr", .written = true},
    };
    size_t count = FILES - OWN_FILES;
    for (size_t i = 0; i < own_count; i++) files[count++] = own_file(&own[i]);
    return compare(files, count, fault);
}
