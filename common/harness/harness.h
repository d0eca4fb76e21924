/*
 * harness.h — runs a step: options → device → input → buffers → run → verify → time, with each run
 * checked → report. main.c calls it with the step that was built; the exit codes are in fault.h.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "common/command/fault.h"
#include "step.h"

/* Does everything that ./stepN does and returns its exit code. */
int harness_main(const struct step *step, int argc, char **argv);

#endif
