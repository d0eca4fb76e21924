/*
 * sort.cuh — the sort of sort.h for keys of 1, 2, 4 or 8 bytes: divides the workspace and chooses
 * what is launched (launch.cuh).
 */
#ifndef STEP15_SORT_CUH
#define STEP15_SORT_CUH

#include "launch.cuh"
#include "sort.h"

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
