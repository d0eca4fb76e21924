/* records.h — what launches have counted, for emu_record(). */
#ifndef EMU_RECORDS_H
#define EMU_RECORDS_H

#include "common/emu/machine/machine.h"

/* Makes the list of a device's records, emu->records; false: out of memory. */
bool records_open(struct emu *);
void records_close(struct emu *);
/* records_begin prepares a launch that is counted: merged accesses then count as in the machine
 * code. False: out of memory, and the launch cannot begin. records_end keeps its counts per line
 * and in total, unless the launch failed or memory is short. */
bool records_begin(struct launch *);
void records_end(const struct launch *, double seconds);

#endif
