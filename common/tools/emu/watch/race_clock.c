/* race_clock.c — racecheck: what orders threads: clocks, barriers, asynchronous copies. */
#include "race.h"

/* Drops the lanes' clocks beyond the bases. */
static void reset_warp_clocks(struct vclock_space *, struct race_warp *);

/* ---- clocks of lanes ------------------------------------------------------------------------- */

/* The clock of each lane: which accesses of other threads happen before its next
 * one, and what it releases behind a fence.
 *
 * Each block has a timestamp, `now`, which every synchronisation in it increases. An access carries
 * the timestamp at which it was made. It happens before a lane if the lane's clock has at least
 * this time for the thread that made it. A barrier of a whole block or of a whole warp only sets
 * one number, `base`. Vector clocks are made for other kinds of synchronisation only. */

void clock_tick(struct race_block *race) { race->now++; }

bool lane_is_after(const struct warp *w, int lane, record v)
{
    const struct race_block *race = w->block->racecheck;
    const struct race_warp *state = state_of(w);
    uint64_t block = record_block(&race->device->layout, v);
    unsigned thread = record_thread(v);
    timestamp when = record_time(&race->device->layout, v);
    if (block == w->block->index) {
        if (when <= race->base || thread == w->index * WARP + (unsigned)lane) return true;
        if (thread / WARP == w->index && when <= state->base) return true;
    } else if (race->common &&
               when <= vclock_time_of_thread(&race->device->space, race->common, block, thread)) {
        return true;
    }
    return state->has_acquired & bit_of(lane) &&
           when <=
               vclock_time_of_thread(&race->device->space, state->acquired[lane], block, thread);
}

bool lane_is_after_copy(const struct warp *w, int lane, record v, unsigned key)
{
    const struct race_block *race = w->block->racecheck;
    const struct race_warp *state = state_of(w);
    const struct vclock_space *space = &race->device->space;
    uint64_t block = record_block(&race->device->layout, v);
    timestamp when = record_time(&race->device->layout, v);
    if (race->common && when <= vclock_time_of_copies(space, race->common, block, key)) return true;
    return state->has_acquired & bit_of(lane) &&
           when <= vclock_time_of_copies(space, state->acquired[lane], block, key);
}

/* ---- one lane -------------------------------------------------------------------------------- */

/* The part of a lane's clock that the bases give, with the lane's own accesses until `until`.
 * Returns a new reference. */
static struct vclock *own_block_clock(const struct warp *w, int lane, timestamp until)
{
    const struct race_block *race = w->block->racecheck;
    const struct race_warp *state = state_of(w);
    struct vclock_entry entries[2];
    unsigned count = 0;
    if (until > race->base)
        entries[count++] =
            (struct vclock_entry){(uint16_t)(w->index * WARP + (unsigned)lane), until};
    if (state->base > race->base)
        entries[count++] = (struct vclock_entry){(uint16_t)(WARP_KEY + w->index), state->base};
    return vclock_of_block(space_of(w->block), w->block->index, race->base, entries, count);
}

struct vclock *lane_clock(const struct warp *w, int lane)
{
    struct vclock *k = own_block_clock(w, lane, w->block->racecheck->now);
    vclock_join(space_of(w->block), &k, w->block->racecheck->common);
    vclock_join(space_of(w->block), &k, state_of(w)->acquired[lane]);
    return k;
}

void lane_acquire(const struct warp *w, int lane, struct vclock *k)
{
    struct race_warp *state = state_of(w);
    if (!k) return;
    vclock_join(space_of(w->block), &state->acquired[lane], k);
    state->has_acquired |= bit_of(lane);
}

/* Lanes with equal clocks get the same tree. This makes later joins and comparisons fast. */
static void lanes_acquire(const struct warp *w, uint32_t lanes, struct vclock *k)
{
    struct race_warp *state = state_of(w);
    struct vclock *before = NULL, *after = NULL;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        if (after && state->acquired[lane] == before) {
            vclock_drop(space_of(w->block), &state->acquired[lane]);
            state->acquired[lane] = vclock_hold(after);
            state->has_acquired |= bit_of(lane);
        } else {
            before = state->acquired[lane];
            lane_acquire(w, lane, k);
            after = state->acquired[lane];
        }
    }
}

