/*
 * naive.cuh — step 2's sweeps as a block scan for step 5, to measure what the tree is worth.
 */
#ifndef STEP05_NAIVE_CUH
#define STEP05_NAIVE_CUH

/*
 * Block j scans the elements [j size, j size + size) of g_idata into g_odata, exclusively, and
 * stores their sum in g_sums[j] unless that is NULL. Needs `size` threads a block and 2 size floats
 * of shared memory. Beyond n the elements count as 0. g_odata may be g_idata.
 */
static __global__ void scan_block_naive(float *g_odata, const float *g_idata, float *g_sums,
                                        size_t n, int size)
{
    // Two buffers, as in step 2.
    extern __shared__ float temp[];

    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    size_t i = (size_t)blockIdx.x * size + thid; // this thread's element of the whole array

    // Load the input, shifted right by one element within the block.
    temp[pout * size + thid] = (thid > 0 && i - 1 < n) ? g_idata[i - 1] : 0;

    // The first sweep reads the element next door: no read may start before every load has ended.
    __syncthreads();

    for (int offset = 1; offset < size; offset *= 2) {
        pout = 1 - pout; // swap the buffers
        pin = 1 - pout;
        if (thid >= offset)
            temp[pout * size + thid] = temp[pin * size + thid] + temp[pin * size + thid - offset];
        else
            temp[pout * size + thid] = temp[pin * size + thid];

        // The next sweep reads what this one has written and writes over what this one has read:
        // neither may begin before all threads are here.
        __syncthreads();
    }

    // Store the block's sum: the last element's scan and the element itself.
    if (g_sums != NULL && thid == size - 1)
        g_sums[blockIdx.x] = temp[pout * size + thid] + (i < n ? g_idata[i] : 0);

    if (i < n) g_odata[i] = temp[pout * size + thid];
}

#endif
