/*
 * race_clock.c — the clock of each lane: which accesses of other threads happen before its next
 * one, and what it releases behind a fence.
 *
 * Each block has a timestamp, `now`, which every synchronisation in it increases. An access carries
 * the timestamp at which it was made. It happens before a lane if the lane's clock has at least
 * this time for the thread that made it. A barrier of a whole block or of a whole warp only sets
 * one number, `base`. Vector clocks are made for other kinds of synchronisation only.
 */
#include "race.h"

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

struct vclock *own_block_clock(const struct warp *w, int lane, timestamp until)
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
void lanes_acquire(const struct warp *w, uint32_t lanes, struct vclock *k)
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

struct vclock *lanes_fence_clock(const struct warp *w, uint32_t lanes, enum fence fence)
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
           race->fenced[FOR_COPIES];
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
        for (int s = fence == FOR_COPIES ? FOR_COPIES : 0; s <= (int)fence; s++) {
            vclock_drop(space_of(w->block), &state->fenced[s][lane]);
            state->fenced[s][lane] = vclock_hold(same);
            state->fence_time[s][lane] = race->now;
        }
    }
    vclock_drop(space_of(w->block), &same);
    state->has_fenced |= lanes;
    clock_tick(race);
}

void event_fence(struct warp *w, uint32_t lanes, enum fence fence) { race_fence(w, lanes, fence); }

/* With strict readers: what the lanes have kept until a fence of this scope. */
void event_reader_fence(struct warp *w, uint32_t lanes, enum fence scope)
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
