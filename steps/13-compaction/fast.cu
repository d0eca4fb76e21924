/*
 * Step 13, variant fast: stream compaction in one pass.
 *
 * What it is: compaction as one writes it today, on the pipeline of step 12. A tile is read once
 * and its kept elements are counted. The counts of all tiles before it say where its kept elements
 * go, and the tile's warps store them there.
 * Same as document.cu except: there are no arrays of flags and places in device memory. Votes of a
 * warp take the place of a scan of flags.
 * What it fixes: for each element 1 word is moved, and 1 more if it is kept. That is the least
 * possible. document.cu moves 7, and 1 more.
 * What is still bad: the store of a row's kept elements begins where that of the row before ended,
 * so neighbouring stores may share a sector. The sizes are chosen for an H200, by trial.
 * How to run it: make step13 && ./step13 --keep 'x > 0.5' --input numbers.npy, or as a library:
 * compact.h.
 *
 * This file turns a predicate into what the kernels ask; launch.cuh chooses one and launches it.
 */
#include "launch.cuh"
#include "step13.h"

/* A predicate that is one interval. */
template <typename T, typename Type>
static cudaError_t launch_one(const struct call<T> *c, const struct predicate *p, Type)
{
    return launch(c, one_interval<Type>(p));
}

static cudaError_t launch_one(const struct call<uint32_t> *c, const struct predicate *p, integer4)
{
    return launch(c, one_interval_of_words(p));
}

static cudaError_t launch_one(const struct call<uint32_t> *c, const struct predicate *p, real4)
{
    struct in_reals keep;
    if (one_interval_of_reals(&keep, p)) return launch(c, keep);
    return launch(c, one_interval<real4>(p));
}

/* ---- the calls of compact.h ------------------------------------------------------------------ */

template <typename Type, typename T>
static cudaError_t compact(void *workspace, size_t *bytes, T *out, uint64_t *kept, const T *in,
                           size_t n, const struct predicate *p, cudaStream_t stream)
{
    typedef typename Type::word word;
    struct call<word> c = {
        (word *)out, kept, (const word *)in, n, (struct workspace *)workspace, stream
    };
    bool is_done;
    if (workspace && (!p || p->count > COMPACT_INTERVALS_MOST)) return cudaErrorInvalidValue;
    cudaError_t error = prepare(&c, bytes, &is_done);
    if (error || is_done) return error;
    return p->count == 1 ? launch_one(&c, p, Type()) : launch(&c, all_intervals<Type>(p));
}

cudaError_t compact_workspace_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}

#define COMPACT(name, T, Type)                                                                     \
    cudaError_t compact_##name(void *workspace, size_t *bytes, T *out, uint64_t *kept,             \
                               const T *in, size_t n, const struct predicate *p,                   \
                               cudaStream_t stream)                                                \
    {                                                                                              \
        return compact<Type>(workspace, bytes, out, kept, in, n, p, stream);                       \
    }
COMPACT(f32, float, real4)
COMPACT(f64, double, real8)
COMPACT(i32, int32_t, integer4)
COMPACT(i64, int64_t, integer8)

cudaError_t compact_flagged(void *workspace, size_t *bytes, uint8_t *out, uint64_t *kept,
                            const uint8_t *in, const uint8_t *flags, size_t n, cudaStream_t stream)
{
    struct call<uint8_t> c = {
        out, kept, in, n, (struct workspace *)workspace, stream
    };
    bool is_done;
    cudaError_t error = prepare(&c, bytes, &is_done);
    if (error || is_done) return error;
    return launch(&c, flagged{flags});
}
