/*
 * race_clock.c — what a lane knows of other threads, and what it hands on behind a fence.
 *
 * A block counts its moments: whatever synchronises ends one. An access happens in a moment, and
 * another thread knows that it is over if it knows of that thread until then or later. What most
 * programs do, barriers of a whole block and of a whole warp, is two numbers, `base`; only other
 * ways need knowledge in trees.
 */
#include "race_state.h"

void next_moment(struct race_block *race) { race->now++; }

bool lane_knows(const struct warp *w, int lane, visit v)
{
    const struct race_block *race = w->block->race;
    const struct race_warp *state = state_of(w);
    uint64_t block = visit_block(v);
    unsigned thread = visit_thread(v);
    moment when = visit_moment(v);
    if (block == w->block->index) {
        if (when <= race->base || thread == w->index * WARP + (unsigned)lane) return true;
        if (thread / WARP == w->index && when <= state->base) return true;
    } else if (race->common &&
               when <= knowledge_until(&race->race->space, race->common, block, thread)) {
        return true;
    }
    return state->with_more & bit_of(lane) &&
           when <= knowledge_until(&race->race->space, state->more[lane], block, thread);
}

bool lane_knows_copy(const struct warp *w, int lane, visit v, unsigned key)
{
    const struct race_block *race = w->block->race;
    const struct race_warp *state = state_of(w);
    const struct knowledge_space *space = &race->race->space;
    uint64_t block = visit_block(v);
    moment when = visit_moment(v);
    if (race->common && when <= knowledge_of_copies(space, race->common, block, key)) return true;
    return state->with_more & bit_of(lane) &&
           when <= knowledge_of_copies(space, state->more[lane], block, key);
}

/* ---- one lane -------------------------------------------------------------------------------- */

struct knowledge *own_block(const struct warp *w, int lane, moment until)
{
    const struct race_block *race = w->block->race;
    const struct race_warp *state = state_of(w);
    struct known entries[2];
    unsigned count = 0;
    if (until > race->base)
        entries[count++] = (struct known){(uint16_t)(w->index * WARP + (unsigned)lane), until};
    if (state->base > race->base)
        entries[count++] = (struct known){(uint16_t)(WARP_KEY + w->index), state->base};
    return knowledge_of(space_of(w->block), w->block->index, race->base, entries, count);
}

struct knowledge *lane_knowledge(const struct warp *w, int lane)
{
    struct knowledge *k = own_block(w, lane, w->block->race->now);
    knowledge_add(space_of(w->block), &k, w->block->race->common);
    knowledge_add(space_of(w->block), &k, state_of(w)->more[lane]);
    return k;
}

void lane_learn(const struct warp *w, int lane, struct knowledge *k)
{
    struct race_warp *state = state_of(w);
    if (!k) return;
    knowledge_add(space_of(w->block), &state->more[lane], k);
    state->with_more |= bit_of(lane);
}

/* Lanes that knew the same know the same: the same tree, which makes much after it quicker. */
void lanes_learn(const struct warp *w, uint32_t lanes, struct knowledge *k)
{
    struct race_warp *state = state_of(w);
    struct knowledge *before = NULL, *after = NULL;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        if (after && state->more[lane] == before) {
            knowledge_drop(space_of(w->block), &state->more[lane]);
            state->more[lane] = knowledge_hold(after);
            state->with_more |= bit_of(lane);
        } else {
            before = state->more[lane];
            lane_learn(w, lane, k);
            after = state->more[lane];
        }
    }
}

struct knowledge *lanes_fenced(const struct warp *w, uint32_t lanes, enum fence fence)
{
    struct knowledge *all = NULL;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        if (!lane_has_fenced(w, lane)) continue;
        struct knowledge *fenced = lane_fenced(w, lane, fence);
        knowledge_add(space_of(w->block), &all, fenced);
        knowledge_drop(space_of(w->block), &fenced);
    }
    return all;
}

bool lane_has_fenced(const struct warp *w, int lane)
{
    const struct race_block *race = w->block->race;
    return state_of(w)->has_fenced & bit_of(lane) || race->fenced[SCOPE_BLOCK] ||
           race->fenced[FOR_COPIES];
}

