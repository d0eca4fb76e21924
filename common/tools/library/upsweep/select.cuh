/*
 * select.cuh — selection with a predicate of your own, for programs in C++17 that nvcc compiles.
 * Nothing has to be linked but the CUDA runtime.
 *
 *     struct large {
 *         float limit;
 *         __device__ bool operator()(float x) const { return x > limit; }
 *     };
 *     upsweep::select(large{5}, workspace, &bytes, out, kept, in, n, NULL, stream);
 *
 * A predicate is an object that is copied to the GPU; with nvcc --extended-lambda also a lambda. It
 * is called with an element, or, if it cannot be called so, with an element and its index (size_t).
 * It must give the same answer each time, as it may be asked more than once; a predicate of the
 * element alone may also be asked about an element that is all zeros.
 *
 * Elements are of a type of 1, 2, 4, 8 or 16 bytes, which can be copied as bytes and has the
 * alignment of its size or less. Everything else is as version.h and select.h say. To ask for
 * `bytes`, give `out` and `in` their types: (float *)NULL.
 */
#ifndef UPSWEEP_SELECT_CUH
#define UPSWEEP_SELECT_CUH

#include "select.h"

#include <type_traits>

namespace upsweep
{
namespace select_kernels
{
#include "common/tools/library/call.h"
#include "steps/13-compaction/launch.cuh"

/* Asks with the element alone, if that can be; otherwise with its index, if there is one. */
template <typename Keep, typename T>
static __device__ auto ask(const Keep &keep, const T &x, size_t, size_t, int)
    -> decltype((bool)keep(x))
{
    return keep(x);
}
template <typename Keep, typename T>
static __device__ bool ask(const Keep &keep, const T &x, size_t i, size_t n, long)
{
    return i < n && keep(x, i);
}

/* Keeps elements. `after`: how many elements of `out` come before them; NULL: none. */
template <typename Keep> struct elements {
    Keep keep;
    bool inverse;
    size_t n;
    const uint64_t *after;

    template <typename T> __device__ bool operator()(const T &x, size_t i) const
    {
        return ask(keep, x, i, n, 0) != inverse;
    }
};

template <typename Keep> struct flags_of<elements<Keep>> {
    enum { ARE_THERE = flags_of<Keep>::ARE_THERE };
    static __host__ __device__ const uint8_t *array(const elements<Keep> &e)
    {
        return flags_of<Keep>::array(e.keep);
    }
    static __device__ uint32_t kept(const elements<Keep> &e, uint32_t set)
    {
        return e.inverse ? ~set : set;
    }
};

/* The same, and an Index is stored in place of an element. */
template <typename Keep, typename Index> struct indices : elements<Keep> {
    typedef Index index;
};

/* Indices of the rows of a segment: neighbouring rows are a warp apart. */
template <typename Index> struct rows_of_indices {
    size_t begin;
    __device__ Index operator[](int row) const { return (Index)(begin + row * LANES); }
};

template <typename T, typename Keep> struct stored<T, elements<Keep>> : stored<T, Keep> {
    static __device__ T *first(T *out, const elements<Keep> &e)
    {
        return e.after ? out + *e.after : out;
    }
};

template <typename T, typename Keep, typename Index> struct stored<T, indices<Keep, Index>> {
    typedef Index type;
    typedef uint16_t held;
    static const bool AS_IT_IS = false;
    static __device__ Index *first(Index *out, const indices<Keep, Index> &) { return out; }
    template <int ITEMS>
    static __device__ rows_of_indices<Index> of(const T (&)[ITEMS], size_t begin)
    {
        return {begin};
    }
    static __device__ uint16_t hold(const T &, unsigned place) { return (uint16_t)place; }
    static __device__ Index release(uint16_t place, size_t begin) { return (Index)(begin + place); }
};

/* All three: what `keep` keeps goes to `out`. `others`: what it does not keep follows there. */
template <typename T, typename Out, typename Keep>
static cudaError_t select_by(Keep keep, bool others, void *workspace, size_t *bytes, Out *out,
                             uint64_t *kept, const T *in, size_t n,
                             const struct upsweep_select_options *options, cudaStream_t stream)
{
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 ||
                      sizeof(T) == 16,
                  "an element must have 1, 2, 4, 8 or 16 bytes");
    static_assert(std::is_trivially_copyable<T>::value, "elements are copied as bytes");
    size_t needed = workspace_for<T>(n), smallest = DIRECT_TILE;
    bool done;
    if (n / smallest >= UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets are of 32 bits
    if (workspace && !is_array(kept, sizeof *kept)) return cudaErrorInvalidValue;
    cudaError_t error =
        begin_call(workspace, bytes, needed, options && options->cleared ? 0 : needed, n,
                   is_array(out, alignof(Out)) && is_array(in, alignof(T)), stream, &done);
    if (workspace && n == 0 && !error) return cudaMemsetAsync(kept, 0, sizeof *kept, stream);
    if (error || done) return error;

    struct workspace *w = (struct workspace *)workspace;
    call<T, Out> c = {out, kept, in, n, w, stream};
    keep.inverse = options && options->inverse, keep.n = n, keep.after = NULL;
    error = launch(&c, keep);
    if (error || !others) return error;
    keep.inverse = !keep.inverse, keep.after = kept;
    c.kept = &w->rest_of_line[0]; // their number is of no use
    return launch(&c, keep);
}

} // namespace select_kernels

/* Copies the elements that `keep` keeps to `out`, and their number to `kept`. */
template <typename T, typename Keep>
static cudaError_t select(const Keep &keep, void *workspace, size_t *bytes, T *out, uint64_t *kept,
                          const T *in, size_t n, const struct upsweep_select_options *options,
                          cudaStream_t stream)
{
    select_kernels::elements<Keep> e = {keep, false, n, NULL};
    return select_kernels::select_by(e, false, workspace, bytes, out, kept, in, n, options, stream);
}

/* The same, and copies the others, in their order, behind them. It reads the elements twice. */
template <typename T, typename Keep>
static cudaError_t partition(const Keep &keep, void *workspace, size_t *bytes, T *out,
                             uint64_t *kept, const T *in, size_t n,
                             const struct upsweep_select_options *options, cudaStream_t stream)
{
    select_kernels::elements<Keep> e = {keep, false, n, NULL};
    return select_kernels::select_by(e, true, workspace, bytes, out, kept, in, n, options, stream);
}

/* The indices of the elements that `keep` keeps. Index: uint32_t, int32_t, uint64_t or int64_t, in
 * which n - 1 must have room. */
template <typename Index, typename T, typename Keep>
static cudaError_t select_indices(const Keep &keep, void *workspace, size_t *bytes, Index *out,
                                  uint64_t *kept, const T *in, size_t n,
                                  const struct upsweep_select_options *options, cudaStream_t stream)
{
    static_assert(std::is_integral<Index>::value && sizeof(Index) >= 4, "32 or 64 bits");
    const size_t most = std::is_signed<Index>::value ? INT32_MAX : UINT32_MAX;
    select_kernels::indices<Keep, Index> e = {{keep, false, n, NULL}};
    if (sizeof(Index) == 4 && n > 0 && n - 1 > most) return cudaErrorInvalidValue;
    return select_kernels::select_by(e, false, workspace, bytes, out, kept, in, n, options, stream);
}

} // namespace upsweep

#endif
