/*
 * Step 2: the naive parallel scan (Hillis and Steele 1986), in one block.
 *
 * What it is: Algorithm 2 and Listing 1 of Harris 2007 (Listing 39-1 of GPU Gems 3), with the
 * misprints corrected. Each element has a thread. In every sweep, each element adds the one that
 * lies 1, 2, 4, 8 … places to its left; after log2 n sweeps it has added all of them.
 * Same as step 1 except: n threads instead of one loop; log2 n sweeps instead of n - 1 additions in
 * a row.
 * What it fixes: the waiting. Each addition of step 1 needs the result of the one before; here all
 * additions of a sweep are independent.
 * What is still bad: the work. n log2 n - (n - 1) additions where n - 1 would do (step 3), and no
 * more elements than a block has threads (step 5).
 * How to run it: make step2 && ./step2 --counters; its tests: make test-step2
 */
#include "common/step/step.h"

/*
 * Scans the n elements of g_idata into g_odata, exclusively. Needs one block of n threads and 2 n
 * floats of shared memory; n need not be a power of two. g_odata may be g_idata.
 */
static __global__ void scan_block(float *g_odata, const float *g_idata, int n)
{
    // Two buffers of n elements each: in every sweep the threads read one of them and write the
    // other.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int pout = 0, pin = 1;

    // lab: load the input, shifted right by one element, and wait
    // Load the input, shifted right by one element: the sweeps below are inclusive, and an
    // inclusive scan of the shifted input is the exclusive scan.
    temp[pout * n + thid] = (thid > 0) ? g_idata[thid - 1] : 0;

    // The first sweep reads the element next door: no read may start before every load has ended.
    // (And no output may be written before: in place, it would be loaded as input.)
    __syncthreads();
    // lab: end

    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout; // swap the buffers
        pin = 1 - pout;

        // lab: one sweep: add the element `offset` places to the left, or copy
        // Add the element `offset` places to the left, or copy where there is none.
        if (thid >= offset)
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid];

        // The next sweep reads what this one has written and writes over what this one has read:
        // neither may begin before all threads are here.
        __syncthreads();
        // lab: end
    }

    // Write the result. Each thread takes its own element, so no further barrier is needed.
    g_odata[thid] = temp[pout * n + thid];
}

extern "C" scan_fn step02_scan;

cudaError_t step02_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    const size_t most = 1024; // a block has no more threads, and each takes an element
    (void)variant, (void)workspace;

    if (n == 0) return cudaSuccess;
    if (n > most) return cudaErrorInvalidValue;

    scan_block<<<1, n, 2 * n * sizeof(float), stream>>>((float *)out, (const float *)in, (int)n);
    return cudaGetLastError();
}
