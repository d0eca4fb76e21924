/* code_uses.c — what a kernel's code does with a value that it has read. */
#include "check.h"

/* ---- bodies of functions --------------------------------------------------------------------- */

/* The body that the instruction at index `place` of the kernel's code belongs to. */
static struct code_body code_body_at(const struct emu_kernel *kernel, size_t place)
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

/* The k-th instruction that may follow the n-th of a body, which is at index `base` of the kernel's
 * code; the body's count if there is no such instruction. */
static size_t code_successor(const struct code_body *body, size_t base, size_t n, size_t k)
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
    w.left = allocated(calloc(count, sizeof *w.left));
    w.order = allocated(calloc(count, sizeof *w.order));
    w.path = allocated(calloc(count, sizeof *w.path));
    w.seen = allocated(calloc(count, sizeof *w.seen));
    walk_body(&w);
    bool yes = follows(&w, x, y) || follows(&w, y, x);
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

/* ---- uses of a value ------------------------------------------------------------------------- */

/* A function's code, and the bits of its registers that a value may have reached. */
struct value_flow {
    const struct insn *code;
    size_t count;
    struct value_bits in;
    bool leaves; /* it is an argument of a call, the function's result, or in a caller's variable */
    bool is_kept; /* it is in local memory, where code that is not optimised keeps its variables */
    bool *is_shared; /* by instruction: a store that puts it into shared memory; NULL: loads from
                      * there do not count */
};

static struct value_flow body_at(const struct emu_kernel *kernel, size_t place)
{
    struct code_body found = code_body_at(kernel, place);
    struct value_flow b = {.code = found.code, .count = found.count, .in.function = found.function};
    b.in.bits = allocated(calloc(found.function->register_count + 1, sizeof *b.in.bits));
    return b;
}

/* ---- where a value goes ---------------------------------------------------------------------- */

/* The value may have reached all bits of the operand. */
static bool put_into(struct value_flow *b, const struct ptx_operand *operand)
{
    return value_bits_add(&b->in, operand, ALL_BITS, true);
}

/* The number of an instruction's result operands: 1 if the first operand is not a memory
 * address. */
static unsigned results_of(const struct insn *i)
{
    return i->control != CONTROL_TABLE && i->source->operand_count &&
           i->source->operands[0].kind != PTX_ADDRESS;
}

static bool is_operand(const struct value_flow *b, const struct insn *i)
{
    for (unsigned k = results_of(i); k < i->source->operand_count; k++)
        if (value_bits_of(&b->in, &i->source->operands[k])) return true;
    return false;
}

/* Does the instruction use the value, as an operand or as its guard? */
static bool uses_value(const struct value_flow *b, const struct insn *i)
{
    return (i->source->guard >= 0 && b->in.bits[i->source->guard]) || is_operand(b, i);
}

static const struct ptx_operand *address_in(const struct insn *i)
{
    for (unsigned k = 0; k < i->source->operand_count; k++)
        if (i->source->operands[k].kind == PTX_ADDRESS) return &i->source->operands[k];
    return NULL;
}

/* Does the instruction access a variable in local memory? Such variables are addressed by %SP and
 * %SPL. */
static bool is_variable(const struct value_flow *b, const struct insn *i)
{
    static const char stack[] = "%SP";
    const struct ptx_operand *address = address_in(i);
    return address && address->base->kind == PTX_REGISTER &&
           !strncmp(b->in.function->registers[address->base->index].name, stack, strlen(stack));
}

/* The value is stored, so it may be loaded again, here or in another function. A pointer argument
 * of a function may point to a variable of its caller. */
static void note_store(struct value_flow *b, const struct insn *i)
{
    bool may_be_local = i->address.space == PTX_GENERIC || i->address.space == PTX_LOCAL;
    if (is_variable(b, i))
        b->is_kept = true;
    else if (i->address.space == PTX_PARAM || (may_be_local && !b->in.function->is_entry))
        b->leaves = true;
}

/* The name of the variable that an address is computed from; NULL: it cannot be found out. */
static const char *variable_of(const struct value_flow *b, const struct ptx_operand *operand,
                               unsigned depth)
{
    enum { DEEPEST = 6 }; /* instructions that compute an address */
    const char *name = operand->kind == PTX_SYMBOL ? operand->name : NULL;
    if (operand->kind != PTX_REGISTER || depth == DEEPEST) return name;
    for (size_t n = 0; n + 1 < b->count && !name; n++) {
        const struct ptx_instruction *source = b->code[n].source;
        if (!results_of(&b->code[n]) || source->operands[0].kind != PTX_REGISTER ||
            source->operands[0].index != operand->index)
            continue;
        for (unsigned k = 1; k < source->operand_count && !name; k++)
            name = variable_of(b, &source->operands[k], depth + 1);
    }
    return name;
}

