/*
 * Step 13, variant document: stream compaction as the document describes it.
 *
 * What it is: GPU Gems 3, section 39.3.1 (Figures 39-9 and 39-10). A kernel writes 1 for each
 * element that is kept and 0 for the others; an exclusive scan of these flags gives each kept
 * element its place; another kernel scatters the elements there. Order is kept.
 * Same as the steps before except: the scan (step 12's) is one of three launches.
 * What it fixes: later kernels need not load elements that are not kept.
 * What is still bad: flags and places are whole arrays in device memory. For each element, `mark`
 * reads the element and writes the flag, the scan reads the flag and writes the place, and
 * `scatter` reads element, flag and place: 7 words, and 1 more if it is kept. fast.cu moves 1, and
 * 1 more.
 * How to run it: make step13 && ./step13 --variant document
 */
#include "common/step/launch_kernel.cuh"
#include "parts/keep.cuh"
#include "step13.h"
#include "steps/12-pipeline/scan.h"

/* Writes a flag for each element: 1 if it is kept. */
template <typename T, typename Keep>
static __global__ void mark(int32_t *flags, const T *in, size_t n, Keep keep)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) flags[i] = keep(in[i], i);
}

/* Stores each kept element at its place. The thread of the last element stores their number. */
template <typename T>
static __global__ void scatter(T *out, uint64_t *kept, const T *in, const int32_t *flags,
                               const int32_t *places, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint32_t place = (uint32_t)places[i]; // sums are modulo 2^32, and n is below that
    if (flags[i]) out[place] = in[i];
    if (i == n - 1) *kept = (uint64_t)place + (uint32_t)flags[i];
}

static size_t scan_bytes(size_t n)
{
    size_t bytes = 0;
    scan_exclusive_i32(NULL, &bytes, NULL, NULL, n, NULL);
    return bytes;
}

/* The scan's workspace comes first, since it was cleared; then flags, then places. */
size_t document_workspace(size_t n)
{
    return padded(scan_bytes(n)) + 2 * padded(n * sizeof(int32_t));
}

template <typename T, typename Keep>
static cudaError_t compact(const struct compaction *c, Keep keep)
{
    const T *in = (const T *)c->in;
    size_t n = c->n, bytes = scan_bytes(n);
    int32_t *flags = (int32_t *)((char *)c->workspace + padded(bytes));
    int32_t *places = flags + padded(n * sizeof *flags) / sizeof *flags;
    unsigned blocks = (unsigned)((n - 1) / COMPACT_THREADS + 1);

    CUDA_TRY(
        launch_kernel(mark<T, Keep>, blocks, COMPACT_THREADS, 0, c->stream, flags, in, n, keep));
    CUDA_TRY(scan_exclusive_i32(c->workspace, &bytes, places, flags, n, c->stream));
    return launch_kernel(scatter<T>, blocks, COMPACT_THREADS, 0, c->stream, (T *)c->out, c->kept,
                         in, flags, places, n);
}

cudaError_t compact_document(const struct compaction *c)
{
    const struct predicate *p = c->predicate;
    if (c->n > UINT32_MAX) return cudaErrorInvalidValue;
    if (c->n == 0) return cudaMemsetAsync(c->kept, 0, sizeof *c->kept, c->stream);
    switch (c->element) {
    case ELEMENT_F32: return compact<uint32_t>(c, all_intervals<real4>(p));
    case ELEMENT_F64: return compact<uint64_t>(c, all_intervals<real8>(p));
    case ELEMENT_I32: return compact<uint32_t>(c, all_intervals<integer4>(p));
    case ELEMENT_I64: return compact<uint64_t>(c, all_intervals<integer8>(p));
    case ELEMENT_I8: return compact<uint8_t>(c, flagged{c->flags});
    default: return cudaErrorInvalidValue;
    }
}
