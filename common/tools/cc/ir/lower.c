/*
 * lower.c — a kernel as IR: statements and calls.
 */
#include "lower.h"
#include <string.h>

static void lower_stmt(struct lower *, const struct stmt *);

static bool lower_gives_up(struct lower *); /* it is too large; reports that once */

/* ---- calls ----------------------------------------------------------------------------------- */

/*
 * A device function is lowered once more for each call, in the caller's place: no call is left in
 * PTX, as nvcc does with functions of this size.
 *
 *     x = twice(a);   with   float twice(float v) { return v + v; }     x = a + a
 */

static void bind(struct lower *l, struct symbol *parameter, struct ir_value *argument)
{
    struct home *home = lower_home(l, parameter);
    if (home->address)
        lower_store(l, parameter->type, home->address, argument);
    else
        lower_write(l, home, parameter->type, argument);
}

struct ir_value *lower_call(struct lower *l, const struct expr *e)
{
    struct function *callee = e->callee;
    struct ir_value **arguments =
        arena_take(l->f->arena, (e->argument_count + 1) * sizeof *arguments);
    for (int k = 0; k < e->argument_count; k++) arguments[k] = lower_expr(l, e->arguments[k]);
    struct lower caller = *l;
    struct ir_call *call = ARENA_NEW(l->f->arena, struct ir_call);
    *call = (struct ir_call){callee, l->place};
    l->place.call = call;
    int k = 0;
    for (struct symbol *s = callee->parameters; s; s = s->next) bind(l, s, arguments[k++]);
    l->call = (struct lower_call){ir_block_new(l->f), call, callee->result};
    lower_stmt(l, callee->body);
    lower_jump(l, l->call.end);
    block_seal(l, l->call.end);
    lower_begin(l, l->call.end);
    l->place = caller.place;
    l->call = caller.call;
    l->target = caller.target;
    if (callee->result->kind == TYPE_VOID) return NULL;
    return lower_read(l, call, callee->result);
}

/* ---- what the compiler knows by itself ------------------------------------------------------- */

/* printf takes its arguments from memory, one after the other, each at a multiple of its size, and
 * host_call each at a multiple of 8. */
static struct ir_value *print(struct lower *l, const struct expr *e)
{
    struct ir_function *f = l->f;
    bool is_host = e->builtin == BUILTIN_HOST;
    struct ir_value *print = lower_new(l, IR_PRINTF, lower_type(e->type)), *slot = NULL;
    bool is_exit = is_host && !strcmp(e->arguments[0]->string, "exit");
    print->bits = is_exit ? IR_CALL_EXIT : is_host ? IR_CALL_HOST : 0;
    print->operand[0] = lower_expr(l, e->arguments[0]);
    if (e->argument_count > 1) {
        f->slots = cc_grow(f->arena, f->slots, f->slot_count, sizeof *f->slots);
        slot = lower_new(l, IR_SLOT, IR_I64);
        slot->bits = f->slot_count++;
        lower_first(l, slot);
    }
    struct ir_value **values = arena_take(f->arena, e->argument_count * sizeof *values);
    for (int k = 1; k < e->argument_count; k++) values[k] = lower_expr(l, e->arguments[k]);
    int64_t at = 0;
    for (int k = 1; k < e->argument_count; k++) {
        const struct type *type = e->arguments[k]->type;
        int64_t size = e->arguments[k]->kind == EXPR_STRING ? 8 : type_size(type);
        int64_t step = is_host ? 8 : size;
        at = (at + step - 1) / step * step;
        struct ir_value *store = lower_new(l, IR_STORE, IR_VOID);
        store->operand[0] = slot;
        store->operand[1] = values[k];
        store->bytes = (uint8_t)size;
        store->offset = at;
        lower_add(l, store);
        at += size;
    }
    if (slot) f->slots[slot->bits] = (struct ir_slot){.size = at, .align = 8};
    print->operand[1] = slot;
    lower_add(l, print);
    return print->type == IR_VOID ? NULL : print;
}

struct ir_value *lower_builtin(struct lower *l, const struct expr *e)
{
    static const enum ir_op ops[] = {
        [BUILTIN_SYNCTHREADS] = IR_BARRIER, [BUILTIN_PRINTF] = IR_PRINTF, [BUILTIN_MIN] = IR_MIN,
        [BUILTIN_MAX] = IR_MAX, [BUILTIN_ABS] = IR_ABS, [BUILTIN_FMA] = IR_FMA,
        [BUILTIN_SQRT] = IR_SQRT,
    };
    if (e->builtin == BUILTIN_PRINTF || e->builtin == BUILTIN_HOST) return print(l, e);
    struct ir_value *arguments[3] = {NULL};
    for (int k = 0; k < e->argument_count && k < 3; k++)
        arguments[k] = lower_expr(l, e->arguments[k]);
    struct ir_value *value = lower_new(l, ops[e->builtin], lower_type(e->type));
    for (int k = 0; k < 3; k++) value->operand[k] = arguments[k];
    value->is_signed = type_is_integer(e->type) && type_is_signed(e->type);
    return lower_add(l, value);
}

