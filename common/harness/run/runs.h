/*
 * bench.h — runs one step on one input: guarded buffers, a verified run, a run that tests the
 * contract of step.h, and timed runs. Each timed run is checked, too. The harness uses it, and so
 * do the tests of deliberately wrong scans.
 *
 * The first run is verified element by element. The second run scans the same numbers in reverse
 * order, so results that an earlier call has kept are of no use. It is captured into a graph, and
 * the graph is run. So only work in the given stream counts. The second run is verified in the
 * same way.
 *
 * Timed runs alternate between the two orders. In each of them two other elements have changed
 * places (exchange.h), which is taken back afterwards. After each of them a fingerprint of the
 * output, the input and all guards is compared with that of the verified run of the same order. If
 * the fingerprints differ, the run is verified element by element, since sums of floats may be
 * rounded differently from run to run. At the end a call is captured once more.
 */
#ifndef BENCH_H
#define BENCH_H

#include "buffer.h"
#include "contract.h"
#include "exchange.h"
#include "counters.h"
#include "fingerprint.h"
#include "common/harness/input/input.h"
#include "common/step/options.h"
#include "roof.h"
#include "timing.h"
#include "common/harness/verify/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result. Its fields are in the order in which they are filled in. */
struct outcome {
    size_t n;
    struct launch_shape shape;
    bool verified;              /* false: --verify none */
    struct verdict verdict;     /* of all verified runs together, or of the one that is wrong */
    char damage[CONTRACT_TEXT]; /* a buffer that was written where it should not be, or another
                                   breach of the contract; "" */
    char run[80];               /* which run is wrong: "timed run 3 of 12"; "": the first */
    bool right;                 /* verdict.right and no damage; true if not verified */
    bool counted;
    struct counters counters; /* of the first run */
    struct timing timing;
    bool roofed;
    struct roof roof;
    double least_bytes, moved_bytes; /* of an application's first run: application.h */
    char result[200];                /* a line about its result */
};

/* The order in which the input's numbers are scanned. */
enum order { AS_GIVEN, REVERSED, ORDERS };

/* The state of memory after a run, as fingerprints: of the output and the input with their guards,
 * and of the workspace's two guards. */
enum mark { MARK_OUT, MARK_IN, MARK_BEFORE_WORKSPACE, MARK_BEHIND_WORKSPACE, MARKS };

struct bench {
    const struct step *step;
    const struct options *options;
    const struct input *input;
    bool emulated;
    enum order order;       /* of the numbers in `in` */
    struct problem problem; /* for that order, as are the facts */
    struct facts facts;
    struct problem problems[ORDERS]; /* REVERSED: after bench_reverse */
    struct facts all_facts[ORDERS];
    double *references[ORDERS]; /* step.reference's and one more for --inclusive, or NULL */
    void *reversed;             /* host memory for the input in that order, or NULL */
    void *piece;                /* host memory for a part of an array: exchange_room() at least */
    struct buffer in, out;      /* in place: out is where the scan happens, in keeps the input */
    struct buffer workspace, shifted; /* shifted: --inclusive's result; base = NULL: none */
    struct timer timer;
    struct fingerprinter fingerprinter;
    uint64_t marks[ORDERS][MARKS]; /* of the verified runs */
    /* Every element is compared, even without --verify full: the run differs from the verified
     * ones. */
    bool whole;
};

/* The device and host memory that bench_open and the harness need for n elements, in bytes. False:
 * a size_t cannot hold it. */
bool bench_memory(const struct step *, const struct options *, size_t n, bool emulated,
                  size_t *device, size_t *host);

/* Allocates buffers and uploads the input, which has to stay until bench_close. After a failure
 * there is nothing to close. */
int bench_open(struct bench *, const struct step *, const struct options *, const struct input *,
               bool emulated, struct fault *);
/* Runs, verifies, times. Returns 0 (see outcome->right) or EXIT_DEVICE. */
int bench_run(struct bench *, struct outcome *, struct fault *);
/* Copies `count` results, from index `start` on, to the host. */
int bench_result(struct bench *, size_t start, void *to, size_t count, struct fault *);
/* The same for the whole result of an application; it stays where it is until bench_close. */
int bench_whole_result(struct bench *, const void **result, struct fault *);
void bench_close(struct bench *);

void outcome_free(struct outcome *);

/* ---- runs.c, for runs_do.c ---------------------------------------------------------------- */

/* Verifies on the host the result of the run that has just ended. The outcome keeps the first error
 * found; while there is no error, its verdict is that of all runs so far. Returns 0 or
 * EXIT_DEVICE. */
int bench_verify(struct bench *, struct outcome *, struct fault *);

/* Makes the problem of the reversed input. Returns 0, EXIT_USAGE (memory) or EXIT_DEVICE. */
int bench_reverse(struct bench *, struct fault *);

/* Puts the numbers in this order into the input's buffer. */
cudaError_t bench_set_order(struct bench *, enum order, cudaStream_t);

/* Waits for the stream. */
int bench_wait(const struct bench *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
