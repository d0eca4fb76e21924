/*
 * alias.c — may two accesses touch the same bytes? If not, one may be moved across the other.
 *
 * Shared, global, local and constant memory are apart; so are two shared arrays, but for dynamic
 * ones, which all begin at the same place. Two pointers of the kernel may point to the same array,
 * whatever their types are: nvcc makes nothing of types either. Two sums with equal bases and terms
 * differ by their constants.
 */
#include "passes.h"

bool same_address(struct ir_value *a, struct ir_value *b)
{
    return a->space == b->space && ir_operand(a, 0) == ir_operand(b, 0) && a->offset == b->offset;
}

/* The symbol or slot at the bottom of a sum, or NULL. Sums begin with their base. */
static struct ir_value *base_of(struct ir_value *access)
{
    struct ir_value *v = ir_operand(access, 0);
    while (v->op == IR_ADD) v = ir_operand(v, 0);
    bool is_name = v->op == IR_SYMBOL || v->op == IR_SLOT;
    return is_name && v->space != IR_GENERIC ? v : NULL;
}

static bool is_dynamic(const struct ir_value *base)
{
    return base->op == IR_SYMBOL && base->symbol->kind == SYMBOL_SHARED_DYNAMIC;
}

static bool has_other_base(struct ir_value *a, struct ir_value *b)
{
    struct ir_value *base_a = base_of(a), *base_b = base_of(b);
    if (!base_a || !base_b || (is_dynamic(base_a) && is_dynamic(base_b))) return false;
    return base_a->op != base_b->op || base_a->symbol != base_b->symbol ||
           base_a->bits != base_b->bits;
}

static int64_t size_of(const struct ir_value *access) { return access->bytes * access->parts; }

static bool may_overlap(struct ir_value *a, struct ir_value *b)
{
    if (a->space == IR_CONST || b->space == IR_CONST) return false;
    if (a->space != b->space) return a->space == IR_GENERIC || b->space == IR_GENERIC;
    if (ir_operand(a, 0) == ir_operand(b, 0))
        return a->offset < b->offset + size_of(b) && b->offset < a->offset + size_of(a);
    return !has_other_base(a, b);
}

/* Local memory that only this thread's loads and stores touch: its address is used for nothing
 * else. */
static bool is_private(struct ir_function *f, struct ir_value *access)
{
    struct ir_value *base = access->space == IR_LOCAL ? base_of(access) : NULL;
    return base && base->op == IR_SLOT && !f->slots[base->bits].is_known_elsewhere;
}

bool may_change(struct ir_function *f, struct ir_value *value, struct ir_value *access)
{
    switch (value->op) {
    case IR_STORE: return may_overlap(value, access);
    case IR_BARRIER:
    case IR_PRINTF: return access->space != IR_CONST && !is_private(f, access);
    default: return false;
    }
}

bool may_touch(struct ir_function *f, struct ir_value *value, struct ir_value *access)
{
    if (value->op == IR_LOAD) return may_overlap(value, access);
    return may_change(f, value, access);
}
