/*
 * sort.cu — the functions of upsweep/sort.h, by step 15: keys of 4 and 8 bytes by its functions,
 * keys of 1 and 2 bytes by its template.
 *
 * Step 15 moves values of 4 bytes with their keys. For other values, and for keys that are sorted
 * by some of their bits only, the indices of the keys move as values, and what they stand for is
 * gathered at the end.
 */
#include "common/tools/library/call.h"
#include "steps/15-radix-sort/sort.cuh"
#include "common/tools/library/upsweep/sort.h"

#define MOVE_THREADS 256

/* ---- what is asked for ----------------------------------------------------------------------- */

/* One call. `part` is what the keys are sorted by: all bits, or some of them in a word of their
 * own. */
template <typename Key> struct request {
    Key *out;
    const Key *in;
    void *values_out; /* NULL: keys alone */
    const void *values_in;
    size_t value_bytes, n;
    enum kind kind;
    bool descending = false, by_bits = false;
    unsigned begin = 0, bits = 0; /* the bits to sort by */
};

/* Arrays that a call needs besides the workspace of step 15's sort, which comes first. All are
 * optional; offsets in bytes. */
struct places_of_arrays {
    size_t index, part, part_out, end;
};

template <typename Key> static bool has_pairs(const struct request<Key> *r)
{
    return r->value_bytes > 0;
}

/* Do the values move with the keys? */
template <typename Key> static bool values_move(const struct request<Key> *r)
{
    return has_pairs(r) && !r->by_bits && r->value_bytes == sizeof(uint32_t);
}

/* Do the keys themselves move, as values of the bits that they are sorted by? */
template <typename Key> static bool keys_are_values(const struct request<Key> *r)
{
    return r->by_bits && !has_pairs(r) && sizeof(Key) == sizeof(uint32_t);
}

