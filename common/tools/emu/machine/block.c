/* block.c — blocks and clusters: their memory, and the turns of their warps. */
#include "async.h"
#include "events.h"
#include "schedule.h"

/* ---- sets the special registers of a warp that starts ---------------------------------------- */

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

/* Sets a special register of a warp that starts; is_new: it has never been set. */
static void special_fill(struct warp *w, const struct special *special, bool is_new)
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

/* ---- blocks ---------------------------------------------------------------------------------- */

static size_t align_up(size_t bytes)
{
    return (bytes + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
}

/* The memory of a block, which serves one block after another. */
static struct block *block_new(struct launch *launch)
{
    const struct emu_kernel *kernel = launch->kernel;
    unsigned threads = launch->block.x * launch->block.y * launch->block.z,
             warps = (threads + WARP - 1) / WARP;
    size_t area = align_up(kernel->area_bytes * WARP), stack = local_warp_bytes(kernel);
    size_t per_warp = kernel->register_bytes + kernel->special_bytes + area + stack;
    size_t reserved = kernel->reads_reserved ? launch->emu->gpu->shared_reserved : 0;
    size_t shared = align_up(stray_shared_bytes(launch->shared_bytes)) + reserved;
    size_t bytes = shared + warps * per_warp;
    struct block *block = allocated(calloc(1, sizeof *block));
    struct warp *all = allocated(calloc(warps, sizeof *all));
    /* Zeros, for registers that are read before they are written. The host provides only those
     * pages of a large allocation, such as local memory, that are used. */
    uint8_t *taken = allocated(calloc(1, bytes + SLOT_ALIGNMENT));
    uint8_t *memory = taken + -(uintptr_t)taken % SLOT_ALIGNMENT;
    *block = (struct block){.launch = launch,
                            .is_new = true,
                            .threads = threads,
                            .warp_count = warps,
                            .warps = all,
                            .shared = memory,
                            .shared_bytes = reserved ? shared : launch->shared_bytes,
                            .reserved_offset = reserved ? shared - reserved : launch->shared_bytes,
                            .memory = taken,
                            .memory_bytes = bytes};
    for (unsigned i = 0; i < warps; i++) {
        all[i].index = i;
        all[i].block = block;
        uint8_t *own = memory + shared + i * per_warp;
        all[i].bank[BANK_SPECIALS] = own + kernel->register_bytes;
        all[i].bank[BANK_CONSTANTS] = kernel->constants;
        all[i].own_shared = block->shared;
        all[i].own_shared_bytes = launch->cluster_size == 1 ? block->shared_bytes : 0;
        all[i].local = own + kernel->register_bytes + kernel->special_bytes + area;
        all[i].root = (struct frame){.registers = own,
                                     .area = own + kernel->register_bytes + kernel->special_bytes,
                                     .area_bytes = kernel->area_bytes,
                                     .local_end = kernel->info.local_bytes};
    }
    event_block_new(block);
    return block;
}

static void block_free(struct block *block)
{
    /* After a fault lanes may still be inside calls. */
    for (unsigned i = 0; i < block->warp_count; i++) {
        while (block->warps[i].fragment_count)
            fragment_remove(&block->warps[i], &block->warps[i].fragments[0]);
        frame_free_unused(&block->warps[i]);
    }
    event_block_free(block);
    async_free(block);
    free(block->runtime);
    free(block->memory);
    free(block->warps);
    free(block);
}

/* ---- starting -------------------------------------------------------------------------------- */

static void start_warp(struct warp *w)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    unsigned left = w->block->threads - w->index * WARP;
    w->carry = 0;
    w->root.local_end = kernel->info.local_bytes;
    if (kernel->stack_top != NO_SLOT) frame_start(w);
    fragment_start(w, left >= WARP ? ALL_LANES : (UINT32_C(1) << left) - 1);
    w->clock = w->fuel = w->earlier = 0;
    w->waited = NULL;
    w->slice = WARP_SLICE;
    w->polled = w->stored = NULL;
    w->spins = false;
    w->cluster_arrived = w->cluster_owes = 0;
    for (size_t i = 0; i < kernel->special_count; i++)
        special_fill(w, &kernel->specials[i], w->block->is_new);
}

static void start_shared(struct block *block)
{
    size_t reserved = block->shared_bytes - block->reserved_offset;
    memset(block->shared, FRESH_BYTE(block->launch->emu), block->reserved_offset);
    memset(block->shared + block->reserved_offset, 0, reserved);
}

