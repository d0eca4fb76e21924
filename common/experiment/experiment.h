/*
 * experiment.h — what the small experiments share. An experiment is a program of one file,
 * steps/NN-name/experiments/NAME.cu. It shows one effect, checks its own results, and prints its
 * measurements as rows.
 *
 *     static int run(struct experiment *e, struct fault *fault)
 *     {
 *         e->lesson = "what to see in the rows, in one sentence.";
 *         …allocate with CUDA_CHECK; take few elements if e->emulated…
 *         experiment_at(e, "padded", "n=%zu", n);
 *         if (experiment_measure(e, my_launch, &my_arguments, &seconds, fault)) return fault->code;
 *         if (…the result is wrong…) return fail(fault, EXIT_WRONG, "…", …);
 *         if (!e->emulated) experiment_value(e, "rate", bytes / seconds, "B/s");
 *         return 0;
 *     }
 *
 *     int main(int argc, char **argv)
 *     {
 *         return experiment_main("NN-NAME", "what it shows, in one line", run, argc, argv);
 *     }
 *
 * `make experiment-NN-NAME` builds one as build/experiments/NN-NAME and runs it; `make experiments`
 * builds them all. Each takes --csv, --help and --device as the steps do. Without a GPU it runs on
 * the emulator.
 */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include "common/step/cuda_check.h"
#include "common/harness/run/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EXPERIMENT_TEXT 80

struct experiment {
    const char *name;  /* "00-cache-operators": step and name */
    const char *about; /* one line */
    const char *lesson; /* what to see in the rows; NULL: nothing is said */
    bool csv;
    bool emulated; /* then there are counters in place of times */
    struct device device;
    struct timer timer;
    char variant[EXPERIMENT_TEXT], parameter[EXPERIMENT_TEXT]; /* of the rows to come */
};

typedef int experiment_fn(struct experiment *, struct fault *);

/* Reads the options, chooses the device, runs the experiment, and prints the sentence of an error.
 * Returns the exit code. */
int experiment_main(const char *name, const char *about, experiment_fn *, int argc, char **argv);

/* Sets the variant and the parameter of the rows to come, without commas. The parameter may be
 * "". */
void experiment_at(struct experiment *, const char *variant, const char *parameter, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints a row: experiment,step,variant,parameter,metric,value,unit. */
void experiment_value(struct experiment *, const char *metric, double value, const char *unit);

/* Runs the work. On a GPU it is timed (median, cold L2), which gives a row `time`. On the emulator
 * it runs once, which gives a row for each memory counter that is not 0, named as in --csv of a
 * step; *seconds is 0. `seconds` may be NULL. Returns 0 or EXIT_DEVICE. */
int experiment_measure(struct experiment *, run_fn *work, void *context, double *seconds,
                       struct fault *);

/* Work that is compared with other work. `variant` names it in the rows; `prepare` (may be NULL)
 * runs before each run and is not timed. */
struct experiment_work {
    const char *variant;
    run_fn *prepare, *work;
    void *context;
    double seconds; /* the median, filled by experiment_side_by_side; 0 on the emulator */
};

/* Times all of them on a GPU in one process: in each round each runs once, in an order that
 * rotates, after the L2 was emptied by reading. A disturbance of the machine affects all. The time
 * that the host takes to launch is not part of a time. A row `time` for each. On the emulator each
 * runs once, as in experiment_measure. Returns 0 or EXIT_DEVICE. */
int experiment_side_by_side(struct experiment *, struct experiment_work *, size_t count,
                            struct fault *);

/* The time of one run of the work among many, one behind the other in a graph, with warm caches: a
 * row `time_in_graph`, which is a median. For small work, most of whose time as a single call is
 * the launch. `prepare` is not run. On the emulator it does nothing. Returns 0 or EXIT_DEVICE. */
int experiment_in_graph(struct experiment *, const struct experiment_work *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
