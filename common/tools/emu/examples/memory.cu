/* memory.cu — global and shared memory, atomics. Run: emu run memory.cu NAME, such as reverse. */
#include "example.cuh"

/* Each thread moves its number. */
__global__ void copy(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

/* Numbers that other threads have stored are loaded after a barrier. */
__global__ void reverse(int *out, const int *in)
{
    __shared__ int part[N];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[N - 1 - threadIdx.x];
}

/* Column by column: 32 lanes use one bank (`emu --page raw` counts the conflicts). */
__global__ void transpose(int *out, const int *in)
{
    __shared__ int part[N * 32];
    int row = threadIdx.x % 32, column = threadIdx.x / 32;
    part[row * 32 + column] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[row * 32 + column];
}

/* Every thread counts in one of eight words. */
__global__ void histogram(int *out, const int *in) { atomicAdd(&out[in[threadIdx.x] % 8], 1); }

PROGRAM(copy, i)
PROGRAM(reverse, N - 1 - i)
PROGRAM(transpose, i)
PROGRAM(histogram, i < 8 ? N / 8 : 0)

int main(int argc, char **argv)
{
    static const struct program programs[] = {{"copy", run_copy},
                                              {"reverse", run_reverse},
                                              {"transpose", run_transpose},
                                              {"histogram", run_histogram}};
    return choose(argc, argv, programs, 4);
}
