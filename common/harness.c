#define _GNU_SOURCE
#include "harness.h"

#include "device.h"
#include "format.h"
#include "input.h"
#include "output.h"
#include "report.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* --sweep: from 2^10 to 2^24, or from the largest power of two that the step takes. */
#define SWEEP_FIRST 10
#define SWEEP_LAST  24

#define PIECE ((size_t)1 << 20) /* elements written to the output at a time */

/* What one run of the program has at hand. */
struct session {
    const struct step *step;
    struct options options;
    const struct device *device; /* NULL: the step runs on the host */
    FILE *report;                /* stdout, or stderr if the output goes to stdout */
    size_t reported;             /* outcomes so far */
    struct fault fault;
};

/* ---- before a run: is there room? ------------------------------------------------------------ */

static int check_memory(struct session *s, size_t n)
{
    size_t device_needs, host_needs, host_has = device_host_memory();
    bool emulated = s->device && s->device->emulated;
    if (!bench_memory(s->step, &s->options, n, emulated, &device_needs, &host_needs))
        return fail(&s->fault, EXIT_USAGE, "%zu elements are more than any memory holds.", n);
    if (s->device) device_needs += timing_flush_bytes(emulated, s->device->l2);
    if (s->device && device_needs > s->device->memory_free)
        return fail(&s->fault, EXIT_USAGE,
                    "%zu elements need %s of device memory, but %s are free; take fewer.", n,
                    format_bytes(device_needs).s, format_bytes(s->device->memory_free).s);
    if (host_needs > host_has)
        return fail(&s->fault, EXIT_USAGE,
                    "%zu elements need %s of host memory%s, but %s are available; take fewer.", n,
                    format_bytes(host_needs).s, emulated ? " under the emulator" : "",
                    format_bytes(host_has).s);
    return 0;
}

/* ---- the input ------------------------------------------------------------------------------- */

static int get_input(struct session *s, struct input *input)
{
    const struct step *step = s->step;
    const struct options *options = &s->options;
    if (!options->input) {
        int code = check_memory(s, options->n);
        return code ? code
                    : input_generate(input, step->element, options->n, options->real, options->seed,
                                     &s->fault);
    }
    int code =
        input_read(input, step->element, options->input, step->max_n, options->round, &s->fault);
    if (code) return code;
    char where[240];
    snprintf(where, sizeof where, "the length of %.200s",
             strcmp(options->input, "-") ? options->input : "stdin");
    code = options_check_n(step, input->n, where, &s->fault);
    if (!code) code = check_memory(s, input->n);
    if (code) input_free(input);
    return code;
}

/* ---- the output ------------------------------------------------------------------------------ */