/* A wait is in the clocks of all threads that are ordered after it, as if block 0 had made a copy
 * at this time. */
enum { WAITED = 1 };

bool lane_has_waited(const struct warp *w, int lane)
{
    const struct record_parts wait = {.time = WAITED};
    return lane_is_after_copy(w, lane, record_of(layout_of(w), wait), WAIT_KEY);
}

void event_grid_wait(struct warp *w, uint32_t lanes)
{
    const struct vclock_entry entry = {WAIT_KEY, WAITED};
    struct race *race = w->block->racecheck->device;
    if (!race->early) return;
    struct vclock *clock = vclock_of_block(&race->space, 0, 0, &entry, 1);
    lanes_acquire(w, lanes, clock);
    vclock_drop(&race->space, &clock);
    race->has_waited = true;
}

static struct vclock *lanes_fence_clock(const struct warp *w, uint32_t lanes, enum fence fence)
{
    struct vclock *all = NULL;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        if (!lane_has_fenced(w, lane)) continue;
        struct vclock *fenced = lane_fence_clock(w, lane, fence);
        vclock_join(space_of(w->block), &all, fenced);
        vclock_drop(space_of(w->block), &fenced);
    }
    return all;
}

bool lane_has_fenced(const struct warp *w, int lane)
{
    const struct race_block *race = w->block->racecheck;
    return state_of(w)->has_fenced & bit_of(lane) || race->fenced[SCOPE_BLOCK] ||
           race->fenced[FOR_COPIES] || race->fenced[FOR_GLOBAL_COPIES];
}

void lane_acquire_fenced(const struct warp *w, int lane, enum fence fence, struct vclock *k)
{
    struct race_warp *state = state_of(w);
    if (!k) return;
    vclock_join(space_of(w->block), &state->fenced[fence][lane], k);
    state->has_fenced |= bit_of(lane);
}

bool lane_is_fenced(const struct warp *w, int lane, enum fence fence, record v)
{
    const struct race_block *race = w->block->racecheck;
    const struct race_warp *state = state_of(w);
    const struct vclock_space *space = &race->device->space;
    uint64_t block = record_block(&race->device->layout, v);
    unsigned thread = record_thread(v);
    timestamp when = record_time(&race->device->layout, v);
    return (block == w->block->index && thread == w->index * WARP + (unsigned)lane &&
            when <= state->fence_time[fence][lane]) ||
           when <= vclock_time_of_thread(space, state->fenced[fence][lane], block, thread) ||
           when <= vclock_time_of_thread(space, race->fenced[fence], block, thread);
}

/* Adds the lane's own accesses before the store. The store has a time of its own. */
static void add_own_observed(const struct warp *w, int lane, struct vclock **k)
{
    struct vclock *own = own_block_clock(w, lane, w->block->racecheck->now - 1);
    vclock_join(space_of(w->block), k, own);
    vclock_join(space_of(w->block), k, w->block->racecheck->common);
    vclock_join(space_of(w->block), k, state_of(w)->acquired[lane]);
    vclock_drop(space_of(w->block), &own);
}

struct vclock *lane_fence_clock(const struct warp *w, int lane, enum fence fence)
{
    const struct race_warp *state = state_of(w);
    struct vclock *k = vclock_hold(w->block->racecheck->fenced[fence]);
    vclock_join(space_of(w->block), &k, state->fenced[fence][lane]);
    if (fence == OBSERVED && w->block->racecheck->device->tracks_observed)
        add_own_observed(w, lane, &k);
    if (state->fence_time[fence][lane]) {
        struct vclock_entry own = {(uint16_t)(w->index * WARP + (unsigned)lane),
                                   state->fence_time[fence][lane]};
        struct vclock *mine = vclock_of_block(space_of(w->block), w->block->index, 0, &own, 1);
        vclock_join(space_of(w->block), &k, mine);
        vclock_drop(space_of(w->block), &mine);
    }
    return k;
}

