#include "options.h"
#include "element.h"
#include "size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- what each option does with its value ---------------------------------------------------- */

typedef int set_fn(struct options *, const struct step *, const char *value, struct fault *);

static int set_n(struct options *options, const struct step *step, const char *value,
                 struct fault *fault)
{
    (void)step;
    if (value[0] == '-')
        return fail(fault, EXIT_USAGE, "--n %.60s is negative; n has to be at least 1.", value);
    int code = size_parse(value, "--n", &options->n, fault);
    if (code) return code;
    if (options->n == 0)
        return fail(fault, EXIT_USAGE, "--n 0 leaves nothing to scan; n has to be at least 1.");
    options->n_given = true;
    return 0;
}

static int set_seed(struct options *options, const struct step *step, const char *value,
                    struct fault *fault)
{
    (void)step;
    char *end;
    errno = 0;
    options->seed = strtoull(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno)
        return fail(fault, EXIT_USAGE, "--seed \"%.60s\" is not a whole number from 0 to 2^64-1.",
                    value);
    return 0;
}

static int set_reps(struct options *options, const struct step *step, const char *value,
                    struct fault *fault)
{
    (void)step;
    char *end;
    errno = 0;
    long reps = strtol(value, &end, 10);
    if (value[0] < '0' || value[0] > '9' || *end || errno || reps > REPS_MAX)
        return fail(fault, EXIT_USAGE, "--reps \"%.60s\" is not a whole number from 0 to %d.",
                    value, REPS_MAX);
    options->reps = (int)reps;
    return 0;
}

static int set_offset(struct options *options, const struct step *step, const char *value,
                      struct fault *fault)
{
    (void)step;
    int code = size_parse(value, "--offset", &options->offset, fault);
    if (code) return code;
    if (options->offset > OFFSET_MAX)
        return fail(fault, EXIT_USAGE, "--offset %.60s is more than the %zu elements allowed.",
                    value, OFFSET_MAX);
    return 0;
}

static int set_variant(struct options *options, const struct step *step, const char *value,
                       struct fault *fault)
{
    if (!step->variants)
        return fail(fault, EXIT_USAGE, "--variant: step %d (%s) has no variants.", step->number,
                    step->name);
    char names[200] = "";
    for (int i = 0; step->variants[i]; i++) {
        if (strcmp(step->variants[i], value) == 0) {
            options->variant = i;
            return 0;
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", step->variants[i]);
    }
    return fail(fault, EXIT_USAGE, "--variant \"%.60s\" is unknown; step %d has: %s.", value,
                step->number, names);
}

static int set_verify(struct options *options, const struct step *step, const char *value,
                      struct fault *fault)
{
    (void)step;
    static const char *const modes[] = {
        [VERIFY_FULL] = "full", [VERIFY_SAMPLE] = "sample", [VERIFY_NONE] = "none"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(value, modes[i]) == 0) {
            options->verify = (enum verify_mode)i;
            return 0;
        }
    return fail(fault, EXIT_USAGE, "--verify \"%.60s\" is unknown; choose none, sample or full.",
                value);
}

static int choose_device(struct options *options, const char *where, const char *value,
                         struct fault *fault)
{
    if (strcmp(value, "cuda") == 0)
        options->device = DEVICE_CUDA;
    else if (strcmp(value, "emu") == 0)
        options->device = DEVICE_EMU;
    else
        return fail(fault, EXIT_USAGE, "%s\"%.60s\" is unknown; choose cuda or emu.", where, value);
    return 0;
}

static int set_device(struct options *options, const struct step *step, const char *value,
                      struct fault *fault)
{
    (void)step;
    return choose_device(options, "--device ", value, fault);
}

#define SET_FILE(name)                                                                             \
    static int set_##name(struct options *options, const struct step *step, const char *value,     \
                          struct fault *fault)                                                     \
    {                                                                                              \
        (void)step;                                                                                \
        if (!*value) return fail(fault, EXIT_USAGE, "--" #name " has an empty file name.");        \
        options->name = value;                                                                     \
        return 0;                                                                                  \
    }
SET_FILE(input)
SET_FILE(output)
SET_FILE(trace)

#define SET_FLAG(name, assignment)                                                                 \
    static int set_##name(struct options *options, const struct step *step, const char *value,     \
                          struct fault *fault)                                                     \
    {                                                                                              \
        (void)step, (void)value, (void)fault;                                                      \
        assignment;                                                                                \
        return 0;                                                                                  \
    }
SET_FLAG(sweep, options->sweep = true)
SET_FLAG(round, options->round = true)
SET_FLAG(real, options->real = true)
SET_FLAG(inclusive, options->inclusive = true)
SET_FLAG(in_place, options->in_place = true)
SET_FLAG(counters, options->counters = true)
SET_FLAG(help, options->help = true)
SET_FLAG(version, options->version = true)

