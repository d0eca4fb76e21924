#include "events.h"
#include "cluster.h"
#include "async.h"
#include "block.h"
#include "random_schedule.h"
#include "device.h"
#include "deadlock.h"
#include "phase_wait.h"
#include "repeat.h"
#include <stdlib.h>

struct cluster *cluster_new(struct launch *launch)
{
    struct cluster *cluster = calloc(1, sizeof *cluster);
    if (!cluster) return NULL;
    cluster->launch = launch;
    for (unsigned rank = 0; rank < launch->cluster_size; rank++) {
        struct block *block = cluster->blocks[rank] = block_new(launch);
        if (!block) {
            cluster_free(cluster);
            return NULL;
        }
        block->cluster = cluster;
        block->rank = rank;
        cluster->size++;
    }
    return cluster;
}

void cluster_free(struct cluster *cluster)
{
    if (!cluster) return;
    for (unsigned rank = 0; rank < cluster->size; rank++) block_free(cluster->blocks[rank]);
    free(cluster);
}

/* The coordinates of item `number` in a grid of width x and height y. */
static struct emu_dim place_of(uint64_t number, unsigned x, unsigned y)
{
    return (struct emu_dim){(unsigned)(number % x), (unsigned)(number / x % y),
                            (unsigned)(number / x / y)};
}

static void start_blocks(struct cluster *cluster, uint64_t index)
{
    struct emu_dim grid = cluster->launch->grid, shape = cluster->launch->cluster;
    struct emu_dim first = place_of(index, grid.x / shape.x, grid.y / shape.y);
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        struct emu_dim inside = place_of(rank, shape.x, shape.y);
        unsigned x = first.x * shape.x + inside.x, y = first.y * shape.y + inside.y,
                 z = first.z * shape.z + inside.z;
        block_start(cluster->blocks[rank], x + (uint64_t)grid.x * (y + (uint64_t)grid.y * z), x, y,
                    z);
    }
}

void cluster_start(struct cluster *cluster, uint64_t index)
{
    cluster->waited = cluster->polls = false;
    cluster->rested = 0;
    cluster->ended = 0;
    cluster->ran = 0;
    cluster->idle = 0;
    cluster->spins_since = 0;
    cluster->repeat = (struct repeat){0};
    cluster->timeouts = 0;
    cluster->waits_for = (struct cluster_wait){0};
    if (cluster->size == 1 && index < cluster->launch->grid.x)
        block_start(cluster->blocks[0], index, (unsigned)index, 0, 0); /* without divisions */
    else
        start_blocks(cluster, index);
}

bool cluster_run(struct cluster *cluster, struct insn_counts *counts)
{
    for (;;) {
        bool slice_over = false, progress = false;
        unsigned first = cluster->launch->random ? random_below(cluster->launch, cluster->size) : 0;
        for (unsigned k = 0, rank = first; k < cluster->size; k++) {
            struct block *block = cluster->blocks[rank];
            if (++rank == cluster->size) rank = 0;
            if (block->ended) continue;
            enum block_stop stop = block_run(block, counts);
            if (cluster->launch->error) return true;
            if (stop != BLOCK_STUCK) progress = true;
            if (stop == BLOCK_SLICE_OVER) slice_over = true;
            if (stop == BLOCK_ENDED) {
                if (block->async) async_end(block);
                if (announces(block, ANNOUNCE_ORDER)) event_block_end(block);
                block->ended = true;
                cluster->ended++;
            }
        }
        if (cluster->ended == cluster->size) return true;
        if (slice_over) return false;
        if (!progress) {
            if (phase_wait_time_out(cluster)) return false; /* other clusters run first */
            if (!cluster->launch->error) deadlock_resolve(cluster);
        }
        if (cluster->launch->error) return true;
    }
}

/* Can nothing outside of the grid end the cluster's wait? The host cannot, if no warp reads its
 * memory. Only the grid writes what grid.sync() reads. With a random schedule, equal states may
 * have different successors. */
static bool waits_for_grid(const struct cluster *cluster, bool looked_at_host)
{
    const struct launch *launch = cluster->launch;
    const struct emu *emu = launch->emu;
    bool others_write = emu->peer_count > 0 || device_shares_memory(emu);
    if (launch->random) return false;
    if (!emu->maps_host && !others_write) return true;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        for (unsigned i = 0; i < cluster->blocks[rank]->warp_count; i++) {
            const struct warp *w = &cluster->blocks[rank]->warps[i];
            bool at_grid = w->spins && w->polled_address - launch->workspace < WORKSPACE_BYTES;
            bool at_own = !others_write && !looked_at_host && w->near.delta != 0;
            for (unsigned k = 0; k < w->fragment_count; k++)
                if (w->fragments[k].state == FRAGMENT_READY && !at_grid && !at_own) return false;
        }
    return true;
}

/* A cluster that only polls is a wait even without a digest, which takes as long as its turn: now
 * and then is enough to learn whether the wait can end. */
static bool repeats_now(struct cluster *cluster, bool worked)
{
    enum { SELDOM = 64 };
    if (worked || cluster->repeat.skipped++ % SELDOM == 0)
        cluster->repeat.is_known = repeats(cluster);
    return cluster->repeat.is_known;
}

enum cluster_turn cluster_end_turn(struct cluster *cluster)
{
    bool changed = false, wrote = false, passed = false, worked = false;
    bool looked_at_time = false, looked_at_host = false;
    cluster->polls = false;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        struct block *block = cluster->blocks[rank];
        changed = changed || block->changed || block->changed_earlier;
        wrote = wrote || block->wrote;
        passed = passed || block->passed;
        worked = worked || block->busy || block->quiet;
        looked_at_time = looked_at_time || block->looked_at_time;
        looked_at_host = looked_at_host || block->looked_at_host;
        block_next_turn(block);
    }
    /* The wait for an mbarrier may be over. */
    if (changed || passed) cluster->waits_for = (struct cluster_wait){0};
    if (changed) {
        cluster->repeat = (struct repeat){0};
        pthread_mutex_lock(&cluster->launch->lock);
        cluster->launch->new_values++;
        pthread_mutex_unlock(&cluster->launch->lock);
        return TURN_CHANGED;
    }
    /* A wait for an mbarrier may read the time to measure how long it waits. */
    bool waits_for_time = looked_at_time && !cluster->waits_for.warp;
    bool again = !waits_for_time && repeats_now(cluster, worked);
    cluster->polls = !worked || again;
    if (again && waits_for_grid(cluster, looked_at_host)) return TURN_STUCK;
    if (!waits_for_time && cluster->polls) return TURN_SPUN;
    return wrote ? TURN_CHANGED : TURN_WORKED;
}
