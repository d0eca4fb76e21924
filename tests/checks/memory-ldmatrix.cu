/* memory-ldmatrix.cu — a tile has 8 rows of 8 elements, one matrix, and ldmatrix loads four. For
 * one matrix only the addresses of lanes 0 to 7 count. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out)
{
    __shared__ __align__(16) __half tile[8 * ROW];
    unsigned a[4] = {0};
    const __half *row = &tile[threadIdx.x * ROW];
    ((unsigned *)tile)[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (right)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                     : "=r"(a[0])
                     : "r"((unsigned)__cvta_generic_to_shared(row))
                     : "memory");
    else
        LOAD_MATRICES(a, row); /* memcheck: Invalid __shared__ read of size 16 bytes */
    put(out, a);
}

PAIR(load<right>, 1, 32, zeros<int>(128))
