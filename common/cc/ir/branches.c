/*
 * branches.c — what do both arms of an `if` do? That is done before it, or after it. And is an arm
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
#include "lower.h"
#include "passes.h"
#include <string.h>

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