/* May a load read what a store has put into shared memory, in any thread? */
static bool may_load(const struct value_flow *b, const struct insn *load, const struct insn *store)
{
    const struct ptx_operand *from = address_in(load), *to = address_in(store);
    if (!from || !to) return false;
    const char *read = variable_of(b, from->base, 0), *written = variable_of(b, to->base, 0);
    if (!read || !written) return true;
    bool is_direct = from->base->kind == PTX_SYMBOL && to->base->kind == PTX_SYMBOL;
    return !strcmp(read, written) && (!is_direct || from->offset == to->offset);
}

static bool may_be_shared(const struct insn *i)
{
    return i->address.space == PTX_SHARED || i->address.space == PTX_GENERIC;
}

static bool loads_shared(const struct value_flow *b, const struct insn *i)
{
    if (!b->is_shared || i->tally != TALLY_LOAD || !may_be_shared(i)) return false;
    for (size_t n = 0; n + 1 < b->count; n++)
        if (b->is_shared[n] && may_load(b, i, &b->code[n])) return true;
    return false;
}

/* A function that is called may load it from shared memory, and so may the caller. */
static void note_shared(struct value_flow *b, const struct insn *i)
{
    if (!b->is_shared || i->tally != TALLY_STORE || !may_be_shared(i)) return;
    b->is_shared[i - b->code] = true;
    b->leaves = b->leaves || !b->in.function->is_entry;
    for (size_t n = 0; n + 1 < b->count; n++)
        b->leaves = b->leaves || b->code[n].control == CONTROL_CALL;
}

/* Follows the value that `place` reads to all registers that it may reach. */
static void follow(struct value_flow *b, const struct insn *place)
{
    if (place->source->operand_count)
        value_bits_add(&b->in, &place->source->operands[0], value_bits_loaded(place->source), true);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t n = 0; n + 1 < b->count; n++) {
            const struct insn *i = &b->code[n];
            bool is_load =
                (b->is_kept && i->tally == TALLY_LOAD && is_variable(b, i)) || loads_shared(b, i);
            if (!uses_value(b, i) && !is_load) continue;
            if (!strcmp(i->source->words[0], "st")) {
                note_store(b, i);
                if (is_operand(b, i)) note_shared(b, i);
            }
            uint64_t bits = is_load ? ALL_BITS : value_bits_result(&b->in, i->source);
            if (results_of(i))
                changed = value_bits_add(&b->in, &i->source->operands[0], bits, is_load) || changed;
        }
    }
}

/* ---- what it decides ------------------------------------------------------------------------- */

static bool ends(const struct insn *i)
{
    return i->control == CONTROL_EXIT || i->control == CONTROL_RETURN;
}

/* Can a place of the set `can` be reached from instruction n? *decides: on some ways only. */
static bool goes_to(const struct value_flow *b, const struct emu_kernel *kernel, size_t n,
                    const bool *can, bool *decides)
{
    const struct insn *i = &b->code[n];
    size_t base = (size_t)(b->code - kernel->code);
    bool may_be_skipped = n + 1 < b->count && i->source->guard >= 0;
    bool jumps = i->control == CONTROL_BRANCH || i->control == CONTROL_TABLE;
    bool any = false, all = true;
    if ((!jumps && !ends(i)) || may_be_skipped) any = all = can[n + 1];
    if (ends(i)) any = true;
    for (uint32_t k = 0; k < insn_target_count(i); k++) {
        bool next = can[insn_target(i, k) - base];
        any = any || next;
        all = all && next;
    }
    *decides = any && !all;
    return any;
}

/* Does the value decide whether `again` is carried out? Then at some branch it chooses between a
 * way to the end that passes `again` and one that does not. Unless `choosing` is NULL, each branch
 * that chooses so gets ASKED there, whatever it depends on. */
enum { NOT_ASKED, ASKED, ANSWERED };
static bool decides(const struct value_flow *b, const struct emu_kernel *kernel, size_t again,
                    uint8_t *choosing)
{
    const struct ptx_instruction *source = b->code[again].source;
    /* Can the end be reached without `again`? */
    bool *can_end = allocated(calloc(b->count + 1, sizeof *can_end));
    bool chooses, yes = source->guard >= 0 && b->in.bits[source->guard];
    for (bool changed = !yes; changed;) {
        changed = false;
        for (size_t n = b->count; n-- > 0;)
            if (n != again && !can_end[n] && goes_to(b, kernel, n, can_end, &chooses))
                changed = can_end[n] = true;
    }
    for (size_t n = 0; n + 1 < b->count && !yes; n++) {
        if (!goes_to(b, kernel, n, can_end, &chooses) || !chooses) continue;
        yes = uses_value(b, &b->code[n]);
        if (choosing && choosing[n] == NOT_ASKED) choosing[n] = ASKED;
    }
    free(can_end);
    return yes;
}

