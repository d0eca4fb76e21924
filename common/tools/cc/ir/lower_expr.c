/* lower_expr.c — expressions as values. */
#include "lower.h"

static bool has_sign(const struct type *type)
{
    return type_is_integer(type) && type_is_signed(type);
}

/* ---- memory ---------------------------------------------------------------------------------- */

struct ir_value *lower_moved(struct lower *l, struct ir_value *address, int64_t bytes)
{
    if (bytes == 0) return address;
    return lower_op(l, IR_ADD, IR_I64, address, lower_integer(l, IR_I64, bytes), false);
}

/* ---- structs: a value is the values of its members ------------------------------------------- */

static struct ir_value *struct_new(struct lower *l, const struct type *type)
{
    struct ir_value *value = lower_new(l, IR_STRUCT, IR_VOID);
    value->incoming = arena_take(l->f->arena, (size_t)type->member_count * sizeof *value->incoming);
    return value;
}

/* The key of a member that is a variable of its own; lower_home and the like have the room. */
static const void *key_of(const void *variable, int member)
{
    return (const char *)variable + member;
}

void lower_write(struct lower *l, const void *variable, const struct type *type,
                 struct ir_value *value)
{
    if (type->kind != TYPE_STRUCT) {
        variable_write(l, variable, value);
        return;
    }
    for (int k = 0; k < type->member_count; k++)
        variable_write(l, key_of(variable, k), value->incoming[k]);
}

struct ir_value *lower_read(struct lower *l, const void *variable, const struct type *type)
{
    if (type->kind != TYPE_STRUCT) return variable_read(l, variable, lower_type(type));
    struct ir_value *value = struct_new(l, type);
    for (int k = 0; k < type->member_count; k++)
        value->incoming[k] = lower_read(l, key_of(variable, k), type->members[k].type);
    return value;
}

struct ir_value *lower_zero(struct lower *l, const struct type *type)
{
    if (type->kind != TYPE_STRUCT) return ir_constant(l->f, lower_type(type), 0);
    struct ir_value *value = struct_new(l, type);
    for (int k = 0; k < type->member_count; k++)
        value->incoming[k] = lower_zero(l, type->members[k].type);
    return value;
}

/* Is the struct moved by one access, as float4 is? Not in local memory, whose parts may become
 * values (pass_slots). */
static bool is_one_access(const struct type *type, const struct ir_value *address)
{
    while (address->op == IR_ADD) address = address->operand[0];
    bool is_vector = type->member_count == 2 || type->member_count == 4;
    return is_vector && type->align == type->length && address->op != IR_SLOT;
}

static struct ir_value *lower_load(struct lower *, const struct type *, struct ir_value *address);

static struct ir_value *load_struct(struct lower *l, const struct type *type,
                                    struct ir_value *address)
{
    const struct member *members = type->members;
    struct ir_value *value = struct_new(l, type), *load = NULL;
    if (is_one_access(type, address)) {
        load = lower_new(l, IR_LOAD, lower_type(members->type));
        load->operand[0] = address;
        load->bytes = (uint8_t)type_size(members->type);
        load->parts = (uint8_t)type->member_count;
        load->is_signed = has_sign(members->type);
        ir_append(l->block, load);
    }
    for (int k = 0; k < type->member_count; k++) {
        if (load == NULL) {
            struct ir_value *at = lower_moved(l, address, members[k].offset);
            value->incoming[k] = lower_load(l, members[k].type, at);
            continue;
        }
        value->incoming[k] = lower_new(l, IR_PART, load->type);
        value->incoming[k]->operand[0] = load;
        value->incoming[k]->bits = (uint64_t)k;
        ir_append(l->block, value->incoming[k]);
    }
    return value;
}

static void store_struct(struct lower *l, const struct type *type, struct ir_value *address,
                         struct ir_value *value)
{
    const struct member *members = type->members;
    if (!is_one_access(type, address)) {
        for (int k = 0; k < type->member_count; k++)
            lower_store(l, members[k].type, lower_moved(l, address, members[k].offset),
                        value->incoming[k]);
        return;
    }
    struct ir_value *store = lower_new(l, IR_STORE, IR_VOID);
    store->operand[0] = address;
    for (int k = 0; k < type->member_count; k++) store->operand[k + 1] = value->incoming[k];
    store->bytes = (uint8_t)type_size(members->type);
    store->parts = (uint8_t)type->member_count;
    ir_append(l->block, store);
}

