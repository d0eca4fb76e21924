/*
 * sort.cuh — the sort of sort.h for keys of 1, 2, 4 or 8 bytes: divides the workspace and chooses
 * what is launched (sort.cuh).
 */
#ifndef STEP15_SORT_CUH
#define STEP15_SORT_CUH

#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "common/step/gpu.cuh"
#include "histogram.cuh"
#include "onesweep.cuh"
#include "resident.cuh"
#include "sort.h"
#include "wave.cuh"

/* ---- one launch ------------------------------------------------------------------------------ */

/* Can this GPU run a cluster of `blocks` blocks of KERNEL? The configuration is that of the launch.
 * The answer is kept: a query takes longer than a launch. */
template <auto KERNEL>
static cudaError_t ask_cluster(cudaLaunchConfig_t *config, unsigned blocks, const struct gpu *gpu,
                               bool *fits)
{
    enum { NO = 1, YES };
    static struct answers known[CLUSTER_MOST + 1];
    int answer = known_answer(&known[blocks], gpu->device), fit = 0, largest = CLUSTER_PORTABLE;
    if (answer == 0) {
        if (blocks > CLUSTER_PORTABLE)
            CUDA_TRY(cudaOccupancyMaxPotentialClusterSize(&largest, (const void *)KERNEL, config));
        if (blocks <= (unsigned)largest)
            CUDA_TRY(cudaOccupancyMaxActiveClusters(&fit, (const void *)KERNEL, config));
        answer = fit > 0 ? YES : NO;
        keep_answer(&known[blocks], gpu->device, answer);
    }
    *fits = answer == YES;
    return cudaSuccess;
}

/* Launches sort_resident if the GPU has enough shared memory for it and can run a cluster of
 * `blocks` blocks. Otherwise it returns cudaErrorInvalidClusterSize. It asks before it tries, so
 * that no error of CUDA takes the place of one that the caller has left. */
