/*
 * race_flags.c — racecheck: words of memory that carry clocks from a release to an acquire.
 *
 * A strong store releases the clock of its thread's last fence, and nothing newer. So a store of
 * data and then a store of a flag, without a __threadfence() in between, are not ordered for a
 * thread that reads the flag. A store replaces the word's clock; an atomic joins into it. Acquires
 * are more generous than PTX: every strong load and every atomic acquires the word's clock, with or
 * without a fence behind it. Much code that works on every GPU spins on a volatile flag and reads
 * on (for example CUDA's sample threadFenceReduction).
 *
 * With strict readers (emu --strict-readers) they are as in PTX: an acquire takes the word's clock
 * at once, and any other strong read only keeps it, as READ_BLOCK or READ_DEVICE, until a fence of
 * that scope. Barriers pass on what is kept, since a fence.sc in another thread that is ordered
 * after the read orders as well. (A fence.acq_rel there does not, and is taken for one.)
 *
 * A word also keeps its values and clocks from before its last stores: see earlier.c. In a
 * kernel with tracks_observed, a strong store also releases, as OBSERVED, all that its thread has
 * done, acquired or observed. This orders nothing. race.c uses it to find out which order the
 * code relies on.
 */
#include "race.h"
#include <stdlib.h>

enum { FIRST_SIZE = 64 };

static struct sync_word *place_of(const struct sync_table *table, uint64_t key)
{
    size_t at = (key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table->size - 1);
    while (table->words[at].key && table->words[at].key != key) at = (at + 1) & (table->size - 1);
    return &table->words[at];
}

static bool grow(struct sync_table *table)
{
    struct sync_table old = *table;
    table->size = old.size ? 2 * old.size : FIRST_SIZE;
    table->words = calloc(table->size, sizeof *table->words);
    if (!table->words) {
        *table = old;
        return false;
    }
    for (size_t i = 0; i < old.size; i++)
        if (old.words[i].key) *place_of(table, old.words[i].key) = old.words[i];
    free(old.words);
    return true;
}

/* Drops a store and all earlier ones. */
static void forget_earlier(struct vclock_space *space, struct word_before **from)
{
    while (*from) {
        struct word_before *before = *from;
        *from = before->next;
        for (int s = 0; s < FENCES; s++) vclock_drop(space, &before->clock[s]);
        free(before);
    }
}

void sync_clear(struct vclock_space *space, struct sync_table *table)
{
    for (size_t i = 0; i < table->size; i++) {
        for (int s = 0; s < FENCES; s++) vclock_drop(space, &table->words[i].clock[s]);
        forget_earlier(space, &table->words[i].before);
    }
    free(table->words);
    *table = (struct sync_table){0};
}

struct sync_word *sync_word_at(const struct sync_table *table, uint64_t key)
{
    struct sync_word *word = table->count ? place_of(table, key) : NULL;
    return word && word->key ? word : NULL;
}

static void acquire(struct warp *w, int lane, enum fence scope, struct reading reading,
                    struct vclock *k)
{
    if (reading.needs_fence)
        lane_acquire_fenced(w, lane, READ_BLOCK + scope, k);
    else
        lane_acquire(w, lane, k);
}

void sync_acquire(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct reading reading)
{
    struct sync_word *word = sync_word_at(table, key);
    if (!word) return;
    if (table == &w->block->racecheck->words) word->last_read = w->block->racecheck->device->serial;
    struct vclock *const *clock = word->clock;
    for (struct word_before *b = word->before; b && reading.earlier--; b = b->next)
        clock = b->clock;
    acquire(w, lane, SCOPE_DEVICE, reading, clock[SCOPE_DEVICE]);
    if (word->block == w->block->index) acquire(w, lane, SCOPE_BLOCK, reading, clock[SCOPE_BLOCK]);
    for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++)
        if (s != OBSERVED || reading.acts_on_it)
            lane_acquire_fenced(w, lane, (enum fence)s, clock[s]);
}

