/*
 * Step 13, variant atomic: compaction that does not keep the order.
 *
 * What it is: the lecture's use of votes. The lanes of a warp vote. Lane 0 adds the number of kept
 * elements to a counter in device memory; the counter's old value is the place of the first one.
 * That is one atomic operation for each warp in place of one for each kept element.
 * Same as document.cu except: there is no scan, and no array but in and out.
 * What it fixes: for each element 1 word is moved, and 1 more if it is kept, by ten lines of code.
 * What is still bad: warps take their places in the order in which they come to the counter, so the
 * result has the right elements in an order that differs from run to run; and all warps wait for
 * one word of memory. fast.cu keeps the order at the same traffic.
 * How to run it: make step13 && ./step13 --variant atomic
 */
#include "common/step/launch_kernel.cuh"
#include "parts/keep.cuh"
#include "step13.h"

#define LANES     32
#define ALL_LANES 0xffffffffu

/* *kept is 0 at first. */
template <typename T, typename Keep>
static __global__ void select_atomic(T *out, uint64_t *kept, const T *in, size_t n, Keep keep)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned lane = threadIdx.x % LANES;
    T x = i < n ? in[i] : (T)0;

    // Vote; lane 0 takes the places.
    unsigned votes = __ballot_sync(ALL_LANES, i < n && keep(x, i));
    unsigned long long first = 0;
    if (lane == 0 && votes != 0)
        first = atomicAdd((unsigned long long *)kept, (unsigned long long)__popc(votes));
    first = __shfl_sync(ALL_LANES, first, 0);

    // Store behind the kept elements of the lanes before.
    if (votes >> lane & 1) out[first + __popc(votes & ((1u << lane) - 1))] = x;
}

template <typename T, typename Keep>
static cudaError_t compact(const struct compaction *c, Keep keep)
{
    size_t blocks = (c->n - 1) / COMPACT_THREADS + 1;
    if (blocks > INT32_MAX) return cudaErrorInvalidValue;
    return launch_kernel(select_atomic<T, Keep>, (unsigned)blocks, COMPACT_THREADS, 0, c->stream,
                         (T *)c->out, c->kept, (const T *)c->in, c->n, keep);
}

cudaError_t compact_atomic(const struct compaction *c)
{
    const struct predicate *p = c->predicate;
    CUDA_TRY(cudaMemsetAsync(c->kept, 0, sizeof *c->kept, c->stream));
    if (c->n == 0) return cudaSuccess;
    switch (c->element) {
    case ELEMENT_F32: return compact<uint32_t>(c, all_intervals<real4>(p));
    case ELEMENT_F64: return compact<uint64_t>(c, all_intervals<real8>(p));
    case ELEMENT_I32: return compact<uint32_t>(c, all_intervals<integer4>(p));
    case ELEMENT_I64: return compact<uint64_t>(c, all_intervals<integer8>(p));
    case ELEMENT_I8: return compact<uint8_t>(c, flagged{c->flags});
    default: return cudaErrorInvalidValue;
    }
}
