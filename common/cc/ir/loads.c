/*
 * loads.c — is it known what this load will find? On every path here, the same address was loaded
 * or stored, and nothing has changed it since.
 *
 *     x = temp[i]; y = temp[i];              y = x
 *     if (c) p[i] = a; else p[i] = b;        x = phi(a, b)
 *     x = p[i];
 *
 * A barrier changes everything that other threads reach: no load gets its value from above one.
 */
#include "lower.h"
#include "passes.h"

enum { MOST_LOADS = 1000, LONGEST_BLOCK = 100 };

/* One question: the load, and what the walk has found. */
struct search {
    struct ir_function *f;
    struct ir_value *load;
    int steps, mark;
};

enum knowledge { KNOWN, CHANGED, UNTOUCHED };

static bool gives_value(struct ir_value *v, struct ir_value *load)
{
    if (v->parts != 1 || v->bytes != load->bytes || !same_address(v, load)) return false;
    if (v->op == IR_LOAD) return v->type == load->type && v->is_signed == load->is_signed;
    // A stored char is not the int that a load makes of it.
    return v->op == IR_STORE && v->bytes >= 4 && ir_operand(v, 1)->type == load->type;
}

/* Backwards from `v` to the beginning of its block. */
static enum knowledge look_up(struct search *s, struct ir_value *v, struct ir_value **value)
{
    for (int count = 0; v; v = v->prev) {
        if (++s->steps > MOST_LOADS || ++count > LONGEST_BLOCK) return CHANGED;
        if (ir_is_access(v) && gives_value(v, s->load)) {
            *value = v->op == IR_LOAD ? v : ir_operand(v, 1);
            return KNOWN;
        }
        if (may_change(s->f, v, s->load)) return CHANGED;
    }
    return UNTOUCHED;
}

/* Does every path to the beginning of `block` know the value? Where it does, the block notes it. */
static bool is_known_above(struct search *s, struct ir_block *block)
{
    struct ir_value *address = ir_operand(s->load, 0);
    if (block->before_count == 0 || address->block == block) return false;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_block *before = block->before[k];
        struct ir_value *value;
        if (++s->steps > MOST_LOADS) return false;
        if (before->mark == s->mark) continue;
        before->mark = s->mark;
        before->variables = NULL;
        before->is_sealed = true;
        switch (look_up(s, before->last, &value)) {
        case CHANGED: return false;
        case KNOWN: variable_note(s->f, before, s->load, value); break;
        case UNTOUCHED:
            if (!is_known_above(s, before)) return false;
        }
    }
    return true;
}

static struct ir_value *find_value(struct search *s)
{
    struct ir_value *load = s->load, *value;
    struct ir_block *block = load->block;
    enum knowledge found = load->prev ? look_up(s, load->prev, &value) : UNTOUCHED;
    if (found != UNTOUCHED) return found == KNOWN ? value : NULL;
    block->variables = NULL;
    block->is_sealed = true;
    if (!is_known_above(s, block)) return NULL;
    // The block itself may be one of those above, in a loop: then it knows its own value.
    struct lower l = {.f = s->f, .block = block, .place = load->place};
    return variable_read_above(&l, load, load->type);
}

void pass_loads(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = 0;
    int mark = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op != IR_LOAD || v->parts != 1) continue;
            struct search s = {.f = f, .load = v, .mark = ++mark};
            struct ir_value *value = find_value(&s);
            if (value && value != v) ir_replace(v, value);
        }
    phis_simplify(f);
}
