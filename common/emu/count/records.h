/* records.h — what launches have counted, for emu_record(). */
#ifndef EMU_RECORDS_H
#define EMU_RECORDS_H

#include "common/emu/machine/machine.h"

/* A device's, emu->records; false: out of memory. */
bool records_open(struct emu *);
void records_close(struct emu *);
/* A launch that counts begins: its instructions count as the machine code does. It ends: what they
 * have counted is kept per line and in total, unless it failed or memory is short. */
void records_begin(struct launch *);
void records_end(const struct launch *, double seconds);

#endif
