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

void sync_clear(struct knowledge_space *space, struct sync_table *table)
{
    for (size_t i = 0; i < table->size; i++)
        for (int s = 0; s < FENCES; s++) knowledge_drop(space, &table->words[i].known[s]);
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
    lane_learn_fenced(w, lane, FOR_COPIES, word->known[FOR_COPIES]);
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
    if (word->block != block->index) knowledge_drop(space, &word->known[SCOPE_BLOCK]);
    word->block = block->index;
    return word;
}

void sync_release(struct warp *w, int lane, struct sync_table *table, uint64_t key, bool replaces)
{
    struct knowledge_space *space = &w->block->race->race->space;
    bool has_fenced = lane_has_fenced(w, lane);
    if (!has_fenced && (!replaces || !table->count || !place_of(table, key)->key)) return;
    struct sync_word *word = sync_word_for(w->block, table, key);
    for (int s = 0; s < FENCES && word; s++) {
        struct knowledge *fenced = lane_fenced(w, lane, (enum fence)s);
        if (replaces) knowledge_drop(space, &word->known[s]);
        knowledge_add(space, &word->known[s], fenced);
        knowledge_drop(space, &fenced);
    }
}

/* ---- for what is no plain memory: barriers of a cluster -------------------------------------- */

void race_signal(struct warp *w, uint32_t lanes, uint64_t key, bool releases)
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

void race_await(struct warp *w, uint32_t lanes, uint64_t key)
{
    for (; lanes; lanes &= lanes - 1)
        sync_acquire(w, __builtin_ctz(lanes), &w->block->race->race->words, key);
}
