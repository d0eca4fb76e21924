/*
 * special.h — special registers (PTX ISA, "Special Registers") that keep one value while a warp
 * lives. The machine writes them when the warp starts. Clocks are not among them: see ops_move.c.
 */
#ifndef EMU_SPECIAL_H
#define EMU_SPECIAL_H

#include "kernel.h"

enum special_register {
    SPECIAL_TID_X,
    SPECIAL_TID_Y,
    SPECIAL_TID_Z,
    SPECIAL_NTID_X,
    SPECIAL_NTID_Y,
    SPECIAL_NTID_Z,
    SPECIAL_CTAID_X,
    SPECIAL_CTAID_Y,
    SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X,
    SPECIAL_NCTAID_Y,
    SPECIAL_NCTAID_Z,
    SPECIAL_CLUSTERID_X,
    SPECIAL_CLUSTERID_Y,
    SPECIAL_CLUSTERID_Z,
    SPECIAL_NCLUSTERID_X,
    SPECIAL_NCLUSTERID_Y,
    SPECIAL_NCLUSTERID_Z,
    SPECIAL_CLUSTER_CTAID_X,
    SPECIAL_CLUSTER_CTAID_Y,
    SPECIAL_CLUSTER_CTAID_Z,
    SPECIAL_CLUSTER_NCTAID_X,
    SPECIAL_CLUSTER_NCTAID_Y,
    SPECIAL_CLUSTER_NCTAID_Z,
    SPECIAL_CLUSTER_CTARANK,
    SPECIAL_CLUSTER_NCTARANK,
    SPECIAL_IS_EXPLICIT_CLUSTER,
    SPECIAL_LANEID,
    SPECIAL_WARPID,
    SPECIAL_NWARPID,
    SPECIAL_LANEMASK_EQ,
    SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_LT,
    SPECIAL_LANEMASK_GE,
    SPECIAL_LANEMASK_GT,
    SPECIAL_SMID,
    SPECIAL_NSMID,
    SPECIAL_GRIDID,
    SPECIAL_DYNAMIC_SHARED,
    SPECIAL_TOTAL_SHARED,
    SPECIAL_AGGREGATE_SHARED,
    SPECIAL_RESERVED_BEGIN,
    SPECIAL_RESERVED_END,
    SPECIAL_RESERVED_CAP,
    SPECIAL_RESERVED_0,
    SPECIAL_RESERVED_1,
    SPECIAL_ENVIRONMENT_0,
    SPECIAL_WORKSPACE_HIGH, /* %envreg1: where grid.sync() counts, see launch->workspace */
    SPECIAL_WORKSPACE_LOW,  /* %envreg2 */
    SPECIAL_SHARED_ADDRESS, /* of a variable: struct special's `offset` in the block's own memory */
};

/* "tid.x" → SPECIAL_TID_X. False: no special register has this name. */
bool special_named(const char *name, enum special_register *);
/* Is this a special register of PTX that the emulator does not have? */
bool special_is_left_out(const char *name);
#endif
