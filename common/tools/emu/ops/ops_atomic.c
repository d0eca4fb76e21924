/* ops_atomic.c — atomic operations on one word per lane (PTX ISA, "atom", "red"). For all others
 * see atomic_wide.c. */
#include "ops_memory.h"

/* The unit that carries out an operation, on which the bits of its result depend. */
enum adder { IN_CACHE, IN_COPY, IN_SM }; /* on global memory, in a bulk copy, on shared memory */

static inline enum adder adder_of(const struct access *access)
{
    return access->space == PTX_SHARED ? IN_SM : IN_CACHE;
}

static uint64_t sum_f64(uint64_t old, uint64_t b, enum adder adder)
{
    double x = f64_of_bits(old), y = f64_of_bits(b);
    if (adder == IN_SM) return bits_of_f64(nan_or(x, x + y));
    return y != y ? b : x != x ? old : bits_of_f64(x + y); /* a NaN as it is */
}

/* The new value of the word, from its `old` value and the operands b and c. */
static uint64_t combined(const struct insn *i, uint64_t old, uint64_t b, uint64_t c,
                         enum adder adder)
{
    bool wide = i->element_bytes == 8, less;
    switch ((enum atomic)i->atomic.operation) {
    case ATOMIC_ADD:
        if (!i->atomic.is_float) return old + b;
        if (wide) return sum_f64(old, b, adder);
        return atomic_sum_f32((uint32_t)old, (uint32_t)b, adder == IN_CACHE);
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        if (!i->is_signed)
            less = old < b;
        else if (wide)
            less = (int64_t)old < (int64_t)b;
        else
            less = (int32_t)old < (int32_t)b;
        return less == (i->atomic.operation == ATOMIC_MIN) ? old : b;
    case ATOMIC_AND: return old & b;
    case ATOMIC_OR: return old | b;
    case ATOMIC_XOR: return old ^ b;
    case ATOMIC_EXCHANGE: return b;
    case ATOMIC_CAS: return old == b ? c : old;
    case ATOMIC_INC: return old >= b ? 0 : old + 1;
    case ATOMIC_DEC: return old == 0 || old > b ? b : old - 1;
    }
    return old;
}

/* Changes the word at an address atomically. Returns the old value; sets *changed if the new value
 * differs. */
