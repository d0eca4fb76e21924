/* scheduler.c — see scheduler.h. It also ends launches that make no progress. */
#define _POSIX_C_SOURCE 200809L
#include "scheduler.h"
#include "cluster.h"
#include "device.h"
#include "random_schedule.h"
#include "deadlock.h"
#include "common/emu/ptx/kernel_name.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

unsigned blocks_per_sm(const struct emu_gpu *gpu, unsigned threads, size_t shared_bytes)
{
    unsigned warps = (threads + WARP - 1) / WARP, most = (unsigned)gpu->blocks_per_sm;
    unsigned by_threads = warps ? (unsigned)gpu->threads_per_sm / (warps * WARP) : 0;
    size_t by_shared = gpu->shared_per_sm / (shared_bytes + gpu->shared_reserved +
                                             !(shared_bytes + gpu->shared_reserved));
    if (by_threads < most) most = by_threads;
    if (by_shared < most) most = (unsigned)by_shared;
    return most;
}

/* Takes a cluster from the queue: the one that has waited longest, or with a random schedule
 * any. */
static struct cluster *take_waiting(struct launch *launch)
{
    struct cluster **link = &launch->waiting, *taken;
    unsigned waiting = 0;
    if (launch->random) {
        for (taken = launch->waiting; taken; taken = taken->next) waiting++;
        for (unsigned k = random_below(launch, waiting); k > 0; k--) link = &(*link)->next;
    }
    taken = *link;
    *link = taken->next;
    if (!*link) launch->waiting_end = link;
    return taken;
}

/* A cluster has not only spun, so another cluster's wait may end. The launch is locked. */
static void launch_is_alive(struct launch *launch)
{
    launch->unrest++;
    launch->spinning = 0;
    launch->spun = 0;
}

/* A cluster has ended. The launch is locked. */
static void count_ended(struct launch *launch)
{
    launch->resident--;
    launch->changes++;
    launch_is_alive(launch);
}

/* The next cluster to run: a new one while the GPU has room, else one from the queue. `ended`: a
 * cluster has ended since the last call. `spare`: the memory of a cluster that has ended, for a new
 * one. NULL: no cluster is left for this thread. */
static struct cluster *next_cluster(struct launch *launch, bool ended, struct cluster **spare)
{
    struct cluster *cluster = NULL;
    pthread_mutex_lock(&launch->lock);
    if (ended) count_ended(launch);
    bool is_new = launch->next_cluster < launch->cluster_count &&
                  launch->resident < launch->resident_limit && !launch->error;
    if (launch->random && launch->waiting && random_below(launch, 2)) is_new = false;
    uint64_t index = launch->descending ? launch->cluster_count - 1 - launch->next_cluster
                                        : launch->next_cluster;
    if (is_new) {
        launch->next_cluster++;
        launch->resident++;
    } else if (launch->waiting && !launch->error) {
        cluster = take_waiting(launch);
    }
    pthread_mutex_unlock(&launch->lock);
    if (!is_new) return cluster;

    cluster = *spare ? *spare : cluster_new(launch);
    *spare = NULL;
    if (cluster) {
        cluster_start(cluster, index);
        return cluster;
    }
    pthread_mutex_lock(&launch->lock);
    if (!launch->error)
        snprintf(launch->message, sizeof launch->message,
                 "out of host memory for a block of kernel %s", launch->kernel->info.name);
    launch->error = EMU_OUT_OF_MEMORY;
    pthread_mutex_unlock(&launch->lock);
    return NULL;
}

static void wait_in_queue(struct launch *launch, struct cluster *cluster)
{
    cluster->next = NULL;
    cluster->waited = true;
    pthread_mutex_lock(&launch->lock);
    *launch->waiting_end = cluster;
    launch->waiting_end = &cluster->next;
    pthread_mutex_unlock(&launch->lock);
}

