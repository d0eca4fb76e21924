/*
 * launch.cuh — chooses the kernel for a selection, and launches it: select_wave for small n,
 * select_list for mid-sized n, otherwise select_pipeline or select_direct.
 */
#ifndef STEP13_LAUNCH_CUH
#define STEP13_LAUNCH_CUH

#include "common/step/launch_kernel.cuh"
#include "select_direct.cuh"
#include "select_wave.cuh"
#include "select_pipeline.cuh"
#include "common/step/gpu.cuh"

/* Tiles of select_wave: the fewer elements, the smaller the tiles; of each size there are at most
 * `most`. The numbers are chosen for an H200, by trial. */
enum { FINEST, FINE, MEDIUM, COARSE, WAVES };
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
static inline int wave_for(size_t n)
{
    int wave = FINEST;
    while (wave < WAVES && n > waves[wave].most * wave_tile(wave)) wave++;
    return wave;
}

/* What one call is given. Out is T, or what stored (keep.cuh) makes of it. */
template <typename T, typename Out = T> struct call {
    Out *out;
    uint64_t *kept;
    const T *in;
    size_t n;
    struct workspace *workspace;
    cudaStream_t stream;
};

/* A block for each tile of `tile` elements. */
template <auto KERNEL, typename T, typename Out, typename Keep>
static cudaError_t launch_tiles(const struct call<T, Out> *c, Keep keep, int warps, size_t tile)
{
    unsigned tiles = (unsigned)TILES(c->n, tile);
    bool aligned = (uintptr_t)c->in % 16 == 0;
    return launch_kernel(KERNEL, tiles, warps * LANES, 0, c->stream, c->out, c->kept, c->in, c->n,
                         tiles, aligned, keep, c->workspace);
}

template <int WAVE, typename T, typename Out, typename Keep>
static cudaError_t launch_wave(const struct call<T, Out> *c, Keep keep)
{
    constexpr struct wave w = waves[WAVE];
    return launch_tiles<select_wave<w.warps, w.items, T, Keep>>(c, keep, w.warps, wave_tile(WAVE));
}

/* As many blocks as fit on the GPU. */
template <auto KERNEL, typename T, typename Out, typename Keep>
static cudaError_t launch_staying(const struct call<T, Out> *c, Keep keep, const struct gpu *gpu,
                                  int threads, size_t shared, size_t tile)
{
    size_t tiles = TILES(c->n, tile);
    unsigned blocks;
    if (tiles > UINT32_MAX / 2) return cudaErrorInvalidValue; // tickets are of 32 bits
    cudaError_t error = shared ? allow_shared((const void *)KERNEL, shared) : cudaSuccess;
    if (!error) error = blocks_for<KERNEL>(threads, shared, tiles, gpu, &blocks);
    if (error) return error;
    return launch_kernel(KERNEL, blocks, threads, shared, c->stream, c->out, c->kept, c->in, c->n,
                         (unsigned)tiles, keep, c->workspace);
}

template <typename T, typename Out, typename Keep>
static cudaError_t launch_large(const struct call<T, Out> *c, Keep keep)
{
    struct gpu gpu;
    size_t ring = sizeof(selection<T, Keep>);
    cudaError_t error = look_at_gpu(&gpu);
    if (error) return error;
    // If the ring is larger than this GPU's shared memory, the other kernel is used.
    if (gpu.capability >= 90 && (uintptr_t)c->in % 16 == 0 &&
        (uintptr_t)flags_of<Keep>::array(keep) % 16 == 0 && ring <= (size_t)gpu.shared)
        return launch_staying<select_pipeline<T, Keep>>(c, keep, &gpu, PIPELINE_THREADS, ring,
                                                        TILE_OF<T, Keep>);
    return launch_staying<select_direct<T, Keep>>(c, keep, &gpu, DIRECT_WARPS * LANES, 0,
                                                  DIRECT_TILE);
}

/* Selects n > 0 elements. */
template <typename T, typename Out, typename Keep>
static cudaError_t launch(const struct call<T, Out> *c, Keep keep)
{
    if constexpr (sizeof(T) >= sizeof(uint32_t)) {
        size_t tiles = TILES(c->n, LIST_OF<T>);
        if (tiles > LIST_ABOVE && tiles <= LIST_MOST)
            return launch_tiles<select_list<T, Keep>>(c, keep, LIST_WARPS, LIST_OF<T>);
    }
    // Of elements of 8 bytes, the list takes all n for which tiles would be coarse.
    constexpr int COARSEST = sizeof(T) == sizeof(uint64_t) ? MEDIUM : COARSE;
    switch (wave_for(c->n)) {
    case FINEST: return launch_wave<FINEST>(c, keep);
    case FINE: return launch_wave<FINE>(c, keep);
    case MEDIUM: return launch_wave<MEDIUM>(c, keep);
    case COARSE: return launch_wave<COARSEST>(c, keep);
    default: return launch_large(c, keep);
    }
}

/* The smallest tiles of any kernel need the most states; select_wave has few tiles. */
template <typename T> static size_t workspace_for(size_t n)
{
    size_t smallest = DIRECT_TILE, least = waves[COARSE].most;
    if (TILE_OF<T, flagged> < smallest) smallest = TILE_OF<T, flagged>;
    size_t tiles = TILES(n, smallest);
    if (tiles < least) tiles = least;
    return sizeof(struct workspace) + tiles * sizeof(state<unsigned>);
}

/* The two-phase call of compact.h, up to the launch. */
template <typename T, typename Out>
static cudaError_t prepare(const struct call<T, Out> *c, size_t *bytes, bool *is_done)
{
    *is_done = true;
    if (c->workspace == NULL) {
        *bytes = workspace_for<T>(c->n);
        return cudaSuccess;
    }
    if (*bytes < workspace_for<T>(c->n) || (uintptr_t)c->workspace % 16)
        return cudaErrorInvalidValue;
    if (c->n == 0) return cudaMemsetAsync(c->kept, 0, sizeof *c->kept, c->stream);
    *is_done = false;
    return cudaSuccess;
}

#endif
