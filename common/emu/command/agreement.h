/* agreement.h — the option --report: how exact are the counters of a program's kernels? */
#ifndef EMU_AGREEMENT_H
#define EMU_AGREEMENT_H

#include "common/emu/emu.h"
#include "common/emu/binary/emu_elf.h"

/* Prints a line for each kernel that the program holds for a GPU; the program does not run. Returns
 * how many kernels there were, or -1 after writing one sentence into message[size]. */
int report_agreement(const struct elf *program, const struct emu_gpu *, FILE *out, char *message,
                     size_t size);

#endif