static void add_up(struct launch *launch, const struct insn_counts *counts)
{
    pthread_mutex_lock(&launch->lock);
    for (size_t i = 0; i < launch->kernel->code_count; i++) {
        struct insn_counts *total = &launch->total[i];
        total->executed += counts[i].executed;
        total->lanes += counts[i].lanes;
        total->shared_requests += counts[i].shared_requests;
        total->wavefronts += counts[i].wavefronts;
        total->ideal += counts[i].ideal;
        total->source_ideal += counts[i].source_ideal;
        total->requests += counts[i].requests;
        total->sectors += counts[i].sectors;
        total->moved += counts[i].moved;
        total->needed += counts[i].needed;
        total->bytes += counts[i].bytes;
        total->divergent += counts[i].divergent;
        total->replays += counts[i].replays;
    }
    pthread_mutex_unlock(&launch->lock);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* All clusters that have begun wait, and none of them can end the wait of another. */
static void give_up_all(struct cluster *cluster, bool full)
{
    struct launch *launch = cluster->launch;
    char why[300];
    pthread_mutex_lock(&launch->lock);
    uint64_t begun = launch->next_cluster * launch->cluster_size,
             blocks = launch->cluster_count * launch->cluster_size;
    pthread_mutex_unlock(&launch->lock);
    if (full)
        snprintf(why, sizeof why,
                 "deadlock: the GPU is full, %" PRIu64 " of %" PRIu64 " blocks have begun, and all "
                 "that have not ended wait in loops like this one; does one wait for a block that "
                 "can begin only when another ends?",
                 begun, blocks);
    else
        snprintf(why, sizeof why,
                 "deadlock: all blocks that have not ended wait in loops like this one, for what "
                 "none of them writes");
    give_up_cluster(cluster, EMU_LAUNCH_TIMEOUT, why);
}

static void give_up_one(struct cluster *cluster)
{
    char why[200];
    snprintf(
        why, sizeof why,
        "its block has run for %u seconds without changing memory, so it was ended: does this loop "
        "wait for a value that no thread writes? (EMU_TIMEOUT=SECONDS allows more time)",
        cluster->launch->emu->patience);
    give_up_cluster(cluster, EMU_LAUNCH_TIMEOUT, why);
}

/* One turn counts as at most a part of the patience: the host may have been stopped meanwhile. */
static double counted(const struct launch *launch, double seconds)
{
    enum { LEAST_TURNS = 4 };
    double most = (double)launch->emu->patience / LEAST_TURNS;
    return seconds < most ? seconds : most;
}

/* Have all clusters that have begun only spun for longer than the patience? The time is measured on
 * the clock and as running time, since the host may have been stopped meanwhile. Called after a
 * turn of a cluster that has not ended, with the launch locked. */
static bool all_spin(struct cluster *cluster, enum cluster_turn turn, double seconds, bool full)
{
    struct launch *launch = cluster->launch;
    if (turn != TURN_SPUN) {
        launch_is_alive(launch);
        return false;
    }
    if (cluster->spins_since != launch->unrest) launch->spinning++;
    cluster->spins_since = launch->unrest;
    bool all_begun = full || launch->next_cluster == launch->cluster_count;
    if (!all_begun || launch->spinning < launch->resident) return false;
    if (launch->spun == 0) launch->spun_until = now() + launch->emu->patience;
    launch->spun += seconds;
    return launch->spun > launch->emu->patience && now() > launch->spun_until;
}

/* The same for one cluster, which may do more than spin. Only its own running time counts, and only
 * while no cluster changes memory. So a cluster is not ended for being slow, or for waiting for a
 * slow one. */
static bool is_idle(struct cluster *cluster, enum cluster_turn turn, double seconds)
{
    struct launch *launch = cluster->launch;
    if (cluster->changes_seen != launch->changes) cluster->idle = 0;
    cluster->changes_seen = launch->changes;
    if (turn != TURN_CHANGED) cluster->idle += seconds;
    return turn == TURN_WORKED && cluster->idle > launch->emu->patience;
}

/* After a cluster's turn: do all clusters, or does this one, wait for something that never
 * comes? */
static void check_patience(struct cluster *cluster, double seconds)
{
    struct launch *launch = cluster->launch;
    enum cluster_turn turn = cluster_end_turn(cluster);
    seconds = counted(launch, seconds);
    pthread_mutex_lock(&launch->lock);
    bool full =
        launch->next_cluster < launch->cluster_count && launch->resident == launch->resident_limit;
    if (turn == TURN_CHANGED) launch->changes++;
    bool all = all_spin(cluster, turn, seconds, full), one = is_idle(cluster, turn, seconds);
    pthread_mutex_unlock(&launch->lock);
    if (all)
        give_up_all(cluster, full);
    else if (one)
        give_up_one(cluster);
}

/* The limit on instructions. What a cluster's turn has executed is added up when the turn is over,
 * so that the sum is exact when the last cluster has ended, whichever host threads ran them. The
 * sentence names no place, which would differ from run to run. */
static void check_instructions(struct cluster *cluster)
{
    struct launch *launch = cluster->launch;
    uint64_t executed = 0, limit = launch->emu->instruction_limit;
    char kernel[200], why[400];
    if (!limit) return;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        executed += cluster->blocks[rank]->executed;
        cluster->blocks[rank]->executed = 0;
    }
    pthread_mutex_lock(&launch->lock);
    launch->executed += executed;
    bool is_over = launch->executed > limit;
    pthread_mutex_unlock(&launch->lock);
    if (!is_over) return;
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    snprintf(why, sizeof why,
             "kernel %s has executed more than %" PRIu64
             " warp instructions, and EMU_KERNEL_INSTRUCTIONS allows no more",
             kernel, limit);
    give_up_launch(launch, EMU_LAUNCH_TIMEOUT, why);
}