/* A fence of a narrow scope does not replace the clocks of fences of wider scopes. */
void race_fence(struct warp *w, uint32_t lanes, enum fence fence)
{
    struct race_block *race = w->block->racecheck;
    struct race_warp *state = state_of(w);
    struct vclock *same = NULL,
                  *same_acquired = NULL; /* nearly always all lanes have the same clock */
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (!same || state->acquired[lane] != same_acquired) {
            vclock_drop(space_of(w->block), &same);
            same = own_block_clock(w, lane, 0);
            same_acquired = state->acquired[lane];
            vclock_join(space_of(w->block), &same, race->common);
            vclock_join(space_of(w->block), &same, same_acquired);
        }
        for (int s = fence >= FOR_COPIES ? (int)fence : 0; s <= (int)fence; s++) {
            vclock_drop(space_of(w->block), &state->fenced[s][lane]);
            state->fenced[s][lane] = vclock_hold(same);
            state->fence_time[s][lane] = race->now;
        }
    }
    vclock_drop(space_of(w->block), &same);
    state->has_fenced |= lanes;
    clock_tick(race);
}

/* Does the instruction belong to the line that emu_config.unordered names? */
static bool is_unordered(const struct launch *launch, const struct insn *i)
{
    const struct ptx_text *text = &launch->kernel->module->text;
    const char *where = launch->emu->unordered;
    bool has_file = where && i->source && i->source->file < text->file_count;
    const char *path = has_file ? text->files[i->source->file] : NULL;
    if (!path) return false;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t length = strlen(name);
    return !strncmp(where, name, length) && where[length] == ':' &&
           (unsigned)atoi(where + length + 1) == i->source->source_line;
}

bool race_skips(const struct launch *launch, const struct insn *i)
{
    return is_unordered(launch, i) || order_skips(launch, i);
}

void event_fence(struct warp *w, const struct insn *i, uint32_t lanes, enum fence fence)
{
    if (!race_skips(w->block->launch, i)) race_fence(w, lanes, fence);
}

void event_reader_fence(struct warp *w, const struct insn *i, uint32_t lanes, enum fence scope)
{
    if (!race_skips(w->block->launch, i)) race_reader_fence(w, lanes, scope);
}

void race_reader_fence(struct warp *w, uint32_t lanes, enum fence scope)
{
    struct race_block *race = w->block->racecheck;
    struct race_warp *state = state_of(w);
    if (!race->device->strict_readers) return;
    for (int s = READ_BLOCK; s <= READ_BLOCK + (int)scope; s++) {
        lanes_acquire(w, lanes, race->fenced[s]);
        for (uint32_t left = lanes & state->has_fenced; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            lane_acquire(w, lane, state->fenced[s][lane]);
            vclock_drop(space_of(w->block), &state->fenced[s][lane]);
        }
    }
}

/* ---- a block's life -------------------------------------------------------------------------- */

