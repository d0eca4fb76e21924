/*
 * async.c — racecheck: mbarriers, and asynchronous copies, whose end a thread awaits at an
 * mbarrier or by groups.
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
 * (machine/bulk.c).
 */
#include "race.h"
#include "common/emu/machine/shared.h"
#include <stdlib.h>

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
    struct sync_word *word = clock ? word_of(place, which) : NULL;
    if (word) vclock_join(space, &word->clock[fence], clock);
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

void event_mbarrier_arrive(struct warp *w, uint32_t lanes, const struct shared_place *place,
                           bool releases)
{
    release_to(place, COMING, SCOPE_DEVICE,
               releases ? lanes_clock(w, lanes) : lanes_fence_clock(w, lanes, SCOPE_BLOCK));
    for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++)
        if (s != OBSERVED)
            release_to(place, COMING, (enum fence)s, lanes_fence_clock(w, lanes, (enum fence)s));
    clock_tick(w->block->racecheck);
}

void event_mbarrier_over(const struct shared_place *place)
{
    struct sync_word *over = word_of(place, OVER);
    if (over) sync_keep_earlier(space_of(place->owner), over, 0, 0);
    for (int s = SCOPE_DEVICE; s < FENCES; s++) {
        struct sync_word *coming = word_of(place, COMING);
        struct vclock *clock = coming ? coming->clock[s] : NULL;
        if (coming) coming->clock[s] = NULL;
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

void event_mbarrier_wait(struct warp *w, uint32_t lanes, const struct shared_place *place,
                         bool by_parity)
{
    const struct race_warp *state = state_of(w);
    struct sync_word *word = word_of(place, OVER);
    if (!word) return;
    word->last_read = w->block->racecheck->device->serial;
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
    if (!copies->mbarriers &&
        !(copies->mbarriers = malloc(MAX_THREADS * sizeof *copies->mbarriers))) {
        race->device->off = true;
        return 0;
    }
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

void event_copy_wait(struct warp *w, int lane, enum copies which, uint32_t until)
{
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
