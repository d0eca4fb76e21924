/*
 * update.c — racecheck: a word that is loaded, changed and stored again, by volatile or
 * relaxed accesses.
 *
 * None of these accesses races with another thread's. But the three steps are not atomic together:
 * a store by another thread between them is lost. It is a hazard if this has happened. It is also a
 * hazard if the thread has observed the other store but is not after it, since the store might as
 * well have come later. It is no hazard if the thread has polled until it observed the other store:
 * then it was this thread's turn (as with a ticket lock). Nor is it one if the loaded value has
 * nothing to do with the stored one (such as a hint that any thread may overwrite).
 */
#include "access.h"

static bool is_flag(unsigned kind)
{
    unsigned how = kind & KIND_MASK;
    return (how == KIND_VOLATILE || how == KIND_STRONG) && agent_of(kind) == BY_THREAD;
}

void race_note_read(const struct lane_access *t, const struct granule *g)
{
    struct recent_read *recent = state_of(t->w)->recent[t->lane];
    bool is_atomic = (t->kind & KIND_MASK) == KIND_ATOMIC;
    if ((!is_flag(t->kind) && !is_atomic) || t->place == UNKNOWN_PLACE) return;
    struct recent_read new = {t->address, g->access[LAST_WRITE], t->space, (uint16_t)t->place, true,
                              is_atomic};
    unsigned k = 0;
    while (k < RECENT - 1 && (recent[k].address != new.address || recent[k].place != new.place))
        k++;
    for (; k > 0; k--) recent[k] = recent[k - 1];
    recent[0] = new;
}

/* Did it read what that store had stored? */
static bool has_read(const struct lane_access *t, const struct recent_read *read, record store)
{
    return record_equals(read->write, store, t->layout->place_mask | RECORD_KIND);
}

/* Did that read give the lane its turn? It polled for the store, or it was an atomic. */
static bool has_waited(const struct lane_access *t, const struct recent_read *read, record store)
{
    return has_read(t, read, store) &&
           (read->is_atomic || race_tries_again(t->w->block->racecheck->device,
                                                t->w->block->launch->kernel, read->place));
}

/* Does the stored value depend on that read? If the read has observed the other store, the value
 * itself must depend on it: a thread may wait for its turn by a load that only decides whether it
 * stores. */
static bool counts_on(const struct lane_access *t, const struct recent_read *read, record store)
{
    struct race *race = t->w->block->racecheck->device;
    const struct emu_kernel *kernel = t->w->block->launch->kernel;
    return race_feeds(race, kernel, read->place, t->place) ||
           (!has_read(t, read, store) && race_decides(race, kernel, read->place, t->place));
}

void race_check_update(const struct lane_access *t, const struct granule *g)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    bool is_update = false;
    record store = g->access[LAST_WRITE];
    if (!is_flag(t->kind) || !is_flag(granule_kind(g, LAST_WRITE)) || !record_bytes(store) ||
        t->place == UNKNOWN_PLACE || lane_is_after(t->w, t->lane, store))
        return;
    for (int k = 0; k < RECENT; k++) {
        if (!recent[k].is_there || recent[k].address != t->address) continue;
        if (has_waited(t, &recent[k], store)) return;
        is_update = is_update || counts_on(t, &recent[k], store);
    }
    if (!is_update || stores_same(t)) return;
    race_report(
        t->w, t->insn, t->lane,
        &(struct conflict){.hazard = LOST_UPDATE,
                           .before = store,
                           .before_place = race_place_of(t->w->block->racecheck->device, store),
                           .space = t->space,
                           .address = t->address});
}
