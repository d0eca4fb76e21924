#define _GNU_SOURCE
#include "harness.h"

#include "application.h"
#include "common/harness/estimate.h"
#include "common/harness/run/device.h"
#include "common/harness/run/ended.h"
#include "common/harness/run/surroundings.h"
#include "files.h"
#include "common/harness/report/format.h"
#include "common/harness/input/input.h"
#include "common/harness/report/output.h"
#include "common/harness/report/report.h"
#include "common/harness/report/standard.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --sweep: from 2^10 to 2^24, or from the largest power of two that the step takes. */
#define SWEEP_FIRST 10
#define SWEEP_LAST  24
#define SWEEP_SIZES (3 * (SWEEP_LAST + 1)) /* at most: each power of two and its neighbours */

#define PIECE ((size_t)1 << 20) /* elements written to the output at a time */

/* The state of one run of the program. */
struct program {
    const struct step *step;
    struct step read; /* the same with the type of the input, where an application has read it */
    struct options options;
    const struct device *device; /* NULL: the step runs on the host */
    FILE *report;                /* stdout, or stderr if a result or the trace goes to stdout */
    size_t reported;             /* outcomes so far */
    struct standard standard;    /* the files of stdout and stderr when the program begins */
    struct fault fault;
};

/* ---- before a run: is there enough memory? --------------------------------------------------- */

