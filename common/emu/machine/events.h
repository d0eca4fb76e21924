/* events.h — those who are shown every access to shared and global memory: the trace, racecheck
 * (race.h) and initcheck (init.h). With all of them off none of this costs anything. */
#ifndef EMU_EVENTS_H
#define EMU_EVENTS_H

#include "machine.h"

/* A device's part, by its `checks`. False: out of memory. */
bool watch_open(struct emu *);
void watch_close(struct emu *);
/* What the host does with memory. */
void watch_alloc(struct emu *, uint64_t address, uint64_t bytes);
void watch_free(struct emu *, uint64_t address, uint64_t bytes);
void watch_write(struct emu *, uint64_t address, uint64_t bytes);
void watch_read(struct emu *, uint64_t address, const struct emu_rows *);
void watch_copy(struct emu *to, uint64_t to_address, struct emu *from, uint64_t from_address,
                uint64_t bytes);
/* A launch's, and that of a block's memory; false: out of memory. */
bool watch_begin(struct launch *);
void watch_end(struct launch *);
bool watch_block_new(struct block *);
void watch_block_start(struct block *);
void watch_block_free(struct block *);

/* One warp's access, before it is carried out. A lane's bytes are at host + address. `owner`: of
 * shared memory. */
void watch_access(struct warp *, const struct insn *, uint32_t mask, const uint64_t *address,
                  unsigned bytes, const char *operation, enum ptx_space, uint64_t host,
                  const struct block *owner);

/* The bytes of a load, a bit each, that go anywhere: not those of a sink, nor those that it
 * takes only because the compiler has widened it. */
static inline uint32_t watch_used_bytes(const struct insn *i)
{
    if (i->tally != TALLY_LOAD) return UINT32_MAX;
    uint32_t used = i->memory.used_bytes ? i->memory.used_bytes : UINT32_MAX;
    for (unsigned k = 0; k < i->elements; k++)
        if (i->memory.value[k] == NO_SLOT)
            used &= ~(((UINT32_C(1) << i->element_bytes) - 1) << k * i->element_bytes);
    return used;
}

#endif
