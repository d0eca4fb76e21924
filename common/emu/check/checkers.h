/* checkers.h — what the checkers keep of a device: emu->checkers. */
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

/* By emu->checks; `limit`: findings that are kept with their texts, 0: as many as usual. False: out
 * of memory; what there is is closed by checkers_close all the same. */
bool checkers_open(struct emu *, size_t limit);
void checkers_close(struct emu *);

#endif
