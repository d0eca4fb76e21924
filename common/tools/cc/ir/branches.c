/*
 * branches.c — what both arms of an `if` do, and arms that are no branch.
 */
#include "ir.h"

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
enum { MOST_CHOSEN = 5, LONGEST_LOOK = 80 };

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
    phi->incoming = arena_take(f->arena, 2 * sizeof *phi->incoming);
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

static bool sink(struct ir_function *f, const struct diamond *d)
{
    struct ir_value *a = last_store(d->arm[0]), *b = last_store(d->arm[1]);
    if (!a || !b || !same_address(a, b) || a->bytes != b->bytes || d->join->before_count != 2)
        return false;
    struct ir_value *left = ir_operand(a, 1), *right = ir_operand(b, 1);
    if (left->type != right->type || ir_operand(a, 0)->block == d->arm[0]) return false;
    a->operand[1] = phi_of(f, d, left, right);
    ir_unlink(a);
    ir_unlink(b);
    struct ir_value *at = d->join->first;
    while (at && at->op == IR_PHI) at = at->next;
    ir_insert(d->join, at, a);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool change(struct ir_function *f, struct ir_block *block)
{
    struct diamond d;
    if (join_next(block)) return true;
    if (!find_diamond(block, &d)) return false;
    return hoist(&d) || choose(f, &d) || sink(f, &d);
}

void pass_branches(struct ir_function *f)
{
    for (bool again = true; again;) {
        again = false;
        for (int b = 0; b < f->block_count; b++)
            while (change(f, f->order[b])) again = true;
        if (!again) break;
        ir_order(f);
        pass_same_values(f);
        pass_unused(f);
    }
}
