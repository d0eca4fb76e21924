/* harness.c — runs a step: checks of memory and files, and the order of the parts. */
#define _GNU_SOURCE
#include "common/harness/input/input.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"
#include "common/harness/run/device.h"
#include "common/harness/traced/traced.h"
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

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
    const struct ranks *ranks = p->subject.ranks;
    size_t device_needs, host_needs, host_has = host_memory() / (size_t)(ranks ? ranks->here : 1);
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

/* ---- the files that are written -------------------------------------------------------------- */

#define WRITTEN_FILES (2 + OWN_FILES)

/* Those of --output, --trace and the step's own options that are given; returns how many. */
static size_t written_files(const struct program *p, struct own_file files[WRITTEN_FILES])
{
    const struct subject *s = &p->subject;
    files[0] = (struct own_file){"--output", p->options.output, true};
    files[1] = (struct own_file){"--trace", p->options.trace, true};
    size_t count = 2 + (s->verbs->files ? s->verbs->files(s->self, files + 2) : 0), found = 0;
    for (size_t i = 0; i < count; i++)
        if (files[i].written && files[i].path) files[found++] = files[i];
    return found;
}

static bool has_output(const struct program *p)
{
    struct own_file files[WRITTEN_FILES];
    return written_files(p, files) > (p->options.trace != NULL);
}

/* Each of them must be writable, and go to a place of its own: two on stdout would be mixed. */
static int check_files(struct program *p)
{
    struct own_file files[WRITTEN_FILES];
    size_t count = written_files(p, files);
    int code = 0;
    p->report = stdout;
    for (size_t i = 0; i < count && !code; i++) {
        const char *path = files[i].path;
        bool to_stdout = output_is_stdout(path);
        if (to_stdout) p->report = stderr;
        code = output_check(path, &p->fault);
        for (size_t k = 0; k < i && !code; k++)
            if (to_stdout ? output_is_stdout(files[k].path) : output_is_same(files[k].path, path))
                code = fail(&p->fault, EXIT_USAGE,
                            "%s and %s both go to %s; write one of them to %s file.",
                            files[k].option, files[i].option, to_stdout ? "stdout" : path,
                            to_stdout ? "a" : "another");
    }
    return code;
}

/* ---- the input ------------------------------------------------------------------------------- */

/* The memory is checked before an input is generated; that of a file says only after it has been
 * read how large it is. */
static int get_input(struct program *p, struct input *input)
{
    struct subject *s = &p->subject;
    if (!p->options.input) {
        int code = s->verbs->plan(s, input, &p->fault);
        s->element = input->element;
        if (!code) code = check_memory(p, input->n);
        if (code) return code;
    }
    int code = s->verbs->input(s, input, &p->fault);
    if (code) return code;
    s->element = input->element;
    if (p->options.input) code = check_memory(p, input->n);
    if (code) input_free(input);
    return code;
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
            if (has_output(p) && outcome.right) code = runs_write(&runs, &p->fault);
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
    enum report_format format = p->options.format;
    record_open(p->report, format, true);
    int code = run_once(p);
    if (code <= EXIT_WRONG) record_close(p->report, format, true);
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

/* Everything from the command line to the device, unless the program runs nothing itself. */
static int begin(struct program *p, struct device *device, int argc, char **argv)
{
    struct options *options = &p->options;
    int code = options_parse(options, p->subject.step, p->subject.self, argc, argv, &p->fault);
    if (code || options->help || options->version || options->levels || options->quiz) return code;
    code = check_files(p);
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
    const struct verbs *verbs = p->subject.verbs;
    struct device device = {0};
    int code = begin(p, &device, argc, argv);
    if (verbs->join) code = verbs->join(&p->subject, &device, code, &p->fault);
    if (code) return code;
    if (p->options.help || p->options.version) return inform(p);
    if (p->options.levels || p->options.quiz) return run_traced(p);
    if (step->run) return step->run(&p->subject);
    code = run(p);
    if (code <= EXIT_WRONG && check_stdout(p)) code = p->fault.code;
    return code;
}

int harness_main(const struct step *step, int argc, char **argv)
{
    struct program program = {0};
    signal(SIGXFSZ, SIG_IGN); /* a file beyond `ulimit -f` becomes an error of fwrite */
    subject_open(&program.subject, step, &program.options);
    int code = run_program(&program, argc, argv);
    const struct ranks *ranks = program.subject.ranks;
    code = ranks_agree(ranks, code, &program.fault);
    if (code > EXIT_WRONG && *program.fault.text && (!ranks || ranks->rank == 0))
        fault_say(&program.fault);
    subject_close(&program.subject);
    return code;
}
