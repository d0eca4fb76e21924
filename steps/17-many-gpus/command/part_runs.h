/*
 * part_runs.h — the runs of a rank's part, and what they leave: checked, timed, with a checksum.
 *
 * All ranks call these functions, and get the same code from them.
 */
#ifndef STEP17_PART_RUNS_H
#define STEP17_PART_RUNS_H

#include "common/harness/input/input.h"
#include "common/harness/run/device.h"
#include "judge.h"
#include "ranks.h"

#define DAMAGE_TEXT 200

/* One rank's part, in host and in device memory. */
struct part_runs {
    const struct ranks *ranks;
    const struct request *request;
    const struct options *options;
    enum many_exchange exchange;
    size_t n; /* of the whole */
    struct many_part part;
    struct input in, second; /* on the host; second.data is NULL without a second input */
    struct buffer device_in, device_second, out;
    struct many_scan *scan;
    struct timer timer;
    struct fingerprinter fingerprinter;

    int code; /* of the last many_run, with its sentence */
    struct fault fault;
};

/* What the ranks have found; whole on rank 0. */
struct outcome17 {
    struct verdict verdict;   /* of all parts */
    bool right;               /* on every rank */
    int wrong_rank;           /* the first that is wrong */
    char damage[DAMAGE_TEXT]; /* what is wrong there apart from results; "" if nothing is */
    uint64_t checksum;        /* of all bits of the result */
    struct timing timing;     /* of the slowest rank in each run */
};

/* Device and host memory that a rank needs, in bytes. False: 64 bits cannot count them. */
bool part_runs_memory(const struct ranks *, enum many_op, enum many_exchange, size_t n,
                      size_t flush, size_t *device, size_t *host);

/* Allocates, uploads, and creates the scan. The inputs stay the caller's. If it fails, nothing is
 * to be closed. */
int part_runs_open(struct part_runs *, struct fault *);
void part_runs_close(struct part_runs *);

/* The first run, compared element by element unless --verify none, and the timed runs, which have
 * to give the same bits. */
int part_runs_do(struct part_runs *, struct outcome17 *, struct fault *);

/* Copies `count` results of the part to the host, from element `start` of the part on. */
int part_runs_result(const struct part_runs *, size_t start, size_t count, void *to,
                     struct fault *);

#endif
