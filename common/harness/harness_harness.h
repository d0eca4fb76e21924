/*
 * harness_harness.h — runs a step: options → device → input → buffers → run → verify → time →
 * report. Each timed run is checked, too. main.c calls harness_main with the step that was built.
 * fault.h lists the exit codes.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "common/command/fault.h"
#include "common/step/step.h"

/* Does everything that ./stepN does and returns its exit code. */
int harness_main(const struct step *step, int argc, char **argv);

#endif