/* Does it decide whether any of the instructions that are ASKED is carried out, or whether a branch
 * is that decides it? In the loop `do if (x) status = look(); while (!status);` the status does so
 * for the load in look(). */
static bool decides_any(const struct value_flow *b, const struct emu_kernel *kernel, uint8_t *asked)
{
    bool yes = false;
    for (size_t n = 0; n + 1 < b->count && !yes;) {
        bool ask = asked[n] == ASKED;
        if (ask) asked[n] = ANSWERED;
        if (ask) yes = decides(b, kernel, n, asked);
        n = ask ? 0 : n + 1;
    }
    return yes;
}

static bool decides_at_last(const struct value_flow *b, const struct emu_kernel *kernel,
                            size_t again)
{
    uint8_t *asked = allocated(calloc(b->count + 1, sizeof *asked));
    asked[again] = ASKED;
    bool yes = decides_any(b, kernel, asked);
    free(asked);
    return yes;
}

static bool names_same(const struct insn *i, const struct insn *other)
{
    const struct ptx_operand *a = address_in(i), *b = address_in(other);
    return a && b && a->base->kind == PTX_REGISTER && b->base->kind == PTX_REGISTER &&
           a->base->index == b->base->index && a->offset == b->offset;
}

/* Is an access another try of `first`, if it is carried out because of the value that `first` has
 * read? */
static bool is_next_try(const struct insn *i, const struct insn *first)
{
    if (i->tally != TALLY_ATOMIC && i->tally != TALLY_LOAD) return false;
    return first->tally == TALLY_ATOMIC ? names_same(i, first)
                                        : (i->order & ORDER_KIND) != ORDER_WEAK;
}

bool uses_tries_again(const struct emu_kernel *kernel, size_t place)
{
    struct value_flow b = body_at(kernel, place);
    uint8_t *asked = allocated(calloc(b.count + 1, sizeof *asked));
    size_t first = (size_t)(kernel->code + place - b.code);
    follow(&b, &kernel->code[place]);
    for (size_t n = 0; n + 1 < b.count; n++)
        if (n == first || is_next_try(&b.code[n], &b.code[first])) asked[n] = ASKED;
    bool yes = b.leaves || decides_any(&b, kernel, asked);
    free(asked);
    free(b.in.bits);
    return yes;
}

static bool is_comparison(const struct insn *i)
{
    return !strncmp(i->source->words[0], "set", 3) || i->control == CONTROL_TABLE;
}

bool uses_compares(const struct emu_kernel *kernel, size_t place)
{
    struct value_flow b = body_at(kernel, place);
    b.is_shared = allocated(calloc(b.count, sizeof *b.is_shared));
    bool yes = false;
    follow(&b, &kernel->code[place]);
    for (size_t n = 0; n + 1 < b.count && !yes; n++)
        yes = b.leaves || (is_comparison(&b.code[n]) && uses_value(&b, &b.code[n]));
    free(b.is_shared);
    free(b.in.bits);
    return yes;
}

/* Asks about the value of the load at `from` and the instruction at `to`, if both are in one
 * function. */
typedef bool question(const struct value_flow *, const struct emu_kernel *, size_t to);
static bool ask(const struct emu_kernel *kernel, size_t from, size_t to, question *asked)
{
    struct value_flow b = body_at(kernel, from);
    const struct insn *at = &kernel->code[to];
    follow(&b, &kernel->code[from]);
    bool yes = at >= b.code && at < b.code + b.count && asked(&b, kernel, (size_t)(at - b.code));
    free(b.in.bits);
    return yes;
}

static bool feeds(const struct value_flow *b, const struct emu_kernel *kernel, size_t to)
{
    (void)kernel;
    return is_operand(b, &b->code[to]);
}

static bool decides_once(const struct value_flow *b, const struct emu_kernel *kernel, size_t to)
{
    return decides(b, kernel, to, NULL);
}

bool uses_feeds(const struct emu_kernel *kernel, size_t from, size_t to)
{
    return ask(kernel, from, to, feeds);
}

