/*
 * loops.c — loops: what is the same in each iteration, and short ones as copies.
 */
#include "ir.h"
#include "lower.h"
#include <string.h>

/* ---- loops ----------------------------------------------------------------------------------- */

/*
 * Which values of a loop are the same in each iteration? They are computed once,
 * before it.
 *
 *     for (…) sum += a * b;          v = a * b; for (…) sum += v;
 *
 * A load is one of them if nothing in the loop may change its memory, and every iteration reaches
 * it. Blocks stand in the order of the text, so a loop is what stands from its first block to the
 * last one that jumps back to it.
 */

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
    bool may_move = ir_is_pure(v) && !(is_division && !ir_is_real(v->type));
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

/* Inner loops first: what leaves them may leave the outer ones, too. */
void pass_loops(struct ir_function *f)
{
    for (int b = f->block_count - 1; b > 0; b--) {
        struct loop loop;
        if (find_loop(f->order[b], &loop)) empty_loop(f, &loop);
    }
}

/* ---- loops as copies ------------------------------------------------------------------------- */

/*
 * Does this loop always have the same number of iterations? A short one becomes a copy
 * of its body for each of them, in which the loop's variables are constants.
 *
 *     for (int i = 0; i < 2; i++) s[i] = a;          s[0] = a; s[1] = a;
 *
 * How often it iterates is found by computing what its condition needs, iteration by iteration. The
 * blocks of a loop stand together in the text, and so do its copies, one behind the other: lanes
 * meet at a barrier as often as before.
 */

/* As nvcc does: the sizes are counts of values; more where #pragma unroll asks for it. */
enum { MOST_ITERATIONS = 128, MOST_COPIED = 600, MOST_ASKED = 10000, MOST_STEPS = 300 };

struct counted_loop {
    struct ir_function *f;
    struct ir_block *head, *before, *latch; /* the latch jumps back to the head */
    int first, last;                        /* numbers of blocks */
    int size, iterations;
    int steps;
};

static bool is_inside(const struct counted_loop *l, const struct ir_block *block)
{
    return block && block->number >= l->first && block->number <= l->last;
}

/* A loop that is entered at its head alone, and goes back from one block, which may also end it. */
static bool find_counted(struct counted_loop *l)
{
    struct ir_block *head = l->head;
    if (head->before_count != 2) return false;
    l->before = head->before[0]->number < head->number ? head->before[0] : head->before[1];
    l->latch = head->before[l->before == head->before[0]];
    if (l->before->number >= head->number || l->latch->number < head->number) return false;
    l->first = head->number;
    l->last = l->latch->number;
    if (!l->latch->condition || l->latch->next[0] == l->latch->next[1]) return false;
    for (int b = l->first; b <= l->last; b++) {
        struct ir_block *block = l->f->order[b];
        for (int k = 0; k < block->before_count && block != head; k++)
            if (!is_inside(l, block->before[k])) return false;
        for (struct ir_value *v = block->first; v; v = v->next) l->size++;
        l->size++;
    }
    return !is_inside(l, l->latch->next[l->latch->next[0] == head]);
}

/* ---- counting iterations --------------------------------------------------------------------- */

/* What a value is in this iteration, whose phis have constants in `scratch`; NULL: not constant. */
static struct ir_value *value_now(struct counted_loop *l, struct ir_value *v)
{
    v = ir_resolve(v);
    if (ir_is_constant(v)) return v;
    if (!is_inside(l, v->block) || ++l->steps > MOST_STEPS) return NULL;
    if (v->op == IR_PHI) return v->block == l->head ? v->scratch : NULL;
    if (!ir_is_pure(v) || !ir_operand(v, 0)) return NULL;
    struct ir_value now = *v;
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (!(now.operand[k] = value_now(l, v->operand[k]))) return NULL;
    return fold_constants(l->f, &now);
}

