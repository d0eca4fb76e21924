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

cudaError_t sort_workspace_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    size_t clear = bytes < sizeof(struct control) ? bytes : sizeof(struct control);
    return cudaMemsetAsync(workspace, 0, clear, stream);
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
