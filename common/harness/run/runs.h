/*
 * runs.h — runs one subject on one input: guarded buffers, a verified run, a run that tests the
 * contract of step.h, and timed runs. Each timed run is checked, too. The harness uses it, and so
 * do the tests of deliberately wrong scans.
 *
 * The first run is verified element by element. The second run is captured into a graph, and the
 * graph is run. So only work in the given stream counts.
 *
 * After each run but the first, a fingerprint of the output, the input and all guards is compared
 * with that of the first run. If the fingerprints differ, the run is verified element by element,
 * since sums of floats may be rounded differently from run to run. At the end a call is captured
 * once more.
 */
#ifndef RUNS_H
#define RUNS_H

#include "buffer.h"
#include "contract.h"
#include "counters.h"
#include "fingerprint.h"
#include "launches.h"
#include "result.h"
#include "scan_verbs.h"
#include "common/harness/input/input.h"
#include "common/step/options.h"
#include "roof.h"
#include "device.h"
#include "common/harness/verify/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result. Its fields are in the order in which they are filled in. */
struct outcome {
    size_t n;
    struct launches launches;
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
    struct description description; /* traffic and result only of a right first run */
};

/* The state of memory after a run, as fingerprints: of the output and the input with their guards,
 * and of the workspace's two guards. */
enum mark { MARK_OUT, MARK_IN, MARK_BEFORE_WORKSPACE, MARK_BEHIND_WORKSPACE, MARKS };

struct runs {
    const struct subject *subject;
    const struct input *input;
    bool emulated;
    struct problem problem;
    struct facts facts;
    double *reference;    /* step.reference's and one more for --inclusive, or NULL */
    void *piece;          /* host memory for a part of an array */
    struct result result; /* the one that is judged and written */
    struct buffer in, out;      /* in place: out is where the scan happens, in keeps the input */
    struct buffer workspace, shifted; /* shifted: --inclusive's result; base = NULL: none */
    struct timer timer;
    struct fingerprinter fingerprinter;
    uint64_t marks[MARKS]; /* of the first run */
};

/* The device and host memory that runs_open and the harness need for n elements, in bytes. False:
 * a size_t cannot hold it. */
bool runs_memory(const struct subject *, size_t n, bool emulated, size_t *device, size_t *host);

/* Allocates buffers and uploads the input, which has to stay until runs_close. After a failure
 * there is nothing to close. */
int runs_open(struct runs *, const struct subject *, const struct input *, bool emulated,
              struct fault *);
/* Runs, judges, times. Returns 0 (see outcome->right) or EXIT_DEVICE. */
int runs_do(struct runs *, struct outcome *, struct fault *);
void runs_close(struct runs *);

void outcome_free(struct outcome *);

/* ---- runs.c, for runs_do.c ------------------------------------------------------------------- */

/* Verifies on the host the result of the run that has just ended. The outcome keeps the first error
 * found; while there is no error, its verdict is that of all runs so far. Returns 0 or
 * EXIT_DEVICE. */
int runs_verify(struct runs *, struct outcome *, struct fault *);

/* Waits for the stream. */
int runs_wait(const struct runs *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