/* ---- volatile: an access that is done as it is written --------------------------------------- */

static struct ir_value *access_volatile(struct lower *l, const struct type *type,
                                        struct ir_value *address, struct ir_value *stored)
{
    struct ptx *ptx = ARENA_NEW(l->f->arena, struct ptx);
    bool is_bool = type->kind == TYPE_BOOL;
    char letter = type_is_real(type) ? 'f' : has_sign(type) ? 's' : 'u';
    ptx->has_place = true;
    ptx->effect = stored ? PTX_PLACE : PTX_LANES;
    ptx->text =
        cc_format(l->f->arena, "%s.volatile%%s.%c%d \t%s;", stored ? "st" : "ld", letter,
                  8 * (int)type_size(type), stored ? "%a, %2" : "%0, %a");
    if (stored && is_bool) stored = lower_op(l, IR_CONVERT, IR_I32, stored, NULL, false);
    struct ir_value *value = lower_new(
        l, IR_PTX, stored ? IR_VOID : is_bool ? IR_I32 : lower_type(type));
    value->ptx = ptx;
    value->operand[0] = address;
    value->operand[1] = stored;
    value->bytes = (uint8_t)type_size(type);
    ir_append(l->block, value);
    if (stored || !is_bool) return value;
    return lower_op(l, IR_NOT_EQUAL, IR_BOOL, value, lower_integer(l, IR_I32, 0), false);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static struct ir_value *lower_load(struct lower *l, const struct type *type,
                                   struct ir_value *address)
{
    if (type->kind == TYPE_STRUCT) return load_struct(l, type, address);
    if (type->is_volatile) return access_volatile(l, type, address, NULL);
    bool is_bool = type->kind == TYPE_BOOL;
    struct ir_value *load = lower_new(l, IR_LOAD, is_bool ? IR_I32 : lower_type(type));
    load->operand[0] = address;
    load->bytes = (uint8_t)type_size(type);
    load->is_signed = has_sign(type);
    lower_add(l, load);
    if (!is_bool) return load;
    return lower_op(l, IR_NOT_EQUAL, IR_BOOL, load, lower_integer(l, IR_I32, 0), false);
}

void lower_store(struct lower *l, const struct type *type, struct ir_value *address,
                 struct ir_value *value)
{
    if (type->kind == TYPE_STRUCT || type->is_volatile) {
        if (type->kind == TYPE_STRUCT)
            store_struct(l, type, address, value);
        else
            access_volatile(l, type, address, value);
        return;
    }
    if (type->kind == TYPE_BOOL) value = lower_op(l, IR_CONVERT, IR_I32, value, NULL, false);
    struct ir_value *store = lower_new(l, IR_STORE, IR_VOID);
    store->operand[0] = address;
    store->operand[1] = value;
    store->bytes = (uint8_t)type_size(type);
    lower_add(l, store);
}

/* A shared, global or constant variable. */
static struct home *outer_home(struct lower *l, struct symbol *symbol)
{
    struct home *home = ARENA_NEW(l->f->arena, struct home);
    home->owner = l->f;
    home->address = lower_new(l, IR_SYMBOL, IR_I64);
    home->address->symbol = symbol;
    lower_first(l, home->address);
    return symbol->lowered = home;
}

static struct home *home_of(struct lower *l, struct symbol *symbol)
{
    struct home *home = symbol->lowered;
    if (home && home->owner == l->f) return home;
    bool is_own = symbol->kind == SYMBOL_LOCAL || symbol->kind == SYMBOL_PARAMETER;
    return is_own ? lower_home(l, symbol) : outer_home(l, symbol);
}

/* NULL: the lvalue is a variable in registers. */
static struct ir_value *lower_address(struct lower *l, const struct expr *lvalue)
{
    if (lvalue->kind == EXPR_DEREF) return lower_expr(l, lvalue->left);
    if (lvalue->kind == EXPR_MEMBER) {
        struct ir_value *whole = lower_address(l, lvalue->left);
        int64_t offset = lvalue->left->type->members[lvalue->member].offset;
        return whole ? lower_moved(l, whole, offset) : NULL;
    }
    return home_of(l, lvalue->symbol)->address;
}

/* The variable that an lvalue in registers is. */
static const void *variable_of(struct lower *l, const struct expr *lvalue)
{
    if (lvalue->kind == EXPR_MEMBER) return key_of(variable_of(l, lvalue->left), lvalue->member);
    return home_of(l, lvalue->symbol);
}

static struct ir_value *load_from(struct lower *l, const struct expr *lvalue,
                                  struct ir_value *address)
{
    if (address) return lower_load(l, lvalue->type, address);
    return lower_read(l, variable_of(l, lvalue), lvalue->type);
}

static void lower_assign(struct lower *l, const struct expr *lvalue, struct ir_value *address,
                         struct ir_value *value)
{
    if (address)
        lower_store(l, lvalue->type, address, value);
    else
        lower_write(l, variable_of(l, lvalue), lvalue->type, value);
}

/* ---- conversions ----------------------------------------------------------------------------- */

static struct ir_value *zero_of(struct lower *l, enum ir_type type)
{
    return ir_constant(l->f, type, 0);
}

static struct ir_value *converted(struct lower *l, enum ir_type to, struct ir_value *value,
                                  bool is_signed)
{
    if (value->type == to) return value;
    return lower_op(l, IR_CONVERT, to, value, NULL, is_signed);
}

/* An I32 as one of the small types. */
static struct ir_value *extended(struct lower *l, const struct type *to, struct ir_value *value)
{
    struct ir_value *extend = lower_new(l, IR_EXTEND, IR_I32);
    extend->operand[0] = value;
    extend->bytes = (uint8_t)type_size(to);
    extend->is_signed = has_sign(to);
    return lower_add(l, extend);
}

static bool keeps_small(const struct type *to, const struct type *from)
{
    if (!type_is_integer(from) || type_size(from) > type_size(to)) return false;
    if (from->kind == TYPE_BOOL) return true;
    return type_size(from) == type_size(to) ? has_sign(from) == has_sign(to)
                                            : !has_sign(from) || has_sign(to);
}

static struct ir_value *lower_convert(struct lower *l, const struct type *to,
                                      const struct type *from, struct ir_value *value)
{
    enum ir_type type = lower_type(to);
    if (to->kind == TYPE_VOID) return NULL;
    if (to->kind == TYPE_BOOL)
        return from->kind == TYPE_BOOL
                   ? value
                   : lower_op(l, IR_NOT_EQUAL, IR_BOOL, value, zero_of(l, value->type), false);
    if (value->type == IR_BOOL && type != IR_I32) value = converted(l, IR_I32, value, false);
    // To an integer from a real number the sign is the integer's, else that of what is converted.
    bool is_signed = type_is_real(from) ? has_sign(to) : has_sign(from);
    bool is_small = type_is_integer(to) && type_size(to) < 4;
    value = converted(l, type, value, is_signed || (type_is_real(from) && is_small));
    return is_small && !keeps_small(to, from) ? extended(l, to, value) : value;
}

/* ---- operations ------------------------------------------------------------------------------ */

static enum ir_op op_of(enum operation operation)
{
    static const enum ir_op ops[] = {
        [OP_ADD] = IR_ADD, [OP_SUBTRACT] = IR_SUBTRACT, [OP_MULTIPLY] = IR_MULTIPLY,
        [OP_DIVIDE] = IR_DIVIDE, [OP_REMAINDER] = IR_REMAINDER, [OP_AND] = IR_AND, [OP_OR] = IR_OR,
        [OP_XOR] = IR_XOR, [OP_SHIFT_LEFT] = IR_SHIFT_LEFT, [OP_SHIFT_RIGHT] = IR_SHIFT_RIGHT,
        [OP_LESS] = IR_LESS, [OP_LESS_EQUAL] = IR_LESS_EQUAL, [OP_GREATER] = IR_GREATER,
        [OP_GREATER_EQUAL] = IR_GREATER_EQUAL, [OP_EQUAL] = IR_EQUAL,
        [OP_NOT_EQUAL] = IR_NOT_EQUAL};
    return ops[operation];
}

static struct ir_value *lower_binary(struct lower *l, enum operation operation,
                                     const struct type *type, const struct type *right_type,
                                     struct ir_value *left, struct ir_value *right)
{
    bool is_shift = operation == OP_SHIFT_LEFT || operation == OP_SHIFT_RIGHT;
    bool compares = operation >= OP_LESS;
    if (is_shift) right = converted(l, IR_I32, right, has_sign(right_type));
    struct ir_value *value = lower_new(l, op_of(operation), compares ? IR_BOOL : lower_type(type));
    value->operand[0] = left;
    value->operand[1] = right;
    value->is_signed = has_sign(type);
    value->no_overflow = has_sign(type) && operation <= OP_MULTIPLY;
    return lower_add(l, value);
}

/* A pointer moved by a number of elements. */
static struct ir_value *moved(struct lower *l, const struct type *pointer, struct ir_value *base,
                              struct ir_value *count)
{
    struct ir_value *bytes = lower_new(l, IR_MULTIPLY, IR_I64);
    bytes->operand[0] = count;
    bytes->operand[1] = lower_integer(l, IR_I64, type_size(pointer->base));
    bytes->no_overflow = true;
    return lower_op(l, IR_ADD, IR_I64, base, lower_add(l, bytes), false);
}

static struct ir_value *pointer_difference(struct lower *l, const struct expr *e)
{
    struct ir_value *left = lower_expr(l, e->left), *right = lower_expr(l, e->right);
    struct ir_value *bytes = lower_op(l, IR_SUBTRACT, IR_I64, left, right, true);
    int64_t size = type_size(e->left->type->base);
    return lower_op(l, IR_DIVIDE, IR_I64, bytes, lower_integer(l, IR_I64, size), true);
}

static struct ir_value *negated(struct lower *l, const struct expr *e)
{
    struct ir_value *value = lower_new(l, IR_NEGATE, lower_type(e->type));
    value->operand[0] = lower_expr(l, e->left);
    value->is_signed = value->no_overflow = has_sign(e->type);
    return lower_add(l, value);
}

static struct ir_value *binary(struct lower *l, const struct expr *e)
{
    struct ir_value *left = lower_expr(l, e->left), *right = lower_expr(l, e->right);
    return lower_binary(l, e->op, e->left->type, e->right->type, left, right);
}

static struct ir_value *assign(struct lower *l, const struct expr *e)
{
    struct ir_value *value = lower_expr(l, e->right); // the right side first, as in C++17
    struct ir_value *address = lower_address(l, e->left);
    lower_assign(l, e->left, address, value);
    return value;
}

static struct ir_value *update(struct lower *l, const struct expr *e)
{
    struct ir_value *right = lower_expr(l, e->right), *address = lower_address(l, e->left);
    struct ir_value *old = load_from(l, e->left, address), *new;
    const struct type *type = e->left->type;
    if (type_is_pointer(type)) {
        new = moved(l, type, old, right);
    } else {
        new = lower_convert(l, e->computed, type, old);
        new = lower_binary(l, e->op, e->computed, e->right->type, new, right);
        new = lower_convert(l, type, e->computed, new);
    }
    lower_assign(l, e->left, address, new);
    return e->gives_old ? old : new;
}

/* ---- choices --------------------------------------------------------------------------------- */

/* May be computed where it is not needed: no access, no division, and little work. */
static bool is_cheap(struct lower *l, const struct expr *e, int most)
{
    if (most < 0) return false;
    switch (e->kind) {
    case EXPR_INTEGER:
    case EXPR_REAL:
    case EXPR_NULL:
    case EXPR_SPECIAL: return true;
    case EXPR_LOAD: {
        const struct expr *whole = e->left;
        while (whole->kind == EXPR_MEMBER) whole = whole->left;
        return whole->kind == EXPR_SYMBOL && !home_of(l, whole->symbol)->address;
    }
    case EXPR_CONVERT:
    case EXPR_NOT:
    case EXPR_COMPLEMENT: return is_cheap(l, e->left, most - 1);
    case EXPR_POINTER_ADD: return is_cheap(l, e->left, most - 1) && is_cheap(l, e->right, most - 1);
    case EXPR_BINARY:
        if (e->op == OP_DIVIDE || e->op == OP_REMAINDER) return false;
        if (e->op < OP_LESS && type_is_real(e->type)) return false; // additions are counted
        return is_cheap(l, e->left, most - 1) && is_cheap(l, e->right, most - 1);
    case EXPR_AND_THEN:
    case EXPR_OR_ELSE: return is_cheap(l, e->left, most - 1) && is_cheap(l, e->right, most - 1);
    default: return false;
    }
}
enum { CHEAP_DEPTH = 3 };

void lower_condition(struct lower *l, const struct expr *e, struct ir_block *if_true,
                     struct ir_block *if_false)
{
    bool is_and = e->kind == EXPR_AND_THEN;
    if (e->kind == EXPR_NOT) {
        lower_condition(l, e->left, if_false, if_true);
    } else if ((is_and || e->kind == EXPR_OR_ELSE) && !is_cheap(l, e->right, CHEAP_DEPTH)) {
        struct ir_block *second = ir_block_new(l->f);
        lower_condition(l, e->left, is_and ? second : if_true, is_and ? if_false : second);
        block_seal(l, second);
        lower_begin(l, second);
        lower_condition(l, e->right, if_true, if_false);
    } else {
        lower_branch(l, lower_expr(l, e), if_true, if_false);
    }
}

/* An arm of ?:, && or ||, which begins in `block`: its value becomes that of the variable. */
static void arm(struct lower *l, struct ir_block *block, struct ir_block *join,
                const struct expr *e, struct ir_value *constant, const void *variable)
{
    block_seal(l, block);
    lower_begin(l, block);
    struct ir_value *value = e ? lower_expr(l, e) : constant;
    if (value) lower_write(l, variable, e ? e->type : type_basic(TYPE_BOOL), value);
    lower_jump(l, join);
}

static struct ir_value *choose(struct lower *l, const struct expr *e, const struct expr *condition,
                               const struct expr *left, const struct expr *right)
{
    struct ir_block *if_true = ir_block_new(l->f), *if_false = ir_block_new(l->f);
    struct ir_block *join = ir_block_new(l->f);
    bool is_or = e->kind == EXPR_OR_ELSE;
    lower_condition(l, condition, if_true, if_false);
    arm(l, if_true, join, left, lower_integer(l, IR_BOOL, is_or), e);
    arm(l, if_false, join, right, lower_integer(l, IR_BOOL, is_or), e);
    block_seal(l, join);
    lower_begin(l, join);
    return e->type->kind == TYPE_VOID ? NULL : lower_read(l, e, e->type);
}

static struct ir_value *conditional(struct lower *l, const struct expr *e)
{
    bool is_cheap_choice = e->type->kind != TYPE_VOID && e->type->kind != TYPE_STRUCT &&
                           is_cheap(l, e->left, CHEAP_DEPTH) &&
                           is_cheap(l, e->right, CHEAP_DEPTH);
    if (!is_cheap_choice) return choose(l, e, e->condition, e->left, e->right);
    struct ir_value *select = lower_new(l, IR_SELECT, lower_type(e->type));
    select->operand[0] = lower_expr(l, e->condition);
    select->operand[1] = lower_expr(l, e->left);
    select->operand[2] = lower_expr(l, e->right);
    return lower_add(l, select);
}

/* && and || as values. */
static struct ir_value *logical(struct lower *l, const struct expr *e)
{
    bool is_and = e->kind == EXPR_AND_THEN;
    if (is_cheap(l, e->right, CHEAP_DEPTH)) {
        struct ir_value *left = lower_expr(l, e->left), *right = lower_expr(l, e->right);
        return lower_op(l, is_and ? IR_AND : IR_OR, IR_BOOL, left, right, false);
    }
    return choose(l, e, e->left, is_and ? e->right : NULL, is_and ? NULL : e->right);
}

/* ---- PTX instructions ------------------------------------------------------------------------ */

static struct ir_value *lower_ptx(struct lower *l, const struct expr *e)
{
    const struct ptx *ptx = e->ptx;
    struct ir_value *arguments[IR_OPERANDS] = {NULL}, *places[IR_OPERANDS] = {NULL};
    for (int k = 0; k < ptx->result_count; k++) places[k] = lower_address(l, ptx->results[k]);
    for (int k = 0; k < e->argument_count; k++) arguments[k] = lower_expr(l, e->arguments[k]);
    struct ir_value *value = lower_new(l, IR_PTX, lower_type(e->type));
    value->ptx = ptx;
    for (int k = 0; k < e->argument_count; k++) value->operand[k] = arguments[k];
    if (ptx->has_place) value->bytes = (uint8_t)type_size(e->type);
    ir_append(l->block, value);
    for (int k = 0; k < ptx->result_count; k++) {
        struct ir_value *part = lower_new(l, IR_PART, lower_type(ptx->results[k]->type));
        part->operand[0] = value;
        part->bits = (uint64_t)k;
        ir_append(l->block, part);
        arguments[k] = part;
    }
    for (int k = 0; k < ptx->result_count; k++)
        lower_assign(l, ptx->results[k], places[k], arguments[k]);
    return value->type == IR_VOID ? NULL : value;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static struct ir_value *special(struct lower *l, const struct expr *e)
{
    struct ir_value **known = &l->specials[e->special];
    if (*known) return *known;
    struct ir_value *value = lower_new(l, IR_SPECIAL, IR_I32);
    value->bits = e->special;
    return *known = lower_first(l, value);
}

static struct ir_value *text(struct lower *l, const struct expr *e)
{
    struct ir_value *value = lower_new(l, IR_TEXT, IR_I64);
    value->text = e;
    return lower_first(l, value);
}

struct ir_value *lower_expr(struct lower *l, const struct expr *e)
{
    switch (e->kind) {
    case EXPR_INTEGER: return lower_integer(l, lower_type(e->type), e->integer);
    case EXPR_REAL: return ir_float(l->f, lower_type(e->type), e->real);
    case EXPR_NULL: return zero_of(l, IR_I64);
    case EXPR_STRING: return text(l, e);
    case EXPR_SPECIAL: return special(l, e);
    case EXPR_LOAD: return load_from(l, e->left, lower_address(l, e->left));
    case EXPR_DECAY:
    case EXPR_ADDRESS: return lower_address(l, e->left);
    case EXPR_POINTER_ADD: {
        struct ir_value *base = lower_expr(l, e->left);
        return moved(l, e->left->type, base, lower_expr(l, e->right));
    }
    case EXPR_POINTER_DIFF: return pointer_difference(l, e);
    case EXPR_CONVERT: {
        struct ir_value *value = lower_expr(l, e->left);
        return lower_convert(l, e->type, e->left->type, value);
    }
    case EXPR_NEGATE: return negated(l, e);
    case EXPR_COMPLEMENT:
        return lower_op(l, IR_COMPLEMENT, lower_type(e->type), lower_expr(l, e->left), NULL, false);
    case EXPR_NOT: return lower_op(l, IR_COMPLEMENT, IR_BOOL, lower_expr(l, e->left), NULL, false);
    case EXPR_BINARY: return binary(l, e);
    case EXPR_AND_THEN:
    case EXPR_OR_ELSE: return logical(l, e);
    case EXPR_CONDITIONAL: return conditional(l, e);
    case EXPR_COMMA: return lower_expr(l, e->left), lower_expr(l, e->right);
    case EXPR_ASSIGN: return assign(l, e);
    case EXPR_UPDATE: return update(l, e);
    case EXPR_CALL: return lower_call(l, e);
    case EXPR_BUILTIN: return lower_builtin(l, e);
    case EXPR_MEMBER: return lower_expr(l, e->left)->incoming[e->member];
    case EXPR_STRUCT: {
        struct ir_value *value = struct_new(l, e->type);
        for (int k = 0; k < e->argument_count; k++)
            value->incoming[k] = lower_expr(l, e->arguments[k]);
        return value;
    }
    case EXPR_PTX: return lower_ptx(l, e);
    case EXPR_SYMBOL:
    case EXPR_DEREF: break;
    }
    error_at(l->f->diagnostics, e->at, "this is a mistake of the compiler; please report it",
             "the page's compiler does not understand this expression");
    return zero_of(l, e->type->kind == TYPE_VOID ? IR_I32 : lower_type(e->type));
}