static bool count_iterations(struct counted_loop *l)
{
    struct ir_value *phi, **next = arena_take(l->f->arena, l->size * sizeof *next);
    int from = ir_edge(l->head, l->before), back = ir_edge(l->head, l->latch);
    bool goes_on_if = l->latch->next[0] == l->head;
    for (phi = l->head->first; phi && phi->op == IR_PHI; phi = phi->next) {
        struct ir_value *first = ir_resolve(phi->incoming[from]);
        phi->scratch = ir_is_constant(first) ? first : NULL;
    }
    for (l->iterations = 1; l->iterations <= MOST_ITERATIONS; l->iterations++) {
        l->steps = 0;
        struct ir_value *condition = value_now(l, l->latch->condition);
        if (!condition) return false;
        if ((condition->bits != 0) != goes_on_if) return true;
        int count = 0;
        for (phi = l->head->first; phi && phi->op == IR_PHI; phi = phi->next)
            next[count++] = value_now(l, phi->incoming[back]);
        count = 0;
        for (phi = l->head->first; phi && phi->op == IR_PHI; phi = phi->next)
            phi->scratch = next[count++];
    }
    return false;
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* A value, or in an iteration that is copied, its copy. */
static struct ir_value *copy_of(const struct counted_loop *l, struct ir_value *v)
{
    v = ir_resolve(v);
    return v && is_inside(l, v->block) && !ir_is_constant(v) ? v->scratch : v;
}

static void note_if_outside(const struct counted_loop *l, struct ir_value *v)
{
    if (v && is_inside(l, v->block)) v->uses = 1;
}

/* Marks what is used behind the loop, by way of `uses`, and lets each value be its own copy. */
static void find_used_outside(struct counted_loop *l)
{
    struct ir_function *f = l->f;
    for (int b = l->first; b <= l->last; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = 0, v->scratch = v;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        block->variables = NULL;
        block->is_sealed = true;
        if (is_inside(l, block)) continue;
        note_if_outside(l, block->condition = ir_resolve(block->condition));
        for (struct ir_value *v = block->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
                note_if_outside(l, v->operand[k]);
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                note_if_outside(l, v->incoming[k] = ir_resolve(v->incoming[k]));
        }
    }
}

static void note_copies(struct counted_loop *l, struct ir_block **blocks)
{
    for (int b = l->first; b <= l->last; b++)
        for (struct ir_value *v = l->f->order[b]->first; v; v = v->next)
            if (v->uses) variable_note(l->f, blocks[b - l->first], v, v->scratch);
}

/* One more way to a block behind the loop: from the copy of `from`. */
static void copy_exit(struct counted_loop *l, struct ir_block *from, struct ir_block *copy,
                      struct ir_block *to)
{
    int k = ir_edge(to, from), count = to->before_count;
    ir_connect(l->f, copy, to);
    for (struct ir_value *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next) {
        struct ir_value **incoming = arena_take(l->f->arena, (count + 1) * sizeof *incoming);
        memcpy(incoming, phi->incoming, count * sizeof *incoming);
        incoming[count] = copy_of(l, incoming[k]);
        phi->incoming = incoming;
    }
}

/* The values of the loop's block `from` in its copy: first without operands. */
static void copy_values(struct counted_loop *l, const struct ir_block *from, struct ir_block *copy)
{
    for (struct ir_value *v = from->first; v; v = v->next) {
        if (v->op == IR_PHI && from == l->head) continue;
        struct ir_value *value = ir_value_new(l->f, v->op, v->type, v->place);
        *value = *v;
        v->scratch = value;
        ir_append(copy, value);
    }
}

static void copy_operands(struct counted_loop *l, struct ir_block *from, struct ir_block *copy,
                          struct ir_block **blocks)
{
    for (struct ir_value *v = copy->first; v; v = v->next) {
        for (int k = 0; k < IR_OPERANDS && v->operand[k]; k++)
            v->operand[k] = copy_of(l, v->operand[k]);
        if (v->op != IR_PHI) continue;
        struct ir_value **old = v->incoming;
        v->incoming = arena_take(l->f->arena, from->before_count * sizeof *v->incoming);
        for (int k = 0; k < from->before_count; k++) v->incoming[k] = copy_of(l, old[k]);
    }
    copy->place = from->place;
    copy->condition = copy_of(l, from->condition);
    for (int k = 0; k < from->before_count && from != l->head; k++)
        ir_connect(l->f, blocks[from->before[k]->number - l->first], copy);
    for (int n = 0; n < 2 && from != l->latch; n++) {
        struct ir_block *next = from->next[n];
        copy->next[n] = is_inside(l, next) ? blocks[next->number - l->first] : next;
        if (next && !is_inside(l, next)) copy_exit(l, from, copy, next);
    }
}

/* In the next iteration, the head's phis are what the one before has left. */
static void go_on(struct counted_loop *l)
{
    int back = ir_edge(l->head, l->latch), count = 0;
    struct ir_value *phi, **next = arena_take(l->f->arena, l->size * sizeof *next);
    for (phi = l->head->first; phi && phi->op == IR_PHI; phi = phi->next)
        next[count++] = copy_of(l, phi->incoming[back]);
    count = 0;
    for (phi = l->head->first; phi && phi->op == IR_PHI; phi = phi->next)
        phi->scratch = next[count++];
}

static void jump_to(struct counted_loop *l, struct ir_block *latch, struct ir_block *head)
{
    latch->condition = NULL;
    latch->next[0] = head;
    latch->next[1] = NULL;
    ir_connect(l->f, latch, head);
}

/* ---- uses behind the loop -------------------------------------------------------------------- */

static struct ir_value *value_at(struct counted_loop *l, struct ir_block *block, struct ir_value *v)
{
    struct lower lower = {.f = l->f, .block = block, .place = block->place};
    if (!v || !is_inside(l, v->block) || ir_is_constant(v)) return v;
    return variable_read(&lower, v, v->type);
}

static void use_copies(struct counted_loop *l, struct ir_block *block)
{
    for (struct ir_value *v = block->first; v; v = v->next) {
        for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
            v->operand[k] = value_at(l, block, v->operand[k]);
        for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
            if (block->before[k]->mark == 0)
                v->incoming[k] = value_at(l, block->before[k], ir_resolve(v->incoming[k]));
    }
    block->condition = value_at(l, block, ir_resolve(block->condition));
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Room for the copies in the order of blocks, behind the loop. */
static struct ir_block **make_blocks(struct counted_loop *l, int count)
{
    struct ir_function *f = l->f;
    int behind = f->block_count - 1 - l->last;
    struct ir_block **order = arena_take(f->arena, (f->block_count + count) * sizeof *order);
    memcpy(order, f->order, (l->last + 1) * sizeof *order);
    memcpy(order + l->last + 1 + count, f->order + l->last + 1, behind * sizeof *order);
    for (int b = 1; b <= count; b++) order[l->last + b] = ir_block_new(f);
    f->order = order;
    f->block_count += count;
    return order + l->last + 1;
}

static void unroll(struct counted_loop *l)
{
    struct ir_function *f = l->f;
    struct ir_block *end = l->latch->next[l->latch->next[0] == l->head], *latch = l->latch;
    int length = l->last - l->first + 1;
    find_used_outside(l);
    note_copies(l, f->order + l->first);
    struct ir_block **blocks = make_blocks(l, length * (l->iterations - 1));
    for (int k = 1; k < l->iterations; k++, blocks += length) {
        go_on(l);
        for (int b = 0; b < length; b++) copy_values(l, f->order[l->first + b], blocks[b]);
        for (int b = 0; b < length; b++)
            copy_operands(l, f->order[l->first + b], blocks[b], blocks);
        for (int b = 0; b < length; b++) blocks[b]->is_sealed = true;
        note_copies(l, blocks);
        if (k > 1) jump_to(l, latch, blocks[0]);
        latch = blocks[length - 1];
    }
    if (latch != l->latch) {
        copy_exit(l, l->latch, latch, end);
        latch->condition = NULL;
        latch->next[0] = end;
        latch->next[1] = NULL;
        ir_disconnect(l->latch, end);
        ir_disconnect(l->latch, l->head);
        jump_to(l, l->latch, f->order[l->last + 1]);
    } else {
        ir_disconnect(latch, l->head);
        latch->condition = NULL;
        latch->next[0] = end;
        latch->next[1] = NULL;
    }
    for (int b = 0; b < f->block_count; b++)
        f->order[b]->mark = b >= l->first && b < l->first + length * l->iterations;
    for (int b = 0; b < f->block_count; b++)
        if (!f->order[b]->mark) use_copies(l, f->order[b]);
    ir_order(f);
}

static bool is_worth_it(struct counted_loop *l)
{
    if (!find_counted(l) || !count_iterations(l)) return false;
    int most = l->head->unroll == UNROLL_FULLY ? MOST_ASKED : MOST_COPIED;
    bool is_short = l->size * l->iterations <= most && l->f->value_count < MOST_VALUES;
    return is_short && (l->head->unroll <= 0 || l->head->unroll >= l->iterations);
}

/* Inner loops first: an outer one may be small enough when their copies have become simpler, and
 * the loops in its own copies may have become constant. */
void pass_unroll(struct ir_function *f)
{
    for (bool again = true; again;) {
        again = false;
        for (int b = f->block_count - 1, changed = f->block_count; b > 0; b--) {
            struct counted_loop l = {.f = f, .head = f->order[b]};
            if (!is_worth_it(&l) || l.last >= changed) continue;
            unroll(&l);
            again = true;
            changed = b;
        }
        if (!again) break;
        pass_same_values(f);
        pass_unused(f);
    }
}
