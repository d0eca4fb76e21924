/* barrier.c — racecheck: barriers of a warp and of a block join the clocks of their
 * threads. */
#include "race.h"

static void reset_lane_clocks(struct vclock_space *space, struct race_warp *state, int lane)
{
    vclock_drop(space, &state->acquired[lane]);
    for (int s = 0; s < FENCES; s++) {
        vclock_drop(space, &state->fenced[s][lane]);
        state->fence_time[s][lane] = 0;
    }
}

void reset_warp_clocks(struct vclock_space *space, struct race_warp *state)
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

struct vclock *lanes_clock(const struct warp *w, uint32_t lanes)
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

void event_warp_sync(struct warp *w, uint32_t lanes)
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

/* A match.sync orders no memory accesses. But cuda::pipeline counts the threads of a warp with
 * one before the last warp invalidates its mbarriers: in such a kernel it is taken for a
 * bar.warp.sync. */
void event_match(struct warp *w, uint32_t lanes)
{
    if (w->block->racecheck->device->has_inval) event_warp_sync(w, lanes);
}

/* ---- barriers of a block --------------------------------------------------------------------- */

void event_barrier_arrive(struct warp *w, uint32_t lanes, unsigned number)
{
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

static uint32_t waiting_lanes(const struct warp *w, unsigned number)
{
    uint32_t lanes = 0;
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].state == FRAGMENT_AT_BARRIER && w->fragments[k].barrier == number)
            lanes |= w->fragments[k].mask;
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
