/* ops_access.c — loads, stores and parameters. */
#include "ops_memory.h"

/* ---- loads and stores (PTX ISA, "ld", "st") -------------------------------------------------- */

/* The door (ops_door.c) checks each access and finds its bytes; this file moves the bytes. */

/* Loads one element per lane. */
static void load_elements(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
#define LOAD(d, bytes, type)                                                                       \
    EACH_LANE(access->mask, d[l] = (__typeof__(*d))(type)load_element(                             \
                          (const void *)(uintptr_t)(host + access->address[l]), sizeof(type), 0))
    LOAD_BY_KIND(w, i, LOAD);
#undef LOAD
}

static void store_elements(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
#define STORE(bytes)                                                                               \
    EACH_LANE(access->mask, store_element((void *)(uintptr_t)(host + access->address[l]),          \
                                          from[l], bytes))
    if (i->lane_bytes == 4) {
        const lane_32 *from = LANES(u32, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(1); break;
        case 2: STORE(2); break;
        default: STORE(4);
        }
    } else {
        const lane_64 *from = LANES(u64, i->memory.value[0]);
        switch (i->element_bytes) {
        case 1: STORE(1); break;
        case 2: STORE(2); break;
        case 4: STORE(4); break;
        default: STORE(8);
        }
    }
#undef STORE
}

/* Loads .v4 with elements of 4 bytes, the most frequent vector. */
static void load_four(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    lane_32 *d0 = LANES(u32, i->memory.value[0]), *d1 = LANES(u32, i->memory.value[1]);
    lane_32 *d2 = LANES(u32, i->memory.value[2]), *d3 = LANES(u32, i->memory.value[3]);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector = *(const volatile byte_128 *)(uintptr_t)(host + access->address[l]);
        d0[l] = vector[0], d1[l] = vector[1], d2[l] = vector[2], d3[l] = vector[3];
    }
}

static void store_four(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    const lane_32 *a = LANES(u32, i->memory.value[0]), *b = LANES(u32, i->memory.value[1]);
    const lane_32 *c = LANES(u32, i->memory.value[2]), *d = LANES(u32, i->memory.value[3]);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        *(volatile byte_128 *)(uintptr_t)(host + access->address[l]) =
            (byte_128){a[l], b[l], c[l], d[l]};
    }
}

/* Loads and stores two elements, words or double words, in one piece. */
#define DEFINE_TWO(name, type, lane, half, both, join)                                             \
    static void load_##name(const struct warp *w, const struct insn *i,                            \
                            const struct access *access)                                           \
    {                                                                                              \
        uint64_t host = access->host;                                                              \
        lane *low = LANES(type, i->memory.value[0]), *high = LANES(type, i->memory.value[1]);      \
        for (uint32_t left = access->mask; left; left &= left - 1) {                               \
            int l = __builtin_ctz(left);                                                           \
            both pair = *(const volatile both *)(uintptr_t)(host + access->address[l]);            \
            low[l] = half(pair, 0), high[l] = half(pair, 1);                                       \
        }                                                                                          \
    }                                                                                              \
    static void store_##name(const struct warp *w, const struct insn *i,                           \
                             const struct access *access)                                          \
    {                                                                                              \
        uint64_t host = access->host;                                                              \
        const lane *low = LANES(type, i->memory.value[0]);                                         \
        const lane *high = LANES(type, i->memory.value[1]);                                        \
        for (uint32_t left = access->mask; left; left &= left - 1) {                               \
            int l = __builtin_ctz(left);                                                           \
            *(volatile both *)(uintptr_t)(host + access->address[l]) = join(low[l], high[l]);      \
        }                                                                                          \
    }
