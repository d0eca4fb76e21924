/* atomic_wide.c — atomics on 16-bit numbers, pairs of them, vectors and 128 bits (PTX ISA, "atom",
 * "red"). Each element of a vector is changed atomically, but not the vector as a whole; PTX does
 * not promise more. */
#include "common/tools/emu/machine/machine.h"
#include "common/tools/emu/ptx/half.h"

typedef uint16_t word_16 __attribute__((may_alias));
typedef uint32_t word_32 __attribute__((may_alias));

static uint16_t combined_half(const struct insn *i, uint16_t old, uint16_t b, uint16_t c)
{
    bool brain = i->atomic.type == PTX_BF16 || i->atomic.type == PTX_BF16X2;
    float x = brain ? f32_of_bf16(old) : f32_of_f16(old),
          y = brain ? f32_of_bf16(b) : f32_of_f16(b);
    switch ((enum atomic)i->atomic.operation) {
    case ATOMIC_ADD:
        return brain ? bf16_of_f64((double)x + y, ROUND_NEAREST)
                     : f16_of_f64((double)x + y, ROUND_NEAREST);
    case ATOMIC_MIN:
    case ATOMIC_MAX:
        if (x != x || y != y) return x == x ? old : y == y ? b : 0x7fff;
        bool less = x < y || (x == y && old & 0x8000); /* -0 is below +0 */
        return less == (i->atomic.operation == ATOMIC_MIN) ? old : b;
    case ATOMIC_CAS: return old == b ? c : old;
    default: return b; /* exchange */
    }
}

static uint32_t combined(const struct insn *i, uint32_t old, uint32_t b)
{
    if (i->atomic.type == PTX_F32) return atomic_sum_f32(old, b, true); /* global memory only */
    return combined_half(i, (uint16_t)old, (uint16_t)b, 0) |
           (uint32_t)combined_half(i, (uint16_t)(old >> 16), (uint16_t)(b >> 16), 0) << 16;
}

/* Returns the old value, and sets *changed if the new one differs. */
static uint32_t change(const struct insn *i, uint64_t at, uint32_t b, uint32_t c, bool *changed)
{
    if (i->element_bytes == sizeof(word_16)) {
        word_16 *word = (word_16 *)(uintptr_t)at;
        uint16_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST), value;
        do value = combined_half(i, seen, (uint16_t)b, (uint16_t)c);
        while (!__atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
        *changed |= value != seen;
        return seen;
    }
    word_32 *word = (word_32 *)(uintptr_t)at;
    uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST), value;
    do value = combined(i, seen, b);
    while (!__atomic_compare_exchange_n(word, &seen, value, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
    *changed |= value != seen;
    return seen;
}

/* Sets access->mask to the lanes whose addresses are in one range of memory, and returns the other
 * lanes. After a fault it returns 0. */
static uint32_t pass_door(struct warp *w, const struct insn *i, uint32_t mask,
                          struct access *access)
{
    for (int l = 0; l < WARP; l++)
        access->address[l] = address_of(w, &i->address, mask >> l & 1 ? l : __builtin_ctz(mask));
    access->mask = mask;
    access->space = i->address.space;
    if (!access_door_any(w, i, access)) return 0;
    return mask & ~access->mask;
}

/* Carries out an atomic of one lane at a host address. Returns what was there, and sets *changed if
 * that is something else now. */
typedef uint64_t one_lane(struct warp *, const struct insn *, int lane, uint64_t at, bool *changed);

/* An atomic with a result that changes nothing may be part of a loop that waits for other
 * threads. */
static void each_lane(struct warp *w, const struct insn *i, uint32_t mask, unsigned bytes,
                      bool has_result, one_lane *one)
{
    struct access access;
    access_make(&access, OPERATION_ATOMIC, i->address.space, mask, bytes);
    int first = __builtin_ctz(mask);
    uint64_t place = address_of(w, &i->address, first), seen = 0;
    bool changed = false;
    while (mask) {
        access.mask = 0;
        mask = pass_door(w, i, mask, &access);
        if (w->block->launch->error) return;
        for (uint32_t left = access.mask; left; left &= left - 1) {
            int l = __builtin_ctz(left);
            uint64_t old = one(w, i, l, access.host + access.address[l], &changed);
            if (l == first) seen = old;
        }
    }
    if (changed)
        w->block->changed = true;
    else if (has_result)
        warp_polls(w, i, place, seen);
}

static uint64_t change_elements(struct warp *w, const struct insn *i, int l, uint64_t at,
                                bool *changed)
{
    uint32_t c = i->c == NO_SLOT ? 0 : ((const uint32_t *)slot_at(w, i->c))[l], first = 0;
    for (unsigned k = 0; k < i->elements; k++) {
        uint32_t b = ((const uint32_t *)slot_at(w, i->vector.source[k]))[l];
        uint32_t old = change(i, at + (uint64_t)k * i->element_bytes, b, c, changed);
        slot d = i->vector.result[k];
        if (d != NO_SLOT) ((uint32_t *)slot_at(w, d))[l] = old;
        if (k == 0) first = old;
    }
    return first;
}

/* Carries out an atomic on each lane's elements. A cas has its new value in c. */
void op_atomic_elements(struct warp *w, const struct insn *i, uint32_t mask)
{
    each_lane(w, i, mask, (unsigned)i->element_bytes * i->elements, i->vector.result[0] != NO_SLOT,
              change_elements);
}

static void read_128(const struct warp *w, slot s, int lane, uint64_t *value)
{
    const uint64_t *low = slot_at(w, s);
    value[0] = low[lane];
    value[1] = low[WARP + lane];
}

/* 128 bits: cas and exch. A 128-bit register is two adjacent 64-bit registers. A lock makes the
 * operation atomic among host threads, but only with respect to other 128-bit atomics: all other
 * accesses ignore the lock. */
static uint64_t change_128(struct warp *w, const struct insn *i, int l, uint64_t at, bool *changed)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    uint64_t b[2], c[2] = {0}, old[2], *low = slot_at(w, i->d);
    void *there = (void *)(uintptr_t)at;
    read_128(w, i->b, l, b);
    if (i->c != NO_SLOT) read_128(w, i->c, l, c);
    pthread_mutex_lock(&one_at_a_time);
    memcpy(old, there, sizeof old);
    if (i->atomic.operation != ATOMIC_CAS)
        memcpy(there, b, sizeof b);
    else if (old[0] == b[0] && old[1] == b[1])
        memcpy(there, c, sizeof c);
    if (memcmp(there, old, sizeof old)) *changed = true;
    pthread_mutex_unlock(&one_at_a_time);
    low[l] = old[0];
    low[WARP + l] = old[1];
    return old[0];
}

void op_atomic_128(struct warp *w, const struct insn *i, uint32_t mask)
{
    each_lane(w, i, mask, 16, true, change_128);
}