void race_clock_reset(struct race_block *race)
{
    struct vclock_space *space = &race->device->space;
    vclock_drop(space, &race->common);
    for (int s = 0; s < FENCES; s++) vclock_drop(space, &race->fenced[s]);
    for (int b = 0; b < MAX_BARRIERS; b++) {
        vclock_drop(space, &race->arrived[b]);
        for (int s = 0; s < FENCES; s++) vclock_drop(space, &race->arrived_fenced[b][s]);
        race->has_arrived[b] = false;
    }
    for (unsigned i = 0; i < race->warp_count; i++) {
        reset_warp_clocks(space, &race->warps[i]);
        race->warps[i].base = 0;
    }
    race->base = 0;
    race->now = 1;
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* Barriers of a warp and of a block join the clocks of their threads. */

static void reset_lane_clocks(struct vclock_space *space, struct race_warp *state, int lane)
{
    vclock_drop(space, &state->acquired[lane]);
    for (int s = 0; s < FENCES; s++) {
        vclock_drop(space, &state->fenced[s][lane]);
        state->fence_time[s][lane] = 0;
    }
}

static void reset_warp_clocks(struct vclock_space *space, struct race_warp *state)
{
    for (uint32_t left = state->has_acquired | state->has_fenced; left; left &= left - 1)
        reset_lane_clocks(space, state, __builtin_ctz(left));
    state->has_acquired = state->has_fenced = 0;
}

/* The joined clocks of several threads: at this time, and at their last fences. */
struct joined {
    struct vclock *clock, *fenced[FENCES];
};

/* A clock of the lanes' own accesses. It has one entry for the warp if all its lanes take part and
 * none has exited: a lane that has exited need not be ordered before the others. `times` NULL: the
 * time is `now` for all lanes. */
static struct vclock *entries_of(const struct warp *w, uint32_t lanes, const timestamp *times,
                                 timestamp now)
{
    struct vclock_entry entries[WARP];
    unsigned count = 0;
    bool same = lanes == w->live && !w->exited;
    timestamp first = times ? times[__builtin_ctz(lanes)] : now;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        timestamp time = times ? times[lane] : now;
        same = same && time == first;
        if (time)
            entries[count++] =
                (struct vclock_entry){(uint16_t)(w->index * WARP + (unsigned)lane), time};
    }
    if (same && first) {
        entries[0] = (struct vclock_entry){(uint16_t)(WARP_KEY + w->index), first};
        count = 1;
    }
    if (!count) return NULL;
    return vclock_of_block(space_of(w->block), w->block->index, 0, entries, count);
}

static void add_and_drop(struct vclock_space *space, struct vclock **into, struct vclock *more)
{
    vclock_join(space, into, more);
    vclock_drop(space, &more);
}

/* Joins the clocks that the lanes have acquired, and those of their fences. */
static void join_acquired(const struct warp *w, uint32_t lanes, struct joined *m)
{
    struct vclock_space *space = space_of(w->block);
    const struct race_warp *state = state_of(w);
    const int fences = w->block->racecheck->device->fences;
    for (uint32_t left = lanes & state->has_acquired; left; left &= left - 1)
        vclock_join(space, &m->clock, state->acquired[__builtin_ctz(left)]);
    lanes &= state->has_fenced;
    for (int s = 0; s < fences && lanes; s++) {
        for (uint32_t left = lanes; left; left &= left - 1)
            vclock_join(space, &m->fenced[s], state->fenced[s][__builtin_ctz(left)]);
        add_and_drop(space, &m->fenced[s], entries_of(w, lanes, state->fence_time[s], 0));
    }
}

/* Joins what the lanes have acquired, their own accesses, and the base of their warp. */
static void join_lanes(const struct warp *w, uint32_t lanes, struct joined *m)
{
    join_acquired(w, lanes, m);
    add_and_drop(space_of(w->block), &m->clock, own_block_clock(w, 0, 0));
    add_and_drop(space_of(w->block), &m->clock,
                 entries_of(w, lanes, NULL, w->block->racecheck->now));
}

/* For several lanes, faster than one after the other. */
static struct vclock *lanes_clock(const struct warp *w, uint32_t lanes)
{
    struct joined m = {0};
    join_lanes(w, lanes, &m);
    vclock_join(space_of(w->block), &m.clock, w->block->racecheck->common);
    for (int s = 0; s < FENCES; s++) vclock_drop(space_of(w->block), &m.fenced[s]);
    return m.clock;
}

static void acquire_joined(const struct warp *w, uint32_t lanes, const struct joined *m)
{
    struct vclock_space *space = space_of(w->block);
    struct race_warp *state = state_of(w);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        lane_acquire(w, lane, m->clock);
        for (int s = 0; s < FENCES; s++) {
            if (!m->fenced[s]) continue;
            vclock_join(space, &state->fenced[s][lane], m->fenced[s]);
            state->has_fenced |= bit_of(lane);
        }
    }
}

