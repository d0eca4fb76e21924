/*
 * ops_door.c — loads and stores of local memory (PTX ISA, "ld.local", "st.local") where all lanes
 * access the same offset, or consecutive ones: rows of words (machine/local.h), moved as
 * vectors. Whatever is no such access, or is wrong in any way, goes through the door.
 */
#include "common/emu/machine/events.h"
#include "common/emu/machine/local.h"
#include "ops_memory.h"

/* The place of the access of lane 0, or NULL: the access has to go through the door. *distance is 0
 * if all lanes access the same offset, or the bytes from one lane's place to the next one's. */
INLINE uint8_t *find_place(struct warp *w, const struct insn *i, uint32_t mask, unsigned bytes,
                           size_t *distance)
{
    struct access_run run = {0};
    if (!find_run(w, i, mask, PTX_LOCAL, bytes, 8, &run) ||
        !run_fits(&run, run.first, w->block->launch->kernel->stack_bytes))
        return NULL;
    if (run.stride && (mask != ALL_LANES || bytes < LOCAL_WORD)) return NULL;
    if (w->counts) event_local_run(w, i, mask, run.stride != 0, bytes);
    *distance = run.stride / LOCAL_WORD * LOCAL_ROW + (run.stride ? LOCAL_WORD : 0);
    return local_byte(w, run.first, 0);
}

/* ---- an element of an array: a word of each lane, at an offset of its own -------------------- */

/* The places of the lanes' words, from w->local on. False: an offset is wrong, or is counted. */
INLINE bool find_words(const struct warp *w, const struct insn *i, uint32_t place[WARP])
{
    const lane_64 *offset = LANES(u64, i->address.base);
    uint64_t bytes = w->block->launch->kernel->stack_bytes, wrong = 0;
    if (w->counts || bytes < LOCAL_WORD) return false;
    for (int l = 0; l < WARP; l++) {
        uint64_t at = offset[l] + (uint64_t)i->address.offset;
        wrong |= at % LOCAL_WORD | (at | (bytes - LOCAL_WORD - at)) >> 63;
        place[l] = (uint32_t)at * WARP + (unsigned)l * LOCAL_WORD;
    }
    return !wrong;
}

static __attribute__((noinline)) void load_word(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t place[WARP];
    if (!find_words(w, i, place)) {
        load_any(w, i, mask);
        return;
    }
    lane_32 *d = LANES(u32, i->memory.value[0]);
    EACH_LANE(mask, d[l] = *(const lane_32 *)(w->local + place[l]));
}

static __attribute__((noinline)) void store_word(struct warp *w, const struct insn *i,
                                                 uint32_t mask)
{
    uint32_t place[WARP];
    if (!find_words(w, i, place)) {
        store_any(w, i, mask);
        return;
    }
    const lane_32 *s = LANES(u32, i->memory.value[0]);
    EACH_LANE(mask, *(lane_32 *)(w->local + place[l]) = s[l]);
}

/* ---- words ----------------------------------------------------------------------------------- */

typedef byte_128 unaligned_128 __attribute__((aligned(4), may_alias));
#define WORD_AT(from) (*(const lane_32 *)(from))

/* Loads a word of each lane; from one lane to the next it is `distance` bytes. CPUs load four words
 * faster than they gather them. */
static __attribute__((noinline)) void gather(lane_32 *d, const uint8_t *from, size_t distance)
{
    for (int l = 0; l < WARP; l += 4, from += 4 * distance)
        *(unaligned_128 *)(d + l) =
            (byte_128){WORD_AT(from), WORD_AT(from + distance), WORD_AT(from + 2 * distance),
                       WORD_AT(from + 3 * distance)};
}

INLINE void put_word(uint8_t *to, unsigned word, size_t distance, uint32_t mask,
                     const lane_32 *words)
{
    to += (size_t)word * LOCAL_ROW;
    if (distance) {
        for (int l = 0; l < WARP; l++) *(lane_32 *)(to + l * distance) = words[l];
    } else {
        lane_32 *row = (lane_32 *)to;
        FOR_LANES(row, words[l]);
    }
}

/* Word k of the access. With a distance, all lanes take part. */
INLINE void load_u32(lane_32 *d, const uint8_t *from, unsigned k, size_t distance, uint32_t mask)
{
    const lane_32 *row = (const lane_32 *)(from + (size_t)k * LOCAL_ROW);
    if (distance)
        gather(d, (const uint8_t *)row, distance);
    else
        FOR_LANES(d, row[l]);
}

