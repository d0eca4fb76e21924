/* options.c — the options of a step's command. */
#include "options.h"
#include "element.h"

#include "common/files/option_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- what each option does with its value ---------------------------------------------------- */

/* What the command line sets; the step says which values it takes. */
struct target {
    struct options options;
    bool json, csv;
    const struct step *step;
    void *self; /* of the step's own options */
};

static struct options *options_of(void *to) { return &((struct target *)to)->options; }

static int set_n(void *to, const char *value, struct fault *fault)
{
    struct options *options = options_of(to);
    if (value[0] == '-')
        return fail(fault, EXIT_USAGE, "--n %.60s is negative; n has to be at least 1.", value);
    int code = size_parse(value, "--n", &options->n, fault);
    if (code) return code;
    if (options->n == 0)
        return fail(fault, EXIT_USAGE, "--n 0 leaves nothing to scan; n has to be at least 1.");
    options->n_given = true;
    return 0;
}

static int set_seed(void *to, const char *value, struct fault *fault)
{
    struct options *options = options_of(to);
    if (!option_whole(value, UINT64_MAX, &options->seed))
        return fail(fault, EXIT_USAGE, "--seed \"%.60s\" is not a whole number from 0 to 2^64-1.",
                    value);
    options->seed_given = true;
    return 0;
}

static int set_reps(void *to, const char *value, struct fault *fault)
{
    struct options *options = options_of(to);
    uint64_t reps;
    if (!option_whole(value, REPS_MAX, &reps))
        return fail(fault, EXIT_USAGE, "--reps \"%.60s\" is not a whole number from 0 to %d.",
                    value, REPS_MAX);
    options->reps = (int)reps;
    return 0;
}

static int set_offset(void *to, const char *value, struct fault *fault)
{
    struct options *options = options_of(to);
    int code = size_parse(value, "--offset", &options->offset, fault);
    if (code) return code;
    if (options->offset > OFFSET_MAX)
        return fail(fault, EXIT_USAGE, "--offset %.60s is more than the %zu elements allowed.",
                    value, OFFSET_MAX);
    return 0;
}

