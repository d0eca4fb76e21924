/* ops_memory.h — addresses, runs of lanes, and textures, for the ops_*.c files that access
 * memory. */
#ifndef EMU_OPS_MEMORY_H
#define EMU_OPS_MEMORY_H

#include "ops.h"
#include "common/tools/emu/machine/device.h"
#include "common/tools/emu/machine/events.h"

/* ---- what loads ------------------------------------------------------------------------------ */

/* What loads, stores and atomics share: computing addresses, and moving elements between memory and
 * registers. Only for the ops_*.c files, which are compiled for several instruction sets. */

/* The door in ops_door.c; see machine.h. */
#define access_door EMU_PASTE(access_door_, EMU_ISA)
uint32_t access_door(struct warp *, const struct insn *, struct access *);

/* The space of a generic address, by its window. */
static inline enum ptx_space space_of(uint64_t address)
{
    return address - SHARED_WINDOW < WINDOW_BYTES  ? PTX_SHARED
           : address - LOCAL_WINDOW < WINDOW_BYTES ? PTX_LOCAL
           : address - PARAM_WINDOW < WINDOW_BYTES ? PTX_PARAM
                                                   : PTX_GLOBAL;
}

/* Computes the lanes' addresses, register + offset; modulo 2^32 if the register has 32 bits. */
static inline void take_addresses(struct warp *w, const struct insn *i, uint32_t mask,
                                  struct access *access)
{
    const struct address *from = &i->address;
    if (from->bytes == 8) {
        const lane_64 *a = LANES(u64, from->base);
        for (int l = 0; l < WARP; l++) access->address[l] = a[l] + (uint64_t)from->offset;
    } else {
        const lane_32 *a = LANES(u32, from->base);
        for (int l = 0; l < WARP; l++)
            access->address[l] = (uint32_t)(a[l] + (uint32_t)from->offset);
    }
    access->mask = mask;
    access->space = from->space;
    if (mask == ALL_LANES) return;
    uint64_t first = access->address[__builtin_ctz(mask)];
    for (int l = 0; l < WARP; l++) access->address[l] = mask >> l & 1 ? access->address[l] : first;
}

/* For each lane of a mask, which nearly always is all of them. */
#define EACH_LANE(mask, statement)                                                                 \
    do {                                                                                           \
        if ((mask) == ALL_LANES)                                                                   \
            for (int l = 0; l < WARP; l++) statement;                                              \
        else                                                                                       \
            for (uint32_t left = (mask); left; left &= left - 1) {                                 \
                int l = __builtin_ctz(left);                                                       \
                statement;                                                                         \
            }                                                                                      \
    } while (0)

/* ---- elements -------------------------------------------------------------------------------- */

typedef uint8_t byte_8 __attribute__((may_alias));
typedef uint16_t byte_16 __attribute__((may_alias));
typedef uint32_t byte_32 __attribute__((may_alias));
typedef uint64_t byte_64 __attribute__((may_alias));
typedef uint32_t byte_128 __attribute__((may_alias, vector_size(16))); /* four words */
typedef uint64_t byte_2x64 __attribute__((may_alias, vector_size(16)));

static inline uint64_t load_element(const void *from, unsigned bytes, bool sign_extend)
{
    switch (bytes) {
    case 1:
        return sign_extend ? (uint64_t)(int64_t)(int8_t) * (const byte_8 *)from
                           : *(const byte_8 *)from;
    case 2:
        return sign_extend ? (uint64_t)(int64_t)(int16_t) * (const byte_16 *)from
                           : *(const byte_16 *)from;
    case 4:
        return sign_extend ? (uint64_t)(int64_t)(int32_t) * (const byte_32 *)from
                           : *(const byte_32 *)from;
    default: return *(const byte_64 *)from;
    }
}

static inline void store_element(void *to, uint64_t value, unsigned bytes)
{
    switch (bytes) {
    case 1: *(byte_8 *)to = (uint8_t)value; break;
    case 2: *(byte_16 *)to = (uint16_t)value; break;
    case 4: *(byte_32 *)to = (uint32_t)value; break;
    default: *(byte_64 *)to = value; break;
    }
}

/* Moves one lane's aligned vector at once, without tearing. Programs rely on that: they pack a flag
 * and a value into one vector and read it without a lock while another block writes it. GPUs, and
 * all x86 CPUs with AVX, move 16 bytes at once. */