void lane_learn_fenced(const struct warp *w, int lane, enum fence fence, struct knowledge *k)
{
    struct race_warp *state = state_of(w);
    if (!k) return;
    knowledge_add(space_of(w->block), &state->fenced[fence][lane], k);
    state->has_fenced |= bit_of(lane);
}

bool lane_is_fenced(const struct warp *w, int lane, enum fence fence, visit v)
{
    const struct race_block *race = w->block->race;
    const struct race_warp *state = state_of(w);
    const struct knowledge_space *space = &race->race->space;
    uint64_t block = visit_block(v);
    unsigned thread = visit_thread(v);
    moment when = visit_moment(v);
    return (block == w->block->index && thread == w->index * WARP + (unsigned)lane &&
            when <= state->fence_time[fence][lane]) ||
           when <= knowledge_until(space, state->fenced[fence][lane], block, thread) ||
           when <= knowledge_until(space, race->fenced[fence], block, thread);
}

/* Of its own accesses those before the store, which has a moment of its own. */
static void add_own_heard(const struct warp *w, int lane, struct knowledge **k)
{
    struct knowledge *own = own_block(w, lane, w->block->race->now - 1);
    knowledge_add(space_of(w->block), k, own);
    knowledge_add(space_of(w->block), k, w->block->race->common);
    knowledge_add(space_of(w->block), k, state_of(w)->more[lane]);
    knowledge_drop(space_of(w->block), &own);
}

struct knowledge *lane_fenced(const struct warp *w, int lane, enum fence fence)
{
    const struct race_warp *state = state_of(w);
    struct knowledge *k = knowledge_hold(w->block->race->fenced[fence]);
    knowledge_add(space_of(w->block), &k, state->fenced[fence][lane]);
    if (fence == HEARD && w->block->race->race->hears) add_own_heard(w, lane, &k);
    if (state->fence_time[fence][lane]) {
        struct known own = {(uint16_t)(w->index * WARP + (unsigned)lane),
                            state->fence_time[fence][lane]};
        struct knowledge *mine = knowledge_of(space_of(w->block), w->block->index, 0, &own, 1);
        knowledge_add(space_of(w->block), &k, mine);
        knowledge_drop(space_of(w->block), &mine);
    }
    return k;
}

/* A fence for a narrower scope leaves what a wider one has done as it is. */
void race_fence(struct warp *w, uint32_t lanes, enum fence fence)
{
    struct race_block *race = w->block->race;
    struct race_warp *state = state_of(w);
    struct knowledge *same = NULL, *same_more = NULL; /* lanes mostly know the same */
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        if (!same || state->more[lane] != same_more) {
            knowledge_drop(space_of(w->block), &same);
            same = own_block(w, lane, 0);
            same_more = state->more[lane];
            knowledge_add(space_of(w->block), &same, race->common);
            knowledge_add(space_of(w->block), &same, same_more);
        }
        for (int s = fence == FOR_COPIES ? FOR_COPIES : 0; s <= (int)fence; s++) {
            knowledge_drop(space_of(w->block), &state->fenced[s][lane]);
            state->fenced[s][lane] = knowledge_hold(same);
            state->fence_time[s][lane] = race->now;
        }
    }
    knowledge_drop(space_of(w->block), &same);
    state->has_fenced |= lanes;
    next_moment(race);
}

void event_fence(struct warp *w, uint32_t lanes, enum fence fence) { race_fence(w, lanes, fence); }

/* ---- a block's life -------------------------------------------------------------------------- */

void race_clock_reset(struct race_block *race)
{
    struct knowledge_space *space = &race->race->space;
    knowledge_drop(space, &race->common);
    for (int s = 0; s < FENCES; s++) knowledge_drop(space, &race->fenced[s]);
    for (int b = 0; b < MAX_BARRIERS; b++) {
        knowledge_drop(space, &race->arrived[b]);
        for (int s = 0; s < FENCES; s++) knowledge_drop(space, &race->arrived_fenced[b][s]);
        race->has_arrived[b] = false;
    }
    for (unsigned i = 0; i < race->warp_count; i++) {
        forget_warp(space, &race->warps[i]);
        race->warps[i].base = 0;
    }
    race->base = 0;
    race->now = 1;
}
