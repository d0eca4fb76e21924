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
 * This file launches select_wave for small n, select_list for middling n, otherwise select_pipeline
 * or select_direct.
 */
#include "compact.h"
#include "step13.h"

#include "common/step/launch_kernel.cuh"
#include "common/step/step.h"
#include "select_direct.cuh"
#include "select_list.cuh"
#include "select_pipeline.cuh"
#include "select_wave.cuh"
#include "steps/12-pipeline/parts/gpu.cuh"

/* Tiles of select_wave: the fewer elements, the smaller the tiles; of each size there are at most
 * `most`. The numbers are chosen for an H200, by trial. */
enum { FINEST, FINE, MIDDLING, COARSE, WAVES };
struct wave {
    int warps, items;
    unsigned most;
};
static constexpr struct wave waves[WAVES] = {{4, 8, 2}, {8, 8, 64}, {16, 8, 128}, {16, 16, 256}};

/* select_list has more tiles than this, because for fewer select_wave is as fast, and at most this
 * many, because for more select_pipeline is faster. By trial, too. */
#define LIST_ABOVE 128
#define LIST_MOST  512

#define TILES(n, tile) ((n) / (tile) + ((n) % (tile) > 0))

/* Elements of a tile. */
static size_t wave_tile(int wave) { return (size_t)waves[wave].warps * waves[wave].items * LANES; }

/* The finest tiles that are few enough for n elements; WAVES: n is too large for any. */
static int wave_for(size_t n)
{
    int wave = FINEST;
    while (wave < WAVES && n > waves[wave].most * wave_tile(wave)) wave++;
    return wave;
}

/* What one call is given. */
template <typename T> struct call {
    T *out;
    uint64_t *kept;
    const T *in;
    size_t n;
    struct workspace *workspace;
    cudaStream_t stream;
};

template <int WARPS, int ITEMS, typename T, typename Keep>
static cudaError_t launch_wave(const struct call<T> *c, Keep keep)
{
    unsigned tiles = (unsigned)TILES(c->n, WARPS * ITEMS * LANES);
    bool aligned = (uintptr_t)c->in % 16 == 0;
    return launch_kernel(select_wave<WARPS, ITEMS, T, Keep>, tiles, WARPS * LANES, 0, c->stream,
                         c->out, c->kept, c->in, c->n, tiles, aligned, keep, c->workspace);
}

template <typename T> static bool is_for_list(size_t n)
{
    size_t tiles = TILES(n, LIST_OF<T>);
    return tiles > LIST_ABOVE && tiles <= LIST_MOST;
}

template <typename T, typename Keep>
static cudaError_t launch_list(const struct call<T> *c, Keep keep)
{
    unsigned tiles = (unsigned)TILES(c->n, LIST_OF<T>);
    bool aligned = (uintptr_t)c->in % 16 == 0;
    return launch_kernel(select_list<T, Keep>, tiles, LIST_WARPS * LANES, 0, c->stream, c->out,
                         c->kept, c->in, c->n, tiles, aligned, keep, c->workspace);
}

