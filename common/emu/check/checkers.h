/* checkers.h — the checkers' state of a device: emu->checkers. */
#ifndef EMU_CHECKERS_H
#define EMU_CHECKERS_H

#include "alloc_log.h"
#include "check.h"

struct checkers {
    struct check_log findings;
    struct alloc_log allocations;
    struct race *race; /* of racecheck and initcheck; NULL: off */
    struct init *init;
};

/* Opens the checkers of emu->checks. `limit`: findings that keep their text; 0: the default. False:
 * out of memory; checkers_close must be called all the same. */
bool checkers_open(struct emu *, size_t limit);
void checkers_close(struct emu *);

#endif
