/*
 * sink.c — which values does only one way need? They are computed there, and not on all ways.
 *
 *     v = a * b; if (c) use(v);          if (c) { v = a * b; use(v); }
 *
 * A value moves down to a block that all its uses are in or below, unless that block is in another
 * loop, where it would be computed again and again. A load moves only into an arm, and not across
 * what may change its memory.
 */
#include "passes.h"
#include <string.h>

/* ---- where values are used ------------------------------------------------------------------- */

/* The innermost loop of each block, by way of `mark`: the number of its head, or -1. */
static void find_loops(struct ir_function *f)
{
    struct ir_block **waiting = cc_take(f->arena, f->block_count * sizeof *waiting);
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = -1;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *head = f->order[b];
        int count = 0;
        for (int k = 0; k < head->before_count; k++)
            if (head->before[k]->number >= b && head->before[k]->mark != b) {
                head->before[k]->mark = b;
                waiting[count++] = head->before[k];
            }
        if (count) head->mark = b;
        while (count) {
            struct ir_block *block = waiting[--count];
            for (int k = 0; k < block->before_count && block != head; k++) {
                if (block->before[k]->mark == b) continue;
                block->before[k]->mark = b;
                waiting[count++] = block->before[k];
            }
        }
    }
}

struct uses {
    struct ir_block **block; /* by the number of a value: what dominates all its uses */
    int *last;               /* and the number of the last block that uses it */
    struct ir_block **way;   /* from that block up to the value's, in turn for each value */
};

static void note_use(struct uses *u, const struct ir_value *v, struct ir_block *block)
{
    if (ir_is_constant(v)) return;
    u->block[v->id] = u->block[v->id] ? ir_common_dominator(u->block[v->id], block) : block;
    if (u->last[v->id] < block->number) u->last[v->id] = block->number;
}

static void find_uses(struct ir_function *f, struct uses *u)
{
    memset(u->block, 0, f->id_count * sizeof *u->block);
    memset(u->last, 0, f->id_count * sizeof *u->last);
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        if (block->condition) note_use(u, block->condition = ir_resolve(block->condition), block);
        for (struct ir_value *v = block->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
                note_use(u, v->operand[k], block);
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                note_use(u, v->incoming[k] = ir_resolve(v->incoming[k]), block->before[k]);
        }
    }
}

/* May a value, or a load, move from one block to the one below, in the tree of dominators? */
static bool may_enter(const struct ir_block *from, const struct ir_block *to, bool is_load)
{
    if (to->before_count == 1 && to->before[0] == from) return true;
    return !is_load && (to->mark < 0 || to->mark == from->mark);
}

static bool is_kept(struct ir_function *f, struct ir_value *load)
{
    for (struct ir_value *v = load->next; v; v = v->next)
        if (may_change(f, v, load)) return false;
    return true;
}

/* ---- what a move costs ----------------------------------------------------------------------- */

/* What must be kept for a value if it moves to `to`, and is not kept anyway: loads and phis. */
enum { MOST_LEAVES = 2, MOST_SUNK = 100 };
struct leaves {
    const struct uses *uses;
    const struct ir_block *to;
    struct ir_value *leaf[MOST_LEAVES + 1];
    int count, steps;
};

static void find_leaves(struct leaves *l, struct ir_value *v)
{
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++) {
        struct ir_value *w = v->operand[k];
        bool is_known = ir_is_constant(w) || ++l->steps > MOST_SUNK;
        for (int j = 0; j < l->count; j++) is_known |= l->leaf[j] == w;
        if (is_known || l->uses->last[w->id] >= l->to->number) continue;
        if (ir_is_pure(w))
            find_leaves(l, w);
        else if (l->count <= MOST_LEAVES)
            l->leaf[l->count++] = w;
    }
}

/* May the value move to where several ways join? Found by trying what nvcc does: if one use needs
 * it, and one register is enough; with two registers only once, by way of `scratch`. */
static bool is_cheap(const struct uses *u, struct ir_value *v, const struct ir_block *to)
{
    struct leaves l = {.uses = u, .to = to};
    find_leaves(&l, v);
    if (v->uses != 1 || l.steps > MOST_SUNK) return false;
    if (l.count <= 1) return true;
    if (l.count > MOST_LEAVES || v->scratch) return false;
    v->scratch = v;
    return true;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* As far as it may go, block by block, to the one that dominates all its uses. */
static bool sink_one(struct ir_function *f, struct uses *u, struct ir_value *v)
{
    bool is_load = v->op == IR_LOAD;
    int count = 0, moved = 0;
    if (!(is_load || (ir_is_pure(v) && ir_operand(v, 0))) || !u->block[v->id]) return false;
    for (struct ir_block *to = u->block[v->id]; to && to != v->block; to = to->above)
        u->way[count++] = to;
    while (count-- > 0) {
        struct ir_block *to = u->way[count];
        if (!may_enter(v->block, to, is_load) || (is_load && !is_kept(f, v))) break;
        if (to->before_count > 1 && !is_cheap(u, v, to)) break;
        struct ir_value *at = to->first;
        while (at && at->op == IR_PHI) at = at->next;
        ir_unlink(v);
        ir_insert(to, at, v);
        moved++;
    }
    return moved > 0;
}

void pass_sink(struct ir_function *f)
{
    f->id_count = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            v->id = f->id_count++, v->scratch = NULL;
    struct uses u = {.block = cc_take(f->arena, f->id_count * sizeof *u.block),
                     .last = cc_take(f->arena, f->id_count * sizeof *u.last),
                     .way = cc_take(f->arena, f->block_count * sizeof *u.way)};
    find_loops(f);
    ir_count_uses(f);
    for (bool again = true; again;) {
        again = false;
        find_uses(f, &u);
        for (int b = 0; b < f->block_count; b++)
            for (struct ir_value *v = f->order[b]->last, *before; v; v = before) {
                before = v->prev;
                again |= sink_one(f, &u, v);
            }
    }
}
