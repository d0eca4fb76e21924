/*
 * access.h — one warp's access to memory, and the door that it passes (ops_access.c).
 *
 * For operations that are no plain loads and stores. These are compiled once, and go through the
 * door as compiled for any CPU.
 */
#ifndef EMU_ACCESS_H
#define EMU_ACCESS_H

#include "machine.h"

struct access {
    uint64_t address[WARP]; /* of the lanes in `mask`; the others hold one of those */
    uint32_t mask;
    unsigned bytes;        /* a lane */
    unsigned checked;      /* of those, the first so many must be inside of memory */
    enum ptx_space space;  /* as the instruction says; behind the door, never generic */
    const char *operation; /* "ld", "st", "atom" */
};

/*
 * Lets through the lanes of an access that go to one place: those in access->mask afterwards. *host
 * + address is where a lane's bytes are. Returns that mask, or 0 after a fault.
 */
uint32_t access_door_base(struct warp *, const struct insn *, struct access *, uint64_t *host);

#endif
