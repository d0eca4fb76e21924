/*
 * branches.c — what both arms of an `if` do, what one of them needs, and choices.
 */
#include "ir.h"
#include "lower.h"
#include <string.h>

/* ---- choices --------------------------------------------------------------------------------- */

/*
 * Is one side of a choice a constant, with which the next operation computes another
 * one? Then the operation is done on both sides, as LLVM does it.
 *
 *     (c ? x : 2) * 3            c ? x * 3 : 6
 *
 * A choice is a select, or a phi of which one value at most is no constant. Nothing else uses it.
 */

/* The operation on one side: appended to `block`, or before `at` if there is no block. */
static struct ir_value *on_side(struct ir_function *f, struct ir_value *v, int n,
                                struct ir_value *side, struct ir_block *block)
{
    struct ir_value *value = ir_value_new(f, v->op, v->type, v->place);
    for (int k = 0; k < IR_OPERANDS; k++) value->operand[k] = v->operand[k];
    value->operand[n] = side;
    value->is_signed = v->is_signed;
    value->no_overflow = v->no_overflow;
    if (block) return ir_build(f, block, value);
    ir_insert(v->block, v, value);
    struct ir_value *folded = ir_folded(f, value);
    if (folded) ir_replace(value, folded);
    return ir_resolve(value);
}

static bool into_select(struct ir_function *f, struct ir_value *v, int n)
{
    struct ir_value *select = v->operand[n];
    bool has_constant =
        ir_is_constant(ir_operand(select, 1)) || ir_is_constant(ir_operand(select, 2));
    if (select->uses != 1 || !has_constant || select->type == IR_BOOL) return false;
    struct ir_value *choice = ir_value_new(f, IR_SELECT, v->type, v->place);
    choice->operand[0] = ir_operand(select, 0);
    for (int k = 1; k <= 2; k++) choice->operand[k] = on_side(f, v, n, ir_operand(select, k), NULL);
    choice->uses = v->uses;
    ir_insert(v->block, v, choice);
    ir_replace(v, choice);
    return true;
}

static bool into_phi(struct ir_function *f, struct ir_value *v, int n)
{
    struct ir_value *phi = v->operand[n];
    struct ir_block *block = phi->block, *other = NULL;
    if (phi->uses != 1) return false;
    for (int k = 0; k < block->before_count; k++) {
        struct ir_value *value = phi->incoming[k] = ir_resolve(phi->incoming[k]);
        if (ir_is_constant(value)) continue;
        if (value->op == IR_PHI || other) return false;
        other = block->before[k];
        if (other->condition || other->number >= block->number) return false;
    }
    struct ir_value *choice = ir_value_new(f, IR_PHI, v->type, v->place);
    choice->incoming = cc_take(f->arena, block->before_count * sizeof *choice->incoming);
    for (int k = 0; k < block->before_count; k++)
        choice->incoming[k] = on_side(f, v, n, phi->incoming[k], block->before[k]);
    choice->uses = v->uses;
    ir_insert(block, block->first, choice);
    ir_replace(v, choice);
    return true;
}

/* Which operand is no constant; -1: none, or several. */
static int open_operand(struct ir_value *v)
{
    if (v->op == IR_NEGATE || v->op == IR_CONVERT) return 0;
    if (v->op < IR_ADD || v->op > IR_DIVIDE) return -1;
    int n = ir_is_constant(ir_operand(v, 1)) ? 0 : 1;
    return ir_is_constant(ir_operand(v, 1 - n)) ? n : -1;
}

static bool move(struct ir_function *f, struct ir_value *v)
{
    int n = open_operand(v);
    struct ir_value *choice = n < 0 ? NULL : ir_operand(v, n);
    if (choice && choice->op == IR_SELECT) return into_select(f, v, n);
    return choice && choice->op == IR_PHI && n == 0 && v->op != IR_NEGATE && into_phi(f, v, n);
}

/* ---- signs ----------------------------------------------------------------------------------- */

