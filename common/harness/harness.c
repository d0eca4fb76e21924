/*
 * harness.c — runs a step: estimates, checks of files, and the order of the parts.
 */
#define _GNU_SOURCE
#include "common/harness/host/host.h"
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"
#include "common/harness/run/device.h"
#include "common/harness/traced/traced.h"
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- estimate -------------------------------------------------------------------------------- */

/*
 * Says on stderr, before long work on the CPU begins, how long it will take. The time is that of
 * the same runs on fewer elements, times the ratio of the numbers of elements. It is right within a
 * factor of about 2, unless other programs begin or end meanwhile. Nothing is said of work of less
 * than about four seconds, nor if EMU_PROGRESS=0 turns such lines off.
 *
 * There is no estimate for a GPU, for a trace, for a file or a picture of a given size where the
 * result is no sum, nor where the emulator reports on every launch or checks it, since the runs on
 * fewer elements would appear in its report.
 *
 * The runs on fewer elements are verified like all others: a scan that is wrong in one of the
 * process's first calls must not get away with it.
 */

#define LONG      4.0               /* seconds: of shorter work nothing is said */
#define LOOK_FROM ((size_t)1 << 19) /* elements of all runs: fewer never take long */

/* Elements of the runs that are timed. Those on few elements only say whether those on more are
 * worth their time. */
#define QUICK ((size_t)1 << 12)
#define LARGE ((size_t)1 << 17)
#define PART  16 /* a run on fewer elements has at most a 16th of them */

/* Timed runs whose time is taken for that of any others: from 15 on, until they take a tenth of a
 * second. */
#define MORE_REPS 15
#define ENOUGH    0.1

#define NO_TIME (-1) /* in place of an exit code: there is no input to time, or no memory */

/* Does the emulator report on each launch? */
static bool is_reported(const struct options *o, const struct device *device)
{
    static const char *const variables[] = {"EMU_COUNTERS", "EMU_TRACE", "EMU_TOOL", NULL};
    for (size_t i = 0; variables[i]; i++)
        if (getenv(variables[i])) return true;
    return o->trace || (device && counters_checks() != 0);
}

/* A number of elements that the step takes: n itself, or a power of two below n. */
static size_t sample_of(size_t n, size_t most)
{
    size_t sample = QUICK;
    if (n <= QUICK) return n;
    while (2 * sample <= most && 2 * sample <= n / PART) sample *= 2;
    return sample;
}

/* ---- runs on fewer elements ------------------------------------------------------------------ */

/* Where a run that is wrong, or fails, says so. */
struct complaint {
    struct outcome *wrong;
    struct fault *fault;
};

static int run_estimate(const struct subject *s, const struct input *input, bool emulated,
                        struct complaint to)
{
    struct runs runs;
    if (runs_open(&runs, s, input, emulated, to.fault)) return NO_TIME;
    int code = runs_do(&runs, to.wrong, to.fault);
    runs_close(&runs);
    if (code) return code;
    if (!to.wrong->right) {
        if (!*to.wrong->run)
            snprintf(to.wrong->run, sizeof to.wrong->run, "a run to estimate the time");
        return EXIT_WRONG;
    }
    outcome_free(to.wrong);
    return 0;
}

/* The time of everything from the input to the last of `reps` timed runs. */
static int time_all(const struct subject *subject, bool emulated, size_t n, int reps,
                    double *seconds, struct complaint to)
{
    struct options o = *subject->options;
    struct subject s = *subject;
    struct input input;
    s.options = &o;
    o.n = n;
    o.n_given = true;
    o.input = NULL;
    o.reps = reps;
    double start = clock_seconds();
    if (s.verbs->input(&s, &input, to.fault)) return NO_TIME;
    s.element = input.element;
    int code = run_estimate(&s, &input, emulated, to);
    input_free(&input);
    *seconds = clock_seconds() - start;
    return code;
}