static int set_format(struct options *options, enum report_format format, struct fault *fault)
{
    if (options->format != REPORT_TEXT && options->format != format)
        return fail(fault, EXIT_USAGE, "--json and --csv exclude each other.");
    options->format = format;
    return 0;
}

static int set_json(struct options *options, const struct step *step, const char *value,
                    struct fault *fault)
{
    (void)step, (void)value;
    return set_format(options, REPORT_JSON, fault);
}

static int set_csv(struct options *options, const struct step *step, const char *value,
                   struct fault *fault)
{
    (void)step, (void)value;
    return set_format(options, REPORT_CSV, fault);
}

/* ---- the table, in the order of --help ------------------------------------------------------- */

static const struct {
    const char *name, *argument, *help;
    set_fn *set;
} table[] = {
    {"n", "N", "elements: 1000, 64K, 1Mi, 2^20, 2^20+1", set_n},
    {"sweep", NULL, "every power of two from 2^10 to 2^24 and its odd neighbours", set_sweep},
    {"input", "FILE", "scan the numbers of FILE: .npy or text; - is stdin", set_input},
    {"round", NULL, "take the nearest where the type cannot hold a number of FILE", set_round},
    {"real", NULL, "random real numbers, 0.5 <= |x| < 1, instead of random integers", set_real},
    {"seed", "S", "of the random numbers; the same on every machine (default 1)", set_seed},
    {"output", "FILE", "write the result: .npy if so named, else text; - is stdout", set_output},
    {"variant", "NAME", "which variant of the step", set_variant},
    {"inclusive", NULL, "shift the exclusive result into an inclusive one (untimed)",
     set_inclusive},
    {"in-place", NULL, "scan into the input's own memory", set_in_place},
    {"offset", "K", "displace the buffers by K elements from their alignment", set_offset},
    {"reps", "R", "timed runs; 0 for none (default: as many as fit into a moment)", set_reps},
    {"verify", "HOW", "full (default), sample or none", set_verify},
    {"device", "WHERE", "cuda or emu (default: cuda if there is a usable GPU; or DEVICE=)",
     set_device},
    {"counters", NULL, "the emulator's counters by source line", set_counters},
    {"trace", "FILE", "every shared and global access of one emulated run, as text", set_trace},
    {"json", NULL, "report as JSON", set_json},
    {"csv", NULL, "report as CSV", set_csv},
    {"help", NULL, "this text", set_help},
    {"version", NULL, "the version", set_version},
};
#define TABLE_SIZE (sizeof table / sizeof *table)

/* Does `argument` say --name, or --name=value? Then *value is what follows the '=' or NULL. */
static bool matches(const char *argument, const char *name, const char **value)
{
    size_t length = strlen(name);
    if (strncmp(argument, "--", 2) != 0 || strncmp(argument + 2, name, length) != 0) return false;
    const char *end = argument + 2 + length;
    if (*end && *end != '=') return false;
    *value = *end ? end + 1 : NULL;
    return true;
}

/* The value of an option: after '=', or the next argument. */
static int take_value(const char *name, bool wanted, const char **value, int argc,
                      char *const *argv, int *i, struct fault *fault)
{
    if (!wanted && *value)
        return fail(fault, EXIT_USAGE, "--%s takes no value, but was given \"%.60s\".", name,
                    *value);
    if (!wanted || *value) return 0;
    if (*i + 1 >= argc)
        return fail(fault, EXIT_USAGE, "--%s needs a value; --help says which.", name);
    *value = argv[++*i];
    return 0;
}

static int parse_one(struct options *options, const struct step *step, int argc, char *const *argv,
                     int *i, struct fault *fault)
{
    const char *argument = argv[*i], *value;
    for (size_t k = 0; k < TABLE_SIZE; k++) {
        if (!matches(argument, table[k].name, &value)) continue;
        int code = take_value(table[k].name, table[k].argument, &value, argc, argv, i, fault);
        return code ? code : table[k].set(options, step, value, fault);
    }
    for (const struct step_option *own = step->options; own && own->name; own++) {
        if (!matches(argument, own->name, &value)) continue;
        int code = take_value(own->name, own->argument, &value, argc, argv, i, fault);
        if (code) return code;
        const char *complaint = own->set(value);
        return complaint ? fail(fault, EXIT_USAGE, "--%s: %s", own->name, complaint) : 0;
    }
    if (argument[0] == '-')
        return fail(fault, EXIT_USAGE, "\"%.60s\" is no option of this step; --help lists them.",
                    argument);
    return fail(fault, EXIT_USAGE, "\"%.60s\" is no option; write --n or --input before it.",
                argument);
}