static struct ir_value *binary(struct ir_function *f, struct ir_value *at, enum ir_op op,
                               struct ir_value *left, struct ir_value *right, int uses)
{
    struct ir_value *v = ir_value_new(f, op, at->type, at->place);
    v->operand[0] = left;
    v->operand[1] = right;
    v->uses = uses;
    ir_insert(at->block, at, v);
    return v;
}

/* a - (b - c) → a + (c - b); -x * y → -(x * y) */
static bool move_sign(struct ir_function *f, struct ir_value *v)
{
    struct ir_value *left = ir_operand(v, 0), *right = left ? ir_operand(v, 1) : NULL, *inner;
    if (!right || !ir_is_real(v->type)) return false;
    if (v->op == IR_SUBTRACT && right->op == IR_SUBTRACT && right->uses == 1 &&
        fold_is_never_minus_zero(left, 0)) {
        inner = binary(f, v, IR_SUBTRACT, ir_operand(right, 1), ir_operand(right, 0), 1);
        ir_replace(v, binary(f, v, IR_ADD, left, inner, v->uses));
        return true;
    }
    if (v->op == IR_SUBTRACT && right->op == IR_NEGATE) {
        // LLVM's -b is -0.0 - b: with the rule above, b + 0.0.
        inner = ir_operand(right, 0);
        if (right->uses == 1 && fold_is_never_minus_zero(left, 0))
            inner = binary(f, v, IR_ADD, inner, ir_float(f, v->type, 0.0), 1);
        ir_replace(v, binary(f, v, IR_ADD, left, inner, v->uses));
        return true;
    }
    if (v->op != IR_MULTIPLY) return false;
    struct ir_value *minus = left->op == IR_NEGATE && left->uses == 1 ? left : right;
    if (minus->op != IR_NEGATE || minus->uses != 1) return false;
    inner = binary(f, v, IR_MULTIPLY, ir_operand(minus, 0), minus == left ? right : left, 1);
    ir_replace(v, binary(f, v, IR_NEGATE, inner, NULL, v->uses));
    return true;
}

void pass_choices(struct ir_function *f)
{
    ir_count_uses(f);
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first, *next; v; v = next) {
            next = v->next;
            if (!f->keeps_signs && move_sign(f, v)) continue;
            move(f, v);
        }
}

/* ---- values that only one way needs ---------------------------------------------------------- */

/*
 * Which values does only one way need? They are computed there, and not on all ways.
 *
 *     v = a * b; if (c) use(v);          if (c) { v = a * b; use(v); }
 *
 * A value moves down to a block that all its uses are in or below, unless that block is in another
 * loop, where it would be computed again and again. A load moves only into an arm, and not across
 * what may change its memory.
 */

/* ---- where values are used ------------------------------------------------------------------- */

/* The innermost loop of each block, by way of `mark`: the number of its head, or -1. */
static void find_loops(struct ir_function *f)
{
    struct ir_block **waiting = cc_take(f->arena, f->block_count * sizeof *waiting);
    for (int b = 0; b < f->block_count; b++) f->order[b]->mark = -1;
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *head = f->order[b];
        int count = 0;
        for (int k = 0; k < head->before_count; k++)
            if (head->before[k]->number >= b && head->before[k]->mark != b) {
                head->before[k]->mark = b;
                waiting[count++] = head->before[k];
            }
        if (count) head->mark = b;
        while (count) {
            struct ir_block *block = waiting[--count];
            for (int k = 0; k < block->before_count && block != head; k++) {
                if (block->before[k]->mark == b) continue;
                block->before[k]->mark = b;
                waiting[count++] = block->before[k];
            }
        }
    }
}

struct uses {
    struct ir_block **block; /* by the number of a value: what dominates all its uses */
    int *last;               /* and the number of the last block that uses it */
    struct ir_block **way;   /* from that block up to the value's, in turn for each value */
};

static void note_use(struct uses *u, const struct ir_value *v, struct ir_block *block)
{
    if (ir_is_constant(v)) return;
    u->block[v->id] = u->block[v->id] ? ir_common_dominator(u->block[v->id], block) : block;
    if (u->last[v->id] < block->number) u->last[v->id] = block->number;
}