bool uses_decides(const struct emu_kernel *kernel, size_t from, size_t to)
{
    return ask(kernel, from, to, decides_once);
}

bool uses_repeats(const struct emu_kernel *kernel, size_t from, size_t to)
{
    return ask(kernel, from, to, decides_at_last);
}

/* ---- a value that is only a guess ------------------------------------------------------------ */

/* Marks the instructions that follow the n-th. True: some were not marked. */
static bool mark_next(const struct value_flow *b, const struct emu_kernel *kernel, size_t n,
                      bool *reached)
{
    const struct code_body body = {b->code, b->count, b->in.function};
    bool any = false;
    size_t next, k = 0, base = (size_t)(b->code - kernel->code);
    while ((next = code_successor(&body, base, n, k++)) < b->count) {
        any = any || !reached[next];
        reached[next] = true;
    }
    return any;
}

/* Marks what can be reached from an instruction, up to the instructions of `stops`. Returns whether
 * the end can. */
static bool find_ways(const struct value_flow *b, const struct emu_kernel *kernel, size_t from,
                      const bool *stops, bool *reached)
{
    bool to_end = false;
    memset(reached, 0, b->count * sizeof *reached);
    for (bool changed = mark_next(b, kernel, from, reached); changed;) {
        changed = false;
        for (size_t n = 0; n < b->count; n++) {
            if (!reached[n] || stops[n]) continue;
            to_end = to_end || ends(&b->code[n]);
            changed = mark_next(b, kernel, n, reached) || changed;
        }
    }
    return to_end;
}

/* The swaps that compare a guess, what their results reach, and which instructions can be reached
 * from the guess without a swap, and from a swap. All by instruction. */
struct guess {
    size_t load;
    struct value_flow *in, seen;
    bool *swaps, *early, *again, *ways;
};

/* Does the instruction store the guess, or use it as an address to store to? *corrected: where it
 * takes the guess from, a swap that fails puts its result, or the load is repeated then. */
static bool takes_guess(const struct guess *g, const struct insn *i, bool *corrected)
{
    bool any = false;
    *corrected = true;
    for (unsigned k = results_of(i); k < i->source->operand_count; k++) {
        const struct ptx_operand *operand = &i->source->operands[k];
        if (operand->kind == PTX_ADDRESS) operand = operand->base;
        if (!value_bits_of(&g->in->in, operand)) continue;
        any = true;
        *corrected = *corrected && (g->again[g->load] || value_bits_of(&g->seen.in, operand));
    }
    return any;
}

/* Is the guess stored, although it may be wrong? It may be stored after a swap that corrects it, or
 * before a swap and again if this one fails. */
static bool stores_guess(const struct guess *g, const struct emu_kernel *kernel, size_t n)
{
    const struct insn *i = &g->in->code[n];
    bool corrected, is_store = i->tally == TALLY_STORE || i->tally == TALLY_ATOMIC;
    if (!is_store || g->swaps[n] || i->address.space == PTX_LOCAL ||
        i->address.space == PTX_PARAM || !takes_guess(g, i, &corrected))
        return false;
    return !corrected ||
           (g->early[n] && (!g->again[n] || find_ways(g->in, kernel, n, g->swaps, g->ways)));
}

/* Does any store of the body do so? */
static bool is_stored(struct guess *g, const struct emu_kernel *kernel, size_t place)
{
    const struct insn *code = g->in->code;
    size_t count = g->in->count;
    bool yes = false;
    g->load = (size_t)(kernel->code + place - code);
    find_ways(g->in, kernel, g->load, g->swaps, g->early);
    for (size_t n = 0; n < count; n++) {
        if (!g->swaps[n]) continue;
        follow(&g->seen, &code[n]);
        find_ways(g->in, kernel, n, g->swaps, g->ways);
        for (size_t k = 0; k < count; k++) g->again[k] |= g->ways[k];
    }
    for (size_t n = 0; n + 1 < count && !yes; n++) yes = stores_guess(g, kernel, n);
    return yes;
}

/* A guess that other functions get, or that is in local memory as in a build with -G, is not
 * followed. */
static bool is_stored_guess(struct value_flow *b, const struct emu_kernel *kernel, size_t place,
                            bool *swaps)
{
    struct guess g = {.in = b, .seen = body_at(kernel, place), .swaps = swaps};
    bool *marks = allocated(calloc(3 * b->count, sizeof *marks));
    bool yes = false;
    if (!b->is_kept && !b->leaves) {
        g.early = marks;
        g.again = marks + b->count;
        g.ways = marks + 2 * b->count;
        yes = is_stored(&g, kernel, place);
    }
    free(marks);
    free(g.seen.in.bits);
    return yes;
}

