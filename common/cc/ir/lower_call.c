/*
 * lower_call.c — calls. A device function is lowered once more for each call, in the caller's
 * place: no call is left in PTX, as nvcc does with functions of this size.
 *
 *     x = twice(a);   with   float twice(float v) { return v + v; }     x = a + a
 */
#include "lower.h"

static void bind(struct lower *l, struct symbol *parameter, struct ir_value *argument)
{
    struct home *home = lower_home(l, parameter);
    if (home->address)
        lower_store(l, parameter->type, home->address, argument);
    else
        variable_write(l, home, argument);
}

struct ir_value *lower_call(struct lower *l, const struct expr *e)
{
    struct function *callee = e->callee;
    struct ir_value **arguments = cc_take(l->f->arena, (e->argument_count + 1) * sizeof *arguments);
    for (int k = 0; k < e->argument_count; k++) arguments[k] = lower_expr(l, e->arguments[k]);
    struct lower caller = *l;
    struct ir_call *call = ARENA_NEW(l->f->arena, struct ir_call);
    *call = (struct ir_call){callee, l->place};
    l->place.call = call;
    int k = 0;
    for (struct symbol *s = callee->parameters; s; s = s->next) bind(l, s, arguments[k++]);
    l->call = (struct lower_call){ir_block_new(l->f), call};
    lower_stmt(l, callee->body);
    lower_jump(l, l->call.end);
    block_seal(l, l->call.end);
    lower_begin(l, l->call.end);
    l->place = caller.place;
    l->call = caller.call;
    l->target = caller.target;
    if (callee->result->kind == TYPE_VOID) return NULL;
    return variable_read(l, call, lower_type(callee->result));
}

/* ---- what the compiler knows by itself ------------------------------------------------------- */

/* printf takes its arguments from memory, one after the other, each at a multiple of its size. */
static struct ir_value *print(struct lower *l, const struct expr *e)
{
    struct ir_function *f = l->f;
    struct ir_value *print = lower_new(l, IR_PRINTF, IR_I32), *slot = NULL;
    print->operand[0] = lower_expr(l, e->arguments[0]);
    if (e->argument_count > 1) {
        f->slots = cc_grow(f->arena, f->slots, f->slot_count, sizeof *f->slots);
        slot = lower_new(l, IR_SLOT, IR_I64);
        slot->bits = f->slot_count++;
        lower_first(l, slot);
    }
    struct ir_value **values = cc_take(f->arena, e->argument_count * sizeof *values);
    for (int k = 1; k < e->argument_count; k++) values[k] = lower_expr(l, e->arguments[k]);
    int64_t at = 0;
    for (int k = 1; k < e->argument_count; k++) {
        const struct type *type = e->arguments[k]->type;
        int64_t size = e->arguments[k]->kind == EXPR_STRING ? 8 : type_size(type);
        at = (at + size - 1) / size * size;
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
    return lower_add(l, print);
}

struct ir_value *lower_builtin(struct lower *l, const struct expr *e)
{
    static const enum ir_op ops[] = {
        [BUILTIN_SYNCTHREADS] = IR_BARRIER,
        [BUILTIN_PRINTF] = IR_PRINTF,
        [BUILTIN_MIN] = IR_MIN,
        [BUILTIN_MAX] = IR_MAX,
        [BUILTIN_ABS] = IR_ABS,
        [BUILTIN_FMA] = IR_FMA,
        [BUILTIN_SQRT] = IR_SQRT,
    };
    if (e->builtin == BUILTIN_PRINTF) return print(l, e);
    struct ir_value *arguments[3] = {NULL};
    for (int k = 0; k < e->argument_count && k < 3; k++)
        arguments[k] = lower_expr(l, e->arguments[k]);
    struct ir_value *value = lower_new(l, ops[e->builtin], lower_type(e->type));
    for (int k = 0; k < 3; k++) value->operand[k] = arguments[k];
    value->is_signed = type_is_integer(e->type) && type_is_signed(e->type);
    return lower_add(l, value);
}
