/*
 * harness.h — runs a step; estimates and checks of files before it.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "common/command/fault.h"
#include "common/harness/run/device.h"
#include "common/harness/run/runs.h"
#include "common/step/options.h"
#include "common/step/step.h"

/* ---- says on stderr, before long work on the CPU begins, how long it will take --------------- */

/*
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

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
}
#endif

/* ---- runs a step: options → device → input → buffers → run → verify → time → report ---------- */

/*
 * Each timed run is checked, too. main.c calls harness_main with the step that was built. fault.h
 * lists the exit codes.
 */

/* Does everything that ./stepN does and returns its exit code. */
int harness_main(const struct step *step, int argc, char **argv);

#endif
