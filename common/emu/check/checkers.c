/* checkers.c — see checkers.h. */
#include "checkers.h"
#include "common/emu/machine/device.h"
#include "init.h"
#include "race.h"
#include <stdlib.h>

bool checkers_open(struct emu *emu, size_t limit)
{
    struct checkers *checkers = calloc(1, sizeof *checkers);
    emu->checkers = checkers;
    if (!checkers || !check_open(&checkers->findings, limit)) return false;
    if (emu->checks & EMU_CHECK_RACE && !(checkers->race = race_open())) return false;
    return !(emu->checks & EMU_CHECK_INIT) || (checkers->init = init_open());
}

void checkers_close(struct emu *emu)
{
    if (!emu->checkers) return;
    race_close(emu->checkers->race);
    init_close(emu->checkers->init);
    check_close(&emu->checkers->findings);
    alloc_log_close(&emu->checkers->allocations);
    free(emu->checkers);
    emu->checkers = NULL;
}
