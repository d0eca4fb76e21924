/* builtin.h — functions that CUDA's device runtime supplies and PTX only declares. */
#ifndef EMU_BUILTIN_H
#define EMU_BUILTIN_H

#include "emu/machine/machine.h"

void builtin_malloc(struct warp *, const struct insn *, uint32_t mask);
void builtin_free(struct warp *, const struct insn *, uint32_t mask);

/* Those two, vprintf and __assertfail; NULL for any other name. */
void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t mask);

#endif