static void joined_drop(struct vclock_space *space, struct joined *m)
{
    vclock_drop(space, &m->clock);
    for (int s = 0; s < FENCES; s++) vclock_drop(space, &m->fenced[s]);
}

static void sync_lanes(struct warp *w, uint32_t lanes)
{
    struct race_block *race = w->block->racecheck;
    struct race_warp *state = state_of(w);
    struct joined m = {0};
    if (lanes == w->live) {
        state->base = race->now;
        if (state->has_acquired | state->has_fenced) {
            join_acquired(w, lanes, &m);
            acquire_joined(w, lanes, &m);
        }
    } else if (lanes & (lanes - 1)) {
        join_lanes(w, lanes, &m);
        acquire_joined(w, lanes, &m);
    }
    joined_drop(space_of(w->block), &m);
    clock_tick(race);
}

void event_warp_sync(struct warp *w, const struct insn *i, uint32_t lanes)
{
    if (!race_skips(w->block->launch, i)) sync_lanes(w, lanes);
}

/* A match.sync orders no memory accesses. But cuda::pipeline counts the threads of a warp with
 * one before the last warp invalidates its mbarriers: in such a kernel it is taken for a
 * bar.warp.sync. */
void event_match(struct warp *w, uint32_t lanes)
{
    if (w->block->racecheck->device->has_inval) sync_lanes(w, lanes);
}

/* ---- barriers of a block --------------------------------------------------------------------- */

void event_barrier_arrive(struct warp *w, const struct insn *i, uint32_t lanes, unsigned number)
{
    if (race_skips(w->block->launch, i)) return;
    struct race_block *race = w->block->racecheck;
    struct vclock_space *space = space_of(w->block);
    struct joined m = {0};
    join_lanes(w, lanes, &m);
    vclock_join(space, &race->arrived[number], m.clock);
    for (int s = 0; s < FENCES; s++)
        vclock_join(space, &race->arrived_fenced[number][s], m.fenced[s]);
    joined_drop(space, &m);
    race->has_arrived[number] = true;
    clock_tick(race);
}

/* Those that the barrier puts in order. */
static uint32_t waiting_lanes(const struct warp *w, unsigned number)
{
    const struct launch *launch = w->block->launch;
    uint32_t lanes = 0;
    for (unsigned k = 0; k < w->fragment_count; k++) {
        const struct fragment *f = &w->fragments[k];
        bool waits = f->state == FRAGMENT_AT_BARRIER && f->barrier == number;
        if (waits && !race_skips(launch, &launch->kernel->code[f->pc])) lanes |= f->mask;
    }
    return lanes;
}

/* All threads of the block are at the barrier: their joined clock becomes the block's. */
static void join_block(struct block *block)
{
    struct race_block *race = block->racecheck;
    struct vclock_space *space = space_of(block);
    struct joined m = {0};
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct race_warp *state = &race->warps[i];
        if (!(state->has_acquired | state->has_fenced)) continue;
        join_acquired(&block->warps[i], ALL_LANES, &m);
        reset_warp_clocks(space, state);
    }
    vclock_join(space, &race->common, m.clock);
    for (int s = 0; s < FENCES; s++) vclock_join(space, &race->fenced[s], m.fenced[s]);
    joined_drop(space, &m);
    race->base = race->now;
}

static void join_waiting(struct block *block, unsigned number)
{
    struct race_block *race = block->racecheck;
    struct vclock_space *space = space_of(block);
    struct joined m = {.clock = race->arrived[number]};
    race->arrived[number] = NULL;
    for (int s = 0; s < FENCES; s++) {
        m.fenced[s] = race->arrived_fenced[number][s];
        race->arrived_fenced[number][s] = NULL;
    }
    race->has_arrived[number] = false;
    for (unsigned i = 0; i < block->warp_count; i++) {
        uint32_t lanes = waiting_lanes(&block->warps[i], number);
        if (lanes) join_lanes(&block->warps[i], lanes, &m);
    }
    for (unsigned i = 0; i < block->warp_count; i++)
        acquire_joined(&block->warps[i], waiting_lanes(&block->warps[i], number), &m);
    joined_drop(space, &m);
}

