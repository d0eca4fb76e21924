/*
 * variants.cu — step 4 with other paddings, for comparison: scan.cu's kernel, whose padding is a
 * template's argument here.
 */
#include "common/step/step.h"
#include "variants.h"

/*
 * Scans the n elements of g_idata into g_odata, exclusively. n is a power of two, at least 2. Needs
 * one block of n/2 threads and VARIANT_SIZE(n, PADDING) floats of shared memory. g_odata may be
 * g_idata. PADDING is a template's argument, so it is a constant.
 */
template <enum padding PADDING>
static __global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    // One buffer: at every level, no two threads touch the same element.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int offset = 1; // distance of two neighbouring nodes of the current level

    // Each thread loads two elements, one from each half of the array.                 (part A)
    int ai = thid;
    int bi = thid + n / 2;
    int bankOffsetA = PADDING_OFFSET(ai, PADDING);
    int bankOffsetB = PADDING_OFFSET(bi, PADDING);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];

    // Up-sweep: add each left child to its right sibling, level by level, with d pairs a level.
    for (int d = n >> 1; d > 0; d >>= 1) {
        // This level reads sums of the level below (at first: the loaded elements), which other
        // threads have written: no read may start before all of them are there.
        __syncthreads();

        if (thid < d) { //                                                              (part B)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += PADDING_OFFSET(ai, PADDING);
            bi += PADDING_OFFSET(bi, PADDING);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }

    // Clear the root: nothing lies to the left of the whole. No barrier before it is needed,
    // because thread 0 has written the root itself.                                    (part C)
    if (thid == 0) temp[n - 1 + PADDING_OFFSET(n - 1, PADDING)] = 0;

    // Down-sweep: give each left child its parent's value, and each right child the parent's value
    // plus the left child's sum.
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;

        // This level reads what other threads have written at the level above (at first: the zero
        // at the root): no read may start before.
        __syncthreads();

        if (thid < d) { //                                                              (part D)
            int ai = offset * (2 * thid + 1) - 1;
            int bi = offset * (2 * thid + 2) - 1;
            ai += PADDING_OFFSET(ai, PADDING);
            bi += PADDING_OFFSET(bi, PADDING);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }

    // The last level has written elements that other threads fetch: no fetch may start before.
    __syncthreads();

    // Each thread writes two elements of the result, one to each half.                 (part E)
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

extern "C" scan_fn step04_variants;

/* Scans n >= 2 elements, a power of two, with the padding `variant`. */
cudaError_t step04_variants(void *out, const void *in, size_t n, int variant, void *workspace,
                            cudaStream_t stream)
{
    float *g_odata = (float *)out;
    const float *g_idata = (const float *)in;
    size_t shared = VARIANT_SIZE(n, variant) * sizeof(float);
    (void)workspace;

    switch (variant) {
    case PAD16: scan_block<PAD16><<<1, n / 2, shared, stream>>>(g_odata, g_idata, (int)n); break;
    case PAD32X2:
        scan_block<PAD32X2><<<1, n / 2, shared, stream>>>(g_odata, g_idata, (int)n);
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}