static inline uint64_t change(const struct insn *i, void *at, uint64_t b, uint64_t c,
                              enum adder adder, bool *changed)
{
    if (i->element_bytes == 8) {
        uint64_t seen = __atomic_load_n((byte_64 *)at, __ATOMIC_SEQ_CST), value;
        do value = combined(i, seen, b, c, adder);
        while (!__atomic_compare_exchange_n((byte_64 *)at, &seen, value, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
        *changed |= value != seen;
        return seen;
    }
    uint32_t seen = __atomic_load_n((byte_32 *)at, __ATOMIC_SEQ_CST), value;
    do value = (uint32_t)combined(i, seen, b, c, adder);
    while (!__atomic_compare_exchange_n((byte_32 *)at, &seen, value, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
    *changed |= value != seen;
    return seen;
}

static inline bool adds_words(const struct insn *i)
{
    return i->atomic.operation == ATOMIC_ADD && !i->atomic.is_float && i->element_bytes == 4;
}

/* Shared memory needs no atomic instructions: no other host thread accesses it. */
static inline uint64_t change_shared(const struct insn *i, void *at, uint64_t b, uint64_t c,
                                     bool *changed)
{
    if (adds_words(i)) { /* the most frequent */
        uint32_t old = *(byte_32 *)at, value = old + (uint32_t)b;
        *(byte_32 *)at = value;
        *changed |= value != old;
        return old;
    }
    uint64_t old = load_element(at, i->element_bytes, false), value = combined(i, old, b, c, IN_SM);
    store_element(at, value, i->element_bytes);
    *changed |= value != old;
    return old;
}

bool EMU_PASTE(access_combine_, EMU_ISA)(const struct insn *i, void *at, const void *operand)
{
    bool changed = false;
    change(i, at, load_element(operand, i->element_bytes, false), 0, IN_COPY, &changed);
    return changed;
}

static inline uint64_t read_word(const struct insn *i, void *at)
{
    return i->element_bytes == 8 ? __atomic_load_n((byte_64 *)at, __ATOMIC_SEQ_CST)
                                 : __atomic_load_n((byte_32 *)at, __ATOMIC_SEQ_CST);
}

/* Makes `to` of a word in memory, if it is still `*seen`. False: it is not, and *seen becomes what
 * is there. No other host thread sees shared memory. */
static inline bool replace(const struct insn *i, enum ptx_space space, void *at, uint64_t *seen,
                           uint64_t to)
{
    if (space == PTX_SHARED) {
        store_element(at, to, i->element_bytes);
        return true;
    }
    if (i->element_bytes == 8)
        return __atomic_compare_exchange_n((byte_64 *)at, seen, to, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_SEQ_CST);
    uint32_t word = (uint32_t)*seen;
    bool same = __atomic_compare_exchange_n((byte_32 *)at, &word, (uint32_t)to, false,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    *seen = word;
    return same;
}

/* What the lanes make of a word one after the other. It was `value`; lane l has found result[l]. */
static inline uint64_t combine_lanes(const struct warp *w, const struct insn *i,
                                     const struct access *access, uint64_t value, uint64_t *result,
                                     bool *changed)
{
    uint64_t all = UINT64_MAX >> (64 - 8 * i->element_bytes);
    bool adds = i->atomic.operation == ATOMIC_ADD && !i->atomic.is_float;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t b = get_lane(w, i->b, i->lane_bytes, l);
        uint64_t c = i->c == NO_SLOT ? 0 : get_lane(w, i->c, i->lane_bytes, l);
        result[l] = value;
        value = (adds ? value + b : combined(i, value, b, c, adder_of(access))) & all;
        *changed |= value != result[l];
    }
    return value;
}

/* All lanes go to one word: they take their turns with a copy of it, which goes back in one
 * indivisible step. */
static void change_one_word(struct warp *w, const struct insn *i, const struct access *access,
                            bool *changed)
{
    uint64_t result[WARP], value;
    void *at = (void *)(uintptr_t)(access->host + access->address[__builtin_ctz(access->mask)]);
    uint64_t seen = read_word(i, at);
    bool differs;
    do {
        differs = false;
        value = combine_lanes(w, i, access, seen, result, &differs);
    } while (!replace(i, access->space, at, &seen, value));
    *changed |= differs;
    if (i->d == NO_SLOT) return;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        set_lane(w, i->d, i->lane_bytes, l, result[l]);
    }
}

static inline bool is_one_word(const struct access *access)
{
    uint64_t gap = 0;
    for (int l = 0; l < WARP; l++) gap |= access->address[l] ^ access->address[0];
    return !gap && access->mask & (access->mask - 1);
}

/* Notes that memory has changed. A change in the workspace of grid.sync() only means that a block
 * passes a barrier. */
static void note_change(struct warp *w, const struct access *access)
{
    emu_addr words = w->block->launch->workspace;
    uint64_t at = access->address[__builtin_ctz(access->mask)];
    if (words && access->space == PTX_GLOBAL && at - words < WORKSPACE_BYTES)
        w->block->passed = true;
    else
        w->block->changed = true;
}

/* Lanes one after the other, each at a word of its own, or some at the same. */
static void change_words(struct warp *w, const struct insn *i, const struct access *access,
                         bool *changed)
{
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t b = get_lane(w, i->b, i->lane_bytes, l);
        uint64_t c = i->c == NO_SLOT ? 0 : get_lane(w, i->c, i->lane_bytes, l);
        void *at = (void *)(uintptr_t)(access->host + access->address[l]);
        uint64_t old = access->space == PTX_SHARED ? change_shared(i, at, b, c, changed)
                                                   : change(i, at, b, c, IN_CACHE, changed);
        if (i->d != NO_SLOT) set_lane(w, i->d, i->lane_bytes, l, old);
    }
}

/* Carries out the atomics of the lanes one after the other, the lowest lane first. */
static void atomic(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_ATOMIC, i->address.space, mask, i->element_bytes);
    int first = __builtin_ctz(mask);
    uint64_t place = address_of(w, &i->address, first);
    bool changed = false;
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        if (is_one_word(&access))
            change_one_word(w, i, &access, &changed);
        else
            change_words(w, i, &access, &changed);
        if (changed && !w->block->changed) note_change(w, &access);
    }
    /* An atomic with a result that changes nothing may be part of a loop that waits. */
    if (!changed && i->d != NO_SLOT &&
        warp_polls(w, i, place, get_lane(w, i->d, i->lane_bytes, first)))
        return;
    /* Loops with atomics often wait for another warp, so an atomic shortens the warp's time
     * slice. */
    enum { ATOMIC_COST = 64 };
    w->fuel = w->fuel > ATOMIC_COST ? w->fuel - ATOMIC_COST : 1;
}

static const struct op entries[] = {{"atom", atomic, ""}};
DEFINE_OP_TABLE(ops_atomic, entries);