template <int KEYS, bool PAIRS, typename Key>
static cudaError_t launch_resident_of(struct arrays<Key> a, size_t n, codec<Key> c, unsigned blocks,
                                      const struct gpu *gpu, cudaStream_t stream)
{
    constexpr auto kernel = sort_resident<KEYS, PAIRS, Key>;
    size_t shared = resident_bytes<KEYS, PAIRS, Key>(blocks);
    cudaLaunchAttribute cluster = {};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = blocks;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = RESIDENT_THREADS;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = blocks > 1;

    // The limit is that of the most blocks: another thread of the host may be between these two
    // calls, too, or a graph may be launched later.
    size_t most = resident_bytes<KEYS, PAIRS, Key>(CLUSTER_MOST);
    if (shared > (size_t)gpu->shared) return cudaErrorInvalidClusterSize;
    if (most > (size_t)gpu->shared) most = (size_t)gpu->shared;
    CUDA_TRY(allow_shared((const void *)kernel, most));
    if (blocks > 1) {
        bool fits;
        if (blocks > CLUSTER_PORTABLE)
            CUDA_TRY(cudaFuncSetAttribute((const void *)kernel,
                                          cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
        CUDA_TRY(ask_cluster<kernel>(&config, blocks, gpu, &fits));
        if (!fits) return cudaErrorInvalidClusterSize;
    }
    return cudaLaunchKernelEx(&config, kernel, a, (unsigned)n, c);
}

template <bool PAIRS, typename Key>
static cudaError_t launch_resident(struct arrays<Key> a, size_t n, codec<Key> c,
                                   struct resident_shape s, const struct gpu *gpu,
                                   cudaStream_t stream)
{
    switch (s.keys) {
    case 1: return launch_resident_of<1, PAIRS>(a, n, c, s.blocks, gpu, stream);
    case 2: return launch_resident_of<2, PAIRS>(a, n, c, s.blocks, gpu, stream);
    case 4: return launch_resident_of<4, PAIRS>(a, n, c, s.blocks, gpu, stream);
    default: return launch_resident_of<8, PAIRS>(a, n, c, s.blocks, gpu, stream);
    }
}

/* Launches sort_wave if all its blocks fit on the GPU at a time. Otherwise it returns
 * cudaErrorCooperativeLaunchTooLarge, without having tried. */
template <int KEYS, bool PAIRS, typename Key>
static cudaError_t launch_wave_of(struct arrays<Key> a, size_t n, codec<Key> c, unsigned blocks,
                                  struct control *control, const struct gpu *gpu,
                                  cudaStream_t stream)
{
    constexpr auto kernel = sort_wave<KEYS, PAIRS, Key>;
    size_t shared = sizeof(wave_memory<KEYS, PAIRS, Key>);
    cudaLaunchAttribute together = {}; // none begins before there is room for all
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = WAVE_THREADS;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    config.attrs = &together;
    config.numAttrs = 1;

    unsigned fit;
    if (shared > (size_t)gpu->shared) return cudaErrorCooperativeLaunchTooLarge;
    CUDA_TRY(allow_shared((const void *)kernel, shared));
    cudaError_t error = blocks_for<kernel>(WAVE_THREADS, shared, blocks, gpu, &fit);
    if (error == cudaErrorInvalidConfiguration) return cudaErrorCooperativeLaunchTooLarge;
    if (error) return error;
    return cudaLaunchKernelEx(&config, kernel, a, (unsigned)n, c, control);
}

template <bool PAIRS, typename Key>
static cudaError_t launch_wave(const struct arrays<Key> &a, size_t n, codec<Key> c,
                               struct control *control, const struct gpu *gpu, cudaStream_t stream)
{
    struct wave_shape s = wave_shape(n, (unsigned)gpu->multiprocessors);
    switch (s.keys) {
    case 0: return cudaErrorCooperativeLaunchTooLarge;
    case 1: return launch_wave_of<1, PAIRS>(a, n, c, s.blocks, control, gpu, stream);
    case 2: return launch_wave_of<2, PAIRS>(a, n, c, s.blocks, control, gpu, stream);
    case 4: return launch_wave_of<4, PAIRS>(a, n, c, s.blocks, control, gpu, stream);
    default: return launch_wave_of<8, PAIRS>(a, n, c, s.blocks, control, gpu, stream);
    }
}

/* ---- a launch for each pass ------------------------------------------------------------------ */

static size_t histogram_shared(int copies, size_t key_bytes)
{
    return (size_t)copies * PASSES(key_bytes) * DIGITS * sizeof(unsigned);
}

template <int COPIES, typename Key>
static cudaError_t launch_histogram_of(const struct arrays<Key> &a, size_t n, codec<Key> c,
                                       struct control *control, uint32_t *states, size_t words,
                                       const struct gpu *gpu, cudaStream_t stream)
{
    constexpr auto kernel = count_digits<COPIES, Key>;
    size_t shared = histogram_shared(COPIES, sizeof(Key));
    size_t share = (size_t)HISTOGRAM_THREADS * HISTOGRAM_VECTORS * 16 / sizeof(Key);
    unsigned blocks;
    CUDA_TRY(allow_shared((const void *)kernel, shared));
    CUDA_TRY(blocks_for<kernel>(HISTOGRAM_THREADS, shared, n / share + 1, gpu, &blocks));
    return launch_kernel(kernel, blocks, HISTOGRAM_THREADS, shared, stream, a.in, n, c, control,
                         states, words);
}

template <typename Key>
static cudaError_t launch_histogram(const struct arrays<Key> &a, size_t n, codec<Key> c,
                                    struct control *control, uint32_t *states, size_t words,
                                    const struct gpu *gpu, cudaStream_t stream)
{
    const int MANY = HISTOGRAM_MANY(sizeof(Key));
    size_t shared = histogram_shared(MANY, sizeof(Key));
    if (n >= HISTOGRAM_MANY_FROM && shared <= (size_t)gpu->shared)
        return launch_histogram_of<MANY>(a, n, c, control, states, words, gpu, stream);
    return launch_histogram_of<HISTOGRAM_FEW>(a, n, c, control, states, words, gpu, stream);
}

template <bool HALF, bool PAIRS, typename Word, typename Key>
static cudaError_t launch_passes(const struct arrays<Key> &a, size_t n, codec<Key> c,
                                 struct control *control, Word *states, size_t tiles,
                                 const struct gpu *gpu, cudaStream_t stream)
{
    auto *kernel = sort_by_digit<HALF, PAIRS, Word, Key>;
    size_t shared = sizeof(pass_memory<HALF, PAIRS, Word, Key>);
    CUDA_TRY(allow_shared((const void *)kernel, shared));
    for (unsigned pass = 0; pass < PASSES(sizeof(Key)); pass++)
        CUDA_TRY(launch_after(gpu, kernel, tiles, ONESWEEP_THREADS, shared, stream, a, n, c, pass,
                              control, states));
    return cudaSuccess;
}

/* ---- the choice of a sort -------------------------------------------------------------------- */

#define PART_ALIGNMENT ((size_t)256)

static size_t aligned(size_t bytes)
{
    return (bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

/* ---- the workspace --------------------------------------------------------------------------- */

/* Where its parts begin, in bytes. */
struct layout {
    size_t tiles, state_bytes; /* bytes of one state */
    size_t states, keys, values, end;
};

/* Is a tile too large for a block's shared memory? */
template <bool PAIRS, typename Key> static bool halves_tiles(const struct gpu *gpu)
{
    return sizeof(pass_memory<false, PAIRS, uint64_t, Key>) > (size_t)gpu->shared;
}

template <bool PAIRS, typename Key> static struct layout layout_of(size_t n, const struct gpu *gpu)
{
    bool half = halves_tiles<PAIRS, Key>(gpu);
    size_t tile = ONESWEEP_TILE(sizeof(Key), PAIRS, half);
    struct layout l;
    l.tiles = n / tile + (n % tile > 0);
    l.state_bytes = n < NARROW_STATES_MAX && !half ? sizeof(uint32_t) : sizeof(uint64_t);
    l.states = aligned(sizeof(struct control));
    l.keys = l.states + aligned(l.tiles * DIGITS * l.state_bytes);
    l.values = l.keys + aligned(n * sizeof(Key));
    l.end = l.values + (PAIRS ? aligned(n * sizeof(uint32_t)) : 0);
    return l;
}

/* ---- launches -------------------------------------------------------------------------------- */

template <bool PAIRS, typename Key>
static cudaError_t launch_sweeps(const struct arrays<Key> &a, size_t n, codec<Key> c,
                                 char *workspace, const struct gpu *gpu, cudaStream_t stream)
{
    struct layout l = layout_of<PAIRS, Key>(n, gpu);
    struct control *control = (struct control *)workspace;
    uint32_t *states = (uint32_t *)(workspace + l.states);
    bool narrow = l.state_bytes == sizeof(uint32_t);
    CUDA_TRY(launch_histogram(a, n, c, control, states,
                              l.tiles * DIGITS * (l.state_bytes / sizeof(uint32_t)), gpu, stream));
    if (narrow) return launch_passes<false, PAIRS>(a, n, c, control, states, l.tiles, gpu, stream);
    if (halves_tiles<PAIRS, Key>(gpu))
        return launch_passes<true, PAIRS>(a, n, c, control, (uint64_t *)states, l.tiles, gpu,
                                          stream);
    return launch_passes<false, PAIRS>(a, n, c, control, (uint64_t *)states, l.tiles, gpu, stream);
}

/* The largest cluster that takes them; otherwise all multiprocessors at once; otherwise a launch
 * for each pass, as for keys of 1 and 2 bytes: the other kernels need four passes at least, or
 * words that a block can send. */
template <bool PAIRS, typename Key>
static cudaError_t launch(const struct arrays<Key> &a, size_t n, codec<Key> c, char *workspace,
                          const struct gpu *gpu, cudaStream_t stream)
{
    if constexpr (sizeof(Key) >= sizeof(uint32_t)) {
        unsigned most = gpu->capability >= 90 ? CLUSTER_MOST : 1;
        for (; most > 0; most = most == 1 ? 0 : most == CLUSTER_MOST ? CLUSTER_PORTABLE : 1) {
            struct resident_shape s = resident_shape(n, PAIRS, most);
            if (s.blocks == 0) continue;
            cudaError_t error = launch_resident<PAIRS>(a, n, c, s, gpu, stream);
            if (error != cudaErrorInvalidClusterSize) return error; // this GPU has less to give
        }
        cudaError_t error = launch_wave<PAIRS>(a, n, c, (struct control *)workspace, gpu, stream);
        if (error != cudaErrorCooperativeLaunchTooLarge) return error;
    }
    return launch_sweeps<PAIRS>(a, n, c, workspace, gpu, stream);
}

static bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b;
    return x < y + b_bytes && y < x + a_bytes;
}

/* The two-phase call of sort.h. */
template <bool PAIRS, typename Key>
static cudaError_t sort(void *workspace, size_t *bytes, Key *out, uint32_t *values_out,
                        const Key *in, const uint32_t *values_in, size_t n, enum kind kind,
                        enum sort_order order, cudaStream_t stream)
{
    struct gpu gpu;
    CUDA_TRY(look_at_gpu(&gpu));
    struct layout l = layout_of<PAIRS, Key>(n, &gpu);
    if (l.tiles > INT32_MAX) return cudaErrorInvalidValue; // beyond any grid
    if (workspace == NULL) {
        *bytes = l.end;
        return cudaSuccess;
    }
    if (n == 0) return cudaSuccess;
    if (*bytes < l.end || (uintptr_t)workspace % PART_ALIGNMENT) return cudaErrorInvalidValue;
    if (overlap(out, n * sizeof(Key), in, n * sizeof(Key))) return cudaErrorInvalidValue;
    if (PAIRS && values_in == NULL && n > UINT32_MAX) return cudaErrorInvalidValue;
    char *w = (char *)workspace;
    uint32_t *values_spare = PAIRS ? (uint32_t *)(w + l.values) : NULL;
    struct arrays<Key> a = {
        out, (Key *)(w + l.keys), in, values_out, values_spare, values_in
    };
    return launch<PAIRS>(a, n, codec_of<Key>(kind, order == SORT_DESCENDING), w, &gpu, stream);
}

#endif