#define WORD(pair, k)         ((uint32_t)((pair) >> 32 * (k)))
#define JOIN_WORDS(low, high) ((low) | (uint64_t)(high) << 32)
#define LONG(pair, k)         ((pair)[k])
#define JOIN_LONGS(low, high) ((byte_2x64){low, high})
DEFINE_TWO(two_words, u32, lane_32, WORD, byte_64, JOIN_WORDS)
DEFINE_TWO(two_longs, u64, lane_64, LONG, byte_2x64, JOIN_LONGS)

/* Has a vector this many elements of this size, each with a register of that size? */
static bool is_plain_vector(const struct insn *i, unsigned elements, unsigned bytes)
{
    if (i->elements != elements || i->element_bytes != bytes || i->lane_bytes != bytes)
        return false;
    for (unsigned k = 0; k < elements; k++)
        if (i->memory.value[k] == NO_SLOT) return false;
    return true;
}

/* The other vectors, such as those of bytes or with a sink. */
static void load_one_by_one(struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
        move_vector(vector, (const void *)(uintptr_t)(host + access->address[l]), access->bytes);
        for (unsigned k = 0; k < i->elements; k++)
            if (i->memory.value[k] != NO_SLOT)
                set_lane(w, i->memory.value[k], i->lane_bytes, l,
                         load_element((const char *)vector + k * i->element_bytes, i->element_bytes,
                                      i->is_signed));
    }
}

static void load_vectors(struct warp *w, const struct insn *i, const struct access *access)
{
    if (is_plain_vector(i, 4, 4))
        load_four(w, i, access);
    else if (is_plain_vector(i, 2, 4))
        load_two_words(w, i, access);
    else if (is_plain_vector(i, 2, 8))
        load_two_longs(w, i, access);
    else
        load_one_by_one(w, i, access);
}

static void store_one_by_one(struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        byte_128 vector[MAX_VECTOR * sizeof(uint64_t) / sizeof(byte_128)];
        for (unsigned k = 0; k < i->elements; k++)
            store_element((char *)vector + k * i->element_bytes,
                          get_lane(w, i->memory.value[k], i->lane_bytes, l), i->element_bytes);
        move_vector((void *)(uintptr_t)(host + access->address[l]), vector, access->bytes);
    }
}

static void store_vectors(struct warp *w, const struct insn *i, const struct access *access)
{
    if (is_plain_vector(i, 4, 4))
        store_four(w, i, access);
    else if (is_plain_vector(i, 2, 4))
        store_two_words(w, i, access);
    else if (is_plain_vector(i, 2, 8))
        store_two_longs(w, i, access);
    else
        store_one_by_one(w, i, access);
}

/* ---- elements and vectors of several words of local memory, which are not contiguous --------- */

static bool is_in_local_words(const struct access *access)
{
    return access->space == PTX_LOCAL && access->bytes > LOCAL_WORD;
}

/* Element k of a lane. One of 8 bytes is two words, in rows one after the other. */
#define LOCAL_HALF(at, half) (*(byte_32 *)((at) + (half)*LOCAL_ROW))
#define ELEMENT_AT(access, l)                                                                      \
    ((uint8_t *)(uintptr_t)((access)->host + place + (access)->address[l]))

static void load_local_element(const struct warp *w, const struct insn *i, unsigned k,
                               const struct access *access)
{
    uint64_t place = local_place((uint64_t)k * i->element_bytes, 0);
    slot to = i->memory.value[k];
    if (to == NO_SLOT) return;
    if (i->element_bytes == 8) {
        lane_64 *d = LANES(u64, to);
        EACH_LANE(access->mask, d[l] = LOCAL_HALF(ELEMENT_AT(access, l), 0) |
                                       (uint64_t)LOCAL_HALF(ELEMENT_AT(access, l), 1) << 32);
    } else if (i->element_bytes == i->lane_bytes) {
        lane_32 *d = LANES(u32, to);
        EACH_LANE(access->mask, d[l] = LOCAL_HALF(ELEMENT_AT(access, l), 0));
    } else {
        EACH_LANE(access->mask,
                  set_lane(w, to, i->lane_bytes, l,
                           load_element(ELEMENT_AT(access, l), i->element_bytes, i->is_signed)));
    }
}

