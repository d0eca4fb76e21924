/* main.c — the whole program ./stepN. It is compiled once per step, with -DSTEP=step03 or the
 * like. */
#include "common/harness/run/runs.h"

extern const struct step STEP;

int main(int argc, char **argv) { return harness_main(&STEP, argc, argv); }
