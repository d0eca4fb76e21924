/*
 * earlier.c — racecheck: would an earlier value of a flag have taken the same branch?
 *
 * A thread that waits until a flag is at least 3 may find 7, if the storing thread has run ahead.
 * The program must be right even if the thread had found 3. So if a value only decides a branch,
 * and an earlier value would have decided the same, the thread acquires only the clocks that were
 * released with the earliest such value. This finds a slot that is used again too early, in
 * whatever order the threads run. The branch is evaluated for trial on the lane's registers, which
 * are restored afterwards.
 *
 * Only the last few stores are kept. A thread that is after a store cannot have read a value from
 * before it.
 */
#include "access.h"
#include <string.h>

/* ---- trying a branch ------------------------------------------------------------------------- */

enum { PARTS = 32, SAVED = 2 * PARTS + 1 };

/* A lane's part of a register: its number of bytes; 0 for a bit of a predicate. */
struct saved {
    slot slot;
    unsigned bytes;
    uint64_t value;
};

static void put(const struct warp *w, struct saved s, int lane)
{
    if (s.bytes) {
        memcpy((uint8_t *)slot_at(w, s.slot) + (size_t)lane * s.bytes, &s.value, s.bytes);
        return;
    }
    uint32_t *bits = slot_at(w, s.slot);
    *bits = (*bits & ~bit_of(lane)) | (uint32_t)s.value << lane;
}

static struct saved take(const struct warp *w, slot slot, unsigned bytes, int lane)
{
    struct saved s = {slot, bytes, 0};
    if (bytes)
        memcpy(&s.value, (const uint8_t *)slot_at(w, slot) + (size_t)lane * bytes, bytes);
    else
        s.value = *(const uint32_t *)slot_at(w, slot) >> lane & 1;
    return s;
}

static unsigned register_bytes(const struct decision *d, const struct ptx_operand *operand)
{
    enum ptx_type type = d->function->registers[operand->index].type;
    size_t bytes = ptx_type_size(type);
    return type == PTX_PRED ? 0 : bytes >= sizeof(uint64_t) ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* Saves the registers that an instruction of the trial overwrites. Returns how many. */
static unsigned save(const struct lane_access *t, const struct decision *d, const struct insn *i,
                     struct saved *all)
{
    const struct ptx_operand *result = &i->source->operands[0];
    unsigned count = 0;
    slot predicate = insn_second_result(i);
    all[count++] = take(t->w, insn_result(i), register_bytes(d, result), t->lane);
    if (predicate != NO_SLOT) all[count++] = take(t->w, predicate, 0, t->lane);
    return count;
}

static bool lets_through(const struct warp *w, const struct insn *i, int lane)
{
    return ((*(const uint32_t *)slot_at(w, i->guard) ^ i->guard_flip) >> lane & 1) != 0;
}

/* Would the lane take the branch if it had read `value`? */
static bool is_taken(const struct lane_access *t, const struct decision *d, uint64_t value)
{
    struct saved all[SAVED];
    const struct insn *code = t->w->block->launch->kernel->code;
    unsigned count = 0;
    all[count++] = take(t->w, insn_result(t->insn), t->insn->lane_bytes, t->lane);
    put(t->w, (struct saved){insn_result(t->insn), t->insn->lane_bytes, value}, t->lane);
    for (uint32_t parts = d->parts; parts; parts &= parts - 1) {
        const struct insn *i = t->insn + 1 + __builtin_ctz(parts);
        if (!lets_through(t->w, i, t->lane)) continue;
        count += save(t, d, i, &all[count]);
        i->fn(t->w, i, bit_of(t->lane));
    }
    bool taken = lets_through(t->w, &code[d->branch], t->lane);
    while (count) put(t->w, all[--count], t->lane);
    return taken;
}

/* ---- which value ----------------------------------------------------------------------------- */

/* Is it a load of a word or two, or an atomic that changes nothing? */
static bool only_reads(const struct lane_access *t)
{
    const struct insn *i = t->insn;
    if (t->reads && i->lane_bytes == i->element_bytes && i->elements <= 1 &&
        insn_result(i) != NO_SLOT && i->element_bytes >= GRANULE)
        return !t->writes || !t->changes;
    return false;
}

/* The value `back` stores earlier, put together from the words that hold it. False: it is not kept,
 * or the lane is after a later store. */
static bool value_before(const struct lane_access *t, struct sync_table *table, uint64_t address,
                         unsigned back, uint64_t *value)
{
    bool any = false;
    for (unsigned at = 0; at < t->insn->element_bytes; at += GRANULE) {
        const struct sync_word *word = sync_word_at(table, (address + at) / GRANULE + 1);
        const struct word_before *b = word ? word->before : NULL;
        for (unsigned k = 1; b && k < back; k++) b = b->next;
        if (!b || lane_is_after(t->w, t->lane, b->store)) continue;
        memcpy((uint8_t *)value + at, &b->value, GRANULE);
        any = true;
    }
    return any;
}

unsigned race_stores_back(const struct lane_access *t, struct sync_table *table, uint64_t address,
                          uint64_t host)
{
    uint64_t now = 0, before;
    unsigned back = 0;
    if (!table->count || !only_reads(t)) return 0;
    memcpy(&now, (const void *)(uintptr_t)(host + address), t->insn->element_bytes);
    before = now;
    if (!value_before(t, table, address, 1, &before)) return 0;
    const struct decision *d =
        race_decision(t->w->block->racecheck->device, t->w->block->launch->kernel, t->place);
    if (!d->branch) return 0;
    bool taken = is_taken(t, d, now);
    while (value_before(t, table, address, back + 1, &before) &&
           (before == now || is_taken(t, d, before) == taken))
        back++;
    return back;
}
