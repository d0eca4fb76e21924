#include "special.h"
#include "device.h"
#include "shared.h"
#include <string.h>

static const struct {
    const char *name;
    enum special_register which;
} names[] = {
    {"tid.x", SPECIAL_TID_X},
    {"tid.y", SPECIAL_TID_Y},
    {"tid.z", SPECIAL_TID_Z},
    {"ntid.x", SPECIAL_NTID_X},
    {"ntid.y", SPECIAL_NTID_Y},
    {"ntid.z", SPECIAL_NTID_Z},
    {"ctaid.x", SPECIAL_CTAID_X},
    {"ctaid.y", SPECIAL_CTAID_Y},
    {"ctaid.z", SPECIAL_CTAID_Z},
    {"nctaid.x", SPECIAL_NCTAID_X},
    {"nctaid.y", SPECIAL_NCTAID_Y},
    {"nctaid.z", SPECIAL_NCTAID_Z},
    {"clusterid.x", SPECIAL_CLUSTERID_X},
    {"clusterid.y", SPECIAL_CLUSTERID_Y},
    {"clusterid.z", SPECIAL_CLUSTERID_Z},
    {"nclusterid.x", SPECIAL_NCLUSTERID_X},
    {"nclusterid.y", SPECIAL_NCLUSTERID_Y},
    {"nclusterid.z", SPECIAL_NCLUSTERID_Z},
    {"cluster_ctaid.x", SPECIAL_CLUSTER_CTAID_X},
    {"cluster_ctaid.y", SPECIAL_CLUSTER_CTAID_Y},
    {"cluster_ctaid.z", SPECIAL_CLUSTER_CTAID_Z},
    {"cluster_nctaid.x", SPECIAL_CLUSTER_NCTAID_X},
    {"cluster_nctaid.y", SPECIAL_CLUSTER_NCTAID_Y},
    {"cluster_nctaid.z", SPECIAL_CLUSTER_NCTAID_Z},
    {"cluster_ctarank", SPECIAL_CLUSTER_CTARANK},
    {"cluster_nctarank", SPECIAL_CLUSTER_NCTARANK},
    {"is_explicit_cluster", SPECIAL_IS_EXPLICIT_CLUSTER},
    {"laneid", SPECIAL_LANEID},
    {"warpid", SPECIAL_WARPID},
    {"nwarpid", SPECIAL_NWARPID},
    {"lanemask_eq", SPECIAL_LANEMASK_EQ},
    {"lanemask_le", SPECIAL_LANEMASK_LE},
    {"lanemask_lt", SPECIAL_LANEMASK_LT},
    {"lanemask_ge", SPECIAL_LANEMASK_GE},
    {"lanemask_gt", SPECIAL_LANEMASK_GT},
    {"smid", SPECIAL_SMID},
    {"nsmid", SPECIAL_NSMID},
    {"gridid", SPECIAL_GRIDID},
    {"dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
    {"total_smem_size", SPECIAL_TOTAL_SHARED},
    {"aggr_smem_size", SPECIAL_AGGREGATE_SHARED},
    {"reserved_smem_offset_begin", SPECIAL_RESERVED_BEGIN},
    {"reserved_smem_offset_end", SPECIAL_RESERVED_END},
    {"reserved_smem_offset_cap", SPECIAL_RESERVED_CAP},
    {"reserved_smem_offset_0", SPECIAL_RESERVED_0},
    {"reserved_smem_offset_1", SPECIAL_RESERVED_1},
    {"envreg0", SPECIAL_ENVIRONMENT_0},
    {"envreg1", SPECIAL_WORKSPACE_HIGH},
    {"envreg2", SPECIAL_WORKSPACE_LOW},
};

bool special_named(const char *name, enum special_register *which)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].name, name)) {
            *which = names[i].which;
            return true;
        }
    /* What the driver puts into the other 29 is not documented: nothing here. */
    *which = SPECIAL_ENVIRONMENT_0;
    return !strncmp(name, "envreg", 6) && name[6] >= '0' && name[6] <= '9';
}

/* A block keeps its rank: its memory serves the same place of one cluster after another. */
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

/* Has each block of the grid a value of its own? It is set whenever one starts. */
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
    case SPECIAL_SMID: *value = block->index % (unsigned)block->launch->emu->gpu->sms; return true;
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