/* How long a program with this number of timed runs takes: only a few of them are made. */
static int time_reps(const struct subject *s, bool emulated, size_t n, int reps, double *seconds,
                     struct complaint to)
{
    double with_more = 0;
    int others = reps - 1, more = 0;
    int code = time_all(s, emulated, n, reps ? 1 : 0, seconds, to);
    while (!code && more < others && with_more - *seconds < ENOUGH) {
        more = more ? 4 * more : MORE_REPS;
        if (more > others) more = others;
        code = time_all(s, emulated, n, 1 + more, &with_more, to);
    }
    if (with_more > *seconds) *seconds += (with_more - *seconds) / more * others;
    return code;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static void say(const struct subject *s, int reps, size_t elements, double seconds)
{
    fprintf(stderr,
            "%s: this will take about %s, estimated by runs on %s elements; faster: fewer "
            "elements%s\n",
            step_program(s->step).name, format_duration(seconds).s, format_count(elements).s,
            reps ? ", --reps 0" : "");
    fflush(stderr);
}

static int time_and_say(const struct subject *s, bool emulated, size_t n,
                        struct complaint to)
{
    /* The default is one timed run if a run takes long. */
    int reps = s->options->reps == REPS_DEFAULT ? 1 : s->options->reps;
    double seconds = 0;
    if ((double)n * (reps + 2) < LOOK_FROM) return 0;
    /* Kernels are loaded in this one. */
    int code = time_all(s, emulated, sample_of(n, QUICK), 1, &seconds, to);
    for (int i = 0; i < 2 && !code; i++) {
        size_t sample = sample_of(n, i ? LARGE : QUICK);
        code = time_reps(s, emulated, sample, reps, &seconds, to);
        seconds *= (double)n / (double)sample;
        if (code || seconds < LONG) break;
        if (i) say(s, reps, sample, seconds);
    }
    return code;
}

/* The device is NULL if the step runs on the host. Returns 0; EXIT_WRONG if a run is wrong, which
 * *wrong describes (to be freed); or, with a fault, the exit code of a run that failed. */
static int estimate_say(const struct subject *s, const struct device *device, size_t n,
                        struct outcome *wrong, struct fault *fault)
{
    if ((device && !device->emulated) || (!s->verbs->sums && s->options->input)) return 0;
    if (!progress_is_wanted() || is_reported(s->options, device)) return 0;
    int code = time_and_say(s, device != NULL, n, (struct complaint){wrong, fault});
    return code == NO_TIME ? 0 : code;
}

/* ---- harness --------------------------------------------------------------------------------- */

/* The state of one run of the program. */
struct program {
    struct subject subject;
    struct options options;
    const struct device *device; /* NULL: the step runs on the host */
    FILE *report;                /* stdout, or stderr if a result or the trace goes to stdout */
    struct fault fault;
};

/* ---- before a run: is there enough memory? --------------------------------------------------- */

static int check_memory(struct program *p, size_t n)
{
    size_t device_needs, host_needs, host_has = host_memory();
    bool emulated = p->device && p->device->emulated;
    if (!runs_memory(&p->subject, n, emulated, &device_needs, &host_needs))
        return fail(&p->fault, EXIT_USAGE, "%zu elements are more than any memory holds.", n);
    if (p->device) device_needs += timing_flush_bytes(emulated, p->device->l2);
    if (p->device && device_needs > p->device->memory_free)
        return fail(&p->fault, EXIT_USAGE,
                    "%zu element%s need%s %s of device memory, but %s are free; take fewer.", n,
                    plural(n), n == 1 ? "s" : "", format_bytes(device_needs).s,
                    format_bytes(p->device->memory_free).s);
    if (host_needs > host_has)
        return fail(&p->fault, EXIT_USAGE,
                    "%zu element%s need%s %s of host memory%s, but %s are available; take fewer.",
                    n, plural(n), n == 1 ? "s" : "", format_bytes(host_needs).s,
                    emulated ? " under the emulator" : "", format_bytes(host_has).s);
    return 0;
}

/* ---- the input ------------------------------------------------------------------------------- */

static void report(struct program *, const struct outcome *);

/* Says how long the work will take. A run on fewer elements that is wrong is reported, like any
 * other. */
static int estimate(struct program *p, size_t n)
{
    struct outcome wrong;
    int code = estimate_say(&p->subject, p->device, n, &wrong, &p->fault);
    if (code != EXIT_WRONG) return code;
    report(p, &wrong);
    outcome_free(&wrong);
    return code;
}

/* Checks the memory and says how long it will take, before the input is generated; that of a file
 * says only after it has been read how large it is. */
static int prepare(struct program *p, const struct input *input)
{
    p->subject.element = input->element;
    int code = check_memory(p, input->n);
    return code ? code : estimate(p, input->n);
}

static int get_input(struct program *p, struct input *input)
{
    const struct verbs *verbs = p->subject.verbs;
    if (!p->options.input) {
        int code = verbs->plan(&p->subject, input, &p->fault);
        if (!code) code = prepare(p, input);
        if (!code) code = verbs->input(&p->subject, input, &p->fault);
        p->subject.element = input->element;
        return code;
    }
    int code = verbs->input(&p->subject, input, &p->fault);
    if (code) return code;
    code = prepare(p, input);
    if (code) input_free(input);
    return code;
}

/* ---- the output ------------------------------------------------------------------------------ */

static bool has_output(const struct program *p)
{
    struct own_file own[OWN_FILES];
    size_t count = subject_files(&p->subject, own);
    for (size_t i = 0; i < count; i++)
        if (own[i].written && own[i].path) return true;
    return p->options.output != NULL;
}

/* All files, or none of them. */
static int write_output(struct program *p, struct runs *runs)
{
    output_hold();
    int code = runs_write(runs, &p->fault);
    return output_release(code, &p->fault);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(struct program *p, const struct outcome *outcome)
{
    const struct subject *s = &p->subject;
    const struct options *options = &p->options;
    if (options->format != REPORT_TEXT) {
        struct record record;
        report_record(&record, s, p->device, outcome);
        report_print_record(p->report, &record, options, outcome, 0);
    } else {
        report_heading(p->report, s->step, p->device);
        report_outcome(p->report, s, p->device, outcome);
        if (options->counters && outcome->counted) report_lines(p->report, &outcome->counters);
        report_still_bad(p->report, s->step);
    }
    fflush(p->report);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* One input: runs, verifies, times, writes, reports. */
static int run_once(struct program *p)
{
    struct input input;
    int code = get_input(p, &input);
    if (code) return code;
    p->options.input_rounded = input.rounded;
    struct runs runs;
    struct outcome outcome;
    bool emulated = p->device && p->device->emulated;
    code = runs_open(&runs, &p->subject, &input, emulated, &p->fault);
    if (!code) {
        code = runs_do(&runs, &outcome, &p->fault);
        if (!code) {
            /* A wrong result is reported, not written. */
            if (has_output(p) && outcome.right) code = write_output(p, &runs);
            if (!code) {
                report(p, &outcome);
                code = outcome.right ? EXIT_RIGHT : EXIT_WRONG;
            }
            outcome_free(&outcome);
        }
        runs_close(&runs);
    }
    input_free(&input);
    return code;
}

static void print_version(const struct step *step)
{
    printf("%s (%s), Upsweep %s, CUDA %d.%d\n", step_program(step).name, step->name,
           PROGRAM_VERSION, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

static int run(struct program *p)
{
    struct options *options = &p->options;
    if (options->output) {
        int code = output_check(options->output, &p->fault);
        if (code) return code;
    }
    p->report = subject_uses_stdout(&p->subject) ? stderr : stdout;
    record_open(p->report, options->format, true);
    int code = run_once(p);
    if (code <= EXIT_WRONG) record_close(p->report, options->format, true);
    return code;
}

/* A report that could not be written (a full disk) is an error, too. */
static int check_stdout(struct program *p)
{
    return standard_written() ? 0
                              : fail(&p->fault, EXIT_USAGE, "cannot write the report to stdout.");
}

static int inform(struct program *p)
{
    if (p->options.help)
        options_help(p->subject.step, stdout);
    else
        print_version(p->subject.step);
    return check_stdout(p);
}

/* Everything from the command line to the device. */
static int begin(struct program *p, struct device *device)
{
    struct options *options = &p->options;
    int code = subject_check_files(&p->subject, &p->fault);
    if (code) return code;
    p->subject.element = step_element(p->subject.step, options->variant);
    if (p->subject.step->on_host) return 0;
    code = device_choose(options, device, &p->fault);
    if (code) return code;
    p->device = device;
    if (options->counters && !device->emulated)
        code =
            fail(&p->fault, EXIT_USAGE, "--counters is the emulator's; use it with --device emu.");
    return code;
}

/* The kernels run in another process, whose trace is shown. */
static int run_traced(struct program *p)
{
    const struct step *step = p->subject.step;
    int code = p->options.quiz ? quiz_show(step, &p->options, stdout, &p->fault)
                               : levels_show(step, &p->options, stdout, &p->fault);
    return code ? code : check_stdout(p);
}

static int run_program(struct program *p, int argc, char **argv)
{
    const struct step *step = p->subject.step;
    struct device device;
    int code = options_parse(&p->options, step, p->subject.self, argc, argv, &p->fault);
    if (code) return code;
    if (p->options.help || p->options.version) return inform(p);
    if (p->options.levels || p->options.quiz) return run_traced(p);
    code = begin(p, &device);
    if (code) return code;
    if (step->run) return step->run(&p->subject);
    code = run(p);
    if (code <= EXIT_WRONG && check_stdout(p)) code = p->fault.code;
    return code;
}

int harness_main(const struct step *step, int argc, char **argv)
{
    standard_hold();
    struct program program = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file beyond `ulimit -f` becomes an error of fwrite */
    subject_open(&program.subject, step, &program.options);
    int code = run_program(&program, argc, argv);
    subject_close(&program.subject);
    if (code > EXIT_WRONG && *program.fault.text) fault_say(&program.fault);
    return code;
}