static void store_local_element(const struct warp *w, const struct insn *i, unsigned k,
                                const struct access *access)
{
    uint64_t place = local_place((uint64_t)k * i->element_bytes, 0);
    slot from = i->memory.value[k];
    if (i->element_bytes == 8) {
        const lane_64 *s = LANES(u64, from);
        EACH_LANE(access->mask, (LOCAL_HALF(ELEMENT_AT(access, l), 0) = (uint32_t)s[l],
                                 LOCAL_HALF(ELEMENT_AT(access, l), 1) = (uint32_t)(s[l] >> 32)));
    } else if (i->element_bytes == i->lane_bytes) {
        const lane_32 *s = LANES(u32, from);
        EACH_LANE(access->mask, LOCAL_HALF(ELEMENT_AT(access, l), 0) = s[l]);
    } else {
        EACH_LANE(access->mask,
                  store_element(ELEMENT_AT(access, l), get_lane(w, from, i->lane_bytes, l),
                                i->element_bytes));
    }
}

void load_any(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_LOAD, i->address.space, mask,
                (unsigned)i->element_bytes * i->elements);
    access.checked = i->memory.checked_bytes;
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        if (is_in_local_words(&access))
            for (unsigned k = 0; k < i->elements; k++) load_local_element(w, i, k, &access);
        else if (i->elements > 1)
            load_vectors(w, i, &access);
        else
            load_elements(w, i, &access);
    }
}

INLINE bool find_any_run(struct warp *w, const struct insn *i, uint32_t mask,
                         struct access_run *run)
{
    return find_run(w, i, mask, i->address.space, (unsigned)i->element_bytes * i->elements,
                    i->address.bytes, run);
}

static void load(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access_run run = {.operation = OPERATION_LOAD};
    if (find_any_run(w, i, mask, &run) && is_movable_run(i, &run, false) &&
        enter_run(w, i, &run))
        load_run(w, i, &run);
    else
        load_any(w, i, mask);
}

/* A load that orders memory (ld.acquire, ld.volatile, …). */
static void load_polled(struct warp *w, const struct insn *i, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    uint64_t address = address_of(w, &i->address, lane); /* the load may overwrite the register */
    load(w, i, mask);
    if (i->memory.value[0] != NO_SLOT)
        warp_polls(w, i, address, get_lane(w, i->memory.value[0], i->lane_bytes, lane));
}

/* Does a store change memory? Nearly always it does, and the first lane already shows it. */
static bool changes_memory(const struct warp *w, const struct insn *i, const struct access *access)
{
    uint64_t host = access->host;
    uint64_t all = UINT64_MAX >> (64 - 8 * i->element_bytes);
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t at = host + access->address[l];
        for (unsigned k = 0; k < i->elements; k++, at += i->element_bytes)
            if ((get_lane(w, i->memory.value[k], i->lane_bytes, l) & all) !=
                load_element((const void *)(uintptr_t)at, i->element_bytes, false))
                return true;
    }
    return false;
}

/* Tells the scheduler whether the warp makes progress. A loop that waits may store the same value
 * at the same address again and again. A loop that works may also store values that are already
 * there, but at changing addresses. */
static __attribute__((noinline)) void note_store(struct warp *w, const struct insn *i,
                                                 const struct access *access)
{
    uint64_t at = access->address[__builtin_ctz(access->mask)];
    w->block->changed = changes_memory(w, i, access);
    if (w->stored != i || w->stored_address != at) w->block->wrote = true;
    w->stored = i;
    w->stored_address = at;
}

