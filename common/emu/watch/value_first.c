/*
 * value_first.c — racecheck: a value that is loaded before its flag.
 *
 * A thread loads a value and a flag in each turn of a loop, until the flag says that the value is
 * there. Volatile and relaxed loads may be carried out in either order, and nvcc changes their
 * order, too. If the value comes first, the flag may be there and the value be old. It is a hazard
 * if the flag decides whether the value is loaded again, and no fence lies between the two stores.
 * It is no hazard if the thread also waits for the value itself.
 */
#include "access.h"

static record last_store(const struct lane_access *t, const struct recent_read *read)
{
    struct shadow_page *page = shadow_page_at(&t->owner->device->shadow, read->address);
    size_t index = read->address / GRANULE & race_index_mask(PTX_GLOBAL);
    record store = page ? shadow_record(page, LAST_WRITE, index) : 0;
    unsigned kind = record_kind(store) & KIND_MASK;
    bool is_flag = kind == KIND_VOLATILE || kind == KIND_STRONG;
    return is_flag && agent_of(record_kind(store)) == BY_THREAD ? store : 0;
}

/* May the flag that is loaded now belong to a value that the lane has read? */
static bool may_be_value(const struct lane_access *t, const struct recent_read *read)
{
    struct race *race = t->owner->device;
    const struct emu_kernel *kernel = t->w->block->launch->kernel;
    return read->is_there && !read->is_atomic && read->space == PTX_GLOBAL &&
           read->place != t->place && !race_tries_again(race, kernel, read->place) &&
           race_repeats(race, kernel, t->place, read->place);
}

unsigned race_values_before(const struct lane_access *t)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    unsigned values = 0;
    if (t->writes || t->space != PTX_GLOBAL || t->place == UNKNOWN_PLACE) return 0;
    for (unsigned k = 0; k < RECENT; k++) {
        if (!may_be_value(t, &recent[k])) continue;
        record store = last_store(t, &recent[k]);
        if (store && !lane_is_fenced(t->w, t->lane, OBSERVED, store)) values |= 1u << k;
    }
    return values;
}

void race_check_values(const struct lane_access *t, unsigned values)
{
    const struct recent_read *recent = state_of(t->w)->recent[t->lane];
    const struct insn *code = t->w->block->launch->kernel->code;
    for (; values; values &= values - 1) {
        const struct recent_read *read = &recent[__builtin_ctz(values)];
        record store = last_store(t, read);
        if (!lane_is_fenced(t->w, t->lane, OBSERVED, store) || lane_is_after(t->w, t->lane, store))
            continue;
        race_report(t->w, &code[read->place], t->lane,
                    &(struct conflict){.hazard = UNFENCED_READ,
                                       .before = store,
                                       .before_place = race_place_of(t->owner->device, store),
                                       .space = PTX_GLOBAL,
                                       .address = read->address});
    }
}
