/* scheduler.c — host threads that run clusters in turns, in order or at random, and their
 * progress. */
#define _POSIX_C_SOURCE 200809L
#include "schedule.h"
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- host threads ---------------------------------------------------------------------------- */

void pool_open(struct thread_pool *pool)
{
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->offered, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->process = getpid();
}

static void *helper(void *argument)
{
    struct thread_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->wanted && !pool->closing) pthread_cond_wait(&pool->offered, &pool->lock);
        if (pool->closing) break;
        pool->wanted--;
        pool->working++;
        pthread_mutex_unlock(&pool->lock);
        pool->work(pool->argument);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are left to the program's own threads. */
static void start_helpers(struct thread_pool *pool, unsigned count)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->started < count && pool->started < MAX_HOST_THREADS &&
           !pthread_create(&pool->threads[pool->started], NULL, helper, pool))
        pool->started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Calls work(argument) in this thread and, at the same time, in up to `helpers` others. Returns
 * when all these calls have returned. Only one call of pool_run at a time. */
static void pool_run(struct thread_pool *pool, unsigned helpers, void (*work)(void *),
                     void *argument)
{
    if (helpers && pool->process == getpid()) {
        if (pool->started < helpers) start_helpers(pool, helpers);
        pthread_mutex_lock(&pool->lock);
        pool->work = work;
        pool->argument = argument;
        pool->wanted = helpers < pool->started ? helpers : pool->started;
        pthread_cond_broadcast(&pool->offered);
        pthread_mutex_unlock(&pool->lock);
    }
    work(argument);
    if (!helpers || pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    pool->wanted = 0;
    while (pool->working) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pool_close(struct thread_pool *pool)
{
    if (pool->process != getpid()) return;
    pthread_mutex_lock(&pool->lock);
    pool->closing = true;
    pthread_cond_broadcast(&pool->offered);
    pthread_mutex_unlock(&pool->lock);
    while (pool->started) pthread_join(pool->threads[--pool->started], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->offered);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- the order by a seed --------------------------------------------------------------------- */

/* splitmix64 */
uint64_t random_mixed(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t next(struct launch *launch)
{
    launch->random += UINT64_C(0x9e3779b97f4a7c15);
    launch->random += !launch->random; /* 0 would mean the usual order */
    return random_mixed(launch->random);
}

void random_begin(struct launch *launch, uint64_t seed)
{
    if (!seed) return;
    launch->random = random_mixed(seed + random_mixed(launch->id + 1)) | 1;
    launch->splits_lanes = !(launch->checks & EMU_CHECK_SYNC);
}

unsigned random_below(struct launch *launch, unsigned n)
{
    return (unsigned)((next(launch) >> 32) * n >> 32);
}

void random_order(struct launch *launch, uint8_t *order, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = random_below(launch, i + 1);
        if (k < i) order[i] = order[k];
        order[k] = (uint8_t)i;
    }
}

/* Lengths of 1 to 2 are as frequent as lengths of 512 to 1024: a hazard may need either. */
uint64_t random_slice(struct launch *launch)
{
    enum { MAX_BITS = 10 };
    unsigned bits = random_below(launch, MAX_BITS + 1);
    return bits ? 1 + random_below(launch, 1u << bits) : 0;
}

void random_split(struct warp *w, struct fragment *f)
{
    enum { SELDOM = 4 };
    struct launch *launch = w->block->launch;
    if (!launch->splits_lanes || random_below(launch, SELDOM)) return;
    uint32_t lanes = f->mask & (uint32_t)next(launch);
    if (random_below(launch, 2)) lanes &= (uint32_t)next(launch); /* fewer lanes */
    if (lanes && lanes != f->mask) fragment_split(w, f, lanes, f->pc);
}

/* ---- how far the grid is that runs, for emu_progress() --------------------------------------- */

/* The launch that emu_progress() tells of; NULL: none. */
static void progress_set(struct emu *emu, struct launch *launch)
{
    pthread_mutex_lock(&emu->running_lock);
    emu->running = launch;
    pthread_mutex_unlock(&emu->running_lock);
}

static void read_launch(struct launch *launch, struct emu_progress *progress)
{
    pthread_mutex_lock(&launch->lock);
    uint64_t begun = launch->next_cluster, done = begun - launch->resident;
    progress->advanced = launch->advanced - launch->began;
    pthread_mutex_unlock(&launch->lock);
    snprintf(progress->kernel, sizeof progress->kernel, "%s", launch->kernel->info.name);
    progress->launch = launch->id;
    progress->blocks = launch->cluster_count * launch->cluster_size;
    progress->begun = begun * launch->cluster_size;
    progress->done = done * launch->cluster_size;
    progress->seconds = device_seconds() - launch->began;
    progress->threads = launch->emu->threads;
}

/* The launch cannot end meanwhile: it waits for the lock before it is freed. */
bool emu_progress(struct emu *emu, struct emu_progress *progress)
{
    pthread_mutex_lock(&emu->running_lock);
    struct launch *launch = emu->running;
    if (launch) read_launch(launch, progress);
    pthread_mutex_unlock(&emu->running_lock);
    return launch;
}

/* ---- the turns of clusters on host threads, and the end of launches without progress --------- */

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
    launch->busy_turns++;
    launch->spinning = 0;
    launch->spun = 0;
}

/* The part of a launch that one host thread has taken: clusters that it has not started yet, and
 * the number of those that have ended since the launch was last locked. */
struct share {
    uint64_t next, end; /* in the order in which clusters start */
    unsigned ended;
    bool is_small;         /* the last cluster that ended was over soon */
    uint64_t longest_warp; /* counting: of the clusters that have ended */
};

/* Tells the launch of the clusters that have ended. The launch is locked. */
static void count_ended(struct launch *launch, struct share *share)
{
    if (!share->ended) return;
    launch->resident -= share->ended;
    launch->changes += share->ended;
    launch->ran = 0;
    launch->advanced = device_seconds();
    launch_is_alive(launch);
    share->ended = 0;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* How many clusters a host thread starts before it locks the launch again. Small ones are taken
 * several at a time, since the lock costs more time than they do. Near the end of the grid they are
 * shared among the threads. The launch is locked. */
static uint64_t count_to_take(struct launch *launch, const struct share *share)
{
    enum { MOST = 32, SHARES = 4 }; /* of each thread */
    uint64_t left = launch->cluster_count - launch->next_cluster;
    uint64_t room =
        launch->resident < launch->resident_limit ? launch->resident_limit - launch->resident : 0;
    if (launch->random && launch->waiting && random_below(launch, 2)) return 0;
    if (!left || !room || launch->error || launch->suspended) return 0;
    if (launch->random || !share->is_small) return 1;
    uint64_t fair = 1 + left / (SHARES * (uint64_t)launch->emu->threads);
    return lesser(lesser(fair, MOST), lesser(left, room));
}

/* Takes new clusters while the GPU has room for them, else one from the queue, which it returns. */
static struct cluster *take_clusters(struct launch *launch, struct share *share)
{
    struct cluster *waiting = NULL;
    pthread_mutex_lock(&launch->lock);
    count_ended(launch, share);
    uint64_t count = count_to_take(launch, share);
    share->next = launch->next_cluster;
    share->end = launch->next_cluster += count;
    launch->resident += count;
    if (!count && launch->waiting && !launch->error && !launch->suspended)
        waiting = take_waiting(launch);
    pthread_mutex_unlock(&launch->lock);
    return waiting;
}

/* The next cluster to run. `spare`: the memory of a cluster that has ended, for a new one. NULL: no
 * cluster is left for this thread. */
static struct cluster *next_cluster(struct launch *launch, struct share *share,
                                    struct cluster **spare)
{
    if (share->next == share->end || launch->error) {
        struct cluster *waiting = take_clusters(launch, share);
        if (waiting || share->next == share->end) return waiting;
    }
    uint64_t number = share->next++;
    struct cluster *cluster = *spare ? *spare : cluster_new(launch);
    *spare = NULL;
    cluster_start(cluster, launch->descending ? launch->cluster_count - 1 - number : number);
    return cluster;
}

/* The cluster has ended. */
static void note_end(const struct cluster *cluster, struct share *share)
{
    enum { SMALL = 1024 }; /* warp instructions of a block */
    share->is_small = !cluster->waited && cluster->blocks[0]->executed < SMALL;
    share->ended++;
}

/* Notes the instructions of the cluster's longest warp. */
static void note_longest(const struct cluster *cluster, struct share *share)
{
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        const struct block *block = cluster->blocks[rank];
        for (unsigned i = 0; i < block->warp_count; i++) {
            uint64_t executed = block->warps[i].clock - block->warps[i].fuel;
            if (executed > share->longest_warp) share->longest_warp = executed;
        }
    }
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

static void add_up(struct launch *launch, const struct share *share,
                   const struct insn_counts *counts)
{
    pthread_mutex_lock(&launch->lock);
    if (share->longest_warp > launch->longest_warp) launch->longest_warp = share->longest_warp;
    for (size_t i = 0; i < launch->kernel->code_count; i++) {
        struct insn_counts *total = &launch->total[i];
        total->executed += counts[i].executed;
        total->lanes += counts[i].lanes;
        total->shared_requests += counts[i].shared_requests;
        total->wavefronts += counts[i].wavefronts;
        total->ideal += counts[i].ideal;
        total->source_ideal += counts[i].source_ideal;
        total->one_address += counts[i].one_address;
        total->copied_sectors += counts[i].copied_sectors;
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

/* Have clusters to wait until others end? The launch is locked. */
static bool is_full(const struct launch *launch)
{
    return launch->next_cluster < launch->cluster_count &&
           launch->resident == launch->resident_limit;
}

/* Why the blocks of a full GPU wait for ever. `loops`: "loops", or which ones. */
static void describe_full(struct launch *launch, const char *loops, char *why, size_t size)
{
    pthread_mutex_lock(&launch->lock);
    uint64_t begun = launch->next_cluster * launch->cluster_size,
             blocks = launch->cluster_count * launch->cluster_size;
    pthread_mutex_unlock(&launch->lock);
    snprintf(why, size,
             "deadlock: the GPU is full, %" PRIu64 " of %" PRIu64 " blocks have begun, and all "
             "that have not ended wait in %s; does one wait for a block that can begin only when "
             "another ends?",
             begun, blocks, loops);
}

/* All clusters that have begun wait, and none of them can end the wait of another. */
static void give_up_all(struct cluster *cluster, bool full)
{
    static const char endless[] = "this loop does not end: its condition may never change; ";
    enum { BEFORE = sizeof endless - 1 };
    char sentence[500], *why = sentence + BEFORE;
    const size_t size = sizeof sentence - BEFORE;
    const struct emu *emu = cluster->launch->emu;
    memcpy(sentence, endless, BEFORE);
    if (full)
        describe_full(cluster->launch, "loops like this one", why, size);
    else if (device_shares_memory(emu))
        snprintf(why, size,
                 "all blocks that have not ended have waited for %u seconds in loops like this "
                 "one, for what none of them writes: has another process that shares memory with "
                 "this one ended, or does it need longer? (EMU_TIMEOUT=SECONDS allows more time)",
                 emu->patience);
    else
        snprintf(why, size,
                 "deadlock: all blocks that have not ended wait in loops like this one, for what "
                 "none of them writes");
    bool may_end = !full && device_shares_memory(emu);
    give_up_cluster(cluster, EMU_LAUNCH_TIMEOUT, may_end ? why : sentence);
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

/* A loop that changes memory may be work, which takes longer than a wait may. `own` and `all`: the
 * seconds of the block, and of all blocks since one has ended, which may be thousands. The seconds
 * are running time, since a slow block is not an endless one. */
enum { WORK = 4, MOST_BLOCKS = 16 };

static bool is_endless(const struct launch *launch, double own, double all)
{
    double most = WORK * (double)launch->emu->patience;
    return own > most || all > MOST_BLOCKS * most;
}

static void give_up_endless(struct cluster *cluster)
{
    char why[200];
    snprintf(why, sizeof why,
             "its block has run for %.0f seconds without an end, which is more than EMU_TIMEOUT "
             "allows, so it was ended: does this loop end? (EMU_TIMEOUT=SECONDS allows more time)",
             cluster->ran);
    give_up_cluster(cluster, EMU_LAUNCH_TIMEOUT, why);
}

/* One turn counts as at most a part of the patience: the host may have been stopped meanwhile. */
static double counted(const struct launch *launch, double seconds)
{
    enum { LEAST_TURNS = 4 };
    double most = (double)launch->emu->patience / LEAST_TURNS;
    return seconds < most ? seconds : most;
}

/* Seconds until all clusters that only spin are given up, or the launch is suspended. */
static double patience_with_all(const struct launch *launch)
{
    static const double until_suspended = 0.02;
    return launch->may_suspend ? until_suspended : launch->emu->patience;
}

/* Have all clusters that have begun only spun for longer than the patience? The time is measured on
 * the clock and as running time, since the host may have been stopped meanwhile. If nothing
 * outside of the grid can end the wait, 2 seconds take the place of the patience. Called after a
 * turn of a cluster that has not ended, with the launch locked. */
static bool all_spin(struct cluster *cluster, enum cluster_turn turn, double seconds, bool full)
{
    struct launch *launch = cluster->launch;
    launch->hopeless = turn == TURN_STUCK ? launch->hopeless + 1 : 0;
    if (turn != TURN_SPUN && turn != TURN_STUCK) {
        launch_is_alive(launch);
        return false;
    }
    if (cluster->spins_since != launch->busy_turns) launch->spinning++;
    cluster->spins_since = launch->busy_turns;
    bool all_begun = full || launch->next_cluster == launch->cluster_count;
    if (!all_begun || launch->spinning < launch->resident) return false;
    static const double sure = 2, sure_running = 0.5; /* meanwhile copies in flight arrive */
    double patience = patience_with_all(launch), now = device_seconds();
    if (launch->spun == 0) launch->spun_since = now;
    launch->spun += seconds;
    now -= launch->spun_since;
    if (launch->hopeless >= launch->resident && launch->spun > sure_running && now > sure)
        return true;
    return launch->spun > patience && now > patience;
}

/* Has one cluster, which may do more than spin, run for too long? Only its own running time counts,
 * and only while no cluster changes memory. So a cluster is not ended for being slow, or for
 * waiting for a slow one. */
static bool is_idle(struct cluster *cluster, enum cluster_turn turn, double seconds)
{
    struct launch *launch = cluster->launch;
    if (cluster->changes_seen != launch->changes) cluster->idle = 0;
    cluster->changes_seen = launch->changes;
    if (turn != TURN_CHANGED) cluster->idle += seconds;
    return turn == TURN_WORKED && cluster->idle > launch->emu->patience;
}

/* After a cluster's turn: do all clusters only wait, perhaps for another process? Once per round of
 * them, their host thread leaves its core to others. The launch is locked. */
static bool is_round_of_polls(const struct cluster *cluster)
{
    struct launch *launch = cluster->launch;
    launch->polls = cluster->polls ? launch->polls + 1 : 0;
    return launch->polls && launch->polls % launch->resident == 0;
}

/* At first for as short a time as possible. Returns the seconds that it took. */
static double rest(uint64_t rounds)
{
    enum { SHORT_RESTS = 16, REST_NANOSECONDS = 50000 };
    double start = device_seconds();
    if (rounds <= SHORT_RESTS)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = REST_NANOSECONDS}, NULL);
    return device_seconds() - start;
}

/* After a cluster's turn: do all clusters, or does this one, wait for something that never
 * comes? */
static void check_patience(struct cluster *cluster, struct share *share, double seconds)
{
    struct launch *launch = cluster->launch;
    enum cluster_turn turn = cluster_end_turn(cluster);
    seconds = counted(launch, seconds + cluster->rested);
    pthread_mutex_lock(&launch->lock);
    count_ended(launch, share);
    bool full = is_full(launch);
    if (turn == TURN_CHANGED) launch->changes++;
    bool endless = is_endless(launch, cluster->ran += seconds, launch->ran += seconds);
    bool all = all_spin(cluster, turn, seconds, full), one = is_idle(cluster, turn, seconds);
    if (all && launch->may_suspend) launch->suspended = true;
    all = all && !launch->may_suspend;
    bool rests = is_round_of_polls(cluster) && device_shares_memory(launch->emu);
    uint64_t rounds = launch->polls / launch->resident;
    pthread_mutex_unlock(&launch->lock);
    cluster->rested = rests ? rest(rounds) : 0;
    if (all)
        give_up_all(cluster, full);
    else if (one)
        give_up_one(cluster);
    else if (endless)
        give_up_endless(cluster);
}

/* Do the limits count other launches, too? */
static bool is_one_of_several(const struct launch *launch)
{
    return launch->launched_by || launch->emu->together.depth;
}

/* The limit on instructions. If all blocks of a full GPU only wait, the reason is a deadlock. What
 * a cluster's turn has executed is added up when the turn is over, so that the sum is exact when
 * the last cluster has ended, whichever host threads ran them. */
static void check_instructions(struct cluster *cluster)
{
    struct launch *launch = cluster->launch;
    uint64_t executed = 0, limit = launch->emu->instruction_limit;
    char kernel[200], loop[500], why[1000];
    if (!limit) return;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        executed += cluster->blocks[rank]->executed;
        cluster->blocks[rank]->executed = 0;
    }
    pthread_mutex_lock(&launch->lock);
    launch->emu->together.executed += executed;
    bool is_over = launch->emu->together.executed > limit;
    bool is_stuck = is_full(launch) && launch->spinning >= launch->resident;
    pthread_mutex_unlock(&launch->lock);
    if (!is_over) return;
    kernel_base_name(launch->kernel->info.name, kernel, sizeof kernel);
    describe_loop(cluster, loop, sizeof loop);
    snprintf(why, sizeof why,
             "does %s end, or does its condition never change? kernel %s %s executed more than"
             " %" PRIu64 " warp instructions, and EMU_KERNEL_INSTRUCTIONS allows no more",
             loop, kernel, is_one_of_several(launch) ? "and the launches before it have" : "has",
             limit);
    if (is_stuck) describe_full(launch, "loops", why, sizeof why);
    give_up_launch(launch, EMU_LAUNCH_TIMEOUT, why);
}

/* Ends the grid after an interrupt, or at a limit if there is one. */
static void check_end(struct cluster *cluster, double seconds)
{
    const struct emu *emu = cluster->launch->emu;
    char why[150];
    check_instructions(cluster);
    if (emu->interrupted) {
        give_up_cluster(cluster, EMU_INTERRUPTED, "interrupted");
    } else if (emu->limit && seconds > emu->limit) {
        const char *what = is_one_of_several(cluster->launch)
                               ? "its grid and the launches before it have"
                               : "its grid has";
        snprintf(why, sizeof why, "%s run for %u seconds, and EMU_KERNEL_TIMEOUT allows no more",
                 what, emu->limit);
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
        launch->counting ? allocated(calloc(launch->kernel->code_count, sizeof *counts)) : NULL;
    struct share share = {0};
    struct cluster *cluster, *spare = NULL;
    while ((cluster = next_cluster(launch, &share, &spare))) {
        double start = needs_clock(cluster) ? device_seconds() : 0;
        if (launch->stepper) launch->stepper->cluster = cluster;
        bool ended = cluster_run(cluster, counts);
        if (ended) note_end(cluster, &share);
        if (ended && counts) note_longest(cluster, &share);
        check_end(cluster, start - launch->emu->together.began);
        if (!ended) {
            check_patience(cluster, &share, cluster->waited ? device_seconds() - start : 0);
            wait_in_queue(launch, cluster);
            continue;
        }
        if (spare) cluster_free(spare);
        spare = cluster;
    }
    cluster_free(spare);
    if (counts) add_up(launch, &share, counts);
    free(counts);
}

void launch_run(struct launch *launch)
{
    unsigned wanted = launch->emu->threads;
    if (wanted > launch->cluster_count) wanted = (unsigned)launch->cluster_count;
    if (!launch->waiting) launch->waiting_end = &launch->waiting;
    launch->suspended = false;
    launch_is_alive(launch);
    progress_set(launch->emu, launch);
    pool_run(&launch->emu->pool, wanted - 1, work, launch);
    progress_set(launch->emu, NULL);
    if (launch->suspended) return;
    /* After a fault, clusters may still be in the queue. */
    for (struct cluster *cluster = launch->waiting, *next; cluster; cluster = next) {
        next = cluster->next;
        cluster_free(cluster);
    }
}