void store_any(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access access;
    access_make(&access, OPERATION_STORE, i->address.space, mask,
                (unsigned)i->element_bytes * i->elements);
    while (mask) {
        take_addresses(w, i, mask, &access);
        if (!access_door(w, i, &access)) return;
        mask &= ~access.mask;
        if (!w->block->changed && access.space != PTX_LOCAL) note_store(w, i, &access);
        if (is_in_local_words(&access))
            for (unsigned k = 0; k < i->elements; k++) store_local_element(w, i, k, &access);
        else if (i->elements > 1)
            store_vectors(w, i, &access);
        else
            store_elements(w, i, &access);
    }
}

/* The first store of a turn goes through the door, which notes what it changes. */
static void store(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct access_run run = {.operation = OPERATION_STORE};
    if (w->block->changed && find_any_run(w, i, mask, &run) && is_movable_run(i, &run, true) &&
        enter_run(w, i, &run))
        store_run(w, i, &run);
    else
        store_any(w, i, mask);
}

/* ---- the accesses of most programs: one element of all lanes, of the register's size --------- */

/* X(name, type of the lanes, space, bytes of an address); decode_memory.c chooses them. */
#define USUAL_ACCESSES(X)                                                                          \
    X(shared_4, u32, PTX_SHARED, 4) X(shared_8, u64, PTX_SHARED, 4)                                \
    X(global_4, u32, PTX_GLOBAL, 8) X(global_8, u64, PTX_GLOBAL, 8)

/* Finds the run of an access of all lanes, and its place. With observers, they are told. False: the
 * access has to go another way. */
INLINE bool begin_run(struct warp *w, const struct insn *i, enum ptx_space space, unsigned bytes,
                      unsigned address_bytes, bool observed, struct access_run *run)
{
    return find_run(w, i, ALL_LANES, space, bytes, address_bytes, run) &&
           (observed ? enter_run(w, i, run) : place_run(w, run));
}

