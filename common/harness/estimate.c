#include "estimate.h"

#include "common/harness/application.h"
#include "common/harness/report/format.h"
#include "common/harness/report/progress.h"
#include "common/harness/run/bench.h"

#include <stdlib.h>

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

static int get_input(struct input *input, struct step *step, const struct options *o,
                     struct fault *fault)
{
    const struct application *a = step->application;
    if (!a || !a->input) return input_generate(input, step->element, o->n, o->real, o->seed, fault);
    int code = a->input(input, o, fault);
    if (!code) step->element = input->element;
    return code;
}

static bool run(const struct step *step, const struct options *o, const struct input *input,
                bool emulated)
{
    struct bench bench;
    struct outcome outcome;
    struct fault fault;
    if (bench_open(&bench, step, o, input, emulated, &fault)) return false;
    int code = bench_run(&bench, &outcome, &fault);
    bench_close(&bench);
    if (code) return false;
    outcome_free(&outcome);
    return outcome.right;
}

/* The time of everything from the input to the last of `reps` timed runs. False: it
 * has no time, because something went wrong, which the runs themselves will report. */
static bool time_all(struct step step, struct options o, bool emulated, size_t n, int reps,
                     double *seconds)
{
    struct input input;
    struct fault fault;
    o.n = n;
    o.n_given = true;
    o.input = NULL;
    o.reps = reps;
    double start = clock_seconds();
    if (get_input(&input, &step, &o, &fault)) return false;
    bool right = run(&step, &o, &input, emulated);
    input_free(&input);
    *seconds = clock_seconds() - start;
    return right;
}

/* The same for any number of timed runs, of which only a few are made. */
static bool time_reps(const struct step *step, const struct options *o, bool emulated, size_t n,
                      int reps, double *seconds)
{
    double with_more = 0;
    int others = reps - 1, more = 0;
    if (!time_all(*step, *o, emulated, n, reps ? 1 : 0, seconds)) return false;
    while (more < others && with_more - *seconds < ENOUGH) {
        more = more ? 4 * more : MORE_REPS;
        if (more > others) more = others;
        if (!time_all(*step, *o, emulated, n, 1 + more, &with_more)) return false;
    }
    if (with_more > *seconds) *seconds += (with_more - *seconds) / more * others;
    return true;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static void say(const struct step *step, const struct options *o, int reps, size_t elements,
                double seconds)
{
    bool sample = o->verify == VERIFY_FULL && !step->application; /* options_parse refuses it */
    fprintf(stderr,
            "%s: this will take about %s, estimated by runs on %s elements; faster: %s%s%s\n",
            step_program(step).name, format_duration(seconds).s, format_count(elements).s,
            o->sweep ? "one size by --n" : "fewer elements", reps ? ", --reps 0" : "",
            sample ? ", --verify sample" : "");
    fflush(stderr);
}

void estimate_say(const struct step *step, const struct options *o, const struct device *device,
                  size_t n, size_t total)
{
    /* The default is one timed run if a run takes long. */
    int reps = o->reps == REPS_DEFAULT ? 1 : o->reps;
    bool emulated = device != NULL;
    double seconds;
    if ((device && !device->emulated) || (step->application && o->input)) return;
    if (!progress_is_wanted() || is_reported(o, device)) return;
    if ((double)total * (reps + 2) < LOOK_FROM) return;
    /* Kernels are loaded in this one. */
    if (!time_all(*step, *o, emulated, sample_of(n, QUICK), 1, &seconds)) return;
    for (int i = 0; i < 2; i++) {
        size_t sample = sample_of(n, i ? LARGE : QUICK);
        if (!time_reps(step, o, emulated, sample, reps, &seconds)) return;
        seconds *= (double)total / (double)sample;
        if (seconds < LONG) return;
        if (i) say(step, o, reps, sample, seconds);
    }
}
