/*
 * counters.h — what the emulator counted, summed over the launches of one run. On a GPU a program
 * cannot read these counters: counters_begin returns false, and ncu has to count.
 *
 *     bool counting = counters_begin();
 *     …launch, synchronize…
 *     struct counters counters;
 *     if (counting) counters_end(&counters);
 *     … counters.total.global_ld.sectors …
 *     counters_free(&counters);
 */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "common/emu/emu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct counter_line {
    char *file; /* as the compiler was given it */
    unsigned line;
    struct emu_counts counts;
};

struct counters {
    struct emu_counts total;
    unsigned launches;
    double seconds; /* the emulator's own time */
    size_t line_count;
    struct counter_line *lines; /* in order of file and line */
};

/* The emulator that runs this program's CUDA calls. NULL: they go to a real runtime. */
struct emu *counters_emulator(void);
/* The checkers that watch it (enum emu_check); 0 without an emulator. */
unsigned counters_checks(void);

/* Counts the launches from here on. False: no emulator. */
bool counters_begin(void);
/* Stops counting, and returns the sum over the launches since counters_begin. The caller frees
 * it. */
void counters_end(struct counters *);
void counters_free(struct counters *);

/* Bank conflicts: the wavefronts beyond the ideal. */
uint64_t counters_conflicts(const struct emu_shared *);
/* 32-byte sectors per request; 0 without requests. */
double counters_sectors_per_request(const struct emu_global *);
/* The line with the most bank conflicts of loads and stores, or NULL if there are none. */
const struct counter_line *counters_worst_line(const struct counters *);

#ifdef __cplusplus
}
#endif

#endif
