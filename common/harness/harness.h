/*
 * harness.h — says on stderr, before long work on the CPU begins, how long it will take.
 *
 * The time is that of the same runs on fewer elements, times the ratio of the numbers of elements.
 * It is right within a factor of about 2, unless other programs begin or end meanwhile. Nothing is
 * said of work of less than about four seconds, nor if EMU_PROGRESS=0 turns such lines off.
 *
 * There is no estimate for a GPU, for a trace, for a file or a picture of a given size where the
 * result is no sum, nor where the emulator reports on every launch or checks it, since the runs on
 * fewer elements would appear in its report.
 *
 * The runs on fewer elements are verified like all others: a scan that is wrong in one of the
 * process's first calls must not get away with it.
 */
#ifndef ESTIMATE_H
#define ESTIMATE_H

#include "common/step/options.h"
#include "common/harness/run/runs.h"
#include "common/harness/run/run_device.h"
#include "common/step/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The device is NULL if the step runs on the host. Returns 0; EXIT_WRONG if a run is wrong, which
 * *wrong describes (to be freed); or, with a fault, the exit code of a run that failed. */
int estimate_say(const struct subject *, const struct device *, size_t n, struct outcome *wrong,
                 struct fault *);

#ifdef __cplusplus
}
#endif

#endif
