/* ops_door.c — the door that accesses pass, runs of lanes, local memory, generic addresses. */
#include "ops_memory.h"

/* ---- the door -------------------------------------------------------------------------------- */

/* The door: the function that every access of a warp to shared, global or local memory passes,
 * except for valid runs: these have a faster door of their own (enter_run() in ops_memory.h).
 *
 * It turns generic addresses into addresses of a space, checks bounds and alignment, announces the
 * access, and finds the bytes in host memory. An access whose lanes address several ranges passes
 * the door once for each range. */

/* Are all 32 addresses inside [base, base + bytes - size]? */
static inline bool all_inside(const struct access *access, uint64_t base, uint64_t bytes)
{
    if (bytes < access->checked) return false;
    uint64_t span = bytes - access->checked, outside = 0;
    for (int l = 0; l < WARP; l++) outside |= (uint64_t)(access->address[l] - base > span);
    return !outside;
}

/* Keeps those lanes of the access that satisfy a condition on their address, a. */
#define KEEP_LANES(access, condition)                                                              \
    do {                                                                                           \
        uint32_t kept = 0;                                                                         \
        for (int l = 0; l < WARP; l++) {                                                           \
            uint64_t a = (access)->address[l];                                                     \
            kept |= (uint32_t)(condition) << l;                                                    \
        }                                                                                          \
        (access)->mask &= kept;                                                                    \
        uint64_t first = (access)->address[__builtin_ctz((access)->mask)];                         \
        for (int l = 0; l < WARP; l++)                                                             \
            if (!((access)->mask >> l & 1)) (access)->address[l] = first;                          \
    } while (0)

static uint64_t window_base(enum ptx_space space)
{
    return space == PTX_SHARED  ? SHARED_WINDOW
           : space == PTX_LOCAL ? LOCAL_WINDOW
           : space == PTX_PARAM ? PARAM_WINDOW
                                : 0;
}

/* Finds the range of global memory of the access. */
static __attribute__((noinline)) bool find_range(struct warp *w, const struct insn *i,
                                                 struct access *access)
{
    int lane = __builtin_ctz(access->mask);
    uint64_t address = access->address[lane];
    struct range range;
    bool lenient = w->block->launch->lenient;
    if (device_range(w->block->launch->emu, address, &range) &&
        access->checked <= range.bytes - (address - range.base)) {
        bool all = all_inside(access, range.base, range.bytes);
        if (!all && lenient) return stray_enter_global(w, i, access);
        w->near = range;
        if (range.delta == 0) w->block->looked_at_host = true;
        if (range.is_heap) w->near.bytes = 0; /* another thread may free it at any time */
        if (!all) KEEP_LANES(access, a - range.base <= range.bytes - access->checked);
        return true;
    }
    if (lenient && stray_enter_global(w, i, access)) return true;
    access_outside_global(w, i, access);
    return false;
}

/* Gives a generic access the space of its first lane's address. Keeps only the lanes in this space,
 * and makes their addresses those of the space. */
static inline void resolve(const struct warp *w, struct access *access)
{
    enum ptx_space space = space_of(access->address[__builtin_ctz(access->mask)]);
    access->space = space;
    if (space != PTX_GLOBAL || !all_inside(access, w->near.base, w->near.bytes))
        KEEP_LANES(access, space_of(a) == space);
    uint64_t base = window_base(space);
    for (int l = 0; l < WARP; l++) access->address[l] -= base;
}

static inline bool is_misaligned(const struct access *access)
{
    uint64_t misaligned = 0;
    for (int l = 0; l < WARP; l++) misaligned |= access->address[l] & (access->bytes - 1);
    return misaligned;
}

static inline void announce(struct warp *w, const struct insn *i, const struct access *access)
{
    if ((w->counts || announces(w->block, ANNOUNCE_ACCESSES)) &&
        access->host != (uint64_t)(uintptr_t)w->block->nowhere)
        event_access(w, i, access);
}

/* `own`: .shared::cta, by which a thread cannot reach other blocks. */
static inline bool enter_shared(struct warp *w, const struct insn *i, struct access *access,
                                bool own)
{
    bool is_alone = w->block->launch->cluster_size == 1;
    struct block *owner = is_alone ? w->block : shared_enter(w, i, access, own);
    if (!owner) return false;
    access->owner = owner;
    access->host = (uint64_t)(uintptr_t)owner->shared;
    if (!all_inside(access, 0, owner->shared_bytes) &&
        !(w->block->launch->lenient && stray_enter_shared(w, i, access, owner))) {
        access_outside(w, i, access, owner->shared_bytes);
        return false;
    }
    announce(w, i, access);
    return true;
}

