/*
 * ir.c — making and changing blocks and values, their order, and the order of the passes.
 */
#include "ir.h"
#include <string.h>

/* ---- making and changing blocks and values --------------------------------------------------- */

struct ir_block *ir_block_new(struct ir_function *f)
{
    struct ir_block *block = ARENA_NEW(f->arena, struct ir_block);
    block->number = -1;
    return block;
}

struct ir_value *ir_value_new(struct ir_function *f, enum ir_op op, enum ir_type type,
                              struct ir_place place)
{
    struct ir_value *value = ARENA_NEW(f->arena, struct ir_value);
    value->op = op;
    value->type = type;
    value->place = place;
    value->parts = 1;
    f->value_count++;
    return value;
}

void ir_insert(struct ir_block *block, struct ir_value *at, struct ir_value *value)
{
    value->block = block;
    value->next = at;
    value->prev = at ? at->prev : block->last;
    *(value->prev ? &value->prev->next : &block->first) = value;
    *(at ? &at->prev : &block->last) = value;
}

void ir_append(struct ir_block *block, struct ir_value *value) { ir_insert(block, NULL, value); }

void ir_unlink(struct ir_value *value)
{
    struct ir_block *block = value->block;
    if (!block) return;
    *(value->prev ? &value->prev->next : &block->first) = value->next;
    *(value->next ? &value->next->prev : &block->last) = value->prev;
    value->block = NULL;
}

void ir_replace(struct ir_value *value, struct ir_value *by)
{
    by = ir_resolve(by);
    if (by == value) return;
    value->is = by;
    ir_unlink(value);
}

struct ir_value *ir_resolve(struct ir_value *value)
{
    struct ir_value *end = value;
    while (end && end->is) end = end->is;
    while (value && value->is) { // the next search is short
        struct ir_value *next = value->is;
        value->is = end;
        value = next;
    }
    return end;
}

struct ir_value *ir_operand(struct ir_value *value, int index)
{
    if (index >= IR_OPERANDS) return NULL;
    return value->operand[index] = ir_resolve(value->operand[index]);
}

/* ---- constants ------------------------------------------------------------------------------- */