static int check_memory(struct program *p, size_t n)
{
    size_t device_needs, host_needs, host_has = device_host_memory();
    bool emulated = p->device && p->device->emulated;
    if (!bench_memory(p->step, &p->options, n, emulated, &device_needs, &host_needs))
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

/* Says how long work on `total` elements will take. A run on fewer elements that is wrong is
 * reported, like any other. */
static int estimate(struct program *p, size_t n, size_t total)
{
    struct outcome wrong;
    int code = estimate_say(p->step, &p->options, p->device, n, total, &wrong, &p->fault);
    if (code != EXIT_WRONG) return code;
    report(p, &wrong);
    outcome_free(&wrong);
    return code;
}

/* A sweep's estimate is that of all its sizes: run_sweep. */
static int estimate_one(struct program *p, size_t n)
{
    return p->options.sweep ? 0 : estimate(p, n, n);
}

/* The application has decided of what type its input is. */
static int check_own_memory(struct program *p, const struct input *input)
{
    p->read = *p->step;
    p->read.element = input->element;
    p->step = &p->read;
    return check_memory(p, input->n);
}

/* The input of an application. How large a file is says the file. */
static int get_own_input(struct program *p, struct input *input)
{
    const struct application *a = p->step->application;
    if (!p->options.input) {
        int code = a->plan(input, &p->options, &p->fault);
        if (!code) code = check_own_memory(p, input);
        if (code) return code;
    }
    int code = estimate_one(p, p->options.n);
    if (!code) code = a->input(input, &p->options, &p->fault);
    if (code || !p->options.input) return code;
    code = check_own_memory(p, input);
    if (code) input_free(input);
    return code;
}

static int get_input(struct program *p, struct input *input)
{
    if (p->step->application && p->step->application->input) return get_own_input(p, input);
    const struct step *step = p->step;
    const struct options *options = &p->options;
    if (!options->input) {
        int code = check_memory(p, options->n);
        if (!code) code = estimate_one(p, options->n);
        if (code) return code;
        return input_generate(input, step->element, options->n, options->real, options->seed,
                              &p->fault);
    }
    int code =
        input_read(input, step->element, options->input, step->max_n, options->round, &p->fault);
    if (code) return code;
    char where[PATH_MAX + 40];
    snprintf(where, sizeof where, "the length of %s",
             strcmp(options->input, "-") ? options->input : "stdin");
    code = options_check_n(step, input->n, where, &p->fault);
    if (!code) code = check_memory(p, input->n);
    if (!code) code = estimate_one(p, input->n);
    if (code) input_free(input);
    return code;
}

/* ---- the output ------------------------------------------------------------------------------ */

/* All files of an application, or none of them. */
static int write_own_output(struct program *p, struct bench *bench)
{
    const void *result;
    int code = bench_whole_result(bench, &result, &p->fault);
    if (code) return code;
    output_hold();
    code = p->step->application->write(&p->options, bench->input, result, &p->fault);
    return output_release(code, &p->fault);
}

static bool has_output(const struct program *p)
{
    const struct application *a = p->step->application;
    return a && a->writes ? a->writes(&p->options) : p->options.output != NULL;
}

static int write_output(struct program *p, struct bench *bench)
{
    if (p->step->application) return write_own_output(p, bench);
    enum element element = element_of_sum(p->step->element);
    size_t n = bench->input->n;
    struct output output;
    int code = output_begin(&output, p->options.output, element, n, &p->fault);
    if (code) return code;
    void *piece = malloc((n < PIECE ? n : PIECE) * element_size(element));
    if (!piece) code = fail(&p->fault, EXIT_USAGE, "no memory left to write the output.");
    if (code) output_abandon(&output);
    for (size_t start = 0; start < n && !code; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        code = bench_result(bench, start, piece, count, &p->fault);
        if (code)
            output_abandon(&output);
        else
            code = output_add(&output, piece, count, &p->fault);
    }
    free(piece);
    return code ? code : output_end(&output, &p->fault);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(struct program *p, const struct outcome *outcome)
{
    const struct options *options = &p->options;
    if (options->format != REPORT_TEXT) {
        struct record record;
        report_record(&record, p->step, options, p->device, outcome);
        report_print_record(p->report, &record, options, outcome, p->reported);
    } else if (options->sweep) {
        report_sweep_line(p->report, p->step, p->device, outcome);
    } else {
        report_heading(p->report, p->step, p->device);
        report_outcome(p->report, p->step, options, p->device, outcome);
        if (options->counters && outcome->counted) report_lines(p->report, &outcome->counters);
        report_still_bad(p->report, p->step);
    }
    fflush(p->report);
    p->reported++;
}

static void begin_report(struct program *p)
{
    const struct options *options = &p->options;
    record_open(p->report, options->format, !options->sweep);
    if (options->format != REPORT_TEXT || !options->sweep) return;
    report_heading(p->report, p->step, p->device);
    report_sweep_head(p->report, p->step, p->device);
}

static void end_report(struct program *p)
{
    record_close(p->report, p->options.format, !p->options.sweep);
    if (p->options.format == REPORT_TEXT && p->options.sweep) report_still_bad(p->report, p->step);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* One input: runs, verifies, times, writes, reports. */
static int run_once(struct program *p)
{
    struct input input;
    int code = get_input(p, &input);
    if (code) return code;
    p->options.input_rounded = input.rounded;
    struct bench bench;
    struct outcome outcome;
    bool emulated = p->device && p->device->emulated;
    code = bench_open(&bench, p->step, &p->options, &input, emulated, &p->fault);
    if (!code) {
        code = bench_run(&bench, &outcome, &p->fault);
        surroundings_restore();
        if (!code) {
            /* A wrong result is reported, not written. */
            if (has_output(p) && outcome.right) code = write_output(p, &bench);
            if (!code) {
                report(p, &outcome);
                code = outcome.right ? EXIT_RIGHT : EXIT_WRONG;
            }
            outcome_free(&outcome);
        }
        bench_close(&bench);
    }
    input_free(&input);
    return code;
}

/* Every size of the sweep that the step takes. */
static size_t sweep_sizes(const struct step *step, size_t sizes[SWEEP_SIZES])
{
    size_t count = 0;
    int first = SWEEP_FIRST;
    while (first > 0 && step->max_n && ((size_t)1 << first) > step->max_n) first--;
    for (int exponent = first; exponent <= SWEEP_LAST; exponent++)
        for (int more = -1; more <= 1; more++) {
            struct fault ignored;
            size_t n = ((size_t)1 << exponent) + (size_t)more;
            if (n > 0 && options_check_n(step, n, "n", &ignored) == 0) sizes[count++] = n;
        }
    return count;
}

/* Goes on after a wrong result. */
static int run_sweep(struct program *p)
{
    size_t sizes[SWEEP_SIZES], count = sweep_sizes(p->step, sizes), total = 0;
    int worst = EXIT_RIGHT;
    for (size_t i = 0; i < count; i++) total += sizes[i];
    if (count > 0) worst = estimate(p, sizes[count - 1], total);
    if (worst > EXIT_WRONG) return worst;
    for (size_t i = 0; i < count; i++) {
        p->options.n = sizes[i];
        int code = run_once(p);
        if (code > EXIT_WRONG) return code;
        if (code) worst = code;
    }
    return worst;
}

static void print_version(const struct step *step)
{
    printf("%s (%s), Upsweep %s, CUDA %d.%d\n", step_program(step).name, step->name,
           UPSWEEP_VERSION, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

static int run(struct program *p)
{
    struct options *options = &p->options;
    if (options->output) {
        int code = output_check(options->output, &p->fault);
        if (code) return code;
    }
    p->report = files_use_stdout(options, p->step->application) ? stderr : stdout;
    begin_report(p);
    int code = options->sweep ? run_sweep(p) : run_once(p);
    if (code <= EXIT_WRONG) end_report(p);
    return code;
}

/* A report that could not be written (a full disk), or that went to another file, is an error,
 * too. */
static int check_stdout(struct program *p)
{
    if (!standard_written())
        return fail(&p->fault, EXIT_USAGE, "cannot write the report to stdout.");
    return standard_check(&p->standard, &p->fault);
}

static int run_program(const struct step *step, int argc, char **argv)
{
    standard_hold();
    struct program program = {.step = step, .standard = standard_now()};
    struct device device;
    /* A closed pipe and a file beyond `ulimit -f` become errors of fwrite, rather than end the
     * program. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = options_parse(&program.options, step, argc, argv, &program.fault);
    if (code) return fault_say(&program.fault);
    if (program.options.help || program.options.version) {
        if (program.options.help)
            options_help(step, stdout);
        else
            print_version(step);
        code = check_stdout(&program);
        return code ? fault_say(&program.fault) : EXIT_RIGHT;
    }
    surroundings_note();
    code = files_check(&program.options, step->application, &program.fault);
    if (code) return fault_say(&program.fault);
    struct step chosen = step_for(step, program.options.variant);
    program.step = step = &chosen;
    if (!step->on_host) {
        code = device_choose(&program.options, &device, &program.fault);
        if (code) return fault_say(&program.fault);
        program.device = &device;
        if (program.options.counters && !device.emulated) {
            code = fail(&program.fault, EXIT_USAGE,
                        "--counters is the emulator's; use it with --device emu.");
            return fault_say(&program.fault);
        }
    }
    ended_catch_signals();
    if (step->run) return step->run(step, &program.options);
    code = run(&program);
    if (code <= EXIT_WRONG && check_stdout(&program)) code = program.fault.code;
    return code > EXIT_WRONG ? fault_say(&program.fault) : code;
}

int harness_main(const struct step *step, int argc, char **argv)
{
    ended_watch();
    return ended_in_time(run_program(step, argc, argv));
}
