/* events.c — see events.h. */
#include "common/emu/machine/events.h"
#include "common/emu/machine/device.h"
#include "common/emu/check/init.h"
#include "common/emu/check/race.h"
#include "common/emu/trace/trace.h"

bool watch_open(struct emu *emu)
{
    if (emu->checks & EMU_CHECK_RACE) emu->race = race_open();
    if (emu->checks & EMU_CHECK_INIT) emu->init = init_open();
    return (emu->race || !(emu->checks & EMU_CHECK_RACE)) &&
           (emu->init || !(emu->checks & EMU_CHECK_INIT));
}

void watch_close(struct emu *emu)
{
    race_close(emu->race);
    init_close(emu->init);
}

void watch_alloc(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (emu->init) init_forget(emu->init, address, bytes);
}

void watch_free(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (emu->race) race_forget(emu->race, address, bytes);
    if (emu->init) init_forget(emu->init, address, bytes);
}

/* Memory of the host's own counts as written: nobody sees what the host does there. */
static bool is_mapped(const struct emu *emu, uint64_t address)
{
    return !emu_is_device(emu, address);
}

void watch_write(struct emu *emu, uint64_t address, uint64_t bytes)
{
    if (emu->init && !is_mapped(emu, address)) init_write(emu->init, address, bytes);
}

void watch_read(struct emu *emu, uint64_t address, const struct emu_rows *rows)
{
    if (emu->init && !is_mapped(emu, address)) init_read(emu, address, rows);
}

void watch_copy(struct emu *to, uint64_t to_address, struct emu *from, uint64_t from_address,
                uint64_t bytes)
{
    if (is_mapped(to, to_address))
        watch_read(from, from_address, &(struct emu_rows){.bytes = bytes, .rows = 1, .slices = 1});
    else if (is_mapped(from, from_address) || !from->init)
        watch_write(to, to_address, bytes);
    else if (to->init)
        init_copy(to->init, to_address, from->init, from_address, bytes);
}

bool watch_begin(struct launch *launch)
{
    struct emu *emu = launch->emu;
    launch->watched = launch->trace || emu->race || emu->init;
    if (emu->race) race_begin(launch);
    return !emu->init || init_begin(launch);
}

void watch_end(struct launch *launch)
{
    if (launch->emu->race) race_end(launch);
}

bool watch_block_new(struct block *block)
{
    const struct emu *emu = block->launch->emu;
    if (emu->race && !(block->race = race_block_new(block))) return false;
    return !emu->init || (block->init = init_block_new(block));
}

void watch_block_start(struct block *block)
{
    if (block->race) race_block_start(block);
    if (block->init) init_block_start(block);
}

void watch_block_free(struct block *block)
{
    race_block_free(block->race);
    init_block_free(block->init);
}

void watch_access(struct warp *w, const struct insn *i, uint32_t mask, const uint64_t *address,
                  unsigned bytes, const char *operation, enum ptx_space space, uint64_t host,
                  const struct block *owner)
{
    const struct launch *launch = w->block->launch;
    if (owner == w->block && launch->trace)
        trace_access(launch->trace, w, i, mask, address, bytes, operation, space, host);
    if (owner->init) init_access(w, i, mask, address, bytes, operation, space, owner);
    if (owner->race) race_access(w, i, mask, address, bytes, operation, space, host, owner);
}
