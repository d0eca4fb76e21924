/*
 * number.c — has this value been computed before? Then the earlier one is used.
 *
 *     a = i * 4; b = i * 4;          b = a
 *
 * A value is there if it stands above: in a block that every path here leads through. Values are
 * looked up in a table by what they compute. Blocks are walked in an order in which those above
 * come first, so that operands are replaced before the values that use them.
 */
#include "lower.h"
#include "passes.h"

struct table {
    struct entry {
        struct ir_value *value;
        struct entry *next;
    } * *entries;
    uint64_t mask;
};

static struct ir_value *find_above(struct ir_function *f, struct table *t, struct ir_value *v)
{
    struct entry **slot = &t->entries[ir_hash(v) & t->mask];
    for (struct entry *e = *slot; e; e = e->next) {
        struct ir_value *other = e->value;
        if (other->is || !ir_same(other, v) || !ir_dominates(other->block, v->block)) continue;
        other->no_overflow &= v->no_overflow; // `other` may be computed where it is not needed
        return other;
    }
    struct entry *e = ARENA_NEW(f->arena, struct entry);
    *e = (struct entry){v, *slot};
    *slot = e;
    return NULL;
}

/* A condition that became a constant leaves one way. */
static bool settle_jump(struct ir_block *block)
{
    if (!block->condition) return false;
    block->condition = ir_resolve(block->condition);
    if (!ir_is_constant(block->condition)) return false;
    int taken = block->condition->bits ? 0 : 1;
    ir_disconnect(block, block->next[!taken]);
    block->next[0] = block->next[taken];
    block->next[1] = NULL;
    block->condition = NULL;
    return true;
}

static void visit(struct ir_function *f, struct table *t, struct ir_block *block)
{
    for (struct ir_value *v = block->first, *next; v; v = next) {
        next = v->next;
        struct ir_value *simple = ir_folded(f, v);
        if (!simple && ir_is_pure(v)) simple = find_above(f, t, v);
        if (simple) ir_replace(v, simple);
    }
}

void pass_same_values(struct ir_function *f)
{
    struct table t = {.mask = 63};
    while (t.mask < (uint64_t)f->value_count / 4) t.mask = 2 * t.mask + 1;
    t.entries = cc_take(f->arena, (t.mask + 1) * sizeof *t.entries);
    bool is_settled = false;
    phis_simplify(f);
    for (int b = 0; b < f->block_count; b++) {
        visit(f, &t, f->order[b]);
        is_settled |= settle_jump(f->order[b]);
    }
    if (is_settled) ir_order(f);
    phis_simplify(f);
}
