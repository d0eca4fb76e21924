/*
 * cluster_ops.c — what the blocks of a cluster do together: barrier.cluster, and addresses in each
 * other's shared memory (PTX ISA, "barrier.cluster", "mapa", "getctarank").
 */
#include "common/emu/machine/events.h"
#include "common/emu/machine/phase_wait.h"
#include "common/emu/machine/shared.h"

/* ---- barrier.cluster ------------------------------------------------------------------------- */

/* The address by which racecheck identifies a phase of a cluster's barrier. It is not a device
 * address. */
static uint64_t barrier_word(const struct cluster *cluster, bool parity)
{
    return UINT64_MAX - (2 * cluster->blocks[0]->index + parity);
}

/* The barrier does not wait for threads that have exited. */
static bool all_arrived(const struct cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster->size; rank++)
        for (unsigned i = 0; i < cluster->blocks[rank]->warp_count; i++) {
            const struct warp *w = &cluster->blocks[rank]->warps[i];
            if (w->live & ~w->cluster_arrived) return false;
        }
    return true;
}

static void complete(struct cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        struct block *block = cluster->blocks[rank];
        for (unsigned i = 0; i < block->warp_count; i++) block->warps[i].cluster_arrived = 0;
        block->epoch++;
        block->passed = true;
    }
    cluster->parity = !cluster->parity;
}

void op_cluster_arrive(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (w->cluster_owes & mask) {
        fault(w, i, __builtin_ctz(w->cluster_owes & mask), EMU_LAUNCH_FAILURE,
              "a second barrier.cluster.arrive without a barrier.cluster.wait between");
        return;
    }
    w->cluster_arrived |= mask;
    w->cluster_owes |= mask;
    const struct cluster *cluster = w->block->cluster;
    if (announces(w->block, ANNOUNCE_ORDER))
        event_cluster_arrive(w, mask, barrier_word(cluster, cluster->parity),
                             i->order & ORDER_RELEASE);
}

uint32_t cluster_wait_over(struct warp *w, const struct insn *i, uint32_t lanes)
{
    struct cluster *cluster = w->block->cluster;
    if (lanes & ~w->cluster_owes) {
        fault(w, i, __builtin_ctz(lanes & ~w->cluster_owes), EMU_LAUNCH_FAILURE,
              "a barrier.cluster.wait without a barrier.cluster.arrive before it");
        return 0;
    }
    if (w->cluster_arrived & lanes && all_arrived(cluster)) complete(cluster);
    if (w->cluster_arrived & lanes) return 0;
    w->cluster_owes &= ~lanes;
    /* The parity has changed since: the completed phase has the other one. */
    if (announces(w->block, ANNOUNCE_ORDER))
        event_cluster_wait(w, lanes, barrier_word(cluster, !cluster->parity));
    return lanes;
}

void cluster_report(struct warp *w, const struct insn *i, int lane)
{
    const struct cluster *cluster = w->block->cluster;
    unsigned live = 0, arrived = 0;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        for (unsigned k = 0; k < cluster->blocks[rank]->warp_count; k++) {
            const struct warp *other = &cluster->blocks[rank]->warps[k];
            live += (unsigned)__builtin_popcount(other->live);
            arrived += (unsigned)__builtin_popcount(other->live & other->cluster_arrived);
        }
    fault(
        w, i, lane, EMU_LAUNCH_FAILURE,
        "deadlock: %u of the cluster's %u threads have arrived at barrier.cluster, and the others "
        "wait elsewhere",
        arrived, live);
}

/* ---- addresses ------------------------------------------------------------------------------- */

static uint64_t lane_value(const struct warp *w, const struct insn *i, int lane)
{
    return i->lane_bytes == 8 ? ((const uint64_t *)slot_at(w, i->a))[lane]
                              : ((const uint32_t *)slot_at(w, i->a))[lane];
}

/* d = the address with the same offset in the block of rank b. It is generic if a is generic. */
void op_mapa(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = lane_value(w, i, lane), window = address & ~(WINDOW_BYTES - 1);
        uint32_t rank = ((const uint32_t *)slot_at(w, i->b))[lane];
        uint64_t mapped = window | shared_window(rank) | shared_offset(address);
        if (i->lane_bytes == 8)
            ((uint64_t *)slot_at(w, i->d))[lane] = mapped;
        else
            ((uint32_t *)slot_at(w, i->d))[lane] = (uint32_t)mapped;
    }
}

void op_getctarank(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint32_t offset = (uint32_t)lane_value(w, i, lane);
        ((uint32_t *)slot_at(w, i->d))[lane] = offset >> RANK_SHIFT;
    }
}
