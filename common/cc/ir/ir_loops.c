/*
 * ir_loops.c — which values of a loop are the same in each iteration? They are computed once,
 * before it.
 *
 *     for (…) sum += a * b;          v = a * b; for (…) sum += v;
 *
 * A load is one of them if nothing in the loop may change its memory, and every iteration reaches
 * it. A loop that only counts is left out. Blocks stand in the order of the text, so a loop is what
 * stands from its first block to the last one that jumps back to it.
 */
#include "passes.h"

struct loop {
    struct ir_block *head, *before;
    int last; /* the number of the last block */
};

static bool find_loop(struct ir_block *head, struct loop *loop)
{
    int outside = 0;
    *loop = (struct loop){.head = head, .last = -1};
    for (int k = 0; k < head->before_count; k++) {
        struct ir_block *before = head->before[k];
        if (before->number < head->number)
            loop->before = before, outside++;
        else if (before->number > loop->last)
            loop->last = before->number;
    }
    return loop->last >= 0 && outside == 1;
}

static bool is_outside(const struct loop *loop, const struct ir_value *v)
{
    return ir_is_constant(v) || v->block->number < loop->head->number;
}

static bool has_outside_operands(const struct loop *loop, struct ir_value *v)
{
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (!is_outside(loop, v->operand[k])) return false;
    return true;
}

/* Does every iteration that ends, ends after the load? */
static bool is_always_reached(struct ir_function *f, const struct loop *loop, struct ir_value *load)
{
    for (int b = loop->head->number; b <= loop->last; b++) {
        struct ir_block *block = f->order[b];
        bool ends = false;
        for (int n = 0; n < 2; n++) {
            struct ir_block *next = block->next[n];
            ends |= next && (next == loop->head || next->number > loop->last);
        }
        if (ends && !ir_dominates(load->block, block)) return false;
    }
    return true;
}

static bool is_unchanged(struct ir_function *f, const struct loop *loop, struct ir_value *load)
{
    for (int b = loop->head->number; b <= loop->last; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (may_change(f, v, load)) return false;
    return is_always_reached(f, loop, load);
}

static bool is_same_always(struct ir_function *f, const struct loop *loop, struct ir_value *v)
{
    bool is_division = v->op == IR_DIVIDE || v->op == IR_REMAINDER;
    bool may_move = ir_is_pure(v) && !(is_division && v->type != IR_F32 && v->type != IR_F64);
    if (!may_move && !(v->op == IR_LOAD && v->parts == 1)) return false;
    return has_outside_operands(loop, v) && (v->op != IR_LOAD || is_unchanged(f, loop, v));
}

/* The end of a block that leads to the loop alone: the one before it, or a new one between. */
static struct ir_block *place_before(struct ir_function *f, struct loop *loop)
{
    if (!loop->before->condition) return loop->before;
    struct ir_block *block = ir_block_new(f), *before = loop->before, *head = loop->head;
    int at = head->number;
    f->order = cc_grow(f->arena, f->order, f->block_count, sizeof *f->order);
    for (int b = f->block_count++; b > at; b--) f->order[b] = f->order[b - 1];
    f->order[at] = block;
    block->place = before->place;
    block->next[0] = head;
    before->next[before->next[1] == head] = block;
    ir_connect(f, before, block);
    for (int k = 0; k < head->before_count; k++)
        if (head->before[k] == before) head->before[k] = block;
    ir_order(f);
    loop->last++;
    return loop->before = block;
}

static void empty_loop(struct ir_function *f, struct loop *loop)
{
    struct ir_block *to = NULL;
    for (int b = loop->head->number; b <= loop->last; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (!is_same_always(f, loop, v)) continue;
            if (!to) {
                to = place_before(f, loop);
                b = v->block->number; // it has moved if a block was made
            }
            ir_unlink(v);
            ir_append(to, v);
        }
}

/* ---- loops that do nothing ------------------------------------------------------------------- */

static bool is_within(const struct loop *loop, const struct ir_value *v)
{
    return v && v->block && v->block->number >= loop->head->number &&
           v->block->number <= loop->last;
}

static bool is_used_outside(struct ir_function *f, const struct loop *loop)
{
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        if (b >= loop->head->number && b <= loop->last) continue;
        if (is_within(loop, block->condition = ir_resolve(block->condition))) return true;
        for (struct ir_value *v = block->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
                if (is_within(loop, v->operand[k])) return true;
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                if (is_within(loop, v->incoming[k] = ir_resolve(v->incoming[k]))) return true;
        }
    }
    return false;
}

/* Two ways out of the loop give the block behind it the same values. */
static bool is_same_edge(struct ir_block *end, int a, int b)
{
    for (struct ir_value *v = end->first; v && v->op == IR_PHI; v = v->next)
        if (ir_resolve(v->incoming[a]) != ir_resolve(v->incoming[b])) return false;
    return true;
}

/* Where all ways out of the loop lead to; NULL: it has an effect, or is entered elsewhere. */
static struct ir_block *end_of(struct ir_function *f, const struct loop *loop)
{
    struct ir_block *end = NULL;
    int first = 0;
    if (!loop->head->first || loop->head->first->op != IR_PHI) return NULL;
    for (int b = loop->head->number; b <= loop->last; b++) {
        struct ir_block *block = f->order[b];
        for (struct ir_value *v = block->first; v; v = v->next)
            if (!ir_is_pure(v) && v->op != IR_PHI) return NULL;
        for (int k = 0; k < block->before_count && block != loop->head; k++)
            if (block->before[k]->number < loop->head->number ||
                block->before[k]->number > loop->last)
                return NULL;
        for (int n = 0; n < 2; n++) {
            struct ir_block *next = block->next[n];
            if (!next || (next->number >= loop->head->number && next->number <= loop->last))
                continue;
            int k = ir_edge(next, block);
            if (!end) end = next, first = k;
            if (next != end || !is_same_edge(end, first, k)) return NULL;
        }
    }
    return end;
}

/* The head becomes an empty block that leads to the end. */
static void drop_loop(struct ir_function *f, struct loop *loop, struct ir_block *end)
{
    bool is_led = false;
    for (int b = loop->head->number; b <= loop->last; b++) {
        struct ir_block *block = f->order[b];
        for (int n = 0; n < 2; n++) {
            if (block->next[n] == end && is_led) ir_disconnect(block, end);
            for (int k = 0; block->next[n] == end && !is_led; k++)
                if (end->before[k] == block) end->before[k] = loop->head, is_led = true;
            block->next[n] = NULL;
        }
        block->condition = NULL;
        block->first = block->last = NULL;
    }
    loop->head->before[0] = loop->before;
    loop->head->before_count = 1;
    loop->head->next[0] = end;
    ir_order(f);
}

/* Inner loops first: what leaves them may leave the outer ones, too. */
void pass_loops(struct ir_function *f)
{
    for (int b = f->block_count - 1; b > 0; b--) {
        struct loop loop;
        if (b >= f->block_count || !find_loop(f->order[b], &loop)) continue;
        struct ir_block *end = end_of(f, &loop);
        if (end && !is_used_outside(f, &loop))
            drop_loop(f, &loop, end);
        else
            empty_loop(f, &loop);
    }
}