void event_barrier_release(struct block *block, unsigned number)
{
    bool all = !block->racecheck->has_arrived[number];
    for (unsigned i = 0; i < block->warp_count && all; i++)
        all = waiting_lanes(&block->warps[i], number) == block->warps[i].live &&
              !block->warps[i].exited;
    if (all)
        join_block(block);
    else
        join_waiting(block, number);
    clock_tick(block->racecheck);
}

/* ---- mbarriers and asynchronous copies ------------------------------------------------------- */

/* Mbarriers, and asynchronous copies, whose end a thread awaits at an mbarrier or by groups.
 *
 * An mbarrier has two sync words. An arrival releases to the second word. When the phase is over,
 * the second word's clocks move to the first word, where waiting threads acquire them. So no thread
 * acquires an arrival before its phase is over, and a thread that waits for the wrong phase, or at
 * another mbarrier, acquires nothing. The first word keeps the clocks that it had at the end of
 * earlier phases.
 *
 * The accesses of a copy belong to no thread. Copies that end in the order in which they began
 * share a component of the vector clock: a thread's cp.async; a thread's bulk copies that it waits
 * for by groups; and the bulk copies that arrive at one mbarrier, which are carried out in order
 * (machine/bulk.c). */

/* ---- mbarriers ------------------------------------------------------------------------------- */

enum { OVER, COMING };

static struct sync_word *word_of(const struct shared_place *place, int which)
{
    return sync_word_for(place->owner, &place->owner->racecheck->words,
                         place->offset / GRANULE + 1 + (unsigned)which);
}

static void release_to(const struct shared_place *place, int which, enum fence fence,
                       struct vclock *clock)
{
    struct vclock_space *space = space_of(place->owner);
    if (clock) vclock_join(space, &word_of(place, which)->clock[fence], clock);
    vclock_drop(space, &clock);
}

void event_mbarrier_init(const struct shared_place *place)
{
    for (int which = OVER; which <= COMING; which++) {
        struct sync_word *word = word_of(place, which);
        for (int s = 0; s < FENCES && word; s++)
            vclock_drop(space_of(place->owner), &word->clock[s]);
        if (word) sync_forget_earlier(space_of(place->owner), word);
    }
}

void event_mbarrier_arrive(struct warp *w, const struct insn *i, uint32_t lanes,
                           const struct shared_place *place, bool releases)
{
    if (race_skips(w->block->launch, i)) return;
    release_to(place, COMING, SCOPE_DEVICE,
               releases ? lanes_clock(w, lanes) : lanes_fence_clock(w, lanes, SCOPE_BLOCK));
    for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++)
        if (s != OBSERVED)
            release_to(place, COMING, (enum fence)s, lanes_fence_clock(w, lanes, (enum fence)s));
    clock_tick(w->block->racecheck);
}

void event_mbarrier_over(const struct shared_place *place)
{
    sync_keep_earlier(space_of(place->owner), word_of(place, OVER), 0, 0);
    for (int s = SCOPE_DEVICE; s < FENCES; s++) {
        struct sync_word *coming = word_of(place, COMING);
        struct vclock *clock = coming->clock[s];
        coming->clock[s] = NULL;
        release_to(place, OVER, (enum fence)s, clock);
    }
}

static bool is_after_all(const struct warp *w, int lane, struct vclock *of)
{
    struct vclock_space *space = space_of(w->block);
    const struct race_block *race = w->block->racecheck;
    if (vclock_covers(space, state_of(w)->acquired[lane], of, w->block->index, race->base))
        return true;
    struct vclock *own = lane_clock(w, lane);
    bool all = vclock_covers(space, own, of, w->block->index, race->base);
    vclock_drop(space, &own);
    return all;
}

