/* checkers.h — the checkers' state of a device: emu->checkers. */
#ifndef EMU_CHECKERS_H
#define EMU_CHECKERS_H

#include "alloc_log.h"
#include "check.h"

struct checkers {
    struct check_log findings;
    struct alloc_log allocations;
    struct address_table said; /* places that have a finding: check_is_first_at() */
    struct race *race; /* of racecheck and initcheck; NULL: off */
    struct init *init;
};

#endif