template <typename Key> static bool needs_index(const struct request<Key> *r)
{
    return (r->by_bits || has_pairs(r)) && !values_move(r) && !keys_are_values(r);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Sets part[i] to `bits` bits of the encoded key i, from bit `begin` on. */
template <typename Part, typename Key>
static __global__ void take_bits(Part *part, const Key *in, size_t n, codec<Key> c, unsigned begin,
                                 Part mask)
{
    size_t i = (size_t)blockIdx.x * MOVE_THREADS + threadIdx.x;
    if (i < n) part[i] = (Part)(encode(in[i], c) >> begin) & mask;
}

/* to[i] = from[index[i]] */
template <typename T>
static __global__ void gather(T *to, const T *from, const uint32_t *index, size_t n)
{
    size_t i = (size_t)blockIdx.x * MOVE_THREADS + threadIdx.x;
    if (i < n) to[i] = from[index[i]];
}

template <typename Index> static __global__ void widen(Index *to, const uint32_t *index, size_t n)
{
    size_t i = (size_t)blockIdx.x * MOVE_THREADS + threadIdx.x;
    if (i < n) to[i] = index[i];
}

template <typename... Parameters, typename... Arguments>
static cudaError_t launch_for_each(void (*kernel)(Parameters...), size_t n, cudaStream_t stream,
                                   const Arguments &...arguments)
{
    size_t blocks = n / MOVE_THREADS + (n % MOVE_THREADS > 0);
    return launch_kernel(kernel, (unsigned)blocks, MOVE_THREADS, 0, stream, arguments...);
}

struct __align__(16) sixteen { uint64_t part[2]; };

template <typename T>
static cudaError_t launch_gather(void *to, const void *from, const uint32_t *index, size_t n,
                                 cudaStream_t stream)
{
    return launch_for_each(gather<T>, n, stream, (T *)to, (const T *)from, index, n);
}

/* Values by their index; without values, the indices. */
template <typename Key>
static cudaError_t launch_values(const struct request<Key> *r, const uint32_t *index,
                                 cudaStream_t stream)
{
    void *to = r->values_out;
    const void *from = r->values_in;
    if (!from)
        return r->value_bytes == sizeof(uint32_t)
                   ? launch_for_each(widen<uint32_t>, r->n, stream, (uint32_t *)to, index, r->n)
                   : launch_for_each(widen<uint64_t>, r->n, stream, (uint64_t *)to, index, r->n);
    switch (r->value_bytes) {
    case 1: return launch_gather<uint8_t>(to, from, index, r->n, stream);
    case 2: return launch_gather<uint16_t>(to, from, index, r->n, stream);
    case 4: return launch_gather<uint32_t>(to, from, index, r->n, stream);
    case 8: return launch_gather<uint64_t>(to, from, index, r->n, stream);
    default: return launch_gather<sixteen>(to, from, index, r->n, stream);
    }
}

/* ---- step 15's sorts ------------------------------------------------------------------------- */

/* Sorts keys, with values of 4 bytes or without (NULL, and `pairs` false). */
static cudaError_t sort_by(bool pairs, void *workspace, size_t *bytes, uint32_t *out,
                           uint32_t *values_out, const uint32_t *in, const uint32_t *values_in,
                           size_t n, enum kind kind, enum sort_order order, cudaStream_t stream)
{
#define SORT_BY(name, T)                                                                           \
    (pairs ? sort_pairs_##name(workspace, bytes, (T *)out, values_out, (const T *)in, values_in,   \
                               n, order, stream)                                                   \
           : sort_keys_##name(workspace, bytes, (T *)out, (const T *)in, n, order, stream))
    if (kind == KIND_SIGNED) return SORT_BY(i32, int32_t);
    return kind == KIND_REAL ? SORT_BY(f32, float) : SORT_BY(u32, uint32_t);
}

static cudaError_t sort_by(bool pairs, void *workspace, size_t *bytes, uint64_t *out,
                           uint32_t *values_out, const uint64_t *in, const uint32_t *values_in,
                           size_t n, enum kind kind, enum sort_order order, cudaStream_t stream)
{
    if (kind == KIND_SIGNED) return SORT_BY(i64, int64_t);
    return kind == KIND_REAL ? SORT_BY(f64, double) : SORT_BY(u64, uint64_t);
#undef SORT_BY
}

/* Keys of 1 and 2 bytes. */
template <typename Key>
static cudaError_t sort_by(bool pairs, void *workspace, size_t *bytes, Key *out,
                           uint32_t *values_out, const Key *in, const uint32_t *values_in, size_t n,
                           enum kind kind, enum sort_order order, cudaStream_t stream)
{
    return pairs ? sort<true>(workspace, bytes, out, values_out, in, values_in, n, kind, order,
                              stream)
                 : sort<false>(workspace, bytes, out, NULL, in, NULL, n, kind, order, stream);
}

/* ---- the call -------------------------------------------------------------------------------- */

/* Sorts by all bits. */
template <typename Key>
static cudaError_t sort_whole(const struct request<Key> *r, char *w,
                              const struct places_of_arrays *p, cudaStream_t stream)
{
    enum sort_order order = r->descending ? SORT_DESCENDING : SORT_ASCENDING;
    uint32_t *index = (uint32_t *)(w + p->index);
    size_t bytes = p->index;
    if (!needs_index(r))
        return sort_by(has_pairs(r), w, &bytes, r->out, (uint32_t *)r->values_out, r->in,
                       (const uint32_t *)r->values_in, r->n, r->kind, order, stream);
    cudaError_t error =
        sort_by(true, w, &bytes, r->out, index, r->in, NULL, r->n, r->kind, order, stream);
    return error ? error : launch_values(r, index, stream);
}

/* Sorts by some bits, which become keys of their own. */
template <typename Part, typename Key>
static cudaError_t sort_part(const struct request<Key> *r, char *w,
                             const struct places_of_arrays *p, cudaStream_t stream)
{
    Part *part = (Part *)(w + p->part), *part_out = (Part *)(w + p->part_out);
    Part mask = ~(Part)0 >> (sizeof(Part) * 8 - r->bits);
    uint32_t *index = (uint32_t *)(w + p->index);
    size_t bytes = p->index;
    cudaError_t error = launch_for_each(take_bits<Part, Key>, r->n, stream, part, r->in, r->n,
                                        codec_of<Key>(r->kind, r->descending), r->begin, mask);
    if (error) return error;
    if (keys_are_values(r))
        return sort_by(true, w, &bytes, part_out, (uint32_t *)r->out, part, (const uint32_t *)r->in,
                       r->n, KIND_UNSIGNED, SORT_ASCENDING, stream);
    error = sort_by(true, w, &bytes, part_out, index, part, (const uint32_t *)NULL, r->n,
                    KIND_UNSIGNED, SORT_ASCENDING, stream);
    if (!error) error = launch_gather<Key>(r->out, r->in, index, r->n, stream);
    return error || !has_pairs(r) ? error : launch_values(r, index, stream);
}

static bool takes_word(unsigned bits) { return bits <= 32; }

template <typename Key>
static cudaError_t divide_workspace(const struct request<Key> *r, struct places_of_arrays *p)
{
    size_t bytes = 0, part = takes_word(r->bits) ? sizeof(uint32_t) : sizeof(uint64_t);
    bool pairs = has_pairs(r) || r->by_bits;
    cudaError_t error;
    if (r->by_bits && !takes_word(r->bits))
        error = sort_by(true, NULL, &bytes, (uint64_t *)NULL, NULL, (const uint64_t *)NULL, NULL,
                        r->n, KIND_UNSIGNED, SORT_ASCENDING, 0);
    else if (r->by_bits)
        error = sort_by(true, NULL, &bytes, (uint32_t *)NULL, NULL, (const uint32_t *)NULL, NULL,
                        r->n, KIND_UNSIGNED, SORT_ASCENDING, 0);
    else
        error = sort_by(pairs, NULL, &bytes, (Key *)NULL, NULL, (const Key *)NULL, NULL, r->n,
                        r->kind, SORT_ASCENDING, 0);
    p->index = aligned(bytes);
    p->part = p->index + (needs_index(r) ? aligned(r->n * sizeof(uint32_t)) : 0);
    p->part_out = p->part + (r->by_bits ? aligned(r->n * part) : 0);
    p->end = p->part_out + (r->by_bits ? aligned(r->n * part) : 0);
    return error;
}

static bool values_are_valid(size_t bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

template <typename Key>
static cudaError_t sort_call(void *workspace, size_t *bytes, struct request<Key> r,
                             const struct upsweep_sort_options *o, cudaStream_t stream)
{
    const unsigned WIDTH = sizeof(Key) * 8;
    struct places_of_arrays p;
    unsigned end = o && o->end_bit ? o->end_bit : WIDTH;
    bool done, pairs = has_pairs(&r);
    r.descending = o && o->descending;
    r.begin = o ? o->begin_bit : 0;
    if (end > WIDTH || r.begin >= end) return cudaErrorInvalidValue;
    r.bits = end - r.begin;
    r.by_bits = r.bits < WIDTH;
    if ((pairs || r.by_bits) && r.n > UINT32_MAX) return cudaErrorInvalidValue; // of the indices

    cudaError_t error = divide_workspace(&r, &p);
    if (error) return error;
    bool arrays = is_array(r.out, sizeof(Key)) && is_array(r.in, sizeof(Key)) &&
                  (!pairs || is_array(r.values_out, r.value_bytes)) &&
                  (!pairs || (uintptr_t)r.values_in % r.value_bytes == 0);
    if (workspace && arrays)
        arrays = !overlap(r.out, r.n * sizeof(Key), r.in, r.n * sizeof(Key)) &&
                 !(pairs && r.values_in &&
                   overlap(r.values_out, r.n * r.value_bytes, r.values_in, r.n * r.value_bytes)) &&
                 !(pairs && !r.values_in && r.value_bytes != 4 && r.value_bytes != 8);
    // One block alone needs nothing of the workspace.
    bool clear = !(o && o->cleared) && !(sizeof(Key) >= 4 && r.n <= RESIDENT_ALONE_MAX);
    error = begin_call(workspace, bytes, p.end, clear ? sizeof(struct control) : 0, r.n, arrays,
                       stream, &done);
    if (error || done) return error;
    char *w = (char *)workspace;
    if (!r.by_bits) return sort_whole(&r, w, &p, stream);
    return takes_word(r.bits) ? sort_part<uint32_t>(&r, w, &p, stream)
                              : sort_part<uint64_t>(&r, w, &p, stream);
}

#define DEFINE_SORT(name, Public, Key, kind)                                                       \
    cudaError_t upsweep_sort_keys_##name(                                                          \
        void *workspace, size_t *bytes, Public *out, const Public *in, size_t n,                   \
        const struct upsweep_sort_options *options, cudaStream_t stream)                           \
    {                                                                                              \
        struct request<Key> r = {                                                                  \
            (Key *)out, (const Key *)in, NULL, NULL, 0, n, kind                                    \
        };                                                                                         \
        return sort_call(workspace, bytes, r, options, stream);                                    \
    }                                                                                              \
    cudaError_t upsweep_sort_pairs_##name(                                                         \
        void *workspace, size_t *bytes, Public *out, void *values_out, const Public *in,           \
        const void *values_in, size_t value_bytes, size_t n,                                       \
        const struct upsweep_sort_options *options, cudaStream_t stream)                           \
    {                                                                                              \
        struct request<Key> r = {                                                                  \
            (Key *)out, (const Key *)in, values_out, values_in, value_bytes, n, kind               \
        };                                                                                         \
        if (!values_are_valid(value_bytes)) return cudaErrorInvalidValue;                          \
        return sort_call(workspace, bytes, r, options, stream);                                    \
    }

DEFINE_SORT(u8, uint8_t, uint8_t, KIND_UNSIGNED)
DEFINE_SORT(u16, uint16_t, uint16_t, KIND_UNSIGNED)
DEFINE_SORT(u32, uint32_t, uint32_t, KIND_UNSIGNED)
DEFINE_SORT(u64, uint64_t, uint64_t, KIND_UNSIGNED)
DEFINE_SORT(i8, int8_t, uint8_t, KIND_SIGNED)
DEFINE_SORT(i16, int16_t, uint16_t, KIND_SIGNED)
DEFINE_SORT(i32, int32_t, uint32_t, KIND_SIGNED)
DEFINE_SORT(i64, int64_t, uint64_t, KIND_SIGNED)
DEFINE_SORT(f16, uint16_t, uint16_t, KIND_REAL)
DEFINE_SORT(bf16, uint16_t, uint16_t, KIND_REAL)
DEFINE_SORT(f32, float, uint32_t, KIND_REAL)
DEFINE_SORT(f64, double, uint64_t, KIND_REAL)