/* A clock for one block only is dropped when another block takes over the word. */
struct sync_word *sync_word_for(const struct block *block, struct sync_table *table, uint64_t key)
{
    struct vclock_space *space = space_of(block);
    if (2 * table->count >= table->size && !grow(table)) {
        space->out_of_memory = true;
        return NULL;
    }
    struct sync_word *word = place_of(table, key);
    if (!word->key) {
        word->key = key;
        word->block = block->index;
        table->count++;
    }
    if (word->block != block->index) {
        vclock_drop(space, &word->clock[SCOPE_BLOCK]);
        for (struct word_before *b = word->before; b; b = b->next)
            vclock_drop(space, &b->clock[SCOPE_BLOCK]);
    }
    word->block = block->index;
    return word;
}

void sync_keep_earlier(struct vclock_space *space, struct sync_word *word, uint32_t value,
                       record store)
{
    struct word_before *new = calloc(1, sizeof *new), **end = &word->before;
    if (!new) {
        space->out_of_memory = true;
        return;
    }
    *new = (struct word_before){.next = word->before, .value = value, .store = store};
    for (int s = 0; s < FENCES; s++) new->clock[s] = vclock_hold(word->clock[s]);
    word->before = new;
    for (int k = 0; k < MOST_BEFORE && *end; k++) end = &(*end)->next;
    forget_earlier(space, end);
}

void sync_forget_earlier(struct vclock_space *space, struct sync_word *word)
{
    forget_earlier(space, &word->before);
}

void sync_release(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct stored stored)
{
    struct race_block *race = w->block->racecheck;
    struct vclock_space *space = &race->device->space;
    bool is_remote = table != &race->words && table != &race->device->words;
    bool has_something = lane_has_fenced(w, lane) || race->device->tracks_observed || is_remote;
    if (!has_something && !((stored.replaces || stored.changes) && sync_word_at(table, key)))
        return;
    struct sync_word *word = sync_word_for(w->block, table, key);
    struct record_parts store = {.block = w->block->index,
                                 .thread = w->index * WARP + (unsigned)lane,
                                 .time = race->now,
                                 .bytes = 1};
    if (word && stored.changes)
        sync_keep_earlier(space, word, stored.before, record_of(layout_of(w), store));
    for (int s = 0; s < READ_BLOCK && word; s++) {
        struct vclock *fenced = lane_fence_clock(w, lane, (enum fence)s);
        if (stored.replaces) vclock_drop(space, &word->clock[s]);
        vclock_join(space, &word->clock[s], fenced);
        vclock_drop(space, &fenced);
    }
}

/* ---- barriers of a cluster, whose word has no address ---------------------------------------- */

void event_cluster_arrive(struct warp *w, uint32_t lanes, uint64_t key, bool releases)
{
    struct vclock_space *space = space_of(w->block);
    struct sync_word *word = sync_word_for(w->block, &w->block->racecheck->device->words, key);
    for (; lanes && word; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        struct vclock *clock =
            releases ? lane_clock(w, lane) : lane_fence_clock(w, lane, SCOPE_DEVICE);
        vclock_join(space, &word->clock[SCOPE_DEVICE], clock);
        vclock_drop(space, &clock);
        for (int s = FOR_COPIES; s < w->block->racecheck->device->fences; s++) {
            if (s == OBSERVED) continue;
            clock = lane_fence_clock(w, lane, (enum fence)s);
            vclock_join(space, &word->clock[s], clock);
            vclock_drop(space, &clock);
        }
    }
    clock_tick(w->block->racecheck);
}

void event_cluster_wait(struct warp *w, uint32_t lanes, uint64_t key)
{
    for (; lanes; lanes &= lanes - 1)
        sync_acquire(w, __builtin_ctz(lanes), &w->block->racecheck->device->words, key,
                     (struct reading){0});
}
