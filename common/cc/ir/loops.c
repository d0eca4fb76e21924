/*
 * loops.c — which values of a loop are the same in each iteration? They are computed once, before
 * it.
 *
 *     for (…) sum += a * b;          v = a * b; for (…) sum += v;
 *
 * A load is one of them if nothing in the loop may change its memory, and every iteration reaches
 * it. Blocks stand in the order of the text, so a loop is what stands from its first block to the
 * last one that jumps back to it.
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
    f->order = arena_grow(f->arena, f->order, f->block_count, sizeof *f->order);
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

/* Inner loops first: what leaves them may leave the outer ones, too. */
void pass_loops(struct ir_function *f)
{
    for (int b = f->block_count - 1; b > 0; b--) {
        struct loop loop;
        if (b < f->block_count && find_loop(f->order[b], &loop)) empty_loop(f, &loop);
    }
}
