/* launch_start.h — begins a launch, of the host or of a kernel. */
#ifndef EMU_LAUNCH_START_H
#define EMU_LAUNCH_START_H

#include "machine.h"

/* Where a launch comes from, as struct launch has it. */
struct launch_origin {
    const struct emu_kernel *kernel;
    unsigned launch, depth;
    uint64_t *ended;
};

/* Checks a launch, makes it and announces that it begins. `origin`: NULL, or the kernel that
 * launches. Returns 0, or an enum emu_error with the message set and no launch. */
int launch_start(struct emu *, struct emu_kernel *, const struct emu_shape *, void *const *args,
                 const struct launch_origin *origin, struct launch **);

#endif
