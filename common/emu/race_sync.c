/*
 * race_sync.c — words of memory through which threads hand on what they know.
 *
 * A strong store hands on what its thread had fenced, and nothing else: `data = …; flag = 1;`
 * without __threadfence() between orders nothing. An atomic adds to what is there already, a store
 * replaces it. On the other side more is allowed than PTX promises: every strong load and every
 * atomic takes over what the word has to give, with or without a fence behind it, because much code
 * that works on every GPU spins on a volatile flag and reads on (CUDA's threadFenceReduction).
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

struct sync_table *sync_table_of(struct warp *w, enum ptx_space space)
{
    return space == PTX_SHARED ? &w->block->race->words : &w->block->race->race->words;
}

void sync_clear(struct knowledge_space *space, struct sync_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        for (int s = 0; s < SCOPES; s++) knowledge_drop(space, &table->words[i].known[s]);
    free(table->words);
    *table = (struct sync_table){0};
}

void sync_acquire(struct warp *w, int lane, struct sync_table *table, uint64_t key)
{
    if (!table->count) return;
    const struct sync_word *word = place_of(table, key);
    if (!word->key) return;
    lane_learn(w, lane, word->known[SCOPE_DEVICE]);
    if (word->block == w->block->index) lane_learn(w, lane, word->known[SCOPE_BLOCK]);
}

/* The word that a thread hands knowledge on by; NULL: it has none, or no memory for it. What was
 * meant for one block only is lost when another takes the word over. */
static struct sync_word *word_for(struct warp *w, struct sync_table *table, uint64_t key)
{
    struct knowledge_space *space = &w->block->race->race->space;
    if (2 * table->count >= table->size && !grow(table)) {
        space->out_of_memory = true;
        return NULL;
    }
    struct sync_word *word = place_of(table, key);
    if (!word->key) {
        word->key = key;
        word->block = w->block->index;
        table->count++;
    }
    if (word->block != w->block->index) knowledge_drop(space, &word->known[SCOPE_BLOCK]);
    word->block = w->block->index;
    return word;
}

void sync_release(struct warp *w, int lane, struct sync_table *table, uint64_t key, bool replaces)
{
    struct knowledge_space *space = &w->block->race->race->space;
    bool has_fenced = lane_has_fenced(w, lane);
    if (!has_fenced && (!replaces || !table->count || !place_of(table, key)->key)) return;
    struct sync_word *word = word_for(w, table, key);
    for (int s = 0; s < SCOPES && word; s++) {
        struct knowledge *fenced = lane_fenced(w, lane, (enum scope)s);
        if (replaces) knowledge_drop(space, &word->known[s]);
        knowledge_add(space, &word->known[s], fenced);
        knowledge_drop(space, &fenced);
    }
}

/* ---- for what is no plain memory, such as mbarriers ------------------------------------------ */

static uint64_t key_of(uint64_t address) { return address / GRANULE + 1; }

void race_signal(struct warp *w, uint32_t lanes, enum ptx_space space, const uint64_t *address)
{
    struct knowledge_space *trees = &w->block->race->race->space;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        struct sync_word *word = word_for(w, sync_table_of(w, space), key_of(address[lane]));
        if (!word) return;
        struct knowledge *known = lane_knowledge(w, lane);
        for (int s = 0; s < SCOPES; s++) knowledge_add(trees, &word->known[s], known);
        knowledge_drop(trees, &known);
    }
    next_moment(w->block->race);
}

void race_await(struct warp *w, uint32_t lanes, enum ptx_space space, const uint64_t *address)
{
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        sync_acquire(w, lane, sync_table_of(w, space), key_of(address[lane]));
    }
}