static int write_output(struct session *s, struct bench *bench)
{
    enum element element = element_of_sum(s->step->element);
    size_t n = bench->input->n;
    struct output output;
    int code = output_begin(&output, s->options.output, element, n, &s->fault);
    if (code) return code;
    void *piece = malloc((n < PIECE ? n : PIECE) * element_size(element));
    if (!piece) code = fail(&s->fault, EXIT_USAGE, "no memory left to write the output.");
    if (code) output_abandon(&output);
    for (size_t start = 0; start < n && !code; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        code = bench_result(bench, start, piece, count, &s->fault);
        if (code)
            output_abandon(&output);
        else
            code = output_add(&output, piece, count, &s->fault);
    }
    free(piece);
    return code ? code : output_end(&output, &s->fault);
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(struct session *s, const struct outcome *outcome)
{
    const struct options *options = &s->options;
    if (options->format != REPORT_TEXT) {
        struct record record;
        report_record(&record, s->step, options, s->device, outcome);
        report_print_record(s->report, &record, options, outcome, s->reported);
    } else if (options->sweep) {
        report_sweep_line(s->report, s->step, s->device, outcome);
    } else {
        report_heading(s->report, s->step, s->device);
        report_outcome(s->report, s->step, options, s->device, outcome);
        if (options->counters && outcome->counted) report_lines(s->report, &outcome->counters);
        report_still_bad(s->report, s->step);
    }
    fflush(s->report);
    s->reported++;
}

static void begin_report(struct session *s)
{
    const struct options *options = &s->options;
    record_open(s->report, options->format, !options->sweep);
    if (options->format != REPORT_TEXT || !options->sweep) return;
    report_heading(s->report, s->step, s->device);
    report_sweep_head(s->report, s->step, s->device);
}

static void end_report(struct session *s)
{
    record_close(s->report, s->options.format, !s->options.sweep);
    if (s->options.format == REPORT_TEXT && s->options.sweep) report_still_bad(s->report, s->step);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* One input: runs, verifies, times, writes, reports. */
static int run_once(struct session *s)
{
    struct input input;
    int code = get_input(s, &input);
    if (code) return code;
    struct bench bench;
    struct outcome outcome;
    bool emulated = s->device && s->device->emulated;
    code = bench_open(&bench, s->step, &s->options, &input, emulated, &s->fault);
    if (!code) {
        code = bench_run(&bench, &outcome, &s->fault);
        if (!code) {
            /* A wrong result is reported, not written. */
            if (s->options.output && outcome.right) code = write_output(s, &bench);
            if (!code) {
                report(s, &outcome);
                code = outcome.right ? EXIT_RIGHT : EXIT_WRONG;
            }
            outcome_free(&outcome);
        }
        bench_close(&bench);
    }
    input_free(&input);
    return code;
}

/* Every size of the sweep that the step takes; goes on after a wrong result. */
static int run_sweep(struct session *s)
{
    const struct step *step = s->step;
    int first = SWEEP_FIRST, worst = EXIT_RIGHT;
    while (first > 0 && step->max_n && ((size_t)1 << first) > step->max_n) first--;
    for (int exponent = first; exponent <= SWEEP_LAST; exponent++) {
        size_t power = (size_t)1 << exponent;
        const size_t sizes[] = {power - 1, power, power + 1};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct fault ignored;
            s->options.n = sizes[i];
            if (sizes[i] == 0 || options_check_n(step, sizes[i], "n", &ignored)) continue;
            int code = run_once(s);
            if (code > EXIT_WRONG) return code;
            if (code) worst = code;
        }
    }
    return worst;
}

static void print_version(const struct step *step)
{
    printf("step%d (%s), Upsweep %s, CUDA %d.%d\n", step->number, step->name, UPSWEEP_VERSION,
           CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
}

static int run(struct session *s)
{
    struct options *options = &s->options;
    if (options->output) {
        int code = output_check(options->output, &s->fault);
        if (code) return code;
    }
    s->report = options->output && strcmp(options->output, "-") == 0 ? stderr : stdout;
    begin_report(s);
    int code = options->sweep ? run_sweep(s) : run_once(s);
    if (code <= EXIT_WRONG) end_report(s);
    return code;
}

/* A report that could not be written (a full disk) is an error, too. */
static int check_stdout(struct session *s)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    return fail(&s->fault, EXIT_USAGE, "cannot write the report to stdout.");
}

int harness_main(const struct step *step, int argc, char **argv)
{
    struct session session = {.step = step};
    struct device device;
    /* A closed pipe or a file beyond `ulimit -f` is an error of fwrite, not the program's end. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    int code = options_parse(&session.options, step, argc, argv, &session.fault);
    if (code) return fault_say(&session.fault);
    if (session.options.help || session.options.version) {
        if (session.options.help)
            options_help(step, stdout);
        else
            print_version(step);
        code = check_stdout(&session);
        return code ? fault_say(&session.fault) : EXIT_RIGHT;
    }
    if (!step->on_host) {
        code = device_choose(&session.options, &device, &session.fault);
        if (code) return fault_say(&session.fault);
        session.device = &device;
    }
    if (step->run) return step->run(step, &session.options);
    code = run(&session);
    if (code <= EXIT_WRONG && check_stdout(&session)) code = session.fault.code;
    return code > EXIT_WRONG ? fault_say(&session.fault) : code;
}
