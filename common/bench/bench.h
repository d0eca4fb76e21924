/*
 * bench.h — all contenders at one size. Each is verified, timed in turns with the others,
 * and checked after each timed run. There are two ways of timing.
 *
 * Cold: every round runs each contender once, in an order that rotates. The L2 cache is emptied
 * before each run, and two CUDA events enclose the run. A disturbance of the machine affects all
 * contenders.
 *
 * Graph: events have a coarse resolution, and the time between two events contains more than the
 * kernel. So short runs are also timed in a CUDA graph that holds many of them. Each run has
 * numbers and an output of its own, which nothing has accessed since the L2 was emptied. Events
 * inside the graph enclose all runs, and the time is divided by their number. It includes the time
 * that the GPU takes from one kernel to the next.
 *
 * Neither time includes what the host takes to launch. The host's time is measured first. Before
 * the timed launch the GPU then empties the L2 again and again for at least as long.
 *
 * Verified: the first run is compared element by element, on the device. Before each timed run the
 * outputs are filled with poison, and then the L2 is emptied. After each timed run, and after the
 * second event, fingerprints (fingerprint.h) of the output are compared with those of the verified
 * run. If they differ, the run is verified like the first one.
 */
#ifndef SIDE_BY_SIDE_H
#define SIDE_BY_SIDE_H

#include "contender.h"
#include "data.h"

#include "common/harness/run/buffer.h"
#include "common/harness/run/fingerprint.h"
#include "common/harness/run/device.h"

#define GRAPH_BELOW 20e-6 /* seconds: if the fastest takes less, all are timed in graphs, too */

/* The state of memory after a run, as fingerprints: of the outputs with their guards, of the
 * workspace's two guards, and of the numbers. */
enum left { LEFT_OUT, LEFT_BEFORE_WORKSPACE, LEFT_BEHIND_WORKSPACE, LEFT_IN, LEFTS };

struct entry {
    struct contender contender;
    struct buffer workspace, host_out; /* base = NULL: none */
    struct timing cold, graph;         /* graph.reps = 0: not timed so */
    double lead;                       /* seconds that the host takes to launch it */
    uint64_t left[LEFTS];              /* of the verified run, or of the verified graph */
    bool right;
    char wrong[400]; /* what was wrong, or why there is no graph; "" */
};

struct side_by_side {
    const struct data *data;
    size_t n;
    int rounds; /* at most; slow contenders take part in fewer */
    struct timer timer;
    struct fingerprinter fingerprinter;
    struct buffer out;
    size_t runs;   /* in a graph */
    size_t stride; /* elements from one run's numbers to the next one's */
    size_t count;
    struct entry entries[CONTENDERS];
};

/* The number of runs in a graph for n elements: enough to fill the L2 twice, but at most a few
 * dozen. And the numbers that all of them need, which is n or more. */
size_t side_by_side_graph_runs(size_t n, enum element, size_t l2);
size_t side_by_side_numbers(size_t n, enum element, size_t l2);

/* Device memory for the contenders, besides the data's, in bytes. */
size_t side_by_side_device_bytes(const struct contender *, size_t count, size_t n, enum element,
                                 size_t l2);

/* Times contenders of the data's type side by side. The result is in the entries; everything else
 * is freed. Returns 0 (see right), EXIT_USAGE or EXIT_DEVICE. */
int side_by_side_time(struct side_by_side *, const struct data *, const struct contender *,
                      size_t count, size_t n, size_t l2, enum flush, int rounds, struct fault *);

/* The bytes that a contender has to read and to write for n elements; and its median time in
 * seconds, in graphs if it was timed so. */
double side_by_side_bytes(const struct side_by_side *);
double entry_seconds(const struct entry *);
/* The fastest way to copy, and CUB's scan. NULL if it does not take part. */
const struct entry *side_by_side_roof(const struct side_by_side *);
const struct entry *side_by_side_cub(const struct side_by_side *);

/* side_by_side_verify.c: fills the output with poison and runs a contender, in `graph` or, if that
 * is NULL, once. Then compares every element, and looks at the guards and at the input. Any error
 * is described in entry->wrong. */
int side_by_side_verify(struct side_by_side *, struct entry *, cudaGraphExec_t graph,
                        struct fault *);

/* Fills the contender's outputs with poison, in the timer's stream. */
cudaError_t side_by_side_poison(const struct side_by_side *, const struct entry *);
/* Compares the state of memory after a timed run (`in_graph`: a timed graph) with that after the
 * verified one. If the result is wrong, entry->wrong begins with `run`, the name of the run. */
int side_by_side_check(struct side_by_side *, struct entry *, bool in_graph, const char *run,
                       struct fault *);

/* One run of a contender, on the numbers from window * stride on. */
cudaError_t side_by_side_launch(const struct side_by_side *, const struct entry *, size_t window,
                                cudaStream_t);
/* Keeps how long the host took to launch a run. The least time so far counts: the first run also
 * loads the kernels, and a later one may have waited for room in the queue. */
void entry_note_lead(struct entry *, double seconds);
/* The bytes that a way to copy copies. */
size_t side_by_side_copied_bytes(const struct side_by_side *);

#endif