static void find_uses(struct ir_function *f, struct uses *u)
{
    memset(u->block, 0, f->id_count * sizeof *u->block);
    memset(u->last, 0, f->id_count * sizeof *u->last);
    for (int b = 0; b < f->block_count; b++) {
        struct ir_block *block = f->order[b];
        if (block->condition) note_use(u, block->condition = ir_resolve(block->condition), block);
        for (struct ir_value *v = block->first; v; v = v->next) {
            for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
                note_use(u, v->operand[k], block);
            for (int k = 0; v->op == IR_PHI && k < block->before_count; k++)
                note_use(u, v->incoming[k] = ir_resolve(v->incoming[k]), block->before[k]);
        }
    }
}

/* May a value, or a load, move from one block to the one below, in the tree of dominators? */
static bool may_enter(const struct ir_block *from, const struct ir_block *to, bool is_load)
{
    if (to->before_count == 1 && to->before[0] == from) return true;
    return !is_load && (to->mark < 0 || to->mark == from->mark);
}

static bool is_kept(struct ir_function *f, struct ir_value *load)
{
    for (struct ir_value *v = load->next; v; v = v->next)
        if (may_change(f, v, load)) return false;
    return true;
}

/* ---- what a move costs ----------------------------------------------------------------------- */

/* What must be kept for a value if it moves to `to`, and is not kept anyway: loads and phis. */
enum { MOST_LEAVES = 2, MOST_SUNK = 100 };
struct leaves {
    const struct uses *uses;
    const struct ir_block *to;
    struct ir_value *leaf[MOST_LEAVES + 1];
    int count, steps;
};

static void find_leaves(struct leaves *l, struct ir_value *v)
{
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++) {
        struct ir_value *w = v->operand[k];
        bool is_known = ir_is_constant(w) || ++l->steps > MOST_SUNK;
        for (int j = 0; j < l->count; j++) is_known |= l->leaf[j] == w;
        if (is_known || l->uses->last[w->id] >= l->to->number) continue;
        if (ir_is_pure(w))
            find_leaves(l, w);
        else if (l->count <= MOST_LEAVES)
            l->leaf[l->count++] = w;
    }
}

/* May the value move to where several ways join? Found by trying what nvcc does: if one use needs
 * it, and one register is enough; with two registers only once, by way of `scratch`. */
static bool is_cheap(const struct uses *u, struct ir_value *v, const struct ir_block *to)
{
    struct leaves l = {.uses = u, .to = to};
    find_leaves(&l, v);
    if (v->uses != 1 || l.steps > MOST_SUNK) return false;
    if (l.count <= 1) return true;
    if (l.count > MOST_LEAVES || v->scratch) return false;
    v->scratch = v;
    return true;
}

/* ---- moving ---------------------------------------------------------------------------------- */

/* As far as it may go, block by block, to the one that dominates all its uses. */
static bool sink_one(struct ir_function *f, struct uses *u, struct ir_value *v)
{
    bool is_load = v->op == IR_LOAD;
    int count = 0, moved = 0;
    if (!(is_load || (ir_is_pure(v) && ir_operand(v, 0))) || !u->block[v->id]) return false;
    for (struct ir_block *to = u->block[v->id]; to && to != v->block; to = to->above)
        u->way[count++] = to;
    while (count-- > 0) {
        struct ir_block *to = u->way[count];
        if (!may_enter(v->block, to, is_load) || (is_load && !is_kept(f, v))) break;
        if (to->before_count > 1 && !is_cheap(u, v, to)) break;
        struct ir_value *at = to->first;
        while (at && at->op == IR_PHI) at = at->next;
        ir_unlink(v);
        ir_insert(to, at, v);
        moved++;
    }
    return moved > 0;
}