template <typename T, typename Keep>
static cudaError_t launch_direct(const struct call<T> *c, Keep keep, const struct gpu *gpu)
{
    constexpr auto kernel = select_direct<T, Keep>;
    size_t tiles = TILES(c->n, DIRECT_TILE);
    unsigned blocks;
    if (tiles > UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets are of 32 bits
    CUDA_TRY(blocks_for<kernel>(DIRECT_WARPS * LANES, 0, tiles, gpu, &blocks));
    return launch_kernel(kernel, blocks, DIRECT_WARPS * LANES, 0, c->stream, c->out, c->kept, c->in,
                         c->n, (unsigned)tiles, keep, c->workspace);
}

template <typename T, typename Keep>
static cudaError_t launch_pipeline(const struct call<T> *c, Keep keep, const struct gpu *gpu)
{
    constexpr auto kernel = select_pipeline<T, Keep>;
    size_t tiles = TILES(c->n, TILE_OF<T>), shared = sizeof(selection<T>);
    unsigned blocks;
    if (tiles > UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets are of 32 bits
    CUDA_TRY(allow_shared((const void *)kernel, shared));
    CUDA_TRY(blocks_for<kernel>(PIPELINE_THREADS, shared, tiles, gpu, &blocks));
    return launch_kernel(kernel, blocks, PIPELINE_THREADS, shared, c->stream, c->out, c->kept,
                         c->in, c->n, (unsigned)tiles, keep, c->workspace);
}

/* By flags: always select_direct. The pipeline copies elements in bulk, but no flags. */
template <typename T> static cudaError_t launch_large(const struct call<T> *c, struct flagged keep)
{
    struct gpu gpu;
    CUDA_TRY(look_at_gpu(&gpu));
    return launch_direct(c, keep, &gpu);
}

template <typename T, typename Keep>
static cudaError_t launch_large(const struct call<T> *c, Keep keep)
{
    struct gpu gpu;
    CUDA_TRY(look_at_gpu(&gpu));
    // If the ring is larger than this GPU's shared memory, the other kernel is used.
    if (gpu.capability >= 90 && (uintptr_t)c->in % 16 == 0 &&
        sizeof(selection<T>) <= (size_t)gpu.shared)
        return launch_pipeline(c, keep, &gpu);
    return launch_direct(c, keep, &gpu);
}

template <typename T, typename Keep> static cudaError_t launch(const struct call<T> *c, Keep keep)
{
    if constexpr (sizeof(T) >=
                  sizeof(uint32_t)) // bytes come with flags, which select_list cannot use
        if (is_for_list<T>(c->n)) return launch_list(c, keep);
    switch (wave_for(c->n)) {
    case FINEST: return launch_wave<waves[FINEST].warps, waves[FINEST].items>(c, keep);
    case FINE: return launch_wave<waves[FINE].warps, waves[FINE].items>(c, keep);
    case MIDDLING: return launch_wave<waves[MIDDLING].warps, waves[MIDDLING].items>(c, keep);
    case COARSE: return launch_wave<waves[COARSE].warps, waves[COARSE].items>(c, keep);
    default: return launch_large(c, keep);
    }
}

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

/* ---- the report ------------------------------------------------------------------------------ */

/* The pipeline's launch for n elements of this type. */
template <typename Type> static cudaError_t pipeline_shape(size_t n, struct launch_shape *shape)
{
    typedef typename Type::word word;
    constexpr auto kernel = select_pipeline<word, in_interval<Type>>;
    size_t shared = sizeof(selection<word>);
    struct gpu gpu;
    unsigned blocks;
    CUDA_TRY(look_at_gpu(&gpu));
    if (gpu.capability < 90) return cudaErrorNotSupported;
    CUDA_TRY(allow_shared((const void *)kernel, shared));
    CUDA_TRY(blocks_for<kernel>(PIPELINE_THREADS, shared, TILES(n, TILE_OF<word>), &gpu, &blocks));
    *shape = {blocks, PIPELINE_THREADS, shared, 1};
    return cudaSuccess;
}

static cudaError_t wave_shape(int wave, size_t n, struct launch_shape *shape)
{
    // A block's ticket, and for each warp a count and a carry.
    size_t shared = sizeof(struct ticket) +
                    waves[wave].warps * (sizeof(unsigned) + sizeof(carry_of<unsigned>::type));
    *shape = {TILES(n, wave_tile(wave)), (unsigned)(waves[wave].warps * LANES), shared, 1};
    return cudaSuccess;
}

template <typename Type> static cudaError_t list_shape(size_t n, struct launch_shape *shape)
{
    typedef typename Type::word word;
    cudaFuncAttributes kernel;
    CUDA_TRY(cudaFuncGetAttributes(&kernel, select_list<word, in_interval<Type>>));
    *shape = {TILES(n, LIST_OF<word>), LIST_WARPS * LANES, kernel.sharedSizeBytes, 1};
    return cudaSuccess;
}

template <typename Type> static cudaError_t shape_of(size_t n, struct launch_shape *shape)
{
    int wave = wave_for(n);
    if (is_for_list<typename Type::word>(n)) return list_shape<Type>(n, shape);
    return wave < WAVES ? wave_shape(wave, n, shape) : pipeline_shape<Type>(n, shape);
}

cudaError_t compact_fast_shape(size_t n, enum element element, struct launch_shape *shape)
{
    int wave = wave_for(n);
    if (element == ELEMENT_F32 || element == ELEMENT_I32) return shape_of<real4>(n, shape);
    if (element != ELEMENT_I8) return shape_of<real8>(n, shape);
    return wave < WAVES ? wave_shape(wave, n, shape) : cudaErrorNotSupported; // select_direct
}

/* ---- the calls of compact.h ------------------------------------------------------------------ */

/* The smallest tiles of any kernel need the most states; select_wave has few tiles. */
static size_t workspace_for(size_t n)
{
    size_t smallest = DIRECT_TILE, least = waves[COARSE].most, tiles = TILES(n, smallest);
    if (tiles < least) tiles = least;
    return sizeof(struct workspace) + tiles * sizeof(state<unsigned>);
}

template <typename T>
static cudaError_t prepare(const struct call<T> *c, size_t *bytes, bool *is_done)
{
    *is_done = true;
    if (c->workspace == NULL) {
        *bytes = workspace_for(c->n);
        return cudaSuccess;
    }
    if (*bytes < workspace_for(c->n) || (uintptr_t)c->workspace % 16) return cudaErrorInvalidValue;
    if (c->n == 0) return cudaMemsetAsync(c->kept, 0, sizeof *c->kept, c->stream);
    *is_done = false;
    return cudaSuccess;
}

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

cudaError_t compact_f32(void *workspace, size_t *bytes, float *out, uint64_t *kept, const float *in,
                        size_t n, const struct predicate *p, cudaStream_t stream)
{
    return compact<real4>(workspace, bytes, out, kept, in, n, p, stream);
}

cudaError_t compact_f64(void *workspace, size_t *bytes, double *out, uint64_t *kept,
                        const double *in, size_t n, const struct predicate *p, cudaStream_t stream)
{
    return compact<real8>(workspace, bytes, out, kept, in, n, p, stream);
}

cudaError_t compact_i32(void *workspace, size_t *bytes, int32_t *out, uint64_t *kept,
                        const int32_t *in, size_t n, const struct predicate *p, cudaStream_t stream)
{
    return compact<integer4>(workspace, bytes, out, kept, in, n, p, stream);
}

cudaError_t compact_i64(void *workspace, size_t *bytes, int64_t *out, uint64_t *kept,
                        const int64_t *in, size_t n, const struct predicate *p, cudaStream_t stream)
{
    return compact<integer8>(workspace, bytes, out, kept, in, n, p, stream);
}

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
