/* ops_address.c — generic addresses (PTX ISA, "cvta", "isspacep"). */
#include "common/emu/machine/shared.h"
#include "ops_access.h"

static void convert_address(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 *d = LANES(u64, i->d);
    const lane_64 *a = LANES(u64, i->a);
    FOR_LANES(d, a[l] + (uint64_t)i->cvta.distance);
}

/* Does a generic address lie in a space? .shared::cluster includes the block's own shared memory.
 * */
static bool is_in(const struct block *block, uint64_t address, enum ptx_space space)
{
    if (space == PTX_SHARED)
        return address - SHARED_WINDOW - shared_window(block->rank) < shared_window(1);
    return space_of(address) == (space == PTX_SHARED_CLUSTER ? PTX_SHARED : space);
}

static void is_space(struct warp *w, const struct insn *i, uint32_t mask)
{
    const lane_64 *a = LANES(u64, i->a);
    uint32_t bits = 0;
    for (int l = 0; l < WARP; l++)
        bits |= (uint32_t)(is_in(w->block, a[l], i->isspacep.space)) << l;
    set_predicate(w, i->d, mask, bits);
}

static const struct op address_entries[] = {{"cvta", convert_address, ""},
                                            {"isspacep", is_space, ""}};
DEFINE_OP_TABLE(ops_address, address_entries);
