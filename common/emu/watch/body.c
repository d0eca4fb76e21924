#include "body.h"
#include <stdlib.h>

struct code_body code_body_at(const struct emu_kernel *kernel, size_t place)
{
    struct code_body b = {kernel->code, kernel->function->instruction_count + 1, kernel->function};
    for (size_t f = 0; place >= b.count && f < kernel->function_count; f++) {
        const struct callee *callee = kernel->callees[f];
        if (!callee || callee->builtin || !callee->function->has_body || place < callee->entry ||
            place > callee->entry + callee->function->instruction_count)
            continue;
        b.code = kernel->code + callee->entry;
        b.count = callee->function->instruction_count + 1;
        b.function = callee->function;
        break;
    }
    return b;
}

/* ---- the order of instructions --------------------------------------------------------------- */

/* A depth-first walk through a body from its first instruction: the order in which it leaves the
 * instructions. A step to an instruction that is left later leads back to the head of a loop. */
struct walk {
    struct code_body body;
    size_t base;     /* index of the body in the kernel's code */
    uint32_t *left;  /* by instruction: its number in that order, from 1; 0: not left yet */
    uint32_t *order; /* the instructions in that order */
    uint32_t *path;  /* from the first instruction to the current one */
    bool *seen;
    size_t left_count;
};

size_t code_successor(const struct code_body *body, size_t base, size_t n, size_t k)
{
    const struct insn *i = &body->code[n];
    size_t none = body->count;
    bool ends = i->control == CONTROL_EXIT || i->control == CONTROL_RETURN;
    bool jumps = i->control == CONTROL_BRANCH || i->control == CONTROL_TABLE;
    size_t targets = insn_target_count(i);
    if (k < targets) return insn_target(i, (uint32_t)k) - base;
    bool goes_on = (!jumps && !ends) || (i->source && i->source->guard >= 0);
    return k == targets && goes_on ? n + 1 : none;
}

static size_t successor(const struct walk *w, size_t n, size_t k)
{
    return code_successor(&w->body, w->base, n, k);
}

static size_t first_unseen(const struct walk *w, size_t n)
{
    size_t next, k = 0;
    do next = successor(w, n, k++);
    while (next < w->body.count && w->seen[next]);
    return next;
}

static void walk_body(struct walk *w)
{
    size_t depth = 1;
    w->path[0] = 0;
    w->seen[0] = true;
    while (depth) {
        size_t n = w->path[depth - 1], next = first_unseen(w, n);
        if (next < w->body.count) {
            w->seen[next] = true;
            w->path[depth++] = (uint32_t)next;
        } else {
            w->order[w->left_count++] = (uint32_t)n;
            w->left[n] = (uint32_t)w->left_count;
            depth--;
        }
    }
}

/* Can `to` be reached from `from` without a step back? */
static bool follows(struct walk *w, size_t from, size_t to)
{
    for (size_t n = 0; n < w->body.count; n++) w->seen[n] = n == from;
    for (size_t at = w->left[from]; at-- > 0 && !w->seen[to];) {
        size_t n = w->order[at], next;
        for (size_t k = 0; w->seen[n] && (next = successor(w, n, k)) < w->body.count; k++)
            if (w->left[next] <= at) w->seen[next] = true;
    }
    return w->seen[to];
}

/* Does one of the two follow the other? */
static bool is_in_line(const struct emu_kernel *kernel, const struct insn *a, const struct insn *b)
{
    struct walk w = {.body = code_body_at(kernel, (size_t)(a - kernel->code))};
    w.base = (size_t)(w.body.code - kernel->code);
    if (b < w.body.code || b >= w.body.code + w.body.count) return false;
    size_t count = w.body.count, x = (size_t)(a - w.body.code), y = (size_t)(b - w.body.code);
    w.left = calloc(count, sizeof *w.left);
    w.order = calloc(count, sizeof *w.order);
    w.path = calloc(count, sizeof *w.path);
    w.seen = calloc(count, sizeof *w.seen);
    bool yes = !w.left || !w.order || !w.path || !w.seen;
    if (!yes) {
        walk_body(&w);
        yes = follows(&w, x, y) || follows(&w, y, x);
    }
    free(w.left);
    free(w.order);
    free(w.path);
    free(w.seen);
    return yes;
}

bool code_is_same(const struct emu_kernel *kernel, const struct insn *a, const struct insn *b)
{
    if (a == b) return true;
    const struct ptx_location *place = a->source ? a->source->location : NULL;
    if (!place || !b->source || b->source->location != place) return false;
    return !code_body_at(kernel, (size_t)(a - kernel->code)).function->is_debug &&
           is_in_line(kernel, a, b);
}