/* Each twice: with and without observers, whose call would cost all of them a stack frame. */
#define DEFINE_USUAL_ACCESS(name, type, space, address_bytes)                                      \
    INLINE bool try_load_##name(struct warp *w, const struct insn *i, bool observed)               \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_LOAD};                                     \
        if (!begin_run(w, i, space, sizeof(T_##type), address_bytes, observed, &run))              \
            return false;                                                                          \
        L_##type *d = LANES(type, i->memory.value[0]);                                             \
        const L_##type *s = (const L_##type *)(uintptr_t)(run.host + run.first), first = *s;       \
        if (run.stride == 0)                                                                       \
            for (int l = 0; l < WARP; l++) d[l] = first;                                           \
        else                                                                                       \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = s[l];                                \
        return true;                                                                               \
    }                                                                                              \
    INLINE bool try_store_##name(struct warp *w, const struct insn *i, bool observed)              \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_STORE};                                    \
        if (!w->block->changed) return false;                                                      \
        if (!begin_run(w, i, space, sizeof(T_##type), address_bytes, observed, &run))              \
            return false;                                                                          \
        L_##type *d = (L_##type *)(uintptr_t)(run.host + run.first);                               \
        const L_##type *s = LANES(type, i->memory.value[0]);                                       \
        if (run.stride == 0)                                                                       \
            *d = s[WARP - 1];                                                                      \
        else                                                                                       \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = s[l];                                \
        return true;                                                                               \
    }                                                                                              \
    DEFINE_OBSERVED(load, load_##name, try_load_##name)                                            \
    DEFINE_OBSERVED(store, store_##name, try_store_##name)
#define DEFINE_OBSERVED(general, name, attempt)                                                    \
    static __attribute__((noinline)) void name##_observed(struct warp *w, const struct insn *i,    \
                                                          uint32_t mask)                           \
    {                                                                                              \
        if (mask != ALL_LANES)                                                                     \
            general(w, i, mask);                                                                   \
        else if (!attempt(w, i, true))                                                             \
            general##_any(w, i, mask);                                                             \
    }                                                                                              \
    static void name(struct warp *w, const struct insn *i, uint32_t mask)                          \
    {                                                                                              \
        if (is_observed(w))                                                                        \
            name##_observed(w, i, mask);                                                           \
        else if (mask != ALL_LANES)                                                                \
            general(w, i, mask);                                                                   \
        else if (!attempt(w, i, false))                                                            \
            general##_any(w, i, mask);                                                             \
    }
USUAL_ACCESSES(DEFINE_USUAL_ACCESS)

/* ---- one or two bytes of all lanes, in registers of four ------------------------------------- */

/* X(name, bits, space, bytes of an address) */
#define USUAL_PARTS(X)                                                                             \
    X(shared_1, 8, PTX_SHARED, 4) X(shared_2, 16, PTX_SHARED, 4)                                   \
    X(global_1, 8, PTX_GLOBAL, 8) X(global_2, 16, PTX_GLOBAL, 8)
#define DEFINE_USUAL_PART(name, bits, space, address_bytes)                                        \
    INLINE bool try_load_##name(struct warp *w, const struct insn *i, bool observed)               \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_LOAD};                                     \
        if (!begin_run(w, i, space, bits / 8, address_bytes, observed, &run)) return false;        \
        lane_32 *d = LANES(u32, i->memory.value[0]);                                               \
        const byte_##bits *s = (const byte_##bits *)(uintptr_t)(run.host + run.first);             \
        uint32_t first = (uint32_t)load_element(s, bits / 8, i->is_signed);                        \
        if (run.stride == 0)                                                                       \
            for (int l = 0; l < WARP; l++) d[l] = first;                                           \
        else if (i->is_signed)                                                                     \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = (uint32_t)(int##bits##_t)s[l];       \
        else                                                                                       \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = s[l];                                \
        return true;                                                                               \
    }                                                                                              \
    INLINE bool try_store_##name(struct warp *w, const struct insn *i, bool observed)              \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_STORE};                                    \
        if (!w->block->changed) return false;                                                      \
        if (!begin_run(w, i, space, bits / 8, address_bytes, observed, &run)) return false;        \
        byte_##bits *d = (byte_##bits *)(uintptr_t)(run.host + run.first);                         \
        const lane_32 *s = LANES(u32, i->memory.value[0]);                                         \
        if (run.stride == 0)                                                                       \
            *d = (byte_##bits)s[WARP - 1];                                                         \
        else                                                                                       \
            INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = (byte_##bits)s[l];                   \
        return true;                                                                               \
    }                                                                                              \
    DEFINE_OBSERVED(load, load_##name, try_load_##name)                                            \
    DEFINE_OBSERVED(store, store_##name, try_store_##name)
USUAL_PARTS(DEFINE_USUAL_PART)

/* ---- vectors of two or four words of all lanes, without sinks -------------------------------- */

#define USUAL_VECTORS(X)                                                                           \
    X(shared_v2, 2, PTX_SHARED, 4) X(shared_v4, 4, PTX_SHARED, 4)                                  \
    X(global_v2, 2, PTX_GLOBAL, 8) X(global_v4, 4, PTX_GLOBAL, 8)

/* One vector for all lanes, read in one piece. */
INLINE void spread_vector(struct warp *w, const struct insn *i, const void *from, unsigned elements)
{
    uint32_t vector[4];
    move_vector(vector, from, elements * (unsigned)sizeof *vector);
    for (unsigned k = 0; k < elements; k++) {
        lane_32 *d = LANES(u32, i->memory.value[k]);
        for (int l = 0; l < WARP; l++) d[l] = vector[k];
    }
}

/* The last lane's vector, written in one piece. */
INLINE void store_last_vector(struct warp *w, const struct insn *i, void *to, unsigned elements)
{
    uint32_t vector[4];
    for (unsigned k = 0; k < elements; k++) vector[k] = LANES(u32, i->memory.value[k])[WARP - 1];
    move_vector(to, vector, elements * (unsigned)sizeof *vector);
}

#define DEFINE_USUAL_VECTOR(name, elements, space, address_bytes)                                  \
    INLINE bool try_load_##name(struct warp *w, const struct insn *i, bool observed)               \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_LOAD};                                     \
        if (!begin_run(w, i, space, 4 * elements, address_bytes, observed, &run)) return false;    \
        const uint8_t *from = (const uint8_t *)(uintptr_t)(run.host + run.first);                  \
        if (run.stride == 0)                                                                       \
            spread_vector(w, i, from, elements);                                                   \
        else                                                                                       \
            load_row_of_##elements(w, i, from);                                                    \
        return true;                                                                               \
    }                                                                                              \
    INLINE bool try_store_##name(struct warp *w, const struct insn *i, bool observed)              \
    {                                                                                              \
        struct access_run run = {.operation = OPERATION_STORE};                                    \
        if (!w->block->changed) return false;                                                      \
        if (!begin_run(w, i, space, 4 * elements, address_bytes, observed, &run)) return false;    \
        uint8_t *to = (uint8_t *)(uintptr_t)(run.host + run.first);                                \
        if (run.stride == 0)                                                                       \
            store_last_vector(w, i, to, elements);                                                 \
        else                                                                                       \
            store_row_of_##elements(w, i, to);                                                     \
        return true;                                                                               \
    }                                                                                              \
    DEFINE_OBSERVED(load, load_##name, try_load_##name)                                            \
    DEFINE_OBSERVED(store, store_##name, try_store_##name)
USUAL_VECTORS(DEFINE_USUAL_VECTOR)

#define ENTRY_USUAL_ACCESS(name, ...)                                                              \
    {"ld." #name, load_##name, ""}, {"st." #name, store_##name, ""},
static const struct op entries[] = {{"ld", load, ""},
                                    {"ld.polled", load_polled, ""},
                                    {"st", store, ""},
                                    USUAL_ACCESSES(ENTRY_USUAL_ACCESS)
                                        USUAL_PARTS(ENTRY_USUAL_ACCESS)
                                            USUAL_VECTORS(ENTRY_USUAL_ACCESS)};
DEFINE_OP_TABLE(ops_access, entries);

/* ---- parameters ------------------------------------------------------------------------------ */

/* Parameters (PTX ISA, "ld.param", "st.param"): those of the kernel, and those of the
 * functions that it calls. */

/* Writes one value into all lanes. */
static void spread(const struct warp *w, slot s, unsigned lane_bytes, uint32_t mask, uint64_t value)
{
    if (lane_bytes == 8) {
        lane_64 *d = LANES(u64, s);
        FOR_LANES(d, value);
    } else {
        lane_32 *d = LANES(u32, s);
        FOR_LANES(d, (uint32_t)value);
    }
}

/* Loads a parameter that is given by its name, as is usual: the value is the same for all lanes.
 * False: the address is computed. */
static bool load_named_param(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct launch *launch = w->block->launch;
    uint64_t bytes = (uint64_t)i->element_bytes * i->elements;
    if (i->address.base >> 30 != BANK_CONSTANTS || i->address.offset < 0 ||
        (uint64_t)i->address.offset + bytes > launch->kernel->param_bytes)
        return false;
    for (unsigned k = 0; k < i->elements; k++) {
        uint64_t value = 0;
        if (i->memory.value[k] == NO_SLOT) continue;
        copy_few(&value, launch->params + i->address.offset + (size_t)k * i->element_bytes,
                 i->element_bytes);
        spread(w, i->memory.value[k], i->lane_bytes, mask,
               load_element(&value, i->element_bytes, i->is_signed));
    }
    return true;
}

/* Loads a parameter. If its address is computed, each lane may have another address. */
static void load_param(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (load_named_param(w, i, mask)) return;
    const struct launch *launch = w->block->launch;
    unsigned bytes = (unsigned)i->element_bytes * i->elements;
    for (uint32_t left = mask; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        uint64_t at =
            get_lane(w, i->address.base, i->address.bytes, l) + (uint64_t)i->address.offset;
        if (at > launch->kernel->param_bytes || bytes > launch->kernel->param_bytes - at) {
            struct access access;
            access_make(&access, OPERATION_LOAD, PTX_PARAM, UINT32_C(1) << l, bytes);
            for (int k = 0; k < WARP; k++) access.address[k] = at;
            access_outside(w, i, &access, launch->kernel->param_bytes);
            return;
        }
        for (unsigned k = 0; k < i->elements; k++)
            if (i->memory.value[k] != NO_SLOT) {
                uint64_t value = 0;
                memcpy(&value, launch->params + at + (size_t)k * i->element_bytes,
                       i->element_bytes);
                set_lane(w, i->memory.value[k], i->lane_bytes, l,
                         load_element(&value, i->element_bytes, i->is_signed));
            }
    }
}

/* ---- ld.param and st.param around calls and inside functions: the frame's area. The decoder has
 * checked that the bytes are inside of it ---- */

/* Is an element whole words in a register of its size? Then the rows of the area hold it as the
 * register does, or as its halves. */
static bool is_whole_words(const struct insn *i, size_t offset)
{
    return i->element_bytes % AREA_WORD == 0 && i->element_bytes == i->lane_bytes &&
           offset % AREA_WORD == 0;
}

static void load_words(const struct warp *w, unsigned bytes, slot to, uint32_t mask, size_t offset)
{
    const lane_32 *low = area_row(w->frame, offset), *high = low + WARP;
    if (bytes == 8) {
        lane_64 *d = LANES(u64, to);
        FOR_LANES(d, low[l] | (uint64_t)high[l] << 32);
    } else {
        lane_32 *d = LANES(u32, to);
        FOR_LANES(d, low[l]);
    }
}

static void store_words(const struct warp *w, unsigned bytes, slot from, uint32_t mask,
                        size_t offset)
{
    lane_32 *low = area_row(w->frame, offset), *high = low + WARP;
    if (bytes == 8) {
        const lane_64 *s = LANES(u64, from);
        FOR_LANES(low, (uint32_t)s[l]);
        FOR_LANES(high, (uint32_t)(s[l] >> 32));
    } else {
        const lane_32 *s = LANES(u32, from);
        FOR_LANES(low, s[l]);
    }
}

static void load_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t offset = (size_t)i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, offset += i->element_bytes) {
        slot to = i->memory.value[k];
        if (to == NO_SLOT) continue;
        if (is_whole_words(i, offset)) {
            load_words(w, i->element_bytes, to, mask, offset);
            continue;
        }
        for (uint32_t left = mask; left; left &= left - 1) {
            uint64_t value = 0;
            area_read(w->frame, __builtin_ctz(left), offset, &value, i->element_bytes);
            set_lane(w, to, i->lane_bytes, __builtin_ctz(left),
                     load_element(&value, i->element_bytes, i->is_signed));
        }
    }
}

static void store_area(struct warp *w, const struct insn *i, uint32_t mask)
{
    size_t offset = (size_t)i->address.offset;
    for (unsigned k = 0; k < i->elements; k++, offset += i->element_bytes) {
        slot from = i->memory.value[k];
        if (is_whole_words(i, offset)) {
            store_words(w, i->element_bytes, from, mask, offset);
            continue;
        }
        for (uint32_t left = mask; left; left &= left - 1) {
            int lane = __builtin_ctz(left);
            uint64_t value = get_lane(w, from, i->lane_bytes, lane);
            area_write(w->frame, lane, offset, &value, i->element_bytes);
        }
    }
}

static const struct op param_entries[] = {
    {"ld.param", load_param, ""}, {"ld.area", load_area, ""}, {"st.area", store_area, ""}};
DEFINE_OP_TABLE(ops_param, param_entries);