void pass_sink(struct ir_function *f)
{
    f->id_count = 0;
    for (int b = 0; b < f->block_count; b++)
        for (struct ir_value *v = f->order[b]->first; v; v = v->next)
            v->id = f->id_count++, v->scratch = NULL;
    struct uses u = {.block = cc_take(f->arena, f->id_count * sizeof *u.block),
                     .last = cc_take(f->arena, f->id_count * sizeof *u.last),
                     .way = cc_take(f->arena, f->block_count * sizeof *u.way)};
    find_loops(f);
    ir_count_uses(f);
    for (bool again = true; again;) {
        again = false;
        find_uses(f, &u);
        for (int b = 0; b < f->block_count; b++)
            for (struct ir_value *v = f->order[b]->last, *before; v; v = before) {
                before = v->prev;
                again |= sink_one(f, &u, v);
            }
    }
}

/* ---- both arms ------------------------------------------------------------------------------- */

/*
 * What do both arms of an `if` do? That is done before it, or after it. And is an arm
 * so small that it is cheaper to compute it always, and choose?
 *
 *     if (c) s[i] = s[j] + x;          v = s[j];
 *     else s[i] = s[j];                if (c) w = v + x; else w = v;
 *                                      s[i] = w;
 *
 *     if (c) x = x + 1;                x = c ? x + 1 : x        (all lanes add)
 *
 * The counters show both: a common load is one request for all lanes, not one for each arm, and an
 * addition in a small arm is done by all lanes. No block is copied here, and barriers never move.
 */

/* As nvcc does: an arm, or both arms together, of at most this number of operations. */
enum { MOST_CHOSEN = 5, LONGEST_LOOK = 80, MOST_STEPS = 200 };

/* ---- shapes ---------------------------------------------------------------------------------- */

/* An `if` that begins at the end of `head`. An arm is NULL where the head leads to the join. */
struct diamond {
    struct ir_block *head, *arm[2], *join;
};

static bool is_arm(const struct ir_block *block)
{
    return block->before_count == 1 && block->next[0] && !block->condition;
}

static bool find_diamond(struct ir_block *head, struct diamond *d)
{
    if (!head->condition || head->next[0] == head->next[1]) return false;
    bool arms[2] = {is_arm(head->next[0]), is_arm(head->next[1])};
    *d = (struct diamond){.head = head};
    for (int n = 0; n < 2; n++)
        if (arms[n]) d->arm[n] = head->next[n];
    if (arms[0] && arms[1] && d->arm[0]->next[0] == d->arm[1]->next[0]) {
        d->join = d->arm[0]->next[0];
    } else if (arms[0] && d->arm[0]->next[0] == head->next[1]) {
        d->join = head->next[1];
        d->arm[1] = NULL;
    } else if (arms[1] && d->arm[1]->next[0] == head->next[0]) {
        d->join = head->next[0];
        d->arm[0] = NULL;
    }
    return d->join && d->join != head && d->join->number > head->number;
}

/* ---- joining blocks that follow each other --------------------------------------------------- */

static bool join_next(struct ir_block *block)
{
    struct ir_block *next = block->next[0];
    if (!next || block->condition || next->before_count != 1 || next == block) return false;
    for (struct ir_value *v = next->first, *after; v; v = after) {
        after = v->next;
        if (v->op == IR_PHI) {
            ir_replace(v, v->incoming[0]);
        } else {
            ir_unlink(v);
            ir_append(block, v);
        }
    }
    block->condition = next->condition;
    block->place = next->place;
    for (int n = 0; n < 2; n++) {
        block->next[n] = next->next[n];
        next->next[n] = NULL;
        if (!block->next[n]) continue;
        for (int k = 0; k < block->next[n]->before_count; k++)
            if (block->next[n]->before[k] == next) block->next[n]->before[k] = block;
    }
    next->condition = NULL;
    next->before_count = 0;
    return true;
}

/* A jump to a block that holds nothing leads to where that block leads. */
static bool skip_empty(struct ir_block *block)
{
    for (int n = 0; n < 2; n++) {
        struct ir_block *empty = block->next[n], *to = empty ? empty->next[0] : NULL;
        if (!to || empty->first || empty->condition || to == empty || empty->before_count != 1)
            continue;
        bool has_phi = to->first && to->first->op == IR_PHI;
        if (has_phi && ir_edge(to, block) >= 0) continue;
        to->before[ir_edge(to, empty)] = block;
        block->next[n] = to;
        empty->next[0] = NULL;
        empty->before_count = 0;
        if (block->next[0] == block->next[1]) { // no choice is left, and no phi depends on it
            ir_disconnect(block, to);
            block->condition = NULL;
            block->next[1] = NULL;
        }
        return true;
    }
    return false;
}

