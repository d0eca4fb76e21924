/* race_barrier.c — racecheck: barriers of a warp and of a block join the clocks of their threads. */
#include "race_state.h"

static void forget_lane(struct knowledge_space *space, struct race_warp *state, int lane)
{
    knowledge_drop(space, &state->more[lane]);
    for (int s = 0; s < FENCES; s++) {
        knowledge_drop(space, &state->fenced[s][lane]);
        state->fence_time[s][lane] = 0;
    }
}

void forget_warp(struct knowledge_space *space, struct race_warp *state)
{
    for (uint32_t left = state->with_more | state->has_fenced; left; left &= left - 1)
        forget_lane(space, state, __builtin_ctz(left));
    state->with_more = state->has_fenced = 0;
}

/* What threads that meet know and have fenced together. */
struct meeting {
    struct knowledge *known, *fenced[FENCES];
};

/* The lanes' own entries: one for the warp if all of it is there, and no lane has exited, which need
 * not have met the others before. `times` NULL: `now` for all. */
static struct knowledge *entries_of(const struct warp *w, uint32_t lanes, const moment *times,
                                    moment now)
{
    struct known entries[WARP];
    unsigned count = 0;
    bool same = lanes == w->live && !w->exited;
    moment first = times ? times[__builtin_ctz(lanes)] : now;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        moment time = times ? times[lane] : now;
        same = same && time == first;
        if (time)
            entries[count++] = (struct known){(uint16_t)(w->index * WARP + (unsigned)lane), time};
    }
    if (same && first) {
        entries[0] = (struct known){(uint16_t)(WARP_KEY + w->index), first};
        count = 1;
    }
    if (!count) return NULL;
    return knowledge_of(space_of(w->block), w->block->index, 0, entries, count);
}

static void add_and_drop(struct knowledge_space *space, struct knowledge **into,
                         struct knowledge *more)
{
    knowledge_add(space, into, more);
    knowledge_drop(space, &more);
}

/* Adds what the lanes have learned from others and have fenced. */
static void gather(const struct warp *w, uint32_t lanes, struct meeting *m)
{
    struct knowledge_space *space = space_of(w->block);
    const struct race_warp *state = state_of(w);
    for (uint32_t left = lanes & state->with_more; left; left &= left - 1)
        knowledge_add(space, &m->known, state->more[__builtin_ctz(left)]);
    lanes &= state->has_fenced;
    for (int s = 0; s < FENCES && lanes; s++) {
        for (uint32_t left = lanes; left; left &= left - 1)
            knowledge_add(space, &m->fenced[s], state->fenced[s][__builtin_ctz(left)]);
        add_and_drop(space, &m->fenced[s], entries_of(w, lanes, state->fence_time[s], 0));
    }
}

/* The same with the lanes' own accesses, and what their warp knows of itself. */
static void gather_all(const struct warp *w, uint32_t lanes, struct meeting *m)
{
    gather(w, lanes, m);
    add_and_drop(space_of(w->block), &m->known, own_block(w, 0, 0));
    add_and_drop(space_of(w->block), &m->known, entries_of(w, lanes, NULL, w->block->race->now));
}

struct knowledge *lanes_knowledge(const struct warp *w, uint32_t lanes)
{
    struct meeting m = {0};
    gather_all(w, lanes, &m);
    knowledge_add(space_of(w->block), &m.known, w->block->race->common);
    for (int s = 0; s < FENCES; s++) knowledge_drop(space_of(w->block), &m.fenced[s]);
    return m.known;
}

static void spread(const struct warp *w, uint32_t lanes, const struct meeting *m)
{
    struct knowledge_space *space = space_of(w->block);
    struct race_warp *state = state_of(w);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        lane_learn(w, lane, m->known);
        for (int s = 0; s < FENCES; s++) {
            if (!m->fenced[s]) continue;
            knowledge_add(space, &state->fenced[s][lane], m->fenced[s]);
            state->has_fenced |= bit_of(lane);
        }
    }
}

