/* lower.c — statements as blocks. */
#include "lower.h"

/* ---- declarations ---------------------------------------------------------------------------- */

static bool has_initial(const struct symbol *symbol, int64_t offset)
{
    for (struct initial *i = symbol->initials; i; i = i->next)
        if (i->offset == offset) return true;
    return false;
}

static struct ir_value *address_at(struct lower *l, struct ir_value *base, int64_t offset)
{
    return lower_op(l, IR_ADD, IR_I64, base, lower_integer(l, IR_I64, offset), false);
}

static void begin_array(struct lower *l, const struct symbol *symbol, struct ir_value *address)
{
    const struct type *element = symbol->type;
    while (element->kind == TYPE_ARRAY) element = element->base;
    struct ir_value *zero = ir_constant(l->f, lower_type(element), 0);
    for (struct initial *i = symbol->initials; i; i = i->next)
        lower_store(l, i->value->type, address_at(l, address, i->offset), lower_expr(l, i->value));
    int64_t step = type_size(element);
    for (int64_t at = 0; step && at < type_size(symbol->type) && !lower_gives_up(l); at += step)
        if (!has_initial(symbol, at)) lower_store(l, element, address_at(l, address, at), zero);
}

static void declare(struct lower *l, struct symbol *symbol)
{
    // An initial value may name the variable's own address, so the home comes first.
    struct home *home = lower_home(l, symbol);
    if (symbol->initialized && home->address) {
        begin_array(l, symbol, home->address);
    } else if (symbol->initialized) {
        struct ir_value *value = symbol->initials ? lower_expr(l, symbol->initials->value)
                                                  : ir_constant(l->f, lower_type(symbol->type), 0);
        variable_write(l, home, value);
    } else if (!home->address) {
        variable_write(l, home, ir_constant(l->f, lower_type(symbol->type), 0));
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
    if (e->kind == EXPR_CALL) return false;
    if (e->kind == EXPR_BUILTIN &&
        (e->builtin == BUILTIN_SYNCTHREADS || e->builtin == BUILTIN_PRINTF))
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
    struct ir_block **labels = cc_take(l->f->arena, (count + 1) * sizeof *labels);
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
    if (value) variable_write(l, l->call.result, value);
    lower_jump(l, l->call.end);
}

void lower_stmt(struct lower *l, const struct stmt *s)
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
