/*
 * race_sync.c — words of memory through which threads hand on what they know.
 *
 * A strong store hands on what its thread had fenced, and nothing else: `data = …; flag = 1;`
 * without __threadfence() between orders nothing. An atomic adds to what is there already, a store
 * replaces it. On the other side more is allowed than PTX promises: every strong load and every
 * atomic takes over what the word has to give, with or without a fence behind it, because much code
 * that works on every GPU spins on a volatile flag and reads on (CUDA's threadFenceReduction).
 *
 * A word also remembers what it was, and handed on, before its last stores: see race_earlier.c. In a
 * kernel where that matters (race->hears) a strong store hands on, as HEARD, everything that its
 * thread knows or has heard. That orders nothing; race_pair.c sees by it what the code counts on.
 */
#include "race_state.h"
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

/* Forgets a store and all that came before it. */
static void forget_before(struct knowledge_space *space, struct word_before **from)
{
    while (*from) {
        struct word_before *before = *from;
        *from = before->next;
        for (int s = 0; s < FENCES; s++) knowledge_drop(space, &before->known[s]);
        free(before);
    }
}

void sync_clear(struct knowledge_space *space, struct sync_table *table)
{
    for (size_t i = 0; i < table->size; i++) {
        for (int s = 0; s < FENCES; s++) knowledge_drop(space, &table->words[i].known[s]);
        forget_before(space, &table->words[i].before);
    }
    free(table->words);
    *table = (struct sync_table){0};
}

struct sync_word *sync_word_at(const struct sync_table *table, uint64_t key)
{
    struct sync_word *word = table->count ? place_of(table, key) : NULL;
    return word && word->key ? word : NULL;
}

void sync_acquire(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct reading reading)
{
    struct sync_word *word = sync_word_at(table, key);
    if (!word) return;
    if (table == &w->block->race->words) word->seen = w->block->race->race->serial;
    struct knowledge *const *known = word->known;
    for (struct word_before *b = word->before; b && reading.earlier--; b = b->next)
        known = b->known;
    lane_learn(w, lane, known[SCOPE_DEVICE]);
    if (word->block == w->block->index) lane_learn(w, lane, known[SCOPE_BLOCK]);
    lane_learn_fenced(w, lane, FOR_COPIES, known[FOR_COPIES]);
    if (reading.goes_by_it) lane_learn_fenced(w, lane, HEARD, known[HEARD]);
}

/* The word that a block's threads hand knowledge on by. What was meant for one block only is lost
 * when another takes the word over. */
struct sync_word *sync_word_for(const struct block *block, struct sync_table *table, uint64_t key)
{
    struct knowledge_space *space = space_of(block);
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
        knowledge_drop(space, &word->known[SCOPE_BLOCK]);
        for (struct word_before *b = word->before; b; b = b->next)
            knowledge_drop(space, &b->known[SCOPE_BLOCK]);
    }
    word->block = block->index;
    return word;
}

void sync_keep_before(struct knowledge_space *space, struct sync_word *word, uint32_t value,
                      visit store)
{
    struct word_before *new = calloc(1, sizeof *new), **end = &word->before;
    if (!new) {
        space->out_of_memory = true;
        return;
    }
    *new = (struct word_before){.next = word->before, .value = value, .store = store};
    for (int s = 0; s < FENCES; s++) new->known[s] = knowledge_hold(word->known[s]);
    word->before = new;
    for (int k = 0; k < MOST_BEFORE && *end; k++) end = &(*end)->next;
    forget_before(space, end);
}

void sync_forget_before(struct knowledge_space *space, struct sync_word *word)
{
    forget_before(space, &word->before);
}

void sync_release(struct warp *w, int lane, struct sync_table *table, uint64_t key,
                  struct stored stored)
{
    struct race_block *race = w->block->race;
    struct knowledge_space *space = &race->race->space;
    bool is_remote = table != &race->words && table != &race->race->words;
    bool hands_on = lane_has_fenced(w, lane) || race->race->hears || is_remote;
    if (!hands_on && !((stored.replaces || stored.changes) && sync_word_at(table, key))) return;
    struct sync_word *word = sync_word_for(w->block, table, key);
    if (word && stored.changes)
        sync_keep_before(
            space, word, stored.before,
            visit_make(w->block->index, w->index * WARP + (unsigned)lane, race->now, 1));
    for (int s = 0; s < FENCES && word; s++) {
        struct knowledge *fenced = lane_fenced(w, lane, (enum fence)s);
        if (stored.replaces) knowledge_drop(space, &word->known[s]);
        knowledge_add(space, &word->known[s], fenced);
        knowledge_drop(space, &fenced);
    }
}

/* ---- for what is no plain memory: barriers of a cluster -------------------------------------- */

void event_cluster_arrive(struct warp *w, uint32_t lanes, uint64_t key, bool releases)
{
    struct knowledge_space *space = space_of(w->block);
    struct sync_word *word = sync_word_for(w->block, &w->block->race->race->words, key);
    for (; lanes && word; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        struct knowledge *known =
            releases ? lane_knowledge(w, lane) : lane_fenced(w, lane, SCOPE_DEVICE);
        knowledge_add(space, &word->known[SCOPE_DEVICE], known);
        knowledge_drop(space, &known);
        known = lane_fenced(w, lane, FOR_COPIES);
        knowledge_add(space, &word->known[FOR_COPIES], known);
        knowledge_drop(space, &known);
    }
    next_moment(w->block->race);
}

void event_cluster_wait(struct warp *w, uint32_t lanes, uint64_t key)
{
    for (; lanes; lanes &= lanes - 1)
        sync_acquire(w, __builtin_ctz(lanes), &w->block->race->race->words, key,
                     (struct reading){0, false});
}
