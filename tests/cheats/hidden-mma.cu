// Adds by a tensor core.
// expect: 0 0 
#include <mma.h>
//@ kernel
{
    using namespace nvcuda::wmma;
    __shared__ half ones[256];
    __shared__ float sums[256];
    fragment<matrix_a, 16, 16, 16, half, row_major> a;
    fragment<matrix_b, 16, 16, 16, half, row_major> b;
    fragment<accumulator, 16, 16, 16, float> c;
    for (int i = threadIdx.x; i < 256; i += blockDim.x) ones[i] = 1;
    __syncthreads();
    fill_fragment(c, 0);
    load_matrix_sync(a, ones, 16);
    load_matrix_sync(b, ones, 16);
    mma_sync(c, a, b, c);
    store_matrix_sync(sums, c, 16, mem_row_major);
    g_odata[threadIdx.x] = sums[threadIdx.x % 256] + g_idata[threadIdx.x] + n;
}