bool uses_swaps(const struct emu_kernel *kernel, size_t place)
{
    enum { COMPARED = 2 }; /* atom.cas d, [address], compared, new */
    struct value_flow b = body_at(kernel, place);
    bool *swaps = allocated(calloc(b.count, sizeof *swaps)), any = false, once = false;
    follow(&b, &kernel->code[place]);
    for (size_t n = 0; n < kernel->code_count; n++) {
        const struct insn *i = &kernel->code[n];
        if (i->tally != TALLY_ATOMIC || i->atomic.operation != ATOMIC_CAS) continue;
        bool same = i >= b.code && i < b.code + b.count;
        if (same ? !value_bits_of(&b.in, &i->source->operands[COMPARED]) : !b.leaves) continue;
        any = true;
        once = once || !uses_tries_again(kernel, n);
        if (same) swaps[i - b.code] = true;
    }
    bool yes = any && !once && !is_stored_guess(&b, kernel, place, swaps);
    free(swaps);
    free(b.in.bits);
    return yes;
}

/* ---- a value that decides one branch --------------------------------------------------------- */

static bool is_target(const struct value_flow *b, const struct emu_kernel *kernel, size_t n)
{
    size_t place = (size_t)(b->code - kernel->code) + n;
    for (size_t k = 0; k + 1 < b->count; k++) {
        const struct insn *i = &b->code[k];
        for (uint32_t t = 0; t < insn_target_count(i); t++)
            if (insn_target(i, t) == place) return true;
    }
    return false;
}

/* The branch at the end of the straight-line code behind n; 0: no branch is near. */
static size_t branch_behind(const struct value_flow *b, const struct emu_kernel *kernel, size_t n)
{
    enum { MOST = 32 }; /* struct decision's bits */
    for (size_t k = n + 1; k + 1 < b->count && k <= n + MOST; k++) {
        if (is_target(b, kernel, k)) return 0;
        if (b->code[k].control == CONTROL_BRANCH) return b->code[k].source->guard >= 0 ? k : 0;
        if (b->code[k].control != CONTROL_NONE) return 0;
    }
    return 0;
}

/* Can the instruction be carried out for trial? It must only compute one register from others. */
static bool is_plain(const struct insn *i)
{
    bool carries =
        i->family == FAMILY_ARITHMETIC && (i->arithmetic.carry_in || i->arithmetic.carry_out);
    return i->fn && i->d != NO_SLOT && i->tally < TALLY_BARRIER && !carries &&
           i->source->operands[0].kind == PTX_REGISTER;
}

/* Finds the instructions between n and the branch that compute the guard, and marks in `needed` the
 * registers that they read. */
static bool gather_parts(const struct value_flow *b, size_t n, size_t branch, uint64_t *needed,
                         uint32_t *parts)
{
    struct value_flow wanted = *b;
    wanted.in.bits = needed;
    needed[b->code[branch].source->guard] = ALL_BITS;
    for (size_t k = branch; --k > n;) {
        const struct insn *i = &b->code[k];
        if (!results_of(i) || !value_bits_of(&wanted.in, &i->source->operands[0])) continue;
        if (!is_plain(i)) return false;
        *parts |= UINT32_C(1) << (k - n - 1);
        for (unsigned o = 1; o < i->source->operand_count; o++)
            put_into(&wanted, &i->source->operands[o]);
        if (i->source->guard >= 0) needed[i->source->guard] = ALL_BITS;
    }
    return true;
}

struct decision uses_decision(const struct emu_kernel *kernel, size_t place)
{
    struct value_flow b = body_at(kernel, place);
    size_t n = (size_t)(kernel->code + place - b.code);
    size_t branch = branch_behind(&b, kernel, n);
    uint64_t *needed = allocated(calloc(b.in.function->register_count + 1, sizeof *needed));
    uint32_t parts = 0;
    bool only = branch && gather_parts(&b, n, branch, needed, &parts);
    if (only) follow(&b, &b.code[n]);
    only = only && !b.leaves && !b.is_kept && uses_value(&b, &b.code[branch]);
    for (size_t k = 0; k + 1 < b.count && only; k++)
        only = k == n || k == branch || !uses_value(&b, &b.code[k]) ||
               (k > n && k < branch && parts >> (k - n - 1) & 1);
    free(needed);
    free(b.in.bits);
    if (!only) return (struct decision){0};
    return (struct decision){parts, (uint32_t)(b.code + branch - kernel->code), b.in.function};
}