/* Options that contradict each other. */
static int check_together(const struct options *o, const struct step *step, struct fault *fault)
{
    const char *origin = o->input ? "--input" : o->sweep ? "--sweep" : NULL;
    if (o->n_given && origin)
        return fail(fault, EXIT_USAGE, "--n and %s exclude each other: %s decides how many.",
                    origin, origin);
    if (o->input && o->sweep)
        return fail(fault, EXIT_USAGE, "--input and --sweep exclude each other.");
    if (o->input && o->real)
        return fail(fault, EXIT_USAGE, "--real is about random numbers; leave it or --input out.");
    if (o->round && !o->input)
        return fail(fault, EXIT_USAGE, "--round is about the numbers of a file; add --input.");
    if (o->sweep && o->output)
        return fail(fault, EXIT_USAGE, "--output takes one result; leave --sweep out.");
    if (o->sweep && o->trace)
        return fail(fault, EXIT_USAGE, "--trace takes one run; leave --sweep out.");
    enum element element = step_for(step, o->variant).element;
    if (o->real && !element_is_real(element))
        return fail(fault, EXIT_USAGE, "--real: this step adds %s.", element_plural(element));
    if (o->inclusive && step->inclusive)
        return fail(fault, EXIT_USAGE, "--inclusive: this step's scan is inclusive already.");
    /* A step has a reference of its own if some variant is no plain sum; the first one is. */
    if (o->inclusive && step->reference && o->variant)
        return fail(fault, EXIT_USAGE, "--inclusive: variant %s has no use for it; %s has.",
                    step->variants[o->variant], step->variants[0]);
    if (o->trace && step->on_host)
        return fail(fault, EXIT_USAGE,
                    "--trace is the emulator's; this step runs on the CPU itself.");
    if (o->trace && o->device == DEVICE_CUDA)
        return fail(fault, EXIT_USAGE, "--trace is the emulator's; use it with --device emu.");
    return 0;
}

int options_parse(struct options *options, const struct step *step, int argc, char *const *argv,
                  struct fault *fault)
{
    *options =
        (struct options){.n = step->default_n, .seed = 1, .reps = REPS_DEFAULT, .argv = argv};
    for (int i = 1; i < argc; i++) {
        int code = parse_one(options, step, argc, argv, &i, fault);
        if (code) return code;
    }
    if (options->help || options->version) return 0;
    const char *device = getenv("DEVICE");
    if (options->device == DEVICE_AUTO && device && *device) {
        int code = choose_device(options, "DEVICE=", device, fault);
        if (code) return code;
    }
    int code = check_together(options, step, fault);
    if (!code && options->n_given) {
        char where[80];
        snprintf(where, sizeof where, "n = %zu", options->n);
        code = options_check_n(step, options->n, where, fault);
    }
    return code;
}

int options_check_n(const struct step *step, size_t n, const char *where, struct fault *fault)
{
    char limit[160] = "";
    if (step->max_n && n > step->max_n)
        snprintf(limit, sizeof limit, "is more than the %zu elements that step %d (%s) takes",
                 step->max_n, step->number, step->name);
    else if (step->power_of_two && (n & (n - 1)) != 0)
        snprintf(limit, sizeof limit, "is not a power of two, as step %d (%s) needs it",
                 step->number, step->name);
    if (!*limit) return 0;
    return fail(fault, EXIT_USAGE, "%s %s%s%s.", where, limit, step->limit_lifted_by ? "; " : "",
                step->limit_lifted_by ? step->limit_lifted_by : "");
}

/* ---- help ------------------------------------------------------------------------------------ */

static void help_line(FILE *to, const char *name, const char *argument, const char *help)
{
    char left[40];
    snprintf(left, sizeof left, "--%s%s%s", name, argument ? " " : "", argument ? argument : "");
    fprintf(to, "  %-17s %s\n", left, help);
}

void options_help(const struct step *step, FILE *to)
{
    struct program_name program = step_program(step);
    fprintf(to, "%s: %s\n\nUsage: ./%s [options]\n\n", program.name, step->title, program.name);
    for (size_t i = 0; i < TABLE_SIZE; i++) {
        if (strcmp(table[i].name, "variant") == 0 && !step->variants) continue;
        help_line(to, table[i].name, table[i].argument, table[i].help);
    }
    for (const struct step_option *own = step->options; own && own->name; own++)
        help_line(to, own->name, own->argument, own->help);

    fprintf(to, "\n");
    if (step->variants) {
        fprintf(to, "Variants: %s (default)", step->variants[0]);
        for (int i = 1; step->variants[i]; i++) fprintf(to, ", %s", step->variants[i]);
        fprintf(to, ".\n");
    }
    fprintf(to, "Default n: %zu.", step->default_n);
    if (step->max_n) fprintf(to, " At most %zu.", step->max_n);
    if (step->power_of_two) fprintf(to, " A power of two.");
    if (step->limit_lifted_by) fprintf(to, " (%s.)", step->limit_lifted_by);
    fprintf(to,
            "\nFiles: 1-D .npy of float32, float64, int32 or int64, or text separated by white\n"
            "space or commas. A number that the step's type cannot hold exactly is refused unless\n"
            "--round; a text number passes if it is exact or is the 9-digit name of a float, as\n"
            "--output writes it. NaN and infinities are scanned as they are.\n"
            "Exit code: 0 right, 1 wrong result, 2 usage or input, 3 device.\n");
}
