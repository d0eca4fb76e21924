/*
 * metrics.h — the names of the counters, as the command and the report print them.
 *
 * A counter that ncu has too has ncu's name and follows ncu's rule (see counters.h). Names that
 * begin with "emu__" are the emulator's own counters.
 */
#ifndef EMU_METRICS_H
#define EMU_METRICS_H

#include "common/emu/emu.h"

struct metric {
    const char *name;
    const char *unit; /* as ncu prints it; "" for a plain count */
    const char *help; /* one line */
    bool by_default;  /* is it printed when no metric is asked for? */
    bool is_ratio;    /* printed with two decimals; otherwise a whole number */
    double (*value)(const struct emu_counts *);
};

/* The metric at an index, in the order of the list; NULL beyond its end. */
const struct metric *metric_at(size_t index);

/* How many metrics a list can hold. */
enum { MAX_METRICS = 64 };

/*
 * Reads names separated by commas into chosen[MAX_METRICS], in their order, without repetition.
 * `names` of NULL means those printed by default. Returns the number of metrics, or 0 if a name is
 * unknown, which is then copied into wrong[size].
 */
size_t metrics_choose(const char *names, const struct metric *chosen[], char *wrong, size_t size);

#endif