/* Ends the grid after an interrupt, or at a limit if there is one. */
static void check_end(struct cluster *cluster, double seconds)
{
    const struct emu *emu = cluster->launch->emu;
    char why[100];
    check_instructions(cluster);
    if (emu->interrupted) {
        give_up_cluster(cluster, EMU_INTERRUPTED, "interrupted");
    } else if (emu->limit && seconds > emu->limit) {
        snprintf(why, sizeof why,
                 "its grid has run for %u seconds, and EMU_KERNEL_TIMEOUT allows no more",
                 emu->limit);
        give_up_cluster(cluster, EMU_LAUNCH_TIMEOUT, why);
    }
}

/* To read the clock takes longer than to run a small block. The first turn of a cluster, which is
 * nearly always its only one, does not count as time in which it is idle. */
static bool needs_clock(const struct cluster *cluster)
{
    return cluster->waited || cluster->launch->emu->limit;
}

/* The work of one host thread. */
static void work(void *argument)
{
    struct launch *launch = argument;
    struct insn_counts *counts =
        launch->counting ? calloc(launch->kernel->code_count, sizeof *counts) : NULL;
    struct cluster *cluster, *spare = NULL;
    for (bool ended = false; (cluster = next_cluster(launch, ended, &spare));) {
        double start = needs_clock(cluster) ? now() : 0;
        ended = cluster_run(cluster, counts);
        check_end(cluster, start - launch->began);
        if (!ended) {
            check_patience(cluster, cluster->waited ? now() - start : 0);
            wait_in_queue(launch, cluster);
            continue;
        }
        cluster_free(spare);
        spare = cluster;
    }
    cluster_free(spare);
    if (counts) add_up(launch, counts);
    free(counts);
}

void launch_run(struct launch *launch)
{
    unsigned wanted = launch->emu->threads;
    if (wanted > launch->cluster_count) wanted = (unsigned)launch->cluster_count;
    launch->waiting_end = &launch->waiting;
    launch->unrest = 1;
    launch->began = now();
    progress_set(launch->emu, launch);
    pool_run(&launch->emu->pool, wanted - 1, work, launch);
    progress_set(launch->emu, NULL);
    /* After a fault, clusters may still be in the queue. */
    for (struct cluster *cluster = launch->waiting, *next; cluster; cluster = next) {
        next = cluster->next;
        cluster_free(cluster);
    }
}