/* An element or a vector of more than one word is not contiguous: see machine/machine.h. */
static inline bool enter_local(struct warp *w, const struct insn *i, struct access *access)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    size_t bytes = kernel->stack_bytes;
    if (access->operation == OPERATION_ATOMIC) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, bytes)) {
        access_outside(w, i, access, bytes);
        return false;
    }
    if (w->counts) event_private_access(w, i, access);
    access->host = (uint64_t)(uintptr_t)w->local;
    for (int l = 0; l < WARP; l++) access->address[l] = local_place(access->address[l], l);
    return true;
}

static inline bool enter_param(struct warp *w, const struct insn *i, struct access *access)
{
    const struct launch *launch = w->block->launch;
    if (access_writes(access)) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, launch->kernel->param_bytes)) {
        access_outside(w, i, access, launch->kernel->param_bytes);
        return false;
    }
    access->host = (uint64_t)(uintptr_t)launch->params;
    return true;
}

/* Accesses to constant memory go here too. */
static inline bool enter_global(struct warp *w, const struct insn *i, struct access *access)
{
    /* Nearly always it is the range of this warp's last access. */
    if (!all_inside(access, w->near.base, w->near.bytes) && !find_range(w, i, access)) return false;
    access->owner = w->block;
    access->host = (uint64_t)w->near.delta;
    if (access->space != PTX_CONST)
        announce(w, i, access);
    else if (is_observed(w))
        event_constant_access(w, i, access);
    return true;
}

static inline bool enter(struct warp *w, const struct insn *i, struct access *access, bool own)
{
    switch (access->space) {
    case PTX_SHARED: return enter_shared(w, i, access, own);
    case PTX_LOCAL: return enter_local(w, i, access);
    case PTX_PARAM: return enter_param(w, i, access);
    default: return enter_global(w, i, access);
    }
}

/* See machine.h. */
uint32_t access_door(struct warp *w, const struct insn *i, struct access *access)
{
    bool own = access->space == PTX_SHARED;
    access->outside = 0;
    if (access->space == PTX_SHARED_CLUSTER) access->space = PTX_SHARED;
    if (access->space == PTX_GENERIC) resolve(w, access);
    if (is_misaligned(access)) {
        access_misaligned(w, i, access);
        return 0;
    }
    return enter(w, i, access, own) ? access->mask : 0;
}

/* ---- moves the bytes of a run (ops_memory.h) between memory and registers -------------------- */

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
    const uint8_t *bytes = (const uint8_t *)(uintptr_t)(run->host + run->first);
    if (run->stride == 0)
        load_broadcast(w, i, run->mask, bytes);
    else if (i->elements == 1)
        load_row(w, i, run->mask, bytes);
    else if (i->elements == 2)
        load_row_of_pairs(w, i, run->mask, bytes);
    else
        load_row_of_4(w, i, bytes);
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
    uint8_t *bytes = (uint8_t *)(uintptr_t)(run->host + run->first);
    if (run->stride == 0)
        store_broadcast(w, i, run->mask, bytes);
    else if (i->elements == 1)
        store_row(w, i, bytes);
    else if (i->elements == 2)
        store_row_of_2(w, i, bytes);
    else
        store_row_of_4(w, i, bytes);
}

/* ---- local memory ---------------------------------------------------------------------------- */

/* Loads and stores of local memory (PTX ISA, "ld.local", "st.local") where all lanes
 * access the same offset, or consecutive ones: rows of words (machine/machine.h), moved as
 * vectors. Whatever is no such access, or is wrong in any way, goes through the door. */

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

/* ---- generic addresses (PTX ISA, "cvta", "isspacep") ----------------------------------------- */

static void convert_address(struct warp *w, const struct insn *i, uint32_t mask)
{
    lane_64 *d = LANES(u64, i->d);
    const lane_64 *a = LANES(u64, i->a);
    FOR_LANES(d, a[l] + (uint64_t)i->cvta.distance);
}

/* Does a generic address lie in a space? .shared::cluster includes the block's own shared memory.
 * */
static bool is_in(const struct block *block, uint64_t address, enum ptx_space space)
{
    if (space == PTX_SHARED)
        return address - SHARED_WINDOW - shared_window(block->rank) < shared_window(1);
    return space_of(address) == (space == PTX_SHARED_CLUSTER ? PTX_SHARED : space);
}

static void is_space(struct warp *w, const struct insn *i, uint32_t mask)
{
    const lane_64 *a = LANES(u64, i->a);
    uint32_t bits = 0;
    for (int l = 0; l < WARP; l++)
        bits |= (uint32_t)(is_in(w->block, a[l], i->isspacep.space)) << l;
    set_predicate(w, i->d, mask, bits);
}

static const struct op address_entries[] = {{"cvta", convert_address, ""},
                                            {"isspacep", is_space, ""}};
DEFINE_OP_TABLE(ops_address, address_entries);
