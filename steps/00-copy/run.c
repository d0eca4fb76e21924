/*
 * run.c — step 0's experiment: each pattern goes through the same bench as the scans of the other
 * steps (verified, counted, timed), and becomes a line of a table.
 */
#include "run.h"
#include "patterns.h"

#include "common/harness/input/input.h"
#include "common/harness/run/runs.h"
#include "common/harness/run/device.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"

struct experiment {
    const struct step *step;
    struct options options; /* the variant is that of the pattern being run */
    struct subject subject; /* with these options */
    struct device device;
    struct input input;
    bool single;                       /* one pattern, not all */
    struct outcome outcomes[PATTERNS]; /* those with n > 0 exist */
};

/* The option that means nothing for copies, if there is one. */
static const char *unfit_option(const struct options *options)
{
    if (options->inclusive) return "--inclusive";
    if (options->in_place) return "--in-place";
    if (options->output != NULL) return "--output";
    return NULL;
}

static int prepare(struct experiment *e, struct fault *fault)
{
    struct options *options = &e->options;
    const char *unfit = unfit_option(options);
    size_t device_bytes, host_bytes;
    int code;

    if (unfit != NULL)
        return fail(fault, EXIT_USAGE, "%s: step 0 copies and does not scan; leave it out.", unfit);
    if ((code = device_choose(options, &e->device, fault)) != 0) return code;

    /* The emulator has no memory whose speed could be measured. */
    if (e->device.emulated) options->reps = 0;

    if (options->input != NULL)
        return input_read(&e->input, ELEMENT_F32, options->input, 0, fault);
    if (!runs_memory(&e->subject, options->n, e->device.emulated, &device_bytes, &host_bytes) ||
        device_bytes > e->device.memory_free || host_bytes > host_memory())
        return fail(fault, EXIT_USAGE, "%zu elements do not fit into memory; take fewer.",
                    options->n);
    return input_generate(&e->input, ELEMENT_F32, options->n, options->real, options->seed, fault);
}

