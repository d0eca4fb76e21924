/*
 * race_update.c — a word that is loaded, changed and stored again, each by a volatile or relaxed
 * access.
 *
 * None of them races with another thread's, but the three together are no atomic: what another
 * stores between the load and the store is lost. It is a hazard if that has happened, and also if
 * the other's store was seen without being in order, and so might as well have come later. It is
 * none if the thread has polled until it saw that store, for then its turn has come (a ticket
 * lock's); nor if what was loaded has nothing to do with the store (a hint that any thread may
 * overwrite).
 */
#include "race_access.h"

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
    struct recent_read new = {t->address, g->access[LAST_WRITE], (uint16_t)t->place, true,
                              is_atomic};
    unsigned k = 0;
    while (k < RECENT - 1 && (recent[k].address != new.address || recent[k].place != new.place))
        k++;
    for (; k > 0; k--) recent[k] = recent[k - 1];
    recent[0] = new;
}

/* Has its turn come by that read? It waited for that store, or was an atomic itself. */
static bool has_waited(const struct lane_access *t, const struct recent_read *read, epoch store)
{
    return read->write == store &&
           (read->is_atomic || race_tries_again(t->w->block->racecheck->device,
                                                t->w->block->launch->kernel, read->place));
}

/* Would it have been another store with what the other thread has stored? If that was read, it must
 * be in the value: a thread may wait for its turn by a load that decides whether it stores. */
static bool counts_on(const struct lane_access *t, const struct recent_read *read, epoch store)
{
    struct race *race = t->w->block->racecheck->device;
    const struct emu_kernel *kernel = t->w->block->launch->kernel;
    return race_feeds(race, kernel, read->place, t->place) ||
           (read->write != store && race_decides(race, kernel, read->place, t->place));
}

void race_check_update(const struct lane_access *t, const struct granule *g)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    bool is_update = false;
    epoch store = g->access[LAST_WRITE];
    if (!is_flag(t->kind) || !is_flag(granule_kind(g, LAST_WRITE)) || !epoch_bytes(store) ||
        t->place == UNKNOWN_PLACE || lane_is_after(t->w, t->lane, store))
        return;
    for (int k = 0; k < RECENT; k++) {
        if (!recent[k].is_there || recent[k].address != t->address) continue;
        if (has_waited(t, &recent[k], store)) return;
        is_update = is_update || counts_on(t, &recent[k], store);
    }
    if (!is_update || stores_same(t)) return;
    race_report(t->w, t->insn, t->lane,
                &(struct conflict){.hazard = LOST_UPDATE,
                                   .before = store,
                                   .before_place = g->place[LAST_WRITE],
                                   .space = t->space,
                                   .address = t->address});
}
