/*
 * Step 15, variant fast: a radix sort as one would write it today, least significant digit first.
 *
 * What it is: four passes over keys of 32 bits, eight over keys of 64, each by 8 bits. Up to 2^16
 * keys they are one launch of one cluster (resident.cuh), and up to 2^20 one launch of all
 * multiprocessors (wave.cuh). Above that there is one launch that counts all digits (histogram.cuh)
 * and one for each pass (onesweep.cuh).
 * Same as the document's variant except: 8 bits at a time in place of one, and the whole array in
 * place of chunks, so there is nothing to merge.
 * How to run it: make step15 && ./step15; or as a library: sort.h.
 *
 * This file has the functions of sort.h; sort.cuh divides the workspace and chooses what is
 * launched.
 */
#include "sort.cuh"
#include "parts/shape_report.h"

cudaError_t sort_workspace_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    size_t clear = bytes < sizeof(struct control) ? bytes : sizeof(struct control);
    return cudaMemsetAsync(workspace, 0, clear, stream);
}

template <bool PAIRS, typename Key> static size_t resident_shared(struct resident_shape s)
{
    switch (s.keys) {
    case 1: return resident_bytes<1, PAIRS, Key>(s.blocks);
    case 2: return resident_bytes<2, PAIRS, Key>(s.blocks);
    case 4: return resident_bytes<4, PAIRS, Key>(s.blocks);
    case 8: return resident_bytes<8, PAIRS, Key>(s.blocks);
    default: return resident_bytes<16, PAIRS, Key>(s.blocks);
    }
}

template <bool PAIRS, typename Key> static size_t wave_shared(unsigned keys)
{
    switch (keys) {
    case 1: return sizeof(wave_memory<1, PAIRS, Key>);
    case 2: return sizeof(wave_memory<2, PAIRS, Key>);
    case 4: return sizeof(wave_memory<4, PAIRS, Key>);
    default: return sizeof(wave_memory<8, PAIRS, Key>);
    }
}

/* For ./step15's report: the launch of the passes, on a GPU that grants the largest cluster. */
template <bool PAIRS, typename Key> static struct launch_shape shape_of(size_t n)
{
    struct gpu gpu;
    struct resident_shape r = resident_shape(n, PAIRS, CLUSTER_MOST);
    if (r.blocks > 0) return {r.blocks, RESIDENT_THREADS, resident_shared<PAIRS, Key>(r), 1};
    if (look_at_gpu(&gpu)) return {};
    struct wave_shape w = wave_shape(n, (unsigned)gpu.multiprocessors);
    if (w.keys > 0 && wave_shared<PAIRS, Key>(w.keys) <= (size_t)gpu.shared)
        return {w.blocks, WAVE_THREADS, wave_shared<PAIRS, Key>(w.keys), 1};
    bool half = halves_tiles<PAIRS, Key>(&gpu);
    size_t tile = ONESWEEP_TILE(sizeof(Key), PAIRS, half);
    size_t shared = half ? sizeof(pass_memory<true, PAIRS, uint64_t, Key>)
                         : sizeof(pass_memory<false, PAIRS, uint32_t, Key>);
    return {(n - 1) / tile + 1, ONESWEEP_THREADS, shared, 1 + PASSES(sizeof(Key))};
}

struct launch_shape sort_shape(size_t n, size_t key_bytes, bool pairs)
{
    if (key_bytes == 8) return pairs ? shape_of<true, uint64_t>(n) : shape_of<false, uint64_t>(n);
    return pairs ? shape_of<true, uint32_t>(n) : shape_of<false, uint32_t>(n);
}

#define DEFINE_SORTS(name, Number, Key, kind)                                                      \
    cudaError_t sort_keys_##name(void *workspace, size_t *bytes, Number *out, const Number *in,    \
                                 size_t n, enum sort_order order, cudaStream_t stream)             \
    {                                                                                              \
        return sort<false, Key>(workspace, bytes, (Key *)out, NULL, (const Key *)in, NULL, n,      \
                                kind, order, stream);                                              \
    }                                                                                              \
    cudaError_t sort_pairs_##name(                                                                 \
        void *workspace, size_t *bytes, Number *out, uint32_t *values_out, const Number *in,       \
        const uint32_t *values_in, size_t n, enum sort_order order, cudaStream_t stream)           \
    {                                                                                              \
        return sort<true, Key>(workspace, bytes, (Key *)out, values_out, (const Key *)in,          \
                               values_in, n, kind, order, stream);                                 \
    }

DEFINE_SORTS(u32, uint32_t, uint32_t, KIND_UNSIGNED)
DEFINE_SORTS(i32, int32_t, uint32_t, KIND_SIGNED)
DEFINE_SORTS(f32, float, uint32_t, KIND_REAL)
DEFINE_SORTS(u64, uint64_t, uint64_t, KIND_UNSIGNED)
DEFINE_SORTS(i64, int64_t, uint64_t, KIND_SIGNED)
DEFINE_SORTS(f64, double, uint64_t, KIND_REAL)
