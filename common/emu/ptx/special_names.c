/* special_names.c — finds special registers by their names. */
#include "special.h"
#include <stdlib.h>
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
    /* What the driver writes into the other 29 is not documented; here they are 0. */
    enum { ENVIRONMENT_REGISTERS = 32 };
    char *end;
    *which = SPECIAL_ENVIRONMENT_0;
    if (strncmp(name, "envreg", 6) || name[6] < '0' || name[6] > '9') return false;
    return strtoul(name + 6, &end, 10) < ENVIRONMENT_REGISTERS && !*end;
}

bool special_is_left_out(const char *name)
{
    bool is_profilers = !strncmp(name, "pm", 2) && name[2] >= '0' && name[2] <= '9';
    return is_profilers || !strcmp(name, "current_graph_exec");
}
