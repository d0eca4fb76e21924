/*
 * race_async.c — mbarriers, and the copies that arrive at them or are waited for by groups.
 *
 * An mbarrier has two words. Arrivals hand on by the second; when its phase is over, that moves to
 * the first, where threads that have waited find it. So no thread knows of an arrival before its
 * phase is over, and a thread that waits for the wrong phase, or at another mbarrier, learns nothing.
 * The first word remembers what it handed on before its last phases were over.
 *
 * A copy's accesses belong to no thread. Those copies that are over in the order in which they were
 * begun have a clock of their own: a thread's cp.async; its bulk copies that it waits for by groups;
 * the bulk copies that arrive at one mbarrier, which are carried out in order (bulk.c).
 */
#include "race_state.h"
#include "common/emu/machine/shared.h"
#include <stdlib.h>

/* ---- mbarriers ------------------------------------------------------------------------------- */

enum { OVER, COMING };

static struct sync_word *word_of(const struct shared_place *place, int which)
{
    return sync_word_for(place->owner, &place->owner->race->words,
                         place->offset / GRANULE + 1 + (unsigned)which);
}

static void hand_on(const struct shared_place *place, int which, enum fence fence,
                    struct knowledge *known)
{
    struct knowledge_space *space = space_of(place->owner);
    struct sync_word *word = known ? word_of(place, which) : NULL;
    if (word) knowledge_add(space, &word->known[fence], known);
    knowledge_drop(space, &known);
}

void event_mbarrier_init(const struct shared_place *place)
{
    for (int which = OVER; which <= COMING; which++) {
        struct sync_word *word = word_of(place, which);
        for (int s = 0; s < FENCES && word; s++)
            knowledge_drop(space_of(place->owner), &word->known[s]);
        if (word) sync_forget_before(space_of(place->owner), word);
    }
}

void event_mbarrier_arrive(struct warp *w, uint32_t lanes, const struct shared_place *place,
                           bool releases)
{
    hand_on(place, COMING, SCOPE_DEVICE,
            releases ? lanes_knowledge(w, lanes) : lanes_fenced(w, lanes, SCOPE_BLOCK));
    hand_on(place, COMING, FOR_COPIES, lanes_fenced(w, lanes, FOR_COPIES));
    next_moment(w->block->race);
}

void event_mbarrier_over(const struct shared_place *place)
{
    struct sync_word *over = word_of(place, OVER);
    if (over) sync_keep_before(space_of(place->owner), over, 0, 0);
    for (int s = SCOPE_DEVICE; s < FENCES; s++) {
        struct sync_word *coming = word_of(place, COMING);
        struct knowledge *known = coming ? coming->known[s] : NULL;
        if (coming) coming->known[s] = NULL;
        hand_on(place, OVER, (enum fence)s, known);
    }
}

static bool knows_all(const struct warp *w, int lane, struct knowledge *of)
{
    struct knowledge_space *space = space_of(w->block);
    const struct race_block *race = w->block->race;
    if (knowledge_holds(space, state_of(w)->more[lane], of, w->block->index, race->base))
        return true;
    struct knowledge *own = lane_knowledge(w, lane);
    bool all = knowledge_holds(space, own, of, w->block->index, race->base);
    knowledge_drop(space, &own);
    return all;
}

/* What a lane takes over that has waited for a parity. Every other phase has that parity: if the
 * lane does not know of the phase between, it might have gone on two phases before. */
static struct knowledge *const *known_by_parity(const struct warp *w, int lane,
                                                const struct sync_word *word)
{
    struct knowledge *const *known = word->known;
    for (const struct word_before *b = word->before;
         b && b->next && !knows_all(w, lane, b->known[SCOPE_DEVICE]); b = b->next->next)
        known = b->next->known;
    return known;
}

static void learn(struct warp *w, uint32_t lanes, struct knowledge *const *known)
{
    lanes_learn(w, lanes, known[SCOPE_DEVICE]);
    for (; lanes && known[FOR_COPIES]; lanes &= lanes - 1)
        lane_learn_fenced(w, __builtin_ctz(lanes), FOR_COPIES, known[FOR_COPIES]);
}

void event_mbarrier_wait(struct warp *w, uint32_t lanes, const struct shared_place *place,
                         bool by_parity)
{
    const struct race_warp *state = state_of(w);
    struct sync_word *word = word_of(place, OVER);
    if (!word) return;
    word->seen = w->block->race->race->serial;
    while (lanes) { /* mostly all know the same */
        int first = __builtin_ctz(lanes);
        uint32_t same = 0;
        for (uint32_t left = lanes; left; left &= left - 1)
            if (state->more[__builtin_ctz(left)] == state->more[first]) same |= left & -left;
        learn(w, same, by_parity ? known_by_parity(w, first, word) : word->known);
        lanes &= ~same;
    }
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The number of an mbarrier among those that this block's copies arrive at. Those that are too many
 * have the last one together: then a hazard may be missed. */
static uint16_t number_of(struct race_block *race, const struct shared_place *mbarrier)
{
    struct race_copies *copies = &race->copies;
    uint32_t address = (uint32_t)shared_window(mbarrier->owner->rank) | mbarrier->offset;
    unsigned number = 0;
    while (number < copies->mbarrier_count && copies->mbarriers[number] != address) number++;
    if (number == MAX_THREADS) return MAX_THREADS - 1;
    if (!copies->mbarriers &&
        !(copies->mbarriers = malloc(MAX_THREADS * sizeof *copies->mbarriers))) {
        race->race->off = true;
        return 0;
    }
    copies->mbarriers[number] = address;
    if (number == copies->mbarrier_count) copies->mbarrier_count++;
    return (uint16_t)number;
}

struct copy_mark event_copy_begin(struct warp *w, const struct shared_place *mbarrier)
{
    struct race_block *race = w->block->race;
    return (struct copy_mark){race->now, mbarrier ? number_of(race, mbarrier) : 0};
}

void event_copy_end(struct warp *w) { next_moment(w->block->race); }

static struct knowledge *copies_until(const struct warp *w, unsigned key, moment until)
{
    struct known entry = {(uint16_t)key, until};
    return knowledge_of(space_of(w->block), w->block->index, 0, &entry, 1);
}

void event_copy_wait(struct warp *w, int lane, enum copies which, uint32_t until)
{
    static const uint16_t keys[] = {COPY_KEY, BULK_READ_KEY, BULK_KEY};
    unsigned thread = w->index * WARP + (unsigned)lane;
    struct knowledge *known = copies_until(w, keys[which] + thread, until);
    lane_learn(w, lane, known);
    knowledge_drop(space_of(w->block), &known);
}

void event_copy_arrive(struct warp *w, int lane, enum maker maker, struct copy_mark copy,
                       const struct shared_place *place)
{
    unsigned key = maker == BY_BARRIER ? BARRIER_KEY + (unsigned)copy.number
                                       : COPY_KEY + w->index * WARP + (unsigned)lane;
    hand_on(place, COMING, SCOPE_DEVICE, copies_until(w, key, copy.when));
}
