/*
 * device_memory.cu — the fingerprint of device memory.
 */
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "fingerprint.h"

#define THREADS 256
#define BLOCKS  1024 /* the most blocks; each goes on through the memory */
#define WARP    32
#define WORD    sizeof(uint32_t)

/* Word k, of which the first `bytes` bytes are the span's (0 < bytes <= WORD). */
static __device__ uint32_t load_word(const unsigned char *at, size_t bytes)
{
    if (bytes >= WORD && (uintptr_t)at % WORD == 0) return *(const uint32_t *)at;
    uint32_t word = 0;
    for (unsigned i = 0; i < WORD && i < bytes; i++) word |= (uint32_t)at[i] << 8 * i;
    return word;
}

static __device__ unsigned long long warp_sum(unsigned long long mine)
{
    for (int d = WARP / 2; d > 0; d /= 2) mine += __shfl_xor_sync(0xFFFFFFFF, mine, d);
    return mine;
}

/* The sum over the block, in its first warp. */
static __device__ unsigned long long block_sum(unsigned long long mine)
{
    __shared__ unsigned long long of_warps[THREADS / WARP];
    unsigned lane = threadIdx.x % WARP;
    mine = warp_sum(mine);
    if (lane == 0) of_warps[threadIdx.x / WARP] = mine;
    __syncthreads();
    return warp_sum(lane < THREADS / WARP ? of_warps[lane] : 0);
}

static __global__ void add_hashes(const unsigned char *memory, size_t bytes,
                                  unsigned long long *sum)
{
    size_t words = (bytes + WORD - 1) / WORD, step = (size_t)gridDim.x * THREADS;
    unsigned long long mine = 0;
    for (size_t k = (size_t)blockIdx.x * THREADS + threadIdx.x; k < words; k += step)
        mine += fingerprint_hash(k, load_word(memory + k * WORD, bytes - k * WORD));
    mine = block_sum(mine);
    if (threadIdx.x == 0) atomicAdd(sum, mine);
}

extern "C" cudaError_t fingerprint_on_device(const void *memory, size_t bytes, uint64_t *sum,
                                             cudaStream_t stream)
{
    size_t blocks = (bytes / WORD + THREADS) / THREADS;
    if (blocks > BLOCKS) blocks = BLOCKS;
    return launch_kernel(add_hashes, (unsigned)blocks, THREADS, 0, stream,
                         (const unsigned char *)memory, bytes, (unsigned long long *)sum);
}
