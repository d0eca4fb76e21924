/*
 * slots.c — does this array, or this variable whose address was taken, need memory? Not if every
 * access says at compile time which part it means, and nothing else has the address.
 *
 *     int a[2]; a[0] = x; a[1] = y; z = a[1];        z = y
 */
#include "lower.h"
#include "passes.h"

/* A part of a slot that accesses mean: a variable. */
struct cell {
    uint64_t slot;
    int64_t offset;
    int bytes;
    enum ir_type type;
    struct cell *next;
};

struct promotion {
    struct ir_function *f;
    struct cell *cells;
    bool *is_kept; /* by slot: it stays in memory */
};

static struct ir_value *slot_of(struct ir_value *v)
{
    struct ir_value *base = ir_is_access(v) ? ir_operand(v, 0) : NULL;
    while (base && base->op == IR_ADD) base = ir_operand(base, 0);
    return base && base->op == IR_SLOT ? base : NULL;
}

static enum ir_type type_of(struct ir_value *access)
{
    return access->op == IR_LOAD ? access->type : ir_operand(access, 1)->type;
}

static struct cell *find_cell(struct promotion *p, struct ir_value *access)
{
    uint64_t slot = slot_of(access)->bits;
    for (struct cell *c = p->cells; c; c = c->next)
        if (c->slot == slot && c->offset == access->offset) return c;
    return NULL;
}

static void look_at(struct promotion *p, struct ir_value *access)
{
    struct ir_value *slot = slot_of(access);
    if (!slot || p->is_kept[slot->bits]) return;
    bool is_plain = ir_operand(access, 0) == slot && access->bytes >= 4 && access->parts == 1;
    struct cell wanted = {slot->bits, access->offset, access->bytes, type_of(access), p->cells};
    for (struct cell *c = p->cells; c; c = c->next) {
        bool is_same = c->offset == wanted.offset && c->type == wanted.type;
        bool is_apart = c->slot != wanted.slot || c->offset + c->bytes <= wanted.offset ||
                        wanted.offset + wanted.bytes <= c->offset;
        is_plain &= is_same || is_apart;
        if (is_plain && is_same && c->slot == wanted.slot) return;
    }
    p->is_kept[slot->bits] |= !is_plain;
    struct cell *cell = ARENA_NEW(p->f->arena, struct cell);
    *cell = wanted;
    p->cells = cell;
}

static bool is_promoted(struct promotion *p, struct ir_value *v)
{
    struct ir_value *slot = slot_of(v);
    return slot && !p->is_kept[slot->bits];
}

static struct ir_value *value_before(struct promotion *p, struct ir_value *load)
{
    for (struct ir_value *v = load->prev; v; v = v->prev)
        if (v->op == IR_STORE && is_promoted(p, v) && find_cell(p, v) == find_cell(p, load))
            return ir_operand(v, 1);
    struct lower l = {.f = p->f, .block = load->block, .place = load->place};
    return variable_read_above(&l, find_cell(p, load), load->type);
}

void pass_slots(struct ir_function *f)
{
    struct promotion p = {.f = f, .is_kept = cc_take(f->arena, (size_t)f->slot_count + 1)};
    for (int n = 0; n < f->slot_count; n++) p.is_kept[n] = f->slots[n].is_known_elsewhere;
    for (int b = 0; b < f->block_count; b++) {
        f->order[b]->variables = NULL;
        f->order[b]->is_sealed = true;
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) look_at(&p, v);
    }
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            if (v->op == IR_STORE && is_promoted(&p, v))
                variable_note(f, f->order[b], find_cell(&p, v), ir_operand(v, 1));
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (v->op == IR_LOAD && is_promoted(&p, v)) ir_replace(v, value_before(&p, v));
        }
    phis_simplify(f); // pass_unused takes the stores away
}