/* ---- small arms ------------------------------------------------------------------------------ */

static bool may_be_chosen(const struct ir_value *v)
{
    bool is_slow = v->op == IR_DIVIDE || v->op == IR_REMAINDER || v->op == IR_SQRT;
    return ir_is_pure(v) && !is_slow;
}

/* Addresses and extensions cost nothing: nvcc counts what it computes, and so they are one with the
 * access or the operation. */
static int cost_of(const struct ir_block *arm)
{
    int cost = 0;
    for (struct ir_value *v = arm ? arm->first : NULL; v; v = v->next)
        cost += may_be_chosen(v) ? v->op != IR_CONVERT : MOST_CHOSEN + 1;
    return cost;
}

static void move_to_end(struct ir_block *from, struct ir_block *to)
{
    for (struct ir_value *v = from ? from->first : NULL, *next; v; v = next) {
        next = v->next;
        ir_unlink(v);
        ir_append(to, v);
    }
}

static struct ir_value *choice(struct ir_function *f, const struct diamond *d, struct ir_value *phi,
                               struct ir_value *if_true, struct ir_value *if_false)
{
    struct ir_value *select = ir_value_new(f, IR_SELECT, phi->type, phi->place);
    select->operand[0] = d->head->condition;
    select->operand[1] = if_true;
    select->operand[2] = if_false;
    return ir_build(f, d->head, select);
}

static bool choose(struct ir_function *f, const struct diamond *d)
{
    if (cost_of(d->arm[0]) + cost_of(d->arm[1]) > MOST_CHOSEN) return false;
    struct ir_block *from[2];
    for (int n = 0; n < 2; n++) {
        move_to_end(d->arm[n], d->head);
        from[n] = d->arm[n] ? d->arm[n] : d->head;
    }
    int keep = ir_edge(d->join, from[0]), gone = ir_edge(d->join, from[1]);
    for (struct ir_value *v = d->join->first; v && v->op == IR_PHI; v = v->next)
        v->incoming[keep] =
            choice(f, d, v, ir_resolve(v->incoming[keep]), ir_resolve(v->incoming[gone]));
    ir_disconnect(from[1], d->join);
    d->join->before[ir_edge(d->join, from[0])] = d->head;
    for (int n = 0; n < 2; n++)
        if (d->arm[n]) d->arm[n]->next[0] = NULL, d->arm[n]->before_count = 0;
    d->head->next[0] = d->join;
    d->head->next[1] = NULL;
    d->head->condition = NULL;
    return true;
}

/* ---- what both arms begin with --------------------------------------------------------------- */

static bool is_computed_above(struct ir_value *v, const struct ir_block *arm)
{
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (v->operand[k]->block == arm) return false;
    return true;
}

/* The value of the other arm that is the same, unless it is behind an access. */
static struct ir_value *find_same(struct ir_value *value, const struct ir_block *arm)
{
    int count = 0;
    for (struct ir_value *v = arm->first; v && ++count < LONGEST_LOOK; v = v->next) {
        if (ir_same(value, v)) return v;
        if (value->op == IR_LOAD && !ir_is_pure(v)) return NULL;
    }
    return NULL;
}

/* A value that both arms compute; or a load that is the first access of both. */
static bool hoist(const struct diamond *d)
{
    bool is_first = true;
    int count = 0;
    if (!d->arm[0] || !d->arm[1]) return false;
    for (struct ir_value *v = d->arm[0]->first; v && ++count < LONGEST_LOOK; v = v->next) {
        bool is_load = v->op == IR_LOAD && is_first;
        is_first &= ir_is_pure(v);
        if (!is_load && !ir_is_pure(v)) continue;
        struct ir_value *same = is_computed_above(v, d->arm[0]) ? find_same(v, d->arm[1]) : NULL;
        if (!same) continue;
        ir_unlink(v);
        ir_append(d->head, v);
        ir_replace(same, v);
        return true;
    }
    return false;
}