/* The clocks that a lane acquires when it has waited for a parity. Every other phase has the same
 * parity. If the lane is not after the phase in between, its wait might have ended two phases
 * earlier. */
static struct vclock *const *clock_by_parity(const struct warp *w, int lane,
                                             const struct sync_word *word)
{
    struct vclock *const *clock = word->clock;
    for (const struct word_before *b = word->before;
         b && b->next && !is_after_all(w, lane, b->clock[SCOPE_DEVICE]); b = b->next->next)
        clock = b->next->clock;
    return clock;
}

static void acquire(struct warp *w, uint32_t lanes, struct vclock *const *clock)
{
    lanes_acquire(w, lanes, clock[SCOPE_DEVICE]);
    for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++)
        for (uint32_t left = lanes; left && clock[s]; left &= left - 1)
            lane_acquire_fenced(w, __builtin_ctz(left), (enum fence)s, clock[s]);
}

void event_mbarrier_wait(struct warp *w, const struct insn *i, uint32_t lanes,
                         const struct shared_place *place, bool by_parity)
{
    const struct race_warp *state = state_of(w);
    struct sync_word *word = word_of(place, OVER);
    if (!word) return;
    word->last_read = w->block->racecheck->device->serial;
    if (race_skips(w->block->launch, i)) return;
    while (lanes) { /* nearly always all lanes have the same clock */
        int first = __builtin_ctz(lanes);
        uint32_t same = 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            if (state->acquired[__builtin_ctz(left)] == state->acquired[first])
                same |= left & -left;
        acquire(w, same, by_parity ? clock_by_parity(w, first, word) : word->clock);
        lanes &= ~same;
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The number of an mbarrier among those that this block's copies arrive at. If there are more than
 * MAX_THREADS, the others share the last number, and a hazard may be missed. */
static uint16_t number_of(struct race_block *race, const struct shared_place *mbarrier)
{
    struct race_copies *copies = &race->copies;
    uint32_t address = (uint32_t)shared_window(mbarrier->owner->rank) | mbarrier->offset;
    unsigned number = 0;
    while (number < copies->mbarrier_count && copies->mbarriers[number] != address) number++;
    if (number == MAX_THREADS) return MAX_THREADS - 1;
    if (!copies->mbarriers)
        copies->mbarriers = allocated(malloc(MAX_THREADS * sizeof *copies->mbarriers));
    copies->mbarriers[number] = address;
    if (number == copies->mbarrier_count) copies->mbarrier_count++;
    return (uint16_t)number;
}

struct copy_mark event_copy_begin(struct warp *w, const struct shared_place *mbarrier)
{
    struct race_block *race = w->block->racecheck;
    return (struct copy_mark){race->now, mbarrier ? number_of(race, mbarrier) : 0};
}

void event_copy_end(struct warp *w) { clock_tick(w->block->racecheck); }

static struct vclock *copies_until(const struct warp *w, unsigned key, timestamp until)
{
    struct vclock_entry entry = {(uint16_t)key, until};
    return vclock_of_block(space_of(w->block), w->block->index, 0, &entry, 1);
}

void event_copy_wait(struct warp *w, const struct insn *i, int lane, enum copies which,
                     uint32_t until)
{
    if (race_skips(w->block->launch, i)) return;
    static const uint16_t keys[] = {COPY_KEY, BULK_READ_KEY, BULK_KEY};
    unsigned thread = w->index * WARP + (unsigned)lane;
    struct vclock *clock = copies_until(w, keys[which] + thread, until);
    lane_acquire(w, lane, clock);
    vclock_drop(space_of(w->block), &clock);
}

void event_copy_arrive(struct warp *w, int lane, enum agent agent, struct copy_mark copy,
                       const struct shared_place *place)
{
    unsigned key = agent == BY_BARRIER ? BARRIER_KEY + (unsigned)copy.number
                                       : COPY_KEY + w->index * WARP + (unsigned)lane;
    release_to(place, COMING, SCOPE_DEVICE, copies_until(w, key, copy.when));
}
