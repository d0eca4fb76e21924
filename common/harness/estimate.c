#include "harness.h"

#include "common/harness/print/format.h"
#include "common/harness/print/progress.h"

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

int estimate_say(const struct subject *s, const struct device *device, size_t n,
                 struct outcome *wrong, struct fault *fault)
{
    if ((device && !device->emulated) || (!s->verbs->sums && s->options->input)) return 0;
    if (!progress_is_wanted() || is_reported(s->options, device)) return 0;
    int code = time_and_say(s, device != NULL, n, (struct complaint){wrong, fault});
    return code == NO_TIME ? 0 : code;
}
