/* ir_lower.c — a kernel as IR: its blocks, its parameters, and what all of the lowering needs. */
#include "lower.h"

enum ir_type lower_type(const struct type *type)
{
    switch (type->kind) {
    case TYPE_VOID: return IR_VOID;
    case TYPE_BOOL: return IR_BOOL;
    case TYPE_FLOAT: return IR_F32;
    case TYPE_DOUBLE: return IR_F64;
    default: return type_size(type) == 8 ? IR_I64 : IR_I32;
    }
}

/* ---- blocks ---------------------------------------------------------------------------------- */

void lower_begin(struct lower *l, struct ir_block *block)
{
    struct ir_function *f = l->f;
    f->order = cc_grow(f->arena, f->order, f->block_count, sizeof *f->order);
    f->order[f->block_count++] = block;
    l->block = block;
}

/* What follows a jump is reached by nothing, unless another block is begun. */
static void after_jump(struct lower *l)
{
    struct ir_block *block = ir_block_new(l->f);
    block->is_sealed = true;
    lower_begin(l, block);
}

void lower_jump(struct lower *l, struct ir_block *to)
{
    l->block->next[0] = to;
    l->block->place = l->place;
    ir_connect(l->f, l->block, to);
    after_jump(l);
}

void lower_branch(struct lower *l, struct ir_value *condition, struct ir_block *if_true,
                  struct ir_block *if_false)
{
    if (ir_is_constant(condition)) {
        lower_jump(l, condition->bits ? if_true : if_false);
        return;
    }
    struct ir_block *from = l->block;
    from->condition = condition;
    from->next[1] = if_false;
    lower_jump(l, if_true);
    ir_connect(l->f, from, if_false);
}

/* ---- values ---------------------------------------------------------------------------------- */

struct ir_value *lower_new(struct lower *l, enum ir_op op, enum ir_type type)
{
    return ir_value_new(l->f, op, type, l->place);
}

struct ir_value *lower_add(struct lower *l, struct ir_value *value)
{
    return ir_build(l->f, l->block, value);
}

struct ir_value *lower_op(struct lower *l, enum ir_op op, enum ir_type type, struct ir_value *left,
                          struct ir_value *right, bool is_signed)
{
    struct ir_value *value = lower_new(l, op, type);
    value->operand[0] = left;
    value->operand[1] = right;
    value->is_signed = is_signed;
    return lower_add(l, value);
}

struct ir_value *lower_integer(struct lower *l, enum ir_type type, int64_t integer)
{
    return ir_constant(l->f, type, (uint64_t)integer);
}

struct ir_value *lower_first(struct lower *l, struct ir_value *value)
{
    ir_insert(l->f->entry, l->f->entry->first, value);
    return value;
}

/* ---- variables ------------------------------------------------------------------------------- */

static struct ir_value *slot_new(struct lower *l, const struct symbol *symbol)
{
    struct ir_function *f = l->f;
    f->slots = cc_grow(f->arena, f->slots, f->slot_count, sizeof *f->slots);
    f->slots[f->slot_count] =
        (struct ir_slot){.size = type_size(symbol->type), .align = symbol->align};
    if (f->slots[f->slot_count].align < type_align(symbol->type))
        f->slots[f->slot_count].align = type_align(symbol->type);
    struct ir_value *slot = lower_new(l, IR_SLOT, IR_I64);
    slot->bits = f->slot_count++;
    return lower_first(l, slot);
}

struct home *lower_home(struct lower *l, struct symbol *symbol)
{
    struct home *home = ARENA_NEW(l->f->arena, struct home);
    home->owner = l->f;
    bool in_memory = symbol->addressed || symbol->type->kind == TYPE_ARRAY;
    if (in_memory) home->address = slot_new(l, symbol);
    return symbol->lowered = home;
}

static void begin_parameter(struct lower *l, struct symbol *symbol, int number)
{
    struct ir_value *value = lower_new(l, IR_PARAMETER, lower_type(symbol->type));
    value->bits = (unsigned)number;
    value->bytes = (uint8_t)type_size(symbol->type);
    value->is_signed = type_is_integer(symbol->type) && type_is_signed(symbol->type);
    value->is_pointer = type_is_pointer(symbol->type);
    ir_append(l->block, value);
    struct home *home = lower_home(l, symbol);
    if (home->address)
        lower_store(l, symbol->type, home->address, value);
    else
        variable_write(l, home, value);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

bool lower_gives_up(struct lower *l)
{
    if (l->is_too_large) return true;
    if (l->f->value_count <= MOST_VALUES && l->f->block_count <= MOST_BLOCKS) return false;
    error_at(l->f->diagnostics, l->f->source->at,
             "make it shorter: functions that it calls become a part of it",
             "'%s' is too long for the page's compiler", l->f->source->name);
    return l->is_too_large = true;
}

struct ir_function *lower_kernel(struct unit *unit, struct function *kernel)
{
    struct ir_function *f = ARENA_NEW(unit->arena, struct ir_function);
    f->arena = unit->arena;
    f->diagnostics = unit->diagnostics;
    f->source = kernel;
    f->keeps_signs = true;
    f->entry = ir_block_new(f);
    f->entry->is_sealed = true;
    struct lower l = {.f = f, .place = {kernel->at, NULL}};
    lower_begin(&l, f->entry);
    int number = 0;
    for (struct symbol *s = kernel->parameters; s; s = s->next) begin_parameter(&l, s, number++);
    l.call.end = ir_block_new(f);
    lower_stmt(&l, kernel->body);
    l.place.at = kernel->body->end;
    lower_jump(&l, l.call.end);
    block_seal(&l, l.call.end);
    lower_begin(&l, l.call.end);
    l.call.end->place = l.place;
    ir_order(f);
    phis_simplify(f);
    return f;
}