/* ---- what both arms end with ----------------------------------------------------------------- */

static struct ir_value *phi_of(struct ir_function *f, const struct diamond *d,
                               struct ir_value *left, struct ir_value *right)
{
    if (left == right) return left;
    struct ir_value *phi = ir_value_new(f, IR_PHI, left->type, left->place);
    phi->incoming = cc_take(f->arena, 2 * sizeof *phi->incoming);
    phi->incoming[ir_edge(d->join, d->arm[0])] = left;
    phi->incoming[ir_edge(d->join, d->arm[1])] = right;
    ir_insert(d->join, d->join->first, phi);
    return phi;
}

/* The arm's last store, with nothing behind it but what does not touch memory. */
static struct ir_value *last_store(const struct ir_block *arm)
{
    struct ir_value *v = arm ? arm->last : NULL;
    while (v && ir_is_pure(v)) v = v->prev;
    return v && v->op == IR_STORE && v->parts == 1 ? v : NULL;
}

/* May lanes of a warp have different values? Then nvcc joins more of the arms. */
static bool differs_by_lane(struct ir_value *v, int *steps)
{
    if (v->op == IR_SPECIAL) return v->bits <= SPECIAL_THREAD_Z;
    if (++*steps > MOST_STEPS) return false;
    for (int k = 0; k < IR_OPERANDS && ir_operand(v, k); k++)
        if (differs_by_lane(v->operand[k], steps)) return true;
    for (int k = 0; v->op == IR_PHI && k < v->block->before_count; k++)
        if (differs_by_lane(ir_resolve(v->incoming[k]), steps)) return true;
    return false;
}

static bool has_one_access(const struct ir_block *arm)
{
    int count = 0;
    for (struct ir_value *v = arm->first; v; v = v->next) count += !ir_is_pure(v);
    return count == 1;
}

/* Two stores to one address become one where nvcc finds that the addresses are the same: in small
 * arms; and, if lanes take different arms, also where the address is a plain index. */
static bool is_worth_sinking(const struct diamond *d, struct ir_value *store)
{
    int steps = 0;
    bool is_small[2] = {has_one_access(d->arm[0]), has_one_access(d->arm[1])};
    if (is_small[0] && is_small[1]) return true;
    if (!differs_by_lane(d->head->condition, &steps)) return false;
    struct ir_value *address = ir_operand(store, 0);
    bool is_plain = address->op != IR_ADD || ir_operand(address, 0)->op != IR_ADD;
    return is_small[0] || is_small[1] || is_plain;
}

static bool sink(struct ir_function *f, const struct diamond *d)
{
    struct ir_value *a = last_store(d->arm[0]), *b = last_store(d->arm[1]);
    if (!a || !b || !same_address(a, b) || a->bytes != b->bytes || d->join->before_count != 2)
        return false;
    struct ir_value *left = ir_operand(a, 1), *right = ir_operand(b, 1);
    if (left->type != right->type || ir_operand(a, 0)->block == d->arm[0]) return false;
    if (!is_worth_sinking(d, a)) return false;
    a->operand[1] = phi_of(f, d, left, right);
    ir_unlink(a);
    ir_unlink(b);
    struct ir_value *at = d->join->first;
    while (at && at->op == IR_PHI) at = at->next;
    ir_insert(d->join, at, a);
    return true;
}

/* ---- the same operation at the end of both arms ---------------------------------------------- */

/* Two loads at other offsets of their addresses: the offsets become part of the addresses. */
static void level_offsets(struct ir_function *f, struct ir_value *a, struct ir_value *b)
{
    struct ir_value *loads[] = {a, b};
    for (int n = 0; n < 2 && a->offset != b->offset; n++) {
        struct ir_value *v = loads[n],
                        *sum = ir_value_new(f, IR_ADD, ir_operand(v, 0)->type, v->place);
        sum->operand[0] = v->operand[0];
        sum->operand[1] = ir_constant(f, sum->type, (uint64_t)v->offset);
        ir_insert(v->block, v, sum);
        v->operand[0] = sum;
    }
    if (a->offset != b->offset) a->offset = b->offset = 0;
}

