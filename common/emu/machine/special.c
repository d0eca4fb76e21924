/* special.c — sets the special registers of a warp that starts. */
#include "block.h"
#include "common/emu/ptx/special.h"
#include "clocks.h"
#include "device.h"
#include "shared.h"
#include <string.h>

/* The value that is the same in each block of this structure. A block keeps its rank: its memory
 * always serves the same rank of a cluster. */
static uint64_t of_the_launch(const struct block *block, const struct special *special)
{
    const struct launch *launch = block->launch;
    const struct emu_gpu *gpu = launch->emu->gpu;
    struct emu_dim grid = launch->grid, cluster = launch->cluster;
    size_t reserved = block->shared_bytes - block->reserved_offset;
    switch ((enum special_register)special->which) {
    case SPECIAL_NTID_X: return launch->block.x;
    case SPECIAL_NTID_Y: return launch->block.y;
    case SPECIAL_NTID_Z: return launch->block.z;
    case SPECIAL_NCTAID_X: return grid.x;
    case SPECIAL_NCTAID_Y: return grid.y;
    case SPECIAL_NCTAID_Z: return grid.z;
    case SPECIAL_NCLUSTERID_X: return grid.x / cluster.x;
    case SPECIAL_NCLUSTERID_Y: return grid.y / cluster.y;
    case SPECIAL_NCLUSTERID_Z: return grid.z / cluster.z;
    case SPECIAL_CLUSTER_NCTAID_X: return cluster.x;
    case SPECIAL_CLUSTER_NCTAID_Y: return cluster.y;
    case SPECIAL_CLUSTER_NCTAID_Z: return cluster.z;
    case SPECIAL_CLUSTER_CTARANK: return block->rank;
    case SPECIAL_SHARED_ADDRESS: return special->offset + shared_window(block->rank);
    case SPECIAL_CLUSTER_NCTARANK: return launch->cluster_size;
    case SPECIAL_IS_EXPLICIT_CLUSTER: return launch->explicit_cluster ? ALL_LANES : 0;
    case SPECIAL_NWARPID: return (uint32_t)gpu->threads_per_sm / WARP;
    case SPECIAL_NSMID: return (uint32_t)gpu->sms;
    case SPECIAL_GRIDID: return launch->id;
    case SPECIAL_DYNAMIC_SHARED: return launch->dynamic_shared;
    case SPECIAL_TOTAL_SHARED: return launch->shared_bytes;
    case SPECIAL_AGGREGATE_SHARED: return launch->shared_bytes + gpu->shared_reserved;
    case SPECIAL_RESERVED_BEGIN:
    case SPECIAL_RESERVED_0: return block->reserved_offset;
    case SPECIAL_RESERVED_1: return block->reserved_offset + reserved / 2;
    case SPECIAL_RESERVED_END: return block->shared_bytes;
    case SPECIAL_RESERVED_CAP: return reserved;
    case SPECIAL_WORKSPACE_HIGH: return launch->workspace >> 32;
    case SPECIAL_WORKSPACE_LOW: return (uint32_t)launch->workspace;
    default: return 0;
    }
}

static uint64_t of_the_lane(const struct warp *w, const struct special *special, unsigned lane)
{
    struct emu_dim size = w->block->launch->block;
    unsigned thread = w->index * WARP + lane;
    uint32_t bit = UINT32_C(1) << lane;
    switch ((enum special_register)special->which) {
    case SPECIAL_TID_X: return thread % size.x;
    case SPECIAL_TID_Y: return thread / size.x % size.y;
    case SPECIAL_TID_Z: return thread / size.x / size.y;
    case SPECIAL_LANEID: return lane;
    case SPECIAL_WARPID: return w->index;
    case SPECIAL_LANEMASK_EQ: return bit;
    case SPECIAL_LANEMASK_LE: return bit | (bit - 1);
    case SPECIAL_LANEMASK_LT: return bit - 1;
    case SPECIAL_LANEMASK_GE: return ~(bit - 1);
    case SPECIAL_LANEMASK_GT: return ~(bit | (bit - 1));
    default: return of_the_launch(w->block, special);
    }
}

/* Does the register differ between the blocks of a grid? Then it is set whenever a block starts. */
static bool of_the_block(const struct block *block, enum special_register which, uint64_t *value)
{
    struct emu_dim id = block->id, cluster = block->launch->cluster;
    switch (which) {
    case SPECIAL_CTAID_X: *value = id.x; return true;
    case SPECIAL_CTAID_Y: *value = id.y; return true;
    case SPECIAL_CTAID_Z: *value = id.z; return true;
    case SPECIAL_CLUSTERID_X: *value = id.x / cluster.x; return true;
    case SPECIAL_CLUSTERID_Y: *value = id.y / cluster.y; return true;
    case SPECIAL_CLUSTERID_Z: *value = id.z / cluster.z; return true;
    case SPECIAL_CLUSTER_CTAID_X: *value = id.x % cluster.x; return true;
    case SPECIAL_CLUSTER_CTAID_Y: *value = id.y % cluster.y; return true;
    case SPECIAL_CLUSTER_CTAID_Z: *value = id.z % cluster.z; return true;
    case SPECIAL_SMID: *value = clocks_smid(block); return true;
    default: return false;
    }
}

void special_fill(struct warp *w, const struct special *special, bool is_new)
{
    uint64_t value = 0;
    bool of_block = of_the_block(w->block, special->which, &value);
    if (!of_block && !is_new) return;
    void *lanes = slot_at(w, special->slot);
    for (unsigned lane = 0; lane < WARP; lane++) {
        if (!of_block) value = of_the_lane(w, special, lane);
        if (special->lane_bytes == 8)
            ((uint64_t *)lanes)[lane] = value;
        else
            ((uint32_t *)lanes)[lane] = (uint32_t)value;
    }
}
