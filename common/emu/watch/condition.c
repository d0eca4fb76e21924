/*
 * condition.c — racecheck: threads of one launch that set the condition of a graph's conditional
 * node to different values. The node acts on the last value, so something must order the threads.
 */
#include "race.h"
#include <stdlib.h>

/* What this launch has set a condition to; a new entry is not set yet. NULL: out of memory. */
static struct condition_set *entry_of(struct race *race, uint64_t handle)
{
    for (size_t k = 0; k < race->condition_count; k++)
        if (race->conditions[k].handle == handle) return &race->conditions[k];
    size_t bytes = (race->condition_count + 1) * sizeof *race->conditions;
    struct condition_set *grown = realloc(race->conditions, bytes);
    if (!grown) return NULL;
    race->conditions = grown;
    grown += race->condition_count++;
    *grown = (struct condition_set){.handle = handle};
    return grown;
}

void event_condition(struct warp *w, const struct insn *i, int lane, uint64_t handle,
                     unsigned value)
{
    struct race_block *block = w->block->racecheck;
    struct race *race = block->device;
    bool is_off = race->off || block->now >= race->layout.last_time;
    struct condition_set *entry = is_off ? NULL : entry_of(race, handle);
    unsigned place = (unsigned)(i - w->block->launch->kernel->code);
    if (!entry) return;
    if (entry->is_set && entry->value != value && !lane_is_after(w, lane, entry->last))
        race_report(w, i, lane,
                    &(struct conflict){.hazard = SET_DIFFERENTLY,
                                       .before = entry->last,
                                       .before_place = race_place_of(race, entry->last)});
    struct record_parts parts = {
        .block = w->block->index,
        .thread = w->index * WARP + (unsigned)lane,
        .time = block->now,
        .place = race_number_of_place(race, place < UNKNOWN_PLACE ? place : UNKNOWN_PLACE),
        .bytes = 1};
    entry->last = record_of(layout_of(w), parts);
    entry->value = value;
    entry->is_set = true;
}