static uint64_t mixed(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void remember_constant(struct ir_function *f, struct ir_value *constant)
{
    uint64_t mask = f->constant_room - 1, k = mixed(constant->type, constant->bits) & mask;
    while (f->constants[k]) k = (k + 1) & mask;
    f->constants[k] = constant;
}

static void make_room(struct ir_function *f)
{
    struct ir_value **old = f->constants;
    int room = f->constant_room;
    if (2 * f->constant_count < room) return;
    f->constant_room = room ? 2 * room : 64;
    f->constants = arena_take(f->arena, f->constant_room * sizeof *f->constants);
    for (int k = 0; k < room; k++)
        if (old[k]) remember_constant(f, old[k]);
}

struct ir_value *ir_constant(struct ir_function *f, enum ir_type type, uint64_t bits)
{
    if (type == IR_BOOL) bits = bits != 0;
    if (type == IR_I32 || type == IR_F32) bits = (uint32_t)bits;
    make_room(f);
    uint64_t mask = f->constant_room - 1, k = mixed(type, bits) & mask;
    for (; f->constants[k]; k = (k + 1) & mask)
        if (f->constants[k]->type == type && f->constants[k]->bits == bits) return f->constants[k];
    struct ir_value *constant = ir_value_new(f, IR_CONSTANT, type, (struct ir_place){0});
    constant->bits = bits;
    f->constant_count++;
    return f->constants[k] = constant;
}

struct ir_value *ir_float(struct ir_function *f, enum ir_type type, double real)
{
    uint64_t bits = 0;
    float single = (float)real;
    if (type == IR_F32)
        memcpy(&bits, &single, sizeof single);
    else
        memcpy(&bits, &real, sizeof real);
    return ir_constant(f, type, bits);
}

bool ir_is_real(enum ir_type type) { return type == IR_F32 || type == IR_F64; }

bool ir_is_constant(const struct ir_value *value) { return value && value->op == IR_CONSTANT; }

int64_t ir_signed(const struct ir_value *constant)
{
    return constant->type == IR_I32 ? (int32_t)constant->bits : (int64_t)constant->bits;
}

double ir_real(const struct ir_value *constant)
{
    double real;
    float single;
    memcpy(&real, &constant->bits, sizeof real);
    memcpy(&single, &constant->bits, sizeof single); // little-endian, as WebAssembly is
    return constant->type == IR_F32 ? (double)single : real;
}

/* ---- edges ----------------------------------------------------------------------------------- */

void ir_connect(struct ir_function *f, struct ir_block *from, struct ir_block *to)
{
    to->before = cc_grow(f->arena, to->before, to->before_count, sizeof *to->before);
    to->before[to->before_count++] = from;
}

int ir_edge(const struct ir_block *block, const struct ir_block *before)
{
    for (int k = 0; k < block->before_count; k++)
        if (block->before[k] == before) return k;
    return -1;
}

void ir_disconnect(struct ir_block *from, struct ir_block *to)
{
    int k = ir_edge(to, from);
    int after = --to->before_count - k;
    memmove(to->before + k, to->before + k + 1, after * sizeof *to->before);
    for (struct ir_value *v = to->first; v && v->op == IR_PHI; v = v->next)
        memmove(v->incoming + k, v->incoming + k + 1, after * sizeof *v->incoming);
}

/* ---- what values are ------------------------------------------------------------------------- */

bool ir_is_pure(const struct ir_value *value)
{
    switch (value->op) {
    case IR_PTX: return value->ptx->effect == PTX_NONE;
    case IR_PHI:
    case IR_LOAD:
    case IR_STORE:
    case IR_PART:
    case IR_BARRIER:
    case IR_PRINTF: return false;
    default: return true;
    }
}

bool ir_is_access(const struct ir_value *value)
{
    return value->op == IR_LOAD || value->op == IR_STORE;
}

bool ir_has_effect(const struct ir_value *v)
{
    if (v->op == IR_PTX) return v->ptx->effect != PTX_NONE;
    return v->op == IR_STORE || v->op == IR_BARRIER || v->op == IR_PRINTF;
}

enum ir_type ir_accessed(struct ir_value *access)
{
    return access->op == IR_LOAD ? access->type : ir_operand(access, 1)->type;
}

int64_t ir_bytes(const struct ir_value *access) { return access->bytes * access->parts; }

struct ir_value *ir_base(struct ir_value *address)
{
    while (address && address->op == IR_ADD) address = ir_operand(address, 0);
    return address;
}

enum ir_space ir_space_of(const struct symbol *symbol)
{
    switch (symbol->kind) {
    case SYMBOL_SHARED:
    case SYMBOL_SHARED_DYNAMIC: return IR_SHARED;
    case SYMBOL_CONSTANT: return IR_CONST;
    default: return IR_GLOBAL;
    }
}

static bool is_symmetric(enum ir_op op)
{
    return op == IR_ADD || op == IR_MULTIPLY || op == IR_AND || op == IR_OR || op == IR_XOR ||
           op == IR_EQUAL || op == IR_NOT_EQUAL;
}

uint64_t ir_hash(struct ir_value *value)
{
    uint64_t sum = 0, hash = mixed(value->op * 64 + value->type, value->bits);
    hash = mixed(hash, (uintptr_t)value->symbol + (uint64_t)value->offset);
    for (int k = 0; k < IR_OPERANDS && ir_operand(value, k); k++) {
        uint64_t operand = mixed(0, (uintptr_t)value->operand[k]);
        if (is_symmetric(value->op))
            sum += operand;
        else
            hash = mixed(hash, operand);
    }
    return mixed(hash, sum);
}

static bool same_operands(struct ir_value *a, struct ir_value *b)
{
    if (is_symmetric(a->op) && ir_operand(a, 0) == ir_operand(b, 1) &&
        ir_operand(a, 1) == ir_operand(b, 0))
        return true;
    for (int k = 0; k < IR_OPERANDS; k++)
        if (ir_operand(a, k) != ir_operand(b, k)) return false;
    return true;
}

static bool same_instructions(const struct ptx *a, const struct ptx *b)
{
    return a == b || (a && b && !strcmp(a->text, b->text));
}

bool ir_same(struct ir_value *a, struct ir_value *b)
{
    return a->op == b->op && a->type == b->type && a->bits == b->bits && a->symbol == b->symbol &&
           a->offset == b->offset && a->space == b->space && a->bytes == b->bytes &&
           a->parts == b->parts && a->is_signed == b->is_signed && a->text == b->text &&
           same_instructions(a->ptx, b->ptx) && same_operands(a, b);
}

void ir_count_uses(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next) v->uses = 0;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        if (block->condition) ir_resolve(block->condition)->uses++;
        for (struct ir_value *v = block->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++) v->operand[k]->uses++;
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                (v->incoming[k] = ir_resolve(v->incoming[k]))->uses++;
        }
    }
}