INLINE void load_u64(lane_64 *d, const uint8_t *from, unsigned k, size_t distance, uint32_t mask)
{
    const uint8_t *low = from + (size_t)2 * k * LOCAL_ROW, *high = low + LOCAL_ROW;
    if (!distance) {
        FOR_LANES(d, ((const lane_32 *)low)[l] | (uint64_t)((const lane_32 *)high)[l] << 32);
        return;
    }
    for (int l = 0; l < WARP; l += 2, low += 2 * distance, high += 2 * distance)
        *(unaligned_128 *)(d + l) = (byte_128){WORD_AT(low), WORD_AT(high), WORD_AT(low + distance),
                                               WORD_AT(high + distance)};
}

INLINE void store_u32(const lane_32 *s, uint8_t *to, unsigned k, size_t distance, uint32_t mask)
{
    put_word(to, k, distance, mask, s);
}

INLINE void store_u64(const lane_64 *s, uint8_t *to, unsigned k, size_t distance, uint32_t mask)
{
    lane_32 low[WARP], high[WARP];
    for (int l = 0; l < WARP; l++) {
        low[l] = (uint32_t)s[l];
        high[l] = (uint32_t)(s[l] >> 32);
    }
    put_word(to, 2 * k, distance, mask, low);
    put_word(to, 2 * k + 1, distance, mask, high);
}

/* X(name, type of the lanes, elements) */
#define LOCAL_ACCESSES(X)                                                                          \
    X(local_4, u32, 1) X(local_8, u64, 1) X(local_v2, u32, 2) X(local_v4, u32, 4)
#define DEFINE_LOCAL_ACCESS(name, type, elements)                                                  \
    static void load_##name(struct warp *w, const struct insn *i, uint32_t mask)                   \
    {                                                                                              \
        size_t distance;                                                                           \
        const uint8_t *from = find_place(w, i, mask, elements * sizeof(T_##type), &distance);      \
        for (unsigned k = 0; from && k < elements; k++)                                            \
            load_##type(LANES(type, i->memory.value[k]), from, k, distance, mask);                 \
        if (!from) (elements * sizeof(T_##type) == LOCAL_WORD ? load_word : load_any)(w, i, mask); \
    }                                                                                              \
    static void store_##name(struct warp *w, const struct insn *i, uint32_t mask)                  \
    {                                                                                              \
        size_t distance;                                                                           \
        uint8_t *to = find_place(w, i, mask, elements * sizeof(T_##type), &distance);              \
        for (unsigned k = 0; to && k < elements; k++)                                              \
            store_##type(LANES(type, i->memory.value[k]), to, k, distance, mask);                  \
        if (!to) (elements * sizeof(T_##type) == LOCAL_WORD ? store_word : store_any)(w, i, mask); \
    }
LOCAL_ACCESSES(DEFINE_LOCAL_ACCESS)

/* ---- one or two bytes in a register of four: a part of a row's words ------------------------- */

static void load_part(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t distance;
    const uint8_t *from = find_place(w, i, mask, i->element_bytes, &distance);
    if (!from) {
        load_any(w, i, mask);
        return;
    }
    unsigned first = (unsigned)(from - w->local) % LOCAL_WORD; /* byte of the word */
    unsigned right = 8 * (LOCAL_WORD - (unsigned)i->element_bytes), left = right - 8 * first;
    const lane_32 *row = (const lane_32 *)(from - first);
    lane_32 *d = LANES(u32, i->memory.value[0]);
    if (i->is_signed)
        FOR_LANES(d, (uint32_t)((int32_t)(row[l] << left) >> right));
    else
        FOR_LANES(d, row[l] << left >> right);
}

static void store_part(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t distance;
    uint8_t *to = find_place(w, i, mask, i->element_bytes, &distance);
    if (!to) {
        store_any(w, i, mask);
        return;
    }
    unsigned first = (unsigned)(to - w->local) % LOCAL_WORD, shift = 8 * first;
    uint32_t part = (i->element_bytes == 1 ? 0xffu : 0xffffu) << shift;
    lane_32 *row = (lane_32 *)(to - first);
    const lane_32 *s = LANES(u32, i->memory.value[0]);
    FOR_LANES(row, (row[l] & ~part) | (s[l] << shift & part));
}

#define ENTRY_LOCAL_ACCESS(name, ...)                                                              \
    {"ld." #name, load_##name, ""}, {"st." #name, store_##name, ""},
static const struct op entries[] = {{"ld.local_part", load_part, ""},
                                    {"st.local_part", store_part, ""},
                                    LOCAL_ACCESSES(ENTRY_LOCAL_ACCESS)};
DEFINE_OP_TABLE(ops_local, entries);
