/*
 * bench.h — one step on one input: guarded buffers, a verified run, timed runs, and a verified run
 * again. The harness and the tests of deliberately wrong scans both go through here.
 */
#ifndef BENCH_H
#define BENCH_H

#include "buffer.h"
#include "counters.h"
#include "input.h"
#include "options.h"
#include "roof.h"
#include "timing.h"
#include "verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What came of it. Fields are in the order in which they come about. */
struct outcome {
    size_t n;
    struct launch_shape shape;
    bool verified; /* false: --verify none */
    struct verdict
        verdict;       /* of the first run, or of the run after the timed ones if that is worse */
    bool after_timing; /* the verdict is that of the run after the timed ones */
    char damage[200];  /* a buffer that was written where it should not be; "" */
    bool right;        /* verdict.right and no damage; true if not verified */
    bool counted;
    struct counters counters; /* of the first run */
    struct timing timing;
    bool roofed;
    struct roof roof;
};

struct bench {
    const struct step *step;
    const struct options *options;
    const struct input *input;
    bool emulated;
    struct problem problem; /* what the scan has to give */
    struct facts facts;
    double *reference;     /* step.reference's and one more for --inclusive, or NULL */
    void *piece;           /* host memory for a part of an array */
    struct buffer in, out; /* in place: out is where the scan happens, in keeps the input */
    struct buffer workspace, shifted; /* shifted: --inclusive's result; base = NULL: none */
    struct timer timer;
};

/* Device and host memory that bench_open and the harness need for n elements, in bytes. False: more
 * than a size_t can say. */
bool bench_memory(const struct step *, const struct options *, size_t n, bool emulated,
                  size_t *device, size_t *host);

/* Allocates buffers and uploads the input, which has to stay until bench_close. After a failure
 * there is nothing to close. */
int bench_open(struct bench *, const struct step *, const struct options *, const struct input *,
               bool emulated, struct fault *);
/* Runs, verifies, times, verifies. Returns 0 (see outcome->right) or EXIT_DEVICE. */
int bench_run(struct bench *, struct outcome *, struct fault *);
/* Copies `count` results, from index `start` on, to the host. */
int bench_result(struct bench *, size_t start, void *to, size_t count, struct fault *);
void bench_close(struct bench *);

void outcome_free(struct outcome *);

#ifdef __cplusplus
}
#endif

#endif
