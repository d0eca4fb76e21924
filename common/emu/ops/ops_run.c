/* ops_run.c — moves the bytes of a run (ops_memory.h) between memory and registers. */
#include "ops_memory.h"

/* One element for all lanes. */
static void load_for_all(struct warp *w, const struct insn *i, uint32_t mask, unsigned element,
                         const uint8_t *from)
{
    uint64_t value = load_element(from, i->element_bytes, i->is_signed);
    slot to = i->memory.value[element];
    if (to == NO_SLOT) return;
    if (i->lane_bytes == 8) {
        lane_64 *d = LANES(u64, to);
        FOR_LANES(d, value);
    } else {
        lane_32 *d = LANES(u32, to);
        FOR_LANES(d, (uint32_t)value);
    }
}

/* Every lane loads the same. */
static void load_broadcast(struct warp *w, const struct insn *i, uint32_t mask, const uint8_t *from)
{
    if (i->elements == 1) {
        load_for_all(w, i, mask, 0, from);
        return;
    }
    byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
    move_vector(vector, from, (unsigned)i->element_bytes * i->elements);
    for (unsigned k = 0; k < i->elements; k++)
        load_for_all(w, i, mask, k, (const uint8_t *)vector + (size_t)k * i->element_bytes);
}

/* One element a lane, one lane after the other. The bytes of lanes outside of the mask are read,
 * which does no harm, and not used. */
static void load_row(struct warp *w, const struct insn *i, uint32_t mask, const uint8_t *from)
{
#define LOAD(d, bytes, type)                                                                       \
    do {                                                                                           \
        const bytes *s = (const bytes *)from;                                                      \
        FOR_LANES(d, (__typeof__(*d))(type)s[l]);                                                  \
    } while (0)
    LOAD_BY_KIND(w, i, LOAD);
#undef LOAD
}

/* Two words a lane: 8 bytes in one piece. */
static void load_row_of_pairs(struct warp *w, const struct insn *i, uint32_t mask,
                              const uint8_t *from)
{
    const byte_64 *s = (const byte_64 *)from;
    for (unsigned k = 0; k < 2; k++) {
        if (i->memory.value[k] == NO_SLOT) continue;
        lane_32 *d = LANES(u32, i->memory.value[k]);
        FOR_LANES(d, (uint32_t)(s[l] >> 32 * k));
    }
}

void load_run(struct warp *w, const struct insn *i, const struct access_run *run)
{
    const uint8_t *host = (const uint8_t *)(uintptr_t)(run->host + run->first);
    if (run->stride == 0)
        load_broadcast(w, i, run->mask, host);
    else if (i->elements == 1)
        load_row(w, i, run->mask, host);
    else if (i->elements == 2)
        load_row_of_pairs(w, i, run->mask, host);
    else
        load_row_of_4(w, i, host);
}

/* Of lanes that write one address the highest wins, as in store(). */
static void store_broadcast(struct warp *w, const struct insn *i, uint32_t mask, uint8_t *to)
{
    int lane = WARP - 1 - __builtin_clz(mask);
    if (i->elements == 1) {
        store_element(to, get_lane(w, i->memory.value[0], i->lane_bytes, lane), i->element_bytes);
        return;
    }
    byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
    for (unsigned k = 0; k < i->elements; k++)
        store_element((uint8_t *)vector + (size_t)k * i->element_bytes,
                      get_lane(w, i->memory.value[k], i->lane_bytes, lane), i->element_bytes);
    move_vector(to, vector, (unsigned)i->element_bytes * i->elements);
}

/* One element a lane, one lane after the other, of all lanes. */
static void store_row(struct warp *w, const struct insn *i, uint8_t *to)
{
#define STORE(type)                                                                                \
    do {                                                                                           \
        type *d = (type *)to;                                                                      \
        INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = (type)s[l];                              \
    } while (0)
    if (i->lane_bytes == 4) {
        const lane_32 *s = LANES(u32, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(byte_8); break;
        case 2: STORE(byte_16); break;
        default: STORE(byte_32);
        }
    } else {
        const lane_64 *s = LANES(u64, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(byte_8); break;
        case 2: STORE(byte_16); break;
        case 4: STORE(byte_32); break;
        default: STORE(byte_64);
        }
    }
#undef STORE
}

void store_run(struct warp *w, const struct insn *i, const struct access_run *run)
{
    uint8_t *host = (uint8_t *)(uintptr_t)(run->host + run->first);
    if (run->stride == 0)
        store_broadcast(w, i, run->mask, host);
    else if (i->elements == 1)
        store_row(w, i, host);
    else if (i->elements == 2)
        store_row_of_2(w, i, host);
    else
        store_row_of_4(w, i, host);
}
