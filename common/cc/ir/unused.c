/*
 * unused.c — does anything use this value, or read what this store wrote?
 *
 *     x = temp[i];               (nothing, if x is not used)
 *     p[0] = 1; p[0] = 2;        p[0] = 2
 *     x = p[1]; p[1] = x;        x = p[1]
 */
#include "passes.h"

/* ---- values ---------------------------------------------------------------------------------- */

struct work {
    struct ir_function *f;
    struct ir_value **waiting;
    int count;
};

static void need(struct work *w, struct ir_value *v)
{
    if (!v || (v = ir_resolve(v))->uses || ir_is_constant(v)) return;
    v->uses = 1;
    w->waiting = cc_grow(w->f->arena, w->waiting, w->count, sizeof *w->waiting);
    w->waiting[w->count++] = v;
}

static void need_operands(struct work *w, struct ir_value *v)
{
    for (int k = 0; k < IR_OPERANDS; k++) need(w, v->operand[k]);
    for (int k = 0; v->op == IR_PHI && k < v->block->before_count; k++) need(w, v->incoming[k]);
}

static bool has_effect(const struct ir_value *v)
{
    return v->op == IR_STORE || v->op == IR_BARRIER || v->op == IR_PRINTF;
}

static void drop_values(struct ir_function *f)
{
    struct work w = {.f = f};
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = 0;
    for (int b = 0; b < f->block_count; b++) {
        need(&w, f->order[b]->condition);
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (has_effect(v)) need(&w, v);
        while (w.count) need_operands(&w, w.waiting[--w.count]);
    }
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (!v->uses) ir_unlink(v);
        }
}

/* ---- stores ---------------------------------------------------------------------------------- */

enum { LONGEST_LOOK = 100 };

static int64_t bytes_of(const struct ir_value *access) { return access->bytes * access->parts; }

/* The store is written over in its block before anything reads it. */
static bool is_written_over(struct ir_function *f, struct ir_value *store)
{
    int count = 0;
    for (struct ir_value *v = store->next; v && ++count < LONGEST_LOOK; v = v->next) {
        bool covers = v->op == IR_STORE && same_address(v, store) && bytes_of(v) >= bytes_of(store);
        if (covers) return true;
        if (v->op != IR_STORE && may_touch(f, v, store)) return false;
    }
    return false;
}

/* The store puts back what was loaded from there. */
static bool is_put_back(struct ir_function *f, struct ir_value *store)
{
    struct ir_value *load = ir_operand(store, 1);
    if (load->op != IR_LOAD || load->block != store->block || !same_address(load, store) ||
        load->bytes != store->bytes || load->parts != 1)
        return false;
    for (struct ir_value *v = store->prev; v != load; v = v->prev)
        if (may_change(f, v, load)) return false;
    return true;
}

/* Slots whose address is used for more than accesses, and those that nothing reads. */
static void look_at_slots(struct ir_function *f)
{
    for (int n = 0; n < f->slot_count; n++) {
        f->slots[n].is_known_elsewhere = false;
        f->slots[n].is_gone = true;
    }
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) {
            if (v->op == IR_SLOT && v->space == IR_GENERIC)
                f->slots[v->bits].is_known_elsewhere = true, f->slots[v->bits].is_gone = false;
            struct ir_value *base = v->op == IR_LOAD ? ir_operand(v, 0) : NULL;
            while (base && base->op == IR_ADD) base = ir_operand(base, 0);
            if (base && base->op == IR_SLOT) f->slots[base->bits].is_gone = false;
        }
}

static bool is_for_nothing(struct ir_function *f, struct ir_value *store)
{
    struct ir_value *base = ir_operand(store, 0);
    while (base->op == IR_ADD) base = ir_operand(base, 0);
    return base->op == IR_SLOT && f->slots[base->bits].is_gone;
}

void pass_unused(struct ir_function *f)
{
    drop_values(f);
    look_at_slots(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->last, *before; v; v = before) {
            before = v->prev;
            if (v->op != IR_STORE) continue;
            if (is_for_nothing(f, v) || is_written_over(f, v) || is_put_back(f, v)) ir_unlink(v);
        }
    drop_values(f);
}
