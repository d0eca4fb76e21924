/*
 * launches.h — the kernels that one call launches. The call is captured into a graph, so its host
 * code runs and its kernels do not.
 */
#ifndef LAUNCHES_H
#define LAUNCHES_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LAUNCHES_NAME  60
#define LAUNCHES_KINDS 12

/* A kernel of the call, by its name: instances of a template count as one. If its launches differ
 * in size, the figures are those of the one with the most blocks. */
struct launch {
    char kernel[LAUNCHES_NAME]; /* without its arguments: "scan_block" */
    unsigned times; /* launches */
    size_t grid;
    unsigned block;
    size_t shared_bytes; /* of a block, static and dynamic */
    int blocks_per_sm;   /* that fit on a multiprocessor; the emulator estimates registers */
};

struct launches {
    unsigned kinds; /* kernels in `of`: at most LAUNCHES_KINDS of them are listed */
    unsigned all;   /* launches, also of others. Both 0: there are none, or none is known */
    struct launch of[LAUNCHES_KINDS]; /* in the order of their first launches */
};

/* Captures call(context) in a stream of its own. A call that cannot be captured has no launches. */
struct launches launches_of(run_fn *call, void *context);

bool launches_have(const struct launches *, const char *kernel);
/* The kernel with the most blocks; NULL: there is none. */
const struct launch *launches_largest(const struct launches *);

#ifdef __cplusplus
}
#endif

#endif
