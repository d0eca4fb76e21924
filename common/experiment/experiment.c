/* experiment.c — what the small experiments share, and times in a graph of many launches. */
#define _GNU_SOURCE /* PATH_MAX */
#include "experiment.h"
#include "common/files/option_table.h"
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "common/harness/run/runs.h"
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- experiment ------------------------------------------------------------------------------ */

/* Timed runs of each piece of work; its median is taken. */
#define REPS 15

/* ---- options --------------------------------------------------------------------------------- */

/* What the command line sets. */
struct asked {
    struct options options;
    bool csv;
};

static int set_device(void *to, const char *value, struct fault *fault)
{
    return options_device(&((struct asked *)to)->options.device, "--device ", value, fault);
}

static const struct option_row rows[] = {
    OPTION_FLAG("csv", "rows of experiment,step,variant,parameter,metric,value,unit", struct asked,
                csv),
    OPTION("device", "WHERE", "cuda or emu (default: cuda if there is a usable GPU; or DEVICE=)",
           set_device),
    OPTION_FLAG("help", "this", struct asked, options.help),
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

enum { HELP_COLUMN = 18 };

static void help(const struct experiment *e, const char *path)
{
    char program[PATH_MAX];
    visible(program, sizeof program, path);
    printf("usage: %s [OPTION]…\n\n%s.\n\n", program, e->about);
    option_print(table, HELP_COLUMN, stdout);
}

static int parse(struct asked *asked, int argc, char **argv, struct fault *fault)
{
    struct command_line line = {.count = argc, .arguments = argv, .at = 1};
    const char *device = getenv("DEVICE");
    int code = device && *device
                   ? options_device(&asked->options.device, "DEVICE=", device, fault)
                   : 0;
    return code ? code : option_take_all(table, &line, asked, NULL, 0, fault);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_head(const struct experiment *e)
{
    if (e->csv) {
        printf("experiment,step,variant,parameter,metric,value,unit\n");
        return;
    }
    struct style style = style_of(stdout);
    printf("%s%s%s: %s\n\n  device  %s\n\n%s  %-26s%-26s%-18s%s%s\n", style.strong, e->name,
           style.end, e->about, e->device.name, style.strong, "variant", "parameter", "metric",
           "value", style.end);
}

/* The emulator has counters and no times, so the chapter is named that has the times. */
static void print_lesson(const struct experiment *e)
{
    if (e->csv || !e->lesson) return;
    printf("\nWhat to see: %s\n", e->lesson);
    if (e->emulated)
        printf("The emulator measures no times; chapter %.2s in notes/ has those of an H200.\n",
               e->name);
}

static int measure(struct experiment *e, const struct options *options, experiment_fn *run,
                   struct fault *fault)
{
    int code = device_choose(options, &e->device, fault);
    e->emulated = e->device.emulated;
    if (!code && !e->emulated) code = timer_open(&e->timer, false, fault);
    if (!code) {
        print_head(e);
        code = run(e, fault);
        if (!code) print_lesson(e);
    }
    timer_close(&e->timer);
    return code;
}

int experiment_main(const char *name, const char *about, experiment_fn *run, int argc, char **argv)
{
    struct experiment e = {.name = name, .about = about};
    struct asked asked = {.options = {.argv = argv}};
    struct fault fault = {0};

    int code = parse(&asked, argc, argv, &fault);
    e.csv = asked.csv;
    if (!code && asked.options.help)
        help(&e, argv[0]);
    else if (!code)
        code = measure(&e, &asked.options, run, &fault);
    if (!code && !standard_written()) code = fail(&fault, EXIT_USAGE, "cannot write to stdout.");
    return code ? fault_say(&fault) : EXIT_RIGHT;
}

void experiment_at(struct experiment *e, const char *variant, const char *parameter, ...)
{
    va_list arguments;
    va_start(arguments, parameter);
    snprintf(e->variant, sizeof e->variant, "%s", variant);
    vsnprintf(e->parameter, sizeof e->parameter, parameter, arguments);
    va_end(arguments);
}

void experiment_value(struct experiment *e, const char *metric, double value, const char *unit)
{
    if (e->csv) {
        printf("%s,%d,%s,%s,%s,%.10g,%s\n", e->name + strcspn(e->name, "-") + 1, atoi(e->name),
               e->variant, e->parameter, metric, value, unit);
        return;
    }
    printf("  %-26s%-26s%-18s", e->variant, e->parameter, metric);
    if (strcmp(unit, "s") == 0)
        printf("%s\n", format_seconds(value).s);
    else if (strcmp(unit, "B/s") == 0)
        printf("%s\n", format_rate(value).s);
    else
        printf("%.10g%s%s\n", value, *unit ? " " : "", unit);
}

static void count(struct experiment *e, const char *metric, uint64_t value)
{
    if (value) experiment_value(e, metric, (double)value, "");
}

int experiment_measure(struct experiment *e, run_fn *work, void *context, double *seconds,
                       struct fault *fault)
{
    struct timing timing = {0};
    if (seconds) *seconds = 0;
    if (!e->emulated) {
        int code = timer_run(&e->timer, NULL, work, context, REPS, &timing, fault);
        if (code) return code;
        experiment_value(e, "time", timing.median, "s");
        if (seconds) *seconds = timing.median;
        return 0;
    }
    struct counters counters;
    counters_begin();
    cudaError_t error = work(context, e->timer.stream);
    if (!error) error = cudaDeviceSynchronize();
    counters_end(&counters);
    const struct emu_counts *total = &counters.total;
    if (!error) {
        count(e, "requests_ld", total->global_ld.requests);
        count(e, "requests_st", total->global_st.requests);
        count(e, "sectors_ld", total->global_ld.sectors);
        count(e, "sectors_st", total->global_st.sectors);
        count(e, "requests_atom", total->global_atom.requests + total->global_red.requests);
        count(e, "wavefronts_ld", total->shared_ld.wavefronts);
        count(e, "wavefronts_st", total->shared_st.wavefronts);
        count(e, "conflicts_ld", counters_conflicts(&total->shared_ld));
        count(e, "conflicts_st", counters_conflicts(&total->shared_st));
        count(e, "barriers", total->barriers);
    }
    counters_free(&counters);
    if (error) return cuda_fault(fault, error, "the experiment's kernel");
    return 0;
}

/* ---- side by side ---------------------------------------------------------------------------- */

#define ROUNDS 21
#define WORKS  16 /* at most */

/* Runs the work to warm up, and measures how long the host takes to launch it. */
static int warm_up(struct experiment *e, struct experiment_work *w, double *lead,
                   struct fault *fault)
{
    for (int i = 0; i < 2; i++) { /* the first run also loads the kernels */
        if (w->prepare) CUDA_CHECK(fault, w->prepare(w->context, e->timer.stream));
        CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
        double start = clock_seconds();
        CUDA_CHECK(fault, w->work(w->context, e->timer.stream));
        *lead = clock_seconds() - start;
        CUDA_CHECK(fault, cudaStreamSynchronize(e->timer.stream));
    }
    if (*lead > LEAD_MOST) *lead = LEAD_MOST;
    return 0;
}

static int time_in_turns(struct experiment *e, struct experiment_work *works, size_t count,
                         struct fault *fault)
{
    double seconds[WORKS][ROUNDS];
    struct turn turns[WORKS];
    struct timer timer = e->timer;
    int code = 0;
    timer.how = FLUSH_READ;
    for (size_t i = 0; i < count && !code; i++) {
        struct experiment_work *w = &works[i];
        turns[i] = (struct turn){.prepare = w->prepare, .work = w->work, .context = w->context};
        turns[i].reps = ROUNDS;
        turns[i].seconds = seconds[i];
        code = warm_up(e, w, &turns[i].lead, fault);
    }
    if (!code) code = timer_turns(&timer, turns, count, NULL, fault);
    for (size_t i = 0; i < count && !code; i++) {
        struct timing timing;
        timing_summarize(&timing, seconds[i], ROUNDS);
        works[i].seconds = timing.median;
        snprintf(e->variant, sizeof e->variant, "%s", works[i].variant);
        experiment_value(e, "time", timing.median, "s");
        experiment_value(e, "time_lower", timing.lower, "s");
        experiment_value(e, "time_upper", timing.upper, "s");
    }
    return code;
}

int experiment_side_by_side(struct experiment *e, struct experiment_work *works, size_t count,
                            struct fault *fault)
{
    if (!e->emulated) return time_in_turns(e, works, count, fault);
    int code = 0;
    for (size_t i = 0; i < count && !code; i++) {
        struct experiment_work *w = &works[i];
        snprintf(e->variant, sizeof e->variant, "%s", w->variant);
        if (w->prepare) CUDA_CHECK(fault, w->prepare(w->context, e->timer.stream));
        code = experiment_measure(e, w->work, w->context, &w->seconds, fault);
    }
    return code;
}

/* ---- the time of a launch in a graph of many: see experiment.h ------------------------------- */

#define RUNS_IN_GRAPH 20
#define GRAPH_ROUNDS  11

/* Captures RUNS_IN_GRAPH runs of the work, one behind the other. */
static int capture(struct experiment *e, const struct experiment_work *w, cudaGraphExec_t *runs,
                   struct fault *fault)
{
    cudaStream_t stream = e->timer.stream;
    cudaGraph_t graph;
    CUDA_CHECK(fault, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaError_t error = cudaSuccess;
    for (int i = 0; i < RUNS_IN_GRAPH && !error; i++) error = w->work(w->context, stream);
    cudaError_t end = cudaStreamEndCapture(stream, &graph);
    CUDA_CHECK(fault, error);
    CUDA_CHECK(fault, end);
    error = cudaGraphInstantiate(runs, graph, 0);
    cudaGraphDestroy(graph);
    CUDA_CHECK(fault, error);
    return 0;
}

static cudaError_t launch_graph(void *context, cudaStream_t stream)
{
    return cudaGraphLaunch(*(cudaGraphExec_t *)context, stream);
}

/* The first launch, which is not timed, uploads the graph. The L2 stays as it is. */
int experiment_in_graph(struct experiment *e, const struct experiment_work *w, struct fault *fault)
{
    cudaGraphExec_t runs;
    struct timing timing;
    struct timer timer = e->timer;
    timer.flush = NULL;
    if (e->emulated) return 0;
    int code = capture(e, w, &runs, fault);
    if (code) return code;
    code = timer_run(&timer, NULL, launch_graph, &runs, GRAPH_ROUNDS, &timing, fault);
    cudaGraphExecDestroy(runs);
    if (code) return code;
    snprintf(e->variant, sizeof e->variant, "%s", w->variant);
    experiment_value(e, "time_in_graph", timing.median / RUNS_IN_GRAPH, "s");
    return 0;
}
