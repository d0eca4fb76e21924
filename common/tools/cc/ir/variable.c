/*
 * declaration.c — variables and small arrays become values.
 */
#include "ir.h"
#include "lower.h"

/* ---- variables as values --------------------------------------------------------------------- */

/*
 * Which value does a variable have here? Variables become values, without memory.
 *
 *     int a = 1; if (c) a = 2; use(a);      use(phi(2, 1))
 *
 * A block notes what is written to a variable in it. A read asks the block, then the block before;
 * where several lead here it makes a phi of what they have. A block that more jumps will lead to (a
 * loop's head) gets a phi at once, whose values are filled in when the block is sealed. This is the
 * algorithm of Braun et al., "Simple and Efficient Construction of Static Single Assignment Form",
 * 2013.
 */

static struct ir_variable **bucket_of(const struct ir_notes *notes, const void *variable)
{
    uint64_t hash = (uintptr_t)variable * 0x9e3779b97f4a7c15u;
    return &notes->buckets[(hash >> 32) & (notes->room - 1)];
}

static struct ir_value **note_of(struct ir_block *block, const void *variable)
{
    if (!block->variables) return NULL;
    for (struct ir_variable *v = *bucket_of(block->variables, variable); v; v = v->next)
        if (v->variable == variable) return &v->value;
    return NULL;
}

static void add_note(struct ir_function *f, struct ir_variable **list, const void *variable,
                     struct ir_value *value)
{
    struct ir_variable *note = ARENA_NEW(f->arena, struct ir_variable);
    *note = (struct ir_variable){variable, value, *list};
    *list = note;
}

static void make_room(struct ir_function *f, struct ir_notes *notes)
{
    struct ir_notes old = *notes;
    if (old.count < old.room) return;
    notes->room = old.room ? 2 * old.room : 4;
    notes->buckets = arena_take(f->arena, notes->room * sizeof *notes->buckets);
    for (size_t k = 0; k < old.room; k++)
        for (struct ir_variable *v = old.buckets[k], *next; v; v = next) {
            next = v->next;
            struct ir_variable **bucket = bucket_of(notes, v->variable);
            v->next = *bucket;
            *bucket = v;
        }
}

void variable_note(struct ir_function *f, struct ir_block *block, const void *variable,
                   struct ir_value *value)
{
    struct ir_value **note = note_of(block, variable);
    if (note) {
        *note = value;
        return;
    }
    if (!block->variables) block->variables = ARENA_NEW(f->arena, struct ir_notes);
    make_room(f, block->variables);
    block->variables->count++;
    add_note(f, bucket_of(block->variables, variable), variable, value);
}

void variable_write(struct lower *l, const void *variable, struct ir_value *value)
{
    variable_note(l->f, l->block, variable, value);
}

static struct ir_value *phi_new(struct lower *l, struct ir_block *block, enum ir_type type)
{
    struct ir_value *phi = ir_value_new(l->f, IR_PHI, type, l->place);
    ir_insert(block, block->first, phi);
    return phi;
}

/* The one value that a phi has besides itself, or NULL. */
static struct ir_value *only_value(struct ir_value *phi)
{
    struct ir_value *only = NULL;
    for (int k = 0; k < phi->block->before_count; k++) {
        struct ir_value *value = phi->incoming[k] = ir_resolve(phi->incoming[k]);
        if (value == phi || value == only) continue;
        if (only) return NULL;
        only = value;
    }
    return only;
}

static struct ir_value *read_in(struct lower *, struct ir_block *, const void *, enum ir_type);

static struct ir_value *fill(struct lower *l, struct ir_value *phi, const void *variable)
{
    struct ir_block *block = phi->block;
    phi->incoming = arena_take(l->f->arena, block->before_count * sizeof *phi->incoming);
    for (int k = 0; k < block->before_count; k++) phi->incoming[k] = phi;
    for (int k = 0; k < block->before_count; k++)
        phi->incoming[k] = read_in(l, block->before[k], variable, phi->type);
    struct ir_value *only = only_value(phi);
    if (only) ir_replace(phi, only);
    return ir_resolve(phi);
}

/* The nearest block above that has a note or several ways to it; NULL: blocks lead to each other in
 * a circle, and nothing else to them. */
static struct ir_block *only_way(struct lower *l, struct ir_block *block, const void *variable)
{
    for (int k = 0; k <= l->f->block_count; k++) {
        block = block->before[0];
        if (!block->is_sealed || block->before_count != 1 || note_of(block, variable)) return block;
    }
    return NULL;
}

/* A variable that nothing has been written to may have any value: zero. */
static struct ir_value *read_in(struct lower *l, struct ir_block *block, const void *variable,
                                enum ir_type type)
{
    struct ir_value **note = note_of(block, variable), *value;
    if (note) return *note = ir_resolve(*note);
    if (!block->is_sealed) {
        value = phi_new(l, block, type);
        add_note(l->f, &block->to_fill, variable, value);
    } else if (block->before_count == 0) {
        value = ir_constant(l->f, type, 0);
    } else if (block->before_count == 1) {
        struct ir_block *above = only_way(l, block, variable);
        value = above ? read_in(l, above, variable, type) : ir_constant(l->f, type, 0);
    } else {
        value = phi_new(l, block, type);
        variable_note(l->f, block, variable, value); // a loop that comes back here finds it
        value = fill(l, value, variable);
    }
    variable_note(l->f, block, variable, value);
    return value;
}

struct ir_value *variable_read(struct lower *l, const void *variable, enum ir_type type)
{
    return read_in(l, l->block, variable, type);
}

struct ir_value *variable_read_above(struct lower *l, const void *variable, enum ir_type type)
{
    struct ir_block *block = l->block;
    if (block->before_count == 1) return read_in(l, block->before[0], variable, type);
    struct ir_value *phi = phi_new(l, block, type);
    if (!note_of(block, variable)) variable_note(l->f, block, variable, phi);
    return fill(l, phi, variable);
}

void block_seal(struct lower *l, struct ir_block *block)
{
    block->is_sealed = true;
    for (struct ir_variable *v = block->to_fill; v; v = v->next) fill(l, v->value, v->variable);
}

void phis_simplify(struct ir_function *f)
{
    for (bool again = true; again;) {
        again = false;
        for (int b = 0; b < f->block_count; b++)
            for (struct ir_value *v = f->order[b]->first, *next; v && v->op == IR_PHI; v = next) {
                next = v->next;
                struct ir_value *only = only_value(v);
                if (!only) continue;
                ir_replace(v, only);
                again = true;
            }
    }
}

/* ---- arrays as values ------------------------------------------------------------------------ */

/*
 * Does this array, or this variable whose address was taken, need memory? Not if every
 * access says at compile time which part it means, and nothing else has the address.
 *
 *     int a[2]; a[0] = x; a[1] = y; z = a[1];        z = y
 */

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
    struct ir_value *base = ir_is_access(v) ? ir_base(ir_operand(v, 0)) : NULL;
    return base && base->op == IR_SLOT ? base : NULL;
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
    struct cell wanted = {slot->bits, access->offset, access->bytes, ir_accessed(access), p->cells};
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
    struct promotion p = {.f = f, .is_kept = arena_take(f->arena, (size_t)f->slot_count + 1)};
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