/* ---- the order of blocks --------------------------------------------------------------------- */

/*
 * Which blocks are reached, and which block every path to a block leads through (its
 * dominators).
 *
 * Lanes that took different ways meet again where the emulator finds them at one instruction; of
 * several ways the one lowest in the text runs first. So blocks keep the order of the source, in
 * which a block stands behind both arms of the `if` before it, and behind the loop before it. No
 * pass changes this order, and therefore a block also stands behind those that dominate it.
 */

static void reach(struct ir_block *block)
{
    while (block && !block->mark) {
        block->mark = 1;
        reach(block->next[1]);
        block = block->next[0];
    }
}

static void drop(struct ir_block *block)
{
    for (int k = 0; k < 2; k++)
        if (block->next[k] && block->next[k]->mark) ir_disconnect(block, block->next[k]);
    block->next[0] = block->next[1] = NULL;
    block->condition = NULL;
    block->first = block->last = NULL;
}

static struct ir_block *common_dominator(struct ir_block *a, struct ir_block *b)
{
    while (a != b)
        if (a->number > b->number)
            a = a->above;
        else
            b = b->above;
    return a;
}

static bool find_above(struct ir_block *block)
{
    struct ir_block *above = NULL;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_block *before = block->before[k];
        if (!before->above && before->number) continue; // not known yet
        above = above ? common_dominator(above, before) : before;
    }
    bool is_new = above != block->above;
    block->above = above;
    return is_new;
}

void ir_order(struct ir_function *f)
{
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = 0, f->order[b]->above = NULL;
    reach(f->entry);
    int count = 0;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        block->number = block->mark ? count : -1;
        if (block->mark)
            f->order[count++] = block;
        else
            drop(block);
    }
    f->block_count = count;
    for (bool again = true; again;) {
        again = false;
        for (int b = 1; b < count; b++) again |= find_above(f->order[b]);
    }
}

bool ir_dominates(const struct ir_block *a, const struct ir_block *b)
{
    while (b && b->number > a->number) b = b->above;
    return a == b;
}

/* ---- the passes, in their order -------------------------------------------------------------- */

void passes_run(struct ir_function *f)
{
    pass_same_values(f);
    pass_unused(f);
    pass_unroll(f);
    pass_addresses(f);
    pass_same_values(f);
    pass_unused(f);
    pass_slots(f);
    for (int k = 0; k < 3; k++) {
        pass_loads(f);
        pass_same_values(f);
        pass_unused(f);
        pass_branches(f);
        pass_same_values(f);
        pass_loops(f);
    }
    pass_loads(f);
    pass_same_values(f);
    pass_unused(f);
    pass_pairs(f);
    pass_fuse(f);
    pass_unused(f);
}
