/*
 * partners.cu — the partners of brackets: a scan and a stable sort; see scan.h.
 *
 * The level of a bracket is the depth after it if it opens, and the depth before it if it closes.
 * So a bracket and its partner have the same level, and every bracket between them has a higher
 * one:
 *
 *     index   0   1   2   3   4   5   6   7
 *     text    (   [   ]   [   ]   )   {   }
 *     level   1   2   2   2   2   1   1   1
 *
 * The brackets of one level open and close in turn. So a stable sort of the indices by level puts
 * each bracket beside its partner: 0 5, 6 7 (level 1), 1 2, 3 4 (level 2).
 *
 * What is still bad: all n characters are sorted, as the number of brackets is not known on the
 * host. The loads and stores of the last kernel are scattered.
 */
#include "scan.h"

#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "more_operators.cuh"
#include "steps/15-radix-sort/sort.h"

#define PART_ALIGNMENT  ((size_t)256)
#define PARTNER_THREADS 256 /* of a block */

/* Of characters without a partner: they come first. The sort leaves out passes over digits that are
 * all the same. As 0 is no level, the upper digits are 0 in all keys of a text that is not deep. */
#define NO_LEVEL 0

/* On entry, `level` has the depths after the characters. */
static __global__ void depths_to_levels(int32_t *level, const uint8_t *text, size_t n)
{
    size_t i = (size_t)blockIdx.x * PARTNER_THREADS + threadIdx.x;
    if (i >= n) return;
    step16::left_over own = brackets_operator().enter(text[i], {});
    int32_t depth = level[i]; // below 0: the text has gone wrong
    bool counts = depth >= 0 && own.opening + own.closing > 0;
    level[i] = counts ? depth + own.closing : NO_LEVEL;
}

/* A thread for each character in the order of the sort: index[k] has level[k]. */
static __global__ void pair_neighbours(int32_t *partner, const int32_t *level,
                                       const uint32_t *index, const uint8_t *text, size_t n)
{
    size_t k = (size_t)blockIdx.x * PARTNER_THREADS + threadIdx.x;
    if (k >= n) return;
    uint32_t own = index[k];
    int32_t other = -1;
    if (level[k] != NO_LEVEL) {
        bool opens = brackets_operator().enter(text[own], {}).opening > 0;
        if (!opens)
            other = (int32_t)index[k - 1];
        else if (k + 1 < n && level[k + 1] == level[k])
            other = (int32_t)index[k + 1];
    }
    partner[own] = other;
}

/* Where the parts of the workspace begin, and how many bytes those of the scan and the sort have.
 * The scan's is the first one. */
struct layout {
    size_t scan_bytes, sort, sort_bytes, levels, indices, end;
};

static size_t aligned(size_t bytes)
{
    return (bytes + PART_ALIGNMENT - 1) / PART_ALIGNMENT * PART_ALIGNMENT;
}

static cudaError_t layout_of(size_t n, const struct upsweep_scan_options *options, struct layout *l)
{
    CUDA_TRY(scan_brackets(NULL, &l->scan_bytes, NULL, NULL, n, options, NULL));
    CUDA_TRY(sort_pairs_i32(NULL, &l->sort_bytes, NULL, NULL, NULL, NULL, n, SORT_ASCENDING, NULL));
    l->sort = aligned(l->scan_bytes);
    l->levels = l->sort + aligned(l->sort_bytes);
    l->indices = l->levels + aligned(n * sizeof(int32_t));
    l->end = l->indices + n * sizeof(uint32_t);
    return cudaSuccess;
}

cudaError_t scan_bracket_partners(void *workspace, size_t *bytes, int32_t *partner,
                                  const uint8_t *text, size_t n, cudaStream_t stream)
{
    struct upsweep_scan_options options = {};
    struct layout l;
    options.inclusive = true;
    if (n > INT32_MAX) return cudaErrorInvalidValue;
    CUDA_TRY(layout_of(n, &options, &l));
    if (workspace == NULL) {
        *bytes = l.end;
        return cudaSuccess;
    }
    if (n == 0) return cudaSuccess;
    if (*bytes < l.end || (uintptr_t)workspace % PART_ALIGNMENT) return cudaErrorInvalidValue;

    char *parts = (char *)workspace;
    int32_t *levels = (int32_t *)(parts + l.levels);
    uint32_t *indices = (uint32_t *)(parts + l.indices);
    unsigned blocks = (unsigned)((n + PARTNER_THREADS - 1) / PARTNER_THREADS);
    // The parts lie elsewhere for another n, so they are cleared for each text.
    CUDA_TRY(scan_operators_init(parts, l.scan_bytes, stream));
    CUDA_TRY(sort_workspace_init(parts + l.sort, l.sort_bytes, stream));

    // `partner` holds depths, levels, and at last partners.
    CUDA_TRY(scan_brackets(parts, &l.scan_bytes, partner, text, n, &options, stream));
    CUDA_TRY(launch_kernel(depths_to_levels, blocks, PARTNER_THREADS, 0, stream, partner, text, n));
    CUDA_TRY(sort_pairs_i32(parts + l.sort, &l.sort_bytes, levels, indices, partner, NULL, n,
                            SORT_ASCENDING, stream));
    return launch_kernel(pair_neighbours, blocks, PARTNER_THREADS, 0, stream, partner, levels,
                         indices, text, n);
}