/* ---- declarations ---------------------------------------------------------------------------- */

static bool has_initial(const struct symbol *symbol, int64_t offset)
{
    for (struct initial *i = symbol->initials; i; i = i->next)
        if (i->offset == offset) return true;
    return false;
}

static int member_at(const struct type *type, int64_t offset)
{
    int k = 0;
    while (type->members[k].offset != offset) k++;
    return k;
}

static void begin_array(struct lower *l, const struct symbol *symbol, struct ir_value *address)
{
    const struct type *element = symbol->type;
    while (element->kind == TYPE_ARRAY) element = element->base;
    struct ir_value *zero = lower_zero(l, element);
    int64_t step = type_size(element);
    for (int64_t at = 0; step && at < type_size(symbol->type) && !lower_gives_up(l); at += step)
        if (element->kind == TYPE_STRUCT || !has_initial(symbol, at))
            lower_store(l, element, lower_moved(l, address, at), zero);
    for (struct initial *i = symbol->initials; i; i = i->next)
        lower_store(l, i->value->type, lower_moved(l, address, i->offset), lower_expr(l, i->value));
}

static void declare(struct lower *l, struct symbol *symbol)
{
    // An initial value may name the variable's own address, so the home comes first.
    struct home *home = lower_home(l, symbol);
    if (symbol->initialized && home->address) {
        begin_array(l, symbol, home->address);
    } else if (symbol->initialized) {
        struct ir_value *value = lower_zero(l, symbol->type);
        for (struct initial *i = symbol->initials; i; i = i->next)
            if (type_same(i->value->type, symbol->type))
                value = lower_expr(l, i->value);
            else
                value->incoming[member_at(symbol->type, i->offset)] = lower_expr(l, i->value);
        lower_write(l, home, symbol->type, value);
    } else if (!home->address) {
        lower_write(l, home, symbol->type, lower_zero(l, symbol->type));
    }
}

/* ---- branches -------------------------------------------------------------------------------- */

static void begin_sealed(struct lower *l, struct ir_block *block)
{
    block_seal(l, block);
    lower_begin(l, block);
}