static void end_meeting(struct knowledge_space *space, struct meeting *m)
{
    knowledge_drop(space, &m->known);
    for (int s = 0; s < FENCES; s++) knowledge_drop(space, &m->fenced[s]);
}

void event_warp_sync(struct warp *w, uint32_t lanes)
{
    struct race_block *race = w->block->race;
    struct race_warp *state = state_of(w);
    struct meeting m = {0};
    if (lanes == w->live) {
        state->base = race->now;
        if (state->with_more | state->has_fenced) {
            gather(w, lanes, &m);
            spread(w, lanes, &m);
        }
    } else if (lanes & (lanes - 1)) {
        gather_all(w, lanes, &m);
        spread(w, lanes, &m);
    }
    end_meeting(space_of(w->block), &m);
    next_moment(race);
}

/* A match.sync orders no memory. But cuda::pipeline counts a warp's threads by one, so that the
 * last warp can invalidate its mbarriers: then it is taken for a bar.warp.sync. */
void event_match(struct warp *w, uint32_t lanes)
{
    if (w->block->race->race->has_inval) event_warp_sync(w, lanes);
}

/* ---- barriers of a block --------------------------------------------------------------------- */

void event_barrier_arrive(struct warp *w, uint32_t lanes, unsigned number)
{
    struct race_block *race = w->block->race;
    struct knowledge_space *space = space_of(w->block);
    struct meeting m = {0};
    gather_all(w, lanes, &m);
    knowledge_add(space, &race->arrived[number], m.known);
    for (int s = 0; s < FENCES; s++)
        knowledge_add(space, &race->arrived_fenced[number][s], m.fenced[s]);
    end_meeting(space, &m);
    race->has_arrived[number] = true;
    next_moment(race);
}

static uint32_t waiting_lanes(const struct warp *w, unsigned number)
{
    uint32_t lanes = 0;
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].state == FRAGMENT_AT_BARRIER && w->fragments[k].barrier == number)
            lanes |= w->fragments[k].mask;
    return lanes;
}

/* Everybody is here: what they know becomes what the block knows. */
static void meet_all(struct block *block)
{
    struct race_block *race = block->race;
    struct knowledge_space *space = space_of(block);
    struct meeting m = {0};
    for (unsigned i = 0; i < block->warp_count; i++) {
        struct race_warp *state = &race->warps[i];
        if (!(state->with_more | state->has_fenced)) continue;
        gather(&block->warps[i], ALL_LANES, &m);
        forget_warp(space, state);
    }
    knowledge_add(space, &race->common, m.known);
    for (int s = 0; s < FENCES; s++) knowledge_add(space, &race->fenced[s], m.fenced[s]);
    end_meeting(space, &m);
    race->base = race->now;
}

static void meet_some(struct block *block, unsigned number)
{
    struct race_block *race = block->race;
    struct knowledge_space *space = space_of(block);
    struct meeting m = {.known = race->arrived[number]};
    race->arrived[number] = NULL;
    for (int s = 0; s < FENCES; s++) {
        m.fenced[s] = race->arrived_fenced[number][s];
        race->arrived_fenced[number][s] = NULL;
    }
    race->has_arrived[number] = false;
    for (unsigned i = 0; i < block->warp_count; i++) {
        uint32_t lanes = waiting_lanes(&block->warps[i], number);
        if (lanes) gather_all(&block->warps[i], lanes, &m);
    }
    for (unsigned i = 0; i < block->warp_count; i++)
        spread(&block->warps[i], waiting_lanes(&block->warps[i], number), &m);
    end_meeting(space, &m);
}

void event_barrier_release(struct block *block, unsigned number)
{
    bool all = !block->race->has_arrived[number];
    for (unsigned i = 0; i < block->warp_count && all; i++)
        all = waiting_lanes(&block->warps[i], number) == block->warps[i].live;
    if (all)
        meet_all(block);
    else
        meet_some(block, number);
    next_moment(block->race);
}