static int set_variant(void *to, const char *value, struct fault *fault)
{
    struct options *options = options_of(to);
    const struct step *step = ((const struct target *)to)->step;
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

static int set_verify(void *to, const char *value, struct fault *fault)
{
    enum verify_mode *mode = &options_of(to)->verify;
    *mode = strcmp(value, "none") == 0 ? VERIFY_NONE : VERIFY_FULL;
    if (*mode == VERIFY_NONE || strcmp(value, "full") == 0) return 0;
    return fail(fault, EXIT_USAGE, "--verify \"%.60s\" is unknown; choose none or full.", value);
}

int options_device(enum device_choice *device, const char *where, const char *value,
                   struct fault *fault)
{
    *device = strcmp(value, "cuda") == 0 ? DEVICE_CUDA : DEVICE_EMU;
    if (*device == DEVICE_CUDA || strcmp(value, "emu") == 0) return 0;
    return fail(fault, EXIT_USAGE, "%s\"%.60s\" is unknown; choose cuda or emu.", where, value);
}

static int set_device(void *to, const char *value, struct fault *fault)
{
    return options_device(&options_of(to)->device, "--device ", value, fault);
}

/* ---- the table, in the order of --help ------------------------------------------------------- */

#define FLAG(name, help, member)           OPTION_FLAG(name, help, struct target, member)
#define TEXT(name, argument, help, member) OPTION_TEXT(name, argument, help, struct target, member)

static const struct option_row rows[] = {
    OPTION("n", "N", "elements: 1000, 64K, 1Mi, 2^20, 2^20+1", set_n),
    TEXT("input", "FILE", "scan the numbers of FILE: .npy or text; - is stdin", options.input),
    FLAG("real", "random real numbers, 0.5 <= |x| < 1, instead of random integers", options.real),
    OPTION("seed", "S", "of the random numbers; the same on every machine (default 1)", set_seed),
    TEXT("output", "FILE", "write the result: .npy if so named, else text; - is stdout",
         options.output),
    OPTION("variant", "NAME", "which variant of the step", set_variant),
    FLAG("inclusive", "shift the exclusive result into an inclusive one (untimed)",
         options.inclusive),
    FLAG("in-place", "scan into the input's own memory", options.in_place),
    OPTION("offset", "K", "displace the buffers by K elements from their alignment", set_offset),
    OPTION("reps", "R", "timed runs; 0: none (default: as many as take 0.5 s, 5 to 15)", set_reps),
    OPTION("verify", "HOW", "full (default) or none", set_verify),
    OPTION("device", "WHERE", "cuda or emu (default: cuda if there is a usable GPU; or DEVICE=)",
           set_device),
    FLAG("counters", "the emulator's counters by source line", options.counters),
    TEXT("trace", "FILE", "every shared and global access of one emulated run; - is stdout",
         options.trace),
    FLAG("levels", "what warps do with shared memory between two barriers, on the emulator",
         options.levels),
    TEXT("quiz", "WORD", "questions to work out, made for WORD; - is a word on each line of stdin",
         options.quiz),
    FLAG("solve", "answer the questions of --quiz", options.solve),
    FLAG("json", "report as JSON", json),
    FLAG("csv", "report as CSV", csv),
    FLAG("help", "this text", options.help),
    FLAG("version", "the version", options.version),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

/* Would the option have no effect in this step? */
static bool is_unused(const struct step *step, const char *name)
{
    static const char *const of_kernels[] = {"levels", "quiz", "solve", NULL};
    bool plain = !step->verbs && !step->run && !step->on_host;
    const char *const *unused = step->verbs ? step->verbs->unused : NULL;
    for (const char *const *one = of_kernels; *one && !plain; one++)
        if (strcmp(name, *one) == 0) return true;
    for (; unused && *unused; unused++)
        if (strcmp(name, *unused) == 0) return true;
    return false;
}

/* ---- options that only this step has --------------------------------------------------------- */

enum { OWN_MOST = 12, HELP_COLUMN = 20 };

/* The rows of the step's own options, each with what it sets. */
struct own_options {
    struct own {
        const struct step_option *option;
        void *self;
    } of[OWN_MOST];
    struct option_row rows[OWN_MOST];
};

static bool take_type(unsigned types, const char *value, struct type_asked *type)
{
    for (int element = 0; types >> element; element++) {
        if (!(types >> element & 1) || strcmp(value, element_short((enum element)element)) != 0)
            continue;
        *type = (struct type_asked){true, (enum element)element};
        return true;
    }
    return false;
}

/* Returns the sentence for a value that is wrong, or NULL. */
static const char *take_value(const struct step_option *o, void *self, const char *value)
{
    void *member = (char *)self + o->member;
    if (o->set) return o->set(self, value);
    switch (o->value) {
    case VALUE_COUNT: return size_whole(value, member) ? NULL : o->wrong;
    case VALUE_SIZES: return size_pair(value, member, (size_t *)member + 1) ? NULL : o->wrong;
    case VALUE_TYPE: return take_type(o->types, value, member) ? NULL : o->wrong;
    default: *(const char **)member = value; return *value ? NULL : "the file name is empty.";
    }
}

static int set_own(void *to, const char *value, struct fault *fault)
{
    const struct own *own = to;
    const char *complaint = take_value(own->option, own->self, value);
    return complaint ? fail(fault, EXIT_USAGE, "--%s: %s", own->option->name, complaint) : 0;
}

static struct option_table own_table(struct own_options *to, const struct step *step, void *self)
{
    size_t count = 0;
    for (const struct step_option *own = step->options; own && own->name; own++, count++) {
        bool plain = own->value == VALUE_TEXT && !own->set;
        to->of[count] = (struct own){own, self};
        to->rows[count] = (struct option_row){.name = own->name,
                                              .argument = own->argument,
                                              .help = own->help,
                                              .set = plain ? NULL : set_own,
                                              .to = plain ? self : (void *)&to->of[count],
                                              .letter = own->letter,
                                              .member = own->member};
    }
    return (struct option_table){to->rows, count};
}

/* ---- reading --------------------------------------------------------------------------------- */

static int parse_one(struct target *to, struct command_line *line, struct fault *fault)
{
    struct own_options own;
    const char *argument = line->arguments[line->at];
    bool taken;
    int code = option_take(table, line, to, &taken, fault);
    if (!taken) code = option_take(own_table(&own, to->step, to->self), line, to, &taken, fault);
    if (taken) return code;
    if (argument[0] == '-')
        return fail(fault, EXIT_USAGE, "\"%.60s\" is no option of this step; --help lists them.",
                    argument);
    return fail(fault, EXIT_USAGE, "\"%.60s\" is no option; write --n or --input before it.",
                argument);
}

/* Options of this command line, by name; those of the step's own are not among them. */
static bool is_given(const struct options *o, const char *name)
{
    const struct {
        const char *name;
        bool given;
    } all[] = {{"n", o->n_given},
               {"input", o->input},
               {"real", o->real},
               {"seed", o->seed_given},
               {"output", o->output},
               {"inclusive", o->inclusive},
               {"in-place", o->in_place},
               {"offset", o->offset > 0},
               {"reps", o->reps > 0},
               {"counters", o->counters},
               {"trace", o->trace},
               {"levels", o->levels},
               {"quiz", o->quiz},
               {"json", o->format == REPORT_JSON},
               {"csv", o->format == REPORT_CSV},
               {"device cuda", o->device == DEVICE_CUDA}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) return all[i].given;
    return false;
}

/* Options that exclude each other: one of them makes the other meaningless. */
static const struct {
    const char *one, *other[12];
} excludes[] = {
    {"input", {"n", "real", "seed"}},
    {"trace", {"reps", "device cuda"}},
    {"counters", {"csv", "device cuda"}},
    {"levels", {"quiz", "trace", "counters", "json", "csv", "device cuda"}},
    {"quiz",
     {"n", "input", "real", "seed", "output", "inclusive", "in-place", "offset", "counters",
      "trace", "device cuda"}},
};

static int check_pairs(const struct options *o, struct fault *fault)
{
    for (size_t i = 0; i < sizeof excludes / sizeof *excludes; i++) {
        if (!is_given(o, excludes[i].one)) continue;
        for (const char *const *other = excludes[i].other; *other; other++)
            if (is_given(o, *other))
                return fail(fault, EXIT_USAGE, "--%s and --%s exclude each other; leave one out.",
                            excludes[i].one, *other);
    }
    return 0;
}

int options_refuse(const struct refusal *refusals, struct fault *fault)
{
    while (refusals->sentence && !refusals->holds) refusals++;
    return refusals->sentence ? fail(fault, EXIT_USAGE, "%s", refusals->sentence) : 0;
}

/* Options without effect are refused, because the user expects an effect. */
static int check_use(const struct options *o, const struct step *step, struct fault *fault)
{
    static const char *const some[] = {"inclusive", "in-place", "real",   "offset", "counters",
                                       "trace",     "levels",   "quiz"};
    static const char *const of_the_emulator[] = {"trace", "counters"};
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        if (is_given(o, some[i]) && is_unused(step, some[i]))
            return fail(fault, EXIT_USAGE, "--%s: step %d (%s) has no use for it; leave it out.",
                        some[i], step->number, step->name);
    for (int i = 0; i < 2 && step->on_host; i++)
        if (is_given(o, of_the_emulator[i]))
            return fail(fault, EXIT_USAGE,
                        "--%s is the emulator's, and this step runs on the CPU itself; leave it "
                        "out.",
                        of_the_emulator[i]);
    return 0;
}

/* Options that contradict each other. */
static int check_together(const struct options *o, const struct step *step, struct fault *fault)
{
    int code = check_pairs(o, fault);
    if (!code) code = check_use(o, step, fault);
    if (code) return code;
    if (o->solve && !o->quiz)
        return fail(fault, EXIT_USAGE, "--solve answers the questions of --quiz; add --quiz WORD.");
    enum element element = step_element(step, o->variant);
    if (o->real && !element_is_real(element))
        return fail(fault, EXIT_USAGE, "--real: this step %s %s.", step->verbs ? "takes" : "adds",
                    element_plural(element));
    if (o->inclusive && step->inclusive)
        return fail(fault, EXIT_USAGE, "--inclusive: this step's scan is inclusive already.");
    /* A step has a reference of its own if some variant is not a plain sum. The first variant
     * always is. */
    if (o->inclusive && step->reference && o->variant)
        return fail(fault, EXIT_USAGE, "--inclusive: variant %s has no use for it; %s has.",
                    step->variants[o->variant], step->variants[0]);
    return 0;
}

/* Takes what the command line has set. */
static int check_values(struct target *to, struct fault *fault)
{
    struct options *o = &to->options;
    const struct {
        const char *name, *value, *what;
    } texts[] = {{"input", o->input, "file name"},
                 {"output", o->output, "file name"},
                 {"trace", o->trace, "file name"},
                 {"quiz", o->quiz, "word"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].value && !*texts[i].value)
            return fail(fault, EXIT_USAGE, "--%s has an empty %s.", texts[i].name, texts[i].what);
    if (to->json && to->csv) return fail(fault, EXIT_USAGE, "--json and --csv exclude each other.");
    o->format = to->json ? REPORT_JSON : to->csv ? REPORT_CSV : REPORT_TEXT;
    if (o->trace && strcmp(o->trace, "-") == 0) o->trace = "/dev/stdout"; /* for the emulator */
    const char *device = getenv("DEVICE");
    if (o->device == DEVICE_AUTO && device && *device)
        return options_device(&o->device, "DEVICE=", device, fault);
    return 0;
}

int options_parse(struct options *options, const struct step *step, void *self, int argc,
                  char *const *argv, struct fault *fault)
{
    struct target to = {.step = step, .self = self};
    struct command_line line = {.count = argc, .arguments = argv, .at = 1};
    int code = 0;
    to.options =
        (struct options){.n = step->default_n, .seed = 1, .reps = REPS_DEFAULT, .argv = argv};
    while (!code && line.at < argc) code = parse_one(&to, &line, fault);
    bool informs = to.options.help || to.options.version;
    if (!code && !informs) code = check_values(&to, fault);
    *options = to.options;
    if (code || informs) return code;
    code = check_together(options, step, fault);
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

static const char number_files[] =
    "Files: 1-D .npy of float32, float64, int32, int64, uint32 or uint64, or text separated\n"
    "by white space or commas. Numbers that float or double cannot hold exactly are rounded to\n"
    "the nearest, and the report says so. NaN and infinities are scanned as they are.\n";

/* What an option of the harness does in this step. */
static const char *help_for(const struct step *step, const struct option_row *row)
{
    const struct verbs *v = step->verbs;
    if (!v) return row->help;
    if (strcmp(row->name, "inclusive") == 0) return "each result includes its own element";
    if (strcmp(row->name, "input") == 0 && v->input_help) return v->input_help;
    if (strcmp(row->name, "output") == 0 && v->output_help) return v->output_help;
    return row->help;
}

void options_help(const struct step *step, FILE *to)
{
    struct program_name program = step_program(step);
    fprintf(to, "%s: %s\n\nUsage: ./%s [options]\n\n", program.name, step->title, program.name);
    struct own_options own;
    for (size_t i = 0; i < table.count; i++)
        if ((strcmp(rows[i].name, "variant") != 0 || step->variants) &&
            !is_unused(step, rows[i].name)) {
            struct option_row row = rows[i];
            row.help = help_for(step, &row);
            option_print((struct option_table){&row, 1}, HELP_COLUMN, to);
        }
    option_print(own_table(&own, step, NULL), HELP_COLUMN, to);

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
    fprintf(to, "\n%s",
            step->verbs && step->verbs->files_help ? step->verbs->files_help : number_files);
    fprintf(to, "Exit code: 0 right, 1 wrong result, 2 usage or input, 3 device.\n");
}