static void lower_if(struct lower *l, const struct stmt *s)
{
    struct ir_block *then = ir_block_new(l->f), *join = ir_block_new(l->f);
    struct ir_block *otherwise = s->otherwise ? ir_block_new(l->f) : join;
    lower_condition(l, s->value, then, otherwise);
    begin_sealed(l, then);
    lower_stmt(l, s->body);
    lower_jump(l, join);
    if (s->otherwise) {
        begin_sealed(l, otherwise);
        lower_stmt(l, s->otherwise);
        lower_jump(l, join);
    }
    begin_sealed(l, join);
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* True if computing the expression twice, at two places of the text, is the same as once. */
static bool may_repeat(const struct expr *e)
{
    if (!e) return true;
    if (e->kind == EXPR_CALL || (e->kind == EXPR_PTX && e->ptx->effect != PTX_NONE)) return false;
    if (e->kind == EXPR_BUILTIN &&
        (e->builtin == BUILTIN_SYNCTHREADS || e->builtin == BUILTIN_PRINTF ||
         e->builtin == BUILTIN_HOST))
        return false;
    for (int k = 0; k < e->argument_count; k++)
        if (!may_repeat(e->arguments[k])) return false;
    return may_repeat(e->condition) && may_repeat(e->left) && may_repeat(e->right);
}

/* The loop's body, from `body` on, which jumps to `next`, and where `next` begins. */
static void loop_body(struct lower *l, const struct stmt *s, struct ir_block *body,
                      struct ir_block *next, struct ir_block *end)
{
    struct lower_target outer = l->target;
    l->target = (struct lower_target){end, next};
    lower_begin(l, body);
    lower_stmt(l, s->body);
    lower_jump(l, next);
    l->target = outer;
    begin_sealed(l, next);
    if (s->step) l->place.at = s->step->at, lower_expr(l, s->step);
    l->place.at = s->at;
}

static void jump_if(struct lower *l, const struct expr *condition, struct ir_block *if_true,
                    struct ir_block *if_false)
{
    if (condition)
        lower_condition(l, condition, if_true, if_false);
    else
        lower_jump(l, if_true);
}

/*
 * A loop asks before its first iteration and again at the end of each, as nvcc writes it:
 *     for (A; B; C) D          A; if (B) do { D; C; } while (B);
 * A condition that must stand at one place only is asked at the head.
 */
static void lower_for(struct lower *l, const struct stmt *s)
{
    struct ir_block *body = ir_block_new(l->f), *next = ir_block_new(l->f);
    struct ir_block *end = ir_block_new(l->f), *head = body;
    bool twice = may_repeat(s->value);
    if (s->first) lower_stmt(l, s->first);
    l->place.at = s->at;
    if (twice) {
        jump_if(l, s->value, body, end);
    } else {
        head = ir_block_new(l->f);
        lower_jump(l, head);
        lower_begin(l, head);
        lower_condition(l, s->value, body, end);
        block_seal(l, body);
    }
    head->unroll = s->unroll;
    loop_body(l, s, body, next, end);
    if (twice)
        jump_if(l, s->value, body, end);
    else
        lower_jump(l, head);
    block_seal(l, head);
    begin_sealed(l, end);
}

static void lower_do(struct lower *l, const struct stmt *s)
{
    struct ir_block *body = ir_block_new(l->f), *next = ir_block_new(l->f);
    struct ir_block *end = ir_block_new(l->f);
    lower_jump(l, body);
    body->unroll = s->unroll;
    loop_body(l, s, body, next, end);
    jump_if(l, s->value, body, end);
    block_seal(l, body);
    begin_sealed(l, end);
}

/* ---- switch ---------------------------------------------------------------------------------- */

/* Blocks for the labels, and for each case a comparison, in a chain before the body. */
static void lower_switch(struct lower *l, const struct stmt *s)
{
    struct ir_block *end = ir_block_new(l->f), *otherwise = end;
    struct ir_value *value = lower_expr(l, s->value);
    int count = 0;
    for (struct stmt *c = s->body->body; c; c = c->next)
        count += c->kind == STMT_CASE || c->kind == STMT_DEFAULT;
    struct ir_block **labels = arena_take(l->f->arena, (count + 1) * sizeof *labels);
    int k = 0;
    for (struct stmt *c = s->body->body; c; c = c->next) {
        if (c->kind != STMT_CASE && c->kind != STMT_DEFAULT) continue;
        labels[k] = ir_block_new(l->f);
        if (c->kind == STMT_DEFAULT) otherwise = labels[k];
        k++;
    }
    k = 0;
    for (struct stmt *c = s->body->body; c; c = c->next) {
        if (c->kind == STMT_DEFAULT) k++;
        if (c->kind != STMT_CASE) continue;
        struct ir_block *more = ir_block_new(l->f);
        struct ir_value *key = lower_integer(l, value->type, c->integer);
        lower_branch(l, lower_op(l, IR_EQUAL, IR_BOOL, value, key, false), labels[k++], more);
        begin_sealed(l, more);
    }
    lower_jump(l, otherwise);
    struct lower_target outer = l->target;
    l->target.to_break = end;
    k = 0;
    for (struct stmt *c = s->body->body; c; c = c->next) {
        if (c->kind != STMT_CASE && c->kind != STMT_DEFAULT) {
            lower_stmt(l, c);
            continue;
        }
        lower_jump(l, labels[k]); // from the case above
        begin_sealed(l, labels[k++]);
    }
    lower_jump(l, end);
    l->target = outer;
    begin_sealed(l, end);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void lower_return(struct lower *l, const struct stmt *s)
{
    struct ir_value *value = s->value ? lower_expr(l, s->value) : NULL;
    if (value) lower_write(l, l->call.result, l->call.type, value);
    lower_jump(l, l->call.end);
}

static void lower_stmt(struct lower *l, const struct stmt *s)
{
    if (lower_gives_up(l)) return;
    if (s->kind != STMT_BLOCK) l->place.at = s->at;
    switch (s->kind) {
    case STMT_EXPR: lower_expr(l, s->value); break;
    case STMT_DECLARE: declare(l, s->symbol); break;
    case STMT_BLOCK:
        for (struct stmt *inner = s->body; inner; inner = inner->next) lower_stmt(l, inner);
        break;
    case STMT_IF: lower_if(l, s); break;
    case STMT_FOR: lower_for(l, s); break;
    case STMT_DO: lower_do(l, s); break;
    case STMT_SWITCH: lower_switch(l, s); break;
    case STMT_BREAK: lower_jump(l, l->target.to_break); break;
    case STMT_CONTINUE: lower_jump(l, l->target.to_continue); break;
    case STMT_RETURN: lower_return(l, s); break;
    case STMT_CASE:
    case STMT_DEFAULT: break; // lower_switch does them
    }
}

/* ---- a kernel as IR: its blocks, its parameters, and what all of the lowering needs ---------- */

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

/* A parameter, or the member of one at `offset`. */
static struct ir_value *parameter(struct lower *l, const struct type *type, int number,
                                  int64_t offset)
{
    struct ir_value *value = lower_new(l, IR_PARAMETER, lower_type(type));
    value->bits = (unsigned)number;
    value->bytes = (uint8_t)type_size(type);
    value->offset = offset;
    value->is_signed = type_is_integer(type) && type_is_signed(type);
    value->is_pointer = type_is_pointer(type);
    ir_append(l->block, value);
    return value;
}

static void begin_parameter(struct lower *l, struct symbol *symbol, int number)
{
    const struct type *type = symbol->type;
    bool is_struct = type->kind == TYPE_STRUCT;
    struct ir_value *value = is_struct ? lower_zero(l, type) : parameter(l, type, number, 0);
    for (int k = 0; k < type->member_count; k++)
        value->incoming[k] = parameter(l, type->members[k].type, number, type->members[k].offset);
    bind(l, symbol, value);
}

/* ---- the kernel ------------------------------------------------------------------------------ */

static bool lower_gives_up(struct lower *l)
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
