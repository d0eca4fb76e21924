/* memory-ldmatrix-misaligned.cu — two elements of padding after each row avoid bank conflicts of
 * other loads. For ldmatrix each row must begin at a multiple of 16 bytes. */
#include "matrix.cuh"

template <bool right> __global__ void load(int *out, const __half *in)
{
    const int pitch = SIDE + (right ? ROW : 2);
    __shared__ __align__(16) __half tile[SIDE * pitch];
    unsigned a[4];
    for (int i = threadIdx.x; i < TILE; i += 32) tile[i / SIDE * pitch + i % SIDE] = in[i];
    __syncwarp();
    const __half *row = &tile[own_row() / SIDE * pitch + own_row() % SIDE];
    LOAD_MATRICES(a, row); /* memcheck: is misaligned */
    put(out, a);
}

PAIR(load<right>, 1, 32, zeros<int>(128), zeros<__half>(TILE))
