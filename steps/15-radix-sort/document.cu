/*
 * Step 15, variants document and bitonic: chunks are sorted, and then merged in pairs.
 *
 * What it is: the radix sort of GPU Gems 3, 39.3.3. Each block sorts a chunk by one bit after the
 * other (split.cuh). Then pairs of runs become runs of twice the length, again and again
 * (merge.cuh). In variant bitonic the chunks are of 32 keys, which a warp sorts as in the lecture
 * (merge.cuh). What is still bad: the keys are read and written once for each level, and the last
 * levels have few blocks (variant fast).
 * How to run it: make step15 && ./step15 --variant document
 *
 * This file launches the kernels level by level.
 */
#include "step15.h"
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "merge.cuh"
#include "split.cuh"

static size_t chunk_length(enum variant variant)
{
    return variant == BITONIC ? BITONIC_CHUNK : SPLIT_CHUNK;
}

unsigned sort_document_levels(size_t n, enum variant variant)
{
    unsigned levels = 0;
    for (size_t run = chunk_length(variant); run < n; run *= 2) levels++;
    return levels;
}

static unsigned blocks_for(size_t n, size_t each) { return (unsigned)((n - 1) / each + 1); }

template <typename Key>
static cudaError_t launch_chunks(enum variant variant, Key *out, const Key *in, size_t n,
                                 codec<Key> c, bool last, cudaStream_t stream)
{
    if (variant == BITONIC)
        return launch_kernel(sort_warps<Key>, blocks_for(n, BITONIC_THREADS), BITONIC_THREADS, 0,
                             stream, out, in, n, c, last);
    size_t shared = sizeof(chunk_memory<Key>);
    CUDA_TRY(cudaFuncSetAttribute((const void *)sort_chunks<Key>,
                                  cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    return launch_kernel(sort_chunks<Key>, blocks_for(n, SPLIT_CHUNK), SPLIT_THREADS, shared,
                         stream, out, in, n, c, last);
}

/* The levels write `out` and `spare` in turn, so that the last one writes `out`. */
template <typename Key>
static cudaError_t sort(enum variant variant, Key *spare, Key *out, const Key *in, size_t n,
                        codec<Key> c, cudaStream_t stream)
{
    unsigned levels = sort_document_levels(n, variant);
    size_t run = chunk_length(variant);
    Key *to = levels % 2 ? spare : out, *from;
    CUDA_TRY(launch_chunks(variant, to, in, n, c, levels == 0, stream));
    for (; levels > 0; levels--, run *= 2) {
        from = to;
        to = from == out ? spare : out;
        CUDA_TRY(launch_kernel(merge_runs<Key>, blocks_for(n, 2 * run), MERGE_THREADS, 0, stream,
                               to, from, n, run, c, levels == 1));
    }
    return cudaSuccess;
}

cudaError_t sort_document(enum variant variant, enum element element, void *workspace, void *out,
                          const void *in, size_t n, enum sort_order order, cudaStream_t stream)
{
    bool down = order == SORT_DESCENDING;
    enum kind kind = KIND_UNSIGNED;
    if (element == ELEMENT_I32 || element == ELEMENT_I64) kind = KIND_SIGNED;
    if (element_is_real(element)) kind = KIND_REAL;
    if (n == 0) return cudaSuccess;
    if (n / BITONIC_THREADS >= INT32_MAX) return cudaErrorInvalidValue; // a grid's blocks
    if (element_size(element) == 8)
        return sort(variant, (uint64_t *)workspace, (uint64_t *)out, (const uint64_t *)in, n,
                    codec_of<uint64_t>(kind, down), stream);
    return sort(variant, (uint32_t *)workspace, (uint32_t *)out, (const uint32_t *)in, n,
                codec_of<uint32_t>(kind, down), stream);
}