/* Runs one pattern; its outcome is kept. Returns an exit code. */
static int run_pattern(struct experiment *e, enum pattern pattern, struct fault *fault)
{
    struct outcome *outcome = &e->outcomes[pattern];
    struct runs runs;

    e->options.variant = pattern;
    int code = runs_open(&runs, &e->subject, &e->input, e->device.emulated, fault);
    if (code != 0) return code;
    code = runs_do(&runs, outcome, fault);
    runs_close(&runs);
    if (code != 0 || outcome->right) return code;

    const struct mismatch *first = &outcome->verdict.first[0];
    const char *name = e->step->variants[pattern];
    if (outcome->damage[0] != '\0')
        return fail(fault, EXIT_WRONG, "pattern %s is wrong: %s.", name, outcome->damage);
    return fail(fault, EXIT_WRONG, "pattern %s is wrong: out[%zu] is %s and should be %s.", name,
                first->index, first->got, first->want);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Bytes that a pattern needs to load, each float counted once; it stores n floats. */
static uint64_t needed_bytes(enum pattern pattern, size_t n)
{
    return (pattern == SAME_WORD ? (n + WARP - 1) / WARP : n) * sizeof(float);
}

static void print_head(const struct experiment *e)
{
    struct style style = style_of(stdout);

    printf("\n  Each pattern copies %s float%s%s.\n\n", format_count(e->input.n).s,
           plural(e->input.n), e->options.verify == VERIFY_NONE ? "" : "; every copy was verified");
    printf("  %-21s%22s%9s%22s\n", "", "bytes to load", "", "sectors per request");
    printf("%s  %-21s%11s%11s%9s%13s%9s%12s%11s%s\n", style.strong, "pattern", "needed",
           "requested", "used", "loads", "stores", "time", "useful", style.end);
}

static void print_row(const struct experiment *e, enum pattern pattern)
{
    const struct outcome *outcome = &e->outcomes[pattern];
    uint64_t needed = needed_bytes(pattern, outcome->n);

    printf("  %-21s%11s", e->step->variants[pattern], format_bytes(needed).s);
    if (outcome->counted) {
        const struct emu_counts *total = &outcome->counters.total;
        uint64_t requested = total->global_ld.moved;
        printf("%11s%9s%13.2f%9.2f", format_bytes(requested).s,
               format_percent((double)needed / (double)requested).s,
               counters_sectors_per_request(&total->global_ld),
               counters_sectors_per_request(&total->global_st));
    } else {
        printf("%11s%9s%13s%9s", "-", "-", "-", "-");
    }
    if (outcome->timing.reps > 0) {
        double useful = (double)(needed + outcome->n * sizeof(float)); /* loaded and stored */
        printf("%12s%11s\n", format_seconds(outcome->timing.median).s,
               format_rate(useful / outcome->timing.median).s);
    } else {
        printf("%12s%11s\n", "-", "-");
    }
}

static void print_foot(const struct experiment *e)
{
    if (e->device.emulated)
        printf(
            "\n  A request is one access of a warp to global memory. Each sector that it requests\n"
            "  counts 32 bytes. (With the rules of an older GPU, the table counts transactions\n"
            "  instead of sectors.) On a GPU the table has times.\n");
    else
        printf("\n  Useful are the bytes needed and those stored, in a second. --device emu "
               "counts\n"
               "  the sectors.\n");
    for (int pattern = ALL + 1; e->options.counters && pattern < PATTERNS; pattern++) {
        if (!e->outcomes[pattern].counted) continue;
        printf("\n  %s\n", e->step->variants[pattern]);
        report_lines(stdout, &e->outcomes[pattern].counters);
    }
    report_still_bad(stdout, e->step);
}

/* The harness' record, whose keys report.h documents. */
static void print_record(const struct experiment *e, enum pattern pattern, size_t index)
{
    const struct outcome *outcome = &e->outcomes[pattern];
    struct record record;

    report_record(&record, &e->subject, &e->device, outcome);
    report_print_record(stdout, &record, &e->options, outcome, index);
}

static int run_patterns(struct experiment *e, struct fault *fault)
{
    bool text = e->options.format == REPORT_TEXT;
    int only = e->options.variant, code = 0;
    size_t printed = 0;

    record_open(stdout, e->options.format, e->single);
    if (text) {
        report_heading(stdout, e->step, &e->device);
        print_head(e);
    }
    for (int pattern = ALL + 1; pattern < PATTERNS && code == 0; pattern++) {
        if (e->single && pattern != only) continue;
        code = run_pattern(e, (enum pattern)pattern, fault);
        if (code != 0) break;
        if (text)
            print_row(e, (enum pattern)pattern);
        else
            print_record(e, (enum pattern)pattern, printed++);
        fflush(stdout);
    }
    if (text && code == 0) print_foot(e);
    record_close(stdout, e->options.format, e->single);
    return code;
}

int step00_run(const struct subject *subject)
{
    struct experiment e = {.step = subject->step,
                           .options = *subject->options,
                           .subject = *subject,
                           .single = subject->options->variant != ALL};
    struct fault fault = {0};
    e.subject.options = &e.options;

    int code = prepare(&e, &fault);
    if (code == 0) code = run_patterns(&e, &fault);
    for (int pattern = 0; pattern < PATTERNS; pattern++) outcome_free(&e.outcomes[pattern]);
    input_free(&e.input);
    if (code == 0 && fflush(stdout) != 0)
        code = fail(&fault, EXIT_USAGE, "cannot write the report to stdout.");
    return code == 0 ? EXIT_RIGHT : fault_say(&fault);
}

double step00_depth(size_t n, int variant)
{
    (void)n, (void)variant;
    return 0;
}

void step00_reference(double *want, const void *in, size_t n, int variant)
{
    for (size_t i = 0; i < n; i++)
        want[i] = ((const float *)in)[pattern_source((enum pattern)variant, i, n)];
}
