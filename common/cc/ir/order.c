/*
 * order.c — which blocks are reached, and which block every path to a block leads through (its
 * dominators).
 *
 * Lanes that took different ways meet again where the emulator finds them at one instruction; of
 * several ways the one lowest in the text runs first. So blocks keep the order of the source, in
 * which a block stands behind both arms of the `if` before it, and behind the loop before it. No
 * pass changes this order, and therefore a block also stands behind those that dominate it.
 */
#include "ir.h"
#include <string.h>

static void reach(struct ir_block *block)
{
    while (block && !block->mark) {
        block->mark = 1;
        reach(block->next[1]);
        block = block->next[0];
    }
}

static void drop(struct ir_block *block)
{
    for (int k = 0; k < 2; k++)
        if (block->next[k] && block->next[k]->mark) ir_disconnect(block, block->next[k]);
    block->next[0] = block->next[1] = NULL;
    block->condition = NULL;
    block->first = block->last = NULL;
}

struct ir_block *ir_common_dominator(struct ir_block *a, struct ir_block *b)
{
    while (a != b)
        if (a->number > b->number)
            a = a->above;
        else
            b = b->above;
    return a;
}

static bool find_above(struct ir_block *block)
{
    struct ir_block *above = NULL;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_block *before = block->before[k];
        if (!before->above && before->number) continue; // not known yet
        above = above ? ir_common_dominator(above, before) : before;
    }
    bool is_new = above != block->above;
    block->above = above;
    return is_new;
}

void ir_order(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = 0, f->order[b]->above = NULL;
    reach(f->entry);
    int count = 0;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        block->number = block->mark ? count : -1;
        if (block->mark)
            f->order[count++] = block;
        else
            drop(block);
    }
    f->block_count = count;
    for (bool again = true; again;) {
        again = false;
        for (int b = 1; b < count; b++) again |= find_above(f->order[b]);
    }
}

bool ir_dominates(const struct ir_block *a, const struct ir_block *b)
{
    while (b && b->number > a->number) b = b->above;
    return a == b;
}
