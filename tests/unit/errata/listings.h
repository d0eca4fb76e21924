/*
 * listings.h — the documents' kernels, as printed and as they must be, each with a launch of it.
 *
 * `as_printed` chooses. All pointers are device memory; sizes are elements. A launch returns
 * cudaGetLastError().
 */
#ifndef ERRATA_LISTINGS_H
#define ERRATA_LISTINGS_H

#include <cuda_runtime.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Listing 1 (Harris): one block of n threads. */
cudaError_t launch_listing_1(float *out, const float *in, int n, bool as_printed);

enum padded_as {
    PADDED_RIGHT,     /* (n >> 5) + (n >> 10), for 32 banks */
    PADDED_OFFSET_B,  /* Harris' block A: bankOffsetB computed from ai */
    PADDED_ZERO,      /* ZERO_BANK_CONFLICTS as printed */
    PADDED_NOT,       /* no padding at all, for comparison */
    PADDED_UNALLOWED, /* (n >> 4), in an array that has not grown */
};
/* Listing 2 with Listings 3 and 4: one block of n/2 threads. */
cudaError_t launch_padded(float *out, const float *in, int n, enum padded_as as);

/* The lecture's vectorized copies: int2 or int4. */
cudaError_t launch_copy_int2(int *out, const int *in, int n, bool as_printed);
cudaError_t launch_copy_int4(int *out, const int *in, int n, bool as_printed);
/* Only its last lines are as printed: the tail of a copy whose index is right. */
cudaError_t launch_copy_int4_tail(int *out, const int *in, int n, bool as_printed);

/* The sum of 32 values by one warp, and the printed solution of "Example 3". out[0] is the sum. */
enum warp_sum_as { WARP_SUM_RIGHT, WARP_SUM_SOLUTION };
cudaError_t launch_warp_sum(int *out, const int *in, enum warp_sum_as as);

/* out[lane] = __all_sync(all lanes, predicate): what memorycopy's comment says of it is checked. */
cudaError_t launch_all(int *out, int predicate);

#ifdef __cplusplus
}
#endif
#endif
