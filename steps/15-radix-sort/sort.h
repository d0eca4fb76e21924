/*
 * sort.h — radix sort of device memory as a library, for programs in C and C++: keys alone, or keys
 * with a value of 32 bits each. Equal keys keep their order (the sort is stable).
 *
 *     size_t bytes = 0;
 *     sort_keys_u32(NULL, &bytes, NULL, NULL, n, SORT_ASCENDING, stream);     sets `bytes`
 *     cudaMalloc(&workspace, bytes);
 *     sort_workspace_init(workspace, bytes, stream);                          once
 *     sort_keys_u32(workspace, &bytes, out, in, n, SORT_ASCENDING, stream);   any number of times
 *
 * workspace   NULL: sets *bytes to what n keys of this type need on this device (sort_pairs_…: with
 *             their values), and does nothing else. Otherwise *bytes bytes of device memory,
 *             aligned to 256, which sort_workspace_init has cleared once. It may be used for any
 *             number of sorts for which it is large enough, one after the other. Sorts that may run
 *             at the same time (in two streams) need one each. Scans (steps 12, 13 and 16) leave
 *             numbers there which a sort takes for its own, and a sort leaves keys: where both use
 *             the same memory, the one that follows needs its workspace cleared again.
 * out, in     n keys each in device memory, aligned to one key. They do not overlap, and `in` is
 *             not changed.
 * values_out  n values in device memory: values_out[i] belongs to out[i].
 * values_in   n values; NULL: the values are 0, 1, 2, …, so values_out says where each key was. The
 *             arrays of values do not overlap each other or the keys.
 * n           0 succeeds and does nothing. Fewer than 2^32 keys with values_in NULL.
 * stream      every launch goes there; the call does not wait. It may be captured into a graph.
 * Returns cudaSuccess; cudaErrorInvalidValue if the workspace is too small or not aligned, if `out`
 * and `in` overlap, or if n is too large; or an error of CUDA. An error that was there before stays
 * for the caller's cudaGetLastError.
 *
 * Order: that of the numbers. For floats it is a total order of the bits: NaN with the sign bit
 * set, -infinity, negative numbers, -0, +0, positive numbers, +infinity, NaN. So -0 comes before
 * +0, and NaN are at both ends. NumPy is different: there -0 equals +0, and each NaN comes last.
 */
#ifndef STEP15_SORT_H
#define STEP15_SORT_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sort_order { SORT_ASCENDING, SORT_DESCENDING };

/* Clears what has to be 0 in a workspace. Needed once, before its first sort. */
cudaError_t sort_workspace_init(void *workspace, size_t bytes, cudaStream_t stream);

/* clang-format off */
#define DECLARE_SORTS(name, Key)                                                                   \
    cudaError_t sort_keys_##name(void *workspace, size_t *bytes, Key *out, const Key *in, size_t n,\
                                 enum sort_order order, cudaStream_t stream);                      \
    cudaError_t sort_pairs_##name(void *workspace, size_t *bytes, Key *out, uint32_t *values_out,  \
                                  const Key *in, const uint32_t *values_in, size_t n,              \
                                  enum sort_order order, cudaStream_t stream)
/* clang-format on */

DECLARE_SORTS(u32, uint32_t);
DECLARE_SORTS(i32, int32_t);
DECLARE_SORTS(f32, float);
DECLARE_SORTS(u64, uint64_t);
DECLARE_SORTS(i64, int64_t);
DECLARE_SORTS(f64, double);

#undef DECLARE_SORTS

#ifdef __cplusplus
}
#endif

#endif