/* Starts the block with that index and place in the grid. */
static void block_start(struct block *block, uint64_t index, unsigned x, unsigned y, unsigned z)
{
    block->index = index;
    block->id = (struct emu_dim){x, y, z};
    block->epoch = 0;
    block->changed = true; /* the start of a block is a change */
    block->changed_earlier = block->wrote = block->passed = false;
    block->busy = block->quiet = block->looked_at_time = block->looked_at_host = false;
    block->rounds = 0;
    block->executed = 0;
    block->ended = false;
    if (block->used_barriers) memset(block->barriers, 0, sizeof block->barriers);
    block->used_barriers = false;
    if (block->shared_bytes) start_shared(block);
    for (unsigned i = 0; i < block->warp_count; i++) start_warp(&block->warps[i]);
    block->is_new = false;
    if (block->async) async_start(block);
    if (block->runtime) memset(block->runtime, 0, (block->threads + 1) * sizeof *block->runtime);
    if (block->racecheck || block->initcheck) event_block_begin(block);
}

/* ---- running --------------------------------------------------------------------------------- */

/* The next turn of its cluster begins: each warp gets a time slice for the whole turn. */
static void block_next_turn(struct block *block)
{
    block->changed = block->changed_earlier = block->wrote = block->passed = false;
    block->busy = block->quiet = block->looked_at_time = block->looked_at_host = false;
    block->rounds = 0;
    for (unsigned i = 0; i < block->warp_count; i++) warp_grant(&block->warps[i], WARP_SLICE);
}

static enum warp_stop run_warp(struct warp *w, struct insn_counts *counts)
{
    enum { SPIN_LENGTH = 1024 }; /* in instructions; as long as a slice of scheduler.c */
    struct launch *launch = w->block->launch;
    w->counts = counts;
    w->observed = counts || announces(w->block, ANNOUNCE_ACCESSES);
    phase_wait_poll(w);
    if (launch->random) warp_grant(w, random_slice(launch));
    uint64_t begun = w->clock - w->fuel;
    bool is_observed = announces(w->block, ANNOUNCE_TURNS);
    if (is_observed) event_turn(w);
    clocks_begin(w, begun);
    enum warp_stop stop = warp_run(w);
    if (is_observed) event_turn_end(w);
    uint64_t done = w->clock - w->fuel;
    w->block->executed += done - begun;
    clocks_end(w, done - begun);
    if (w->spins && done - w->spun_at > SPIN_LENGTH) w->spins = false;
    if (stop == WARP_SLICE_OVER && !w->spins && done != begun) w->block->busy = true;
    return stop;
}

/* A block whose threads pass many barriers and change no memory waits for another block. This is
 * checked once in QUIET_ROUNDS rounds, because it costs a comparison at each store. */
static bool is_quiet(struct block *block)
{
    enum { QUIET_ROUNDS = 64 };
    if (++block->rounds % QUIET_ROUNDS) return false;
    if (!block->changed) return block->quiet = true;
    block->changed = false;
    block->changed_earlier = true;
    return false;
}

/* Runs the block until no thread can go on, or until other blocks should run. */
static enum block_stop block_run(struct block *block, struct insn_counts *counts)
{
    uint8_t order[MAX_WARPS]; /* of a random schedule */
    bool random = block->launch->random;
    for (bool ran = false;; ran = true) {
        bool progress = false, slice_over = false, alive = false;
        if (random) random_order(block->launch, order, block->warp_count);
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[random ? order[i] : i];
            if (!w->fragment_count) continue;
            if (block->launch->emu->interrupted) return BLOCK_SLICE_OVER;
            uint64_t turns = w->turns;
            enum warp_stop stop = run_warp(w, counts);
            if (stop == WARP_FAULT) return BLOCK_ENDED;
            if (stop == WARP_SLICE_OVER) slice_over = true;
            if (stop != WARP_DONE) alive = true;
            progress = progress || w->turns != turns || stop == WARP_DONE;
        }
        if (!alive) return BLOCK_ENDED;
        if (slice_over) return BLOCK_SLICE_OVER;
        if (!progress) return ran ? BLOCK_WAITS : BLOCK_STUCK;
        if (is_quiet(block)) return BLOCK_SLICE_OVER;
    }
}

/* ---- clusters -------------------------------------------------------------------------------- */

struct cluster *cluster_new(struct launch *launch)
{
    struct cluster *cluster = allocated(calloc(1, sizeof *cluster));
    cluster->launch = launch;
    for (unsigned rank = 0; rank < launch->cluster_size; rank++) {
        struct block *block = cluster->blocks[rank] = block_new(launch);
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
                if (block->async) bulk_finish(block);
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