static bool are_alike(struct ir_value *a, struct ir_value *b)
{
    return a->op == b->op && a->type == b->type && a->bits == b->bits && a->symbol == b->symbol &&
           a->space == b->space && a->bytes == b->bytes && a->is_signed == b->is_signed &&
           (ir_is_pure(a) || a->op == IR_LOAD) && a->parts == b->parts;
}

/*
 * x = c ? a + v : b + v → (c ? a : b) + v, and so for loads: one load, whose address is chosen. The
 * operation is the last one of both arms, nothing but the phi uses it, and one operand differs.
 */
static bool sink_value(struct ir_function *f, const struct diamond *d)
{
    if (!d->arm[0] || !d->arm[1] || d->join->before_count != 2) return false;
    struct ir_value *a = d->arm[0]->last, *b = d->arm[1]->last, *phi = d->join->first;
    if (!a || !b || a->uses != 1 || b->uses != 1 || !are_alike(a, b) || !ir_operand(a, 0))
        return false;
    int left = ir_edge(d->join, d->arm[0]), right = ir_edge(d->join, d->arm[1]);
    for (; phi && phi->op == IR_PHI; phi = phi->next)
        if (ir_resolve(phi->incoming[left]) == a && ir_resolve(phi->incoming[right]) == b) break;
    if (!phi || phi->op != IR_PHI) return false;
    int differing = a->op == IR_LOAD && a->offset != b->offset;
    for (int k = 0; k < IR_OPERANDS; k++)
        if (ir_operand(a, k) != ir_operand(b, k)) {
            if (!a->operand[k] || !b->operand[k] || a->operand[k]->type != b->operand[k]->type)
                return false;
            if (a->op != IR_LOAD || !differing) differing++;
        }
    if (differing > 1) return false;
    if (a->op == IR_LOAD) level_offsets(f, a, b);
    for (int k = 0; k < IR_OPERANDS && a->operand[k]; k++)
        a->operand[k] = phi_of(f, d, ir_operand(a, k), ir_operand(b, k));
    a->no_overflow &= b->no_overflow;
    ir_unlink(a);
    ir_unlink(b);
    struct ir_value *at = d->join->first;
    while (at && at->op == IR_PHI) at = at->next;
    ir_insert(d->join, at, a);
    ir_replace(phi, a);
    return true;
}

/* ---- a load that one arm needs --------------------------------------------------------------- */

/* A load that only an arm uses is made there, unless something may change its memory before. */
static bool move_down(struct ir_block *head)
{
    bool is_changed = false;
    for (struct ir_value *v = head->last, *before; v; v = before) {
        before = v->prev;
        if (v->op == IR_STORE || v->op == IR_BARRIER || v->op == IR_PRINTF) break;
        if (v->op != IR_LOAD || v->uses != 1 || !v->scratch) continue;
        struct ir_block *user = v->scratch->block;
        if (user == head || user->before_count != 1 || user->before[0] != head) continue;
        ir_unlink(v);
        ir_insert(user, user->first, v);
        is_changed = true;
    }
    return is_changed;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool change(struct ir_function *f, struct ir_block *block)
{
    struct diamond d;
    if (join_next(block) || skip_empty(block)) return true;
    if (!find_diamond(block, &d)) return false;
    return hoist(&d) || sink_value(f, &d) || choose(f, &d) || sink(f, &d);
}

void pass_branches(struct ir_function *f)
{
    for (bool again = true; again;) {
        again = false;
        ir_note_users(f);
        for (int b = 0; b < f->block_count; b++) again |= move_down(f->order[b]);
        for (int b = 0; b < f->block_count; b++)
            while (change(f, f->order[b])) again = true;
        if (!again) break;
        ir_order(f);
        pass_same_values(f);
        pass_unused(f);
    }
}