static inline void move_vector(void *to, const void *from, unsigned bytes)
{
    switch (bytes) {
    case 2: *(volatile byte_16 *)to = *(const volatile byte_16 *)from; break;
    case 4: *(volatile byte_32 *)to = *(const volatile byte_32 *)from; break;
    case 8: *(volatile byte_64 *)to = *(const volatile byte_64 *)from; break;
    default:
        for (unsigned k = 0; k < bytes / sizeof(byte_128); k++)
            ((volatile byte_128 *)to)[k] = ((const volatile byte_128 *)from)[k];
    }
}

static inline void set_lane(const struct warp *w, slot s, unsigned lane_bytes, int lane,
                            uint64_t value)
{
    if (lane_bytes == 8)
        LANES(u64, s)[lane] = value;
    else
        LANES(u32, s)[lane] = (uint32_t)value;
}

static inline uint64_t get_lane(const struct warp *w, slot s, unsigned lane_bytes, int lane)
{
    return lane_bytes == 8 ? LANES(u64, s)[lane] : LANES(u32, s)[lane];
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The usual access of a warp: a run, whose lanes all go to one place (stride 0) or
 * one after the other (stride = bytes of a lane). One check of its bounds serves all lanes, and its
 * bytes are moved as vectors.
 *
 * This is a short cut past the door (ops_door.c): whatever is no such access, or is
 * wrong in any way, goes through the door, which says what. */

#if defined __AVX__
#include <immintrin.h>
#endif

/* Loads one element per lane by LOAD(registers, bytes in memory, type to extend from). Each width
 * and kind has its own loop, so the choice is made once per access and not per lane. */
#define LOAD_BY_KIND(w, i, LOAD)                                                                   \
    do {                                                                                           \
        int kind = (i)->is_signed ? -(i)->element_bytes : (i)->element_bytes;                      \
        if ((i)->lane_bytes == 4) {                                                                \
            lane_32 *d = LANES(u32, (i)->memory.value[0]);                                         \
            switch (kind) {                                                                        \
            case 1: LOAD(d, byte_8, uint8_t); break;                                               \
            case -1: LOAD(d, byte_8, int8_t); break;                                               \
            case 2: LOAD(d, byte_16, uint16_t); break;                                             \
            case -2: LOAD(d, byte_16, int16_t); break;                                             \
            default: LOAD(d, byte_32, uint32_t);                                                   \
            }                                                                                      \
        } else {                                                                                   \
            lane_64 *d = LANES(u64, (i)->memory.value[0]);                                         \
            switch (kind) {                                                                        \
            case 1: LOAD(d, byte_8, uint8_t); break;                                               \
            case -1: LOAD(d, byte_8, int8_t); break;                                               \
            case 2: LOAD(d, byte_16, uint16_t); break;                                             \
            case -2: LOAD(d, byte_16, int16_t); break;                                             \
            case 4: LOAD(d, byte_32, uint32_t); break;                                             \
            case -4: LOAD(d, byte_32, int32_t); break;                                             \
            default: LOAD(d, byte_64, uint64_t);                                                   \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* Vectors of 32 bytes. A frame's registers are not aligned to them. */
typedef uint32_t vector_u32 __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint64_t vector_u64 __attribute__((vector_size(32), aligned(8), may_alias));
#if defined __AVX__
#define IS_ZERO(v) _mm256_testz_si256((__m256i)(v), (__m256i)(v))
#else
#define IS_ZERO(v)                                                                                 \
    (!(((vector_u64)(v))[0] | ((vector_u64)(v))[1] | ((vector_u64)(v))[2] | ((vector_u64)(v))[3]))
#endif

/* Do all 32 lanes have the addresses first + lane * stride? */
#define DEFINE_IS_RUN(type, ...)                                                                   \
    INLINE bool is_run_##type(const L_##type *a, T_##type stride)                                  \
    {                                                                                              \
        enum { PER = 32 / sizeof(T_##type) };                                                      \
        const vector_##type lanes = {__VA_ARGS__}, *v = (const vector_##type *)a;                  \
        vector_##type want = lanes * stride + a[0], gap = v[0] ^ want;                             \
        for (int k = 1; k < WARP / PER; k++) gap |= v[k] ^ (want + k * PER * stride);              \
        return IS_ZERO(gap);                                                                       \
    }
DEFINE_IS_RUN(u32, 0, 1, 2, 3, 4, 5, 6, 7)
DEFINE_IS_RUN(u64, 0, 1, 2, 3)

/* Do the lanes of `mask` have the addresses first + lane * stride? `first` is lane 0's, even if it
 * is not in the mask. `gap` collects the bits in which they differ. */
#define GAP_TO_RUN(gap, mask, a, first, shape)                                                     \
    do {                                                                                           \
        for (int l = 0; l < WARP; l++) gap |= (mask) >> l & 1 ? a[l] ^ ((first) + (shape)) : 0;    \
    } while (0)

/* The run that the lanes of a register make; false: they make none. The first two lanes and the
 * last one tell for nearly all accesses that are none. `bytes` is 1, 2, 4, … */
#define DEFINE_FIND_RUN(type)                                                                      \
    static inline bool find_run_##type(const L_##type *a, uint32_t mask, unsigned bytes,           \
                                       struct access_run *run)                                     \
    {                                                                                              \
        if (mask == ALL_LANES) {                                                                   \
            run->first = a[0];                                                                     \
            run->stride = (unsigned)(a[1] - a[0]);                                                 \
            if (run->stride == 0) return is_run_##type(a, 0);                                      \
            return run->stride == bytes && is_run_##type(a, bytes);                                \
        }                                                                                          \
        int lane = __builtin_ctz(mask), last = WARP - 1 - __builtin_clz(mask);                     \
        int second = mask & (mask - 1) ? __builtin_ctz(mask & (mask - 1)) : lane;                  \
        T_##type first = a[lane], gap = 0, shift = (T_##type)__builtin_ctz(bytes);                 \
        T_##type distance = a[second] - first;                                                     \
        if (a[last] - first != (distance ? (T_##type)(last - lane) << shift : 0)) return false;    \
        run->stride = distance ? bytes : 0;                                                        \
        if (distance) {                                                                            \
            first -= (T_##type)lane << shift;                                                      \
            GAP_TO_RUN(gap, mask, a, first, (T_##type)l << shift);                                 \
        } else {                                                                                   \
            GAP_TO_RUN(gap, mask, a, first, 0);                                                    \
        }                                                                                          \
        run->first = first;                                                                        \
        return !gap;                                                                               \
    }
DEFINE_FIND_RUN(u32) /* a run beyond 2^32 is outside of memory: its bounds are checked */
DEFINE_FIND_RUN(u64)

/* Finds the run that an instruction's addresses make. Space, bytes of a lane and bytes of an
 * address are those of i->address. A caller that passes constants gets code for these alone. */
INLINE bool find_run(struct warp *w, const struct insn *i, uint32_t mask, enum ptx_space space,
                     unsigned bytes, unsigned address_bytes, struct access_run *run)
{
    const struct address *from = &i->address;
    run->bytes = bytes;
    run->mask = mask;
    run->space = space;
    if (address_bytes == 8) {
        if (!find_run_u64(LANES(u64, from->base), mask, bytes, run)) return false;
        run->first += (uint64_t)from->offset;
    } else {
        if (!find_run_u32(LANES(u32, from->base), mask, bytes, run)) return false;
        run->first = (uint32_t)((uint32_t)run->first + (uint32_t)from->offset);
    }
    return true;
}

/* Is the run, of 32 lanes whatever the mask, inside of [0, size) and aligned? `at` is lane 0's
 * place. */
INLINE bool run_fits(const struct access_run *run, uint64_t at, uint64_t size)
{
    uint64_t length = (uint64_t)run->stride * (WARP - 1) + run->bytes;
    return at < size && size - at >= length && !(run->first & (run->bytes - 1));
}

/* Apart, and with values for arguments, so that callers keep a run in registers. */
static __attribute__((noinline)) void announce_run(struct warp *w, const struct insn *i,
                                                   uint32_t mask, uint64_t first, unsigned stride,
                                                   enum ptx_space space, enum operation operation,
                                                   uint64_t host)
{
    unsigned bytes = (unsigned)i->element_bytes * i->elements;
    event_access_run(w, i,
                     &(struct access_run){first, stride, bytes, mask, space, operation, host});
}

/* Does anybody look at accesses? */
INLINE bool is_observed(const struct warp *w) { return w->observed; }

/* Places a run that goes to the block's own shared memory, or into the range of global memory where
 * the warp's last access was. False: it has to go through the door. */
INLINE bool place_run(const struct warp *w, struct access_run *run)
{
    if (run->space == PTX_GENERIC) {
        run->space = space_of(run->first);
        if (run->space == PTX_SHARED) run->first -= SHARED_WINDOW;
    }
    if (run->space == PTX_SHARED) {
        if (!run_fits(run, run->first, w->own_shared_bytes)) return false;
        run->host = (uint64_t)(uintptr_t)w->own_shared;
    } else if (run->space == PTX_GLOBAL || run->space == PTX_CONST) {
        if (!run_fits(run, run->first - w->near.base, w->near.bytes)) return false;
        run->host = (uint64_t)w->near.delta;
    } else {
        return false;
    }
    return true;
}

/* Places a run and announces it. A load of constant memory goes through the door if racecheck looks
 * at it, or if it has several addresses and is counted. */
INLINE bool enter_run(struct warp *w, const struct insn *i, struct access_run *run)
{
    if (run->space == PTX_CONST && is_observed(w) &&
        (run->stride || announces(w->block, ANNOUNCE_ORDER)))
        return false;
    if (!place_run(w, run)) return false;
    if (is_observed(w) && run->space != PTX_CONST)
        announce_run(w, i, run->mask, run->first, run->stride, run->space, run->operation,
                     run->host);
    return true;
}

/* ---- rows of vectors ------------------------------------------------------------------------- */

/* Two words a lane, of all lanes: 8 bytes in one piece. */
INLINE void load_row_of_2(struct warp *w, const struct insn *i, const uint8_t *from)
{
    const byte_64 *s = (const byte_64 *)from;
    lane_32 *low = LANES(u32, i->memory.value[0]), *high = LANES(u32, i->memory.value[1]);
    INDEPENDENT for (int l = 0; l < WARP; l++)
    {
        low[l] = (uint32_t)s[l];
        high[l] = (uint32_t)(s[l] >> 32);
    }
}

INLINE void store_row_of_2(struct warp *w, const struct insn *i, uint8_t *to)
{
    const lane_32 *low = LANES(u32, i->memory.value[0]), *high = LANES(u32, i->memory.value[1]);
    byte_64 *d = (byte_64 *)to;
    INDEPENDENT for (int l = 0; l < WARP; l++) d[l] = low[l] | (uint64_t)high[l] << 32;
}

/* Turns four rows of four words into four columns; with AVX, two such squares, side by side. */
#if defined __AVX2__
enum { ROWS = 8 };
typedef __m256i square_row;
INLINE square_row load_row_pair(const volatile byte_128 *s)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256((__m128i)s[0]), (__m128i)s[4], 1);
}
INLINE void store_row_pair(volatile byte_128 *d, square_row row)
{
    d[0] = (byte_128)_mm256_castsi256_si128(row);
    d[4] = (byte_128)_mm256_extracti128_si256(row, 1);
}
#define LOW_WORDS(a, b)  _mm256_unpacklo_epi32(a, b)
#define HIGH_WORDS(a, b) _mm256_unpackhi_epi32(a, b)
#else
enum { ROWS = 4 };
typedef byte_128 square_row;
INLINE square_row load_row_pair(const volatile byte_128 *s) { return *s; }
INLINE void store_row_pair(volatile byte_128 *d, square_row row) { *d = row; }
#define LOW_WORDS(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH_WORDS(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif
typedef square_row unaligned_row __attribute__((aligned(4), may_alias));

INLINE void transpose(square_row *v)
{
    square_row ac = LOW_WORDS(v[0], v[2]), bd = LOW_WORDS(v[1], v[3]);
    square_row eg = HIGH_WORDS(v[0], v[2]), fh = HIGH_WORDS(v[1], v[3]);
    v[0] = LOW_WORDS(ac, bd), v[1] = HIGH_WORDS(ac, bd);
    v[2] = LOW_WORDS(eg, fh), v[3] = HIGH_WORDS(eg, fh);
}

/* Four words a lane, each lane's 16 bytes in one piece, of all lanes. */
INLINE void load_row_of_4(struct warp *w, const struct insn *i, const uint8_t *from)
{
    const volatile byte_128 *s = (const volatile byte_128 *)from;
    lane_32 *column[4];
    for (int k = 0; k < 4; k++) column[k] = LANES(u32, i->memory.value[k]);
    for (int l = 0; l < WARP; l += ROWS) {
        square_row row[4];
        for (int k = 0; k < 4; k++) row[k] = load_row_pair(s + l + k);
        transpose(row);
        for (int k = 0; k < 4; k++) *(unaligned_row *)(column[k] + l) = row[k];
    }
}

INLINE void store_row_of_4(struct warp *w, const struct insn *i, uint8_t *to)
{
    volatile byte_128 *d = (volatile byte_128 *)to;
    const lane_32 *column[4];
    for (int k = 0; k < 4; k++) column[k] = LANES(u32, i->memory.value[k]);
    for (int l = 0; l < WARP; l += ROWS) {
        square_row row[4];
        for (int k = 0; k < 4; k++) row[k] = *(const unaligned_row *)(column[k] + l);
        transpose(row);
        for (int k = 0; k < 4; k++) store_row_pair(d + l + k, row[k]);
    }
}

/* Is there a function in ops_door.c for an instruction's elements? Vectors have one for each of the
 * usual shapes, without sinks; where lanes that are not in the mask would be written, none has. */
static inline bool is_movable_run(const struct insn *i, const struct access_run *run, bool store)
{
    if (run->stride == 0) return true;
    if (store && run->mask != ALL_LANES) return false;
    if (i->elements == 1) return true;
    if (i->element_bytes != 4 || i->lane_bytes != 4) return false;
    return i->elements == 2 || (i->elements == 4 && run->mask == ALL_LANES &&
                                i->memory.value[0] != NO_SLOT && i->memory.value[1] != NO_SLOT &&
                                i->memory.value[2] != NO_SLOT && i->memory.value[3] != NO_SLOT);
}

/* ops_access.c: load and store through the door. They are not inlined, because then those by run
 * would need a stack frame, too. If several lanes store to the same address, the highest lane wins
 * here. On a GPU it is undefined which lane wins. */
#define load_any  EMU_PASTE(load_any_, EMU_ISA)
#define store_any EMU_PASTE(store_any_, EMU_ISA)
__attribute__((noinline)) void load_any(struct warp *, const struct insn *, uint32_t mask);
__attribute__((noinline)) void store_any(struct warp *, const struct insn *, uint32_t mask);

/* ops_door.c: moves a run's bytes. */
#define load_run  EMU_PASTE(load_run_, EMU_ISA)
#define store_run EMU_PASTE(store_run_, EMU_ISA)
void load_run(struct warp *, const struct insn *, const struct access_run *);
void store_run(struct warp *, const struct insn *, const struct access_run *);

/* ---- what ops_texture.c share ---------------------------------------------------------------- */

/* Both are compiled for several instruction sets. */

/* The axes that are filtered, and whether a layer comes first among the coordinates. */
static inline unsigned texture_axes(enum emu_texture_shape shape)
{
    static const uint8_t axes[EMU_TEXTURE_SHAPES] = {1, 1, 2, 3, 1, 2, 2, 2};
    return axes[shape];
}

static inline bool texture_is_layered(enum emu_texture_shape shape)
{
    return shape == EMU_TEXTURE_1D_LAYERED || shape == EMU_TEXTURE_2D_LAYERED ||
           shape == EMU_TEXTURE_CUBE_LAYERED;
}

/* Takes the lanes out of *left whose object is that of its first lane. Returns them. */
static inline uint32_t texture_take_lanes(const struct warp *w, const struct insn *i,
                                          uint32_t *left)
{
    const lane_64 *object = LANES(u64, i->texture.object);
    uint64_t first = object[__builtin_ctz(*left)];
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++) lanes |= (uint32_t)(object[l] == first) << l;
    lanes &= *left;
    *left &= ~lanes;
    return lanes;
}

/* The object of these lanes, or NULL after a fault: it does not exist, or does not fit. */
const struct emu_texture *EMU_PASTE(texture_object_, EMU_ISA)(struct warp *, const struct insn *,
                                                              uint32_t lanes);
#define texture_object EMU_PASTE(texture_object_, EMU_ISA)

/* Passes the door with one address per lane of *left. Returns the lanes that it lets through, which
 * it takes out of *left; 0 after a fault. */
static inline uint32_t texture_enter(struct warp *w, const struct insn *i, struct access *access,
                                     const uint64_t *address, uint32_t *left)
{
    uint64_t first = address[__builtin_ctz(*left)];
    for (int l = 0; l < WARP; l++) access->address[l] = *left >> l & 1 ? address[l] : first;
    access->mask = *left;
    access->space = PTX_GLOBAL;
    uint32_t entered = access_door(w, i, access);
    *left &= ~entered;
    return entered;
}

#endif
