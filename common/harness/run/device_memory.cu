/* device_memory.cu — kernels of the harness: fingerprints, an emptied cache, copies. */
#include "common/step/cuda_check.h"
#include "common/step/launch_kernel.cuh"
#include "device.h"
#include <stdint.h>

/* ---- the fingerprint of device memory -------------------------------------------------------- */

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

/* ---- reads an array, so that its lines replace all others in the L2 cache -------------------- */

#define FLUSH_THREADS 256
#define FLUSH_BLOCKS  1024 /* enough blocks to keep memory busy; each goes on through the array */

/* The sum would be stored: otherwise the compiler would remove the loads. */
static __global__ void read_all(uint4 *array, size_t vectors)
{
    unsigned sum = 0;
    for (size_t i = (size_t)blockIdx.x * FLUSH_THREADS + threadIdx.x; i < vectors;
         i += FLUSH_BLOCKS * FLUSH_THREADS)
        sum += array[i].x ^ array[i].y ^ array[i].z ^ array[i].w;
    if (sum == 0x5CA1AB1E) array[0].x = sum; /* never, as the array holds zeros */
}

extern "C" cudaError_t flush_read(void *array, size_t bytes, cudaStream_t stream)
{
    return launch_kernel(read_all, FLUSH_BLOCKS, FLUSH_THREADS, 0, stream, (uint4 *)array,
                         bytes / sizeof(uint4));
}

/* ---- the copies against which scans are measured --------------------------------------------- */

#define COPY_THREADS 256

/* One float4 (16 bytes) per thread. */
static __global__ void copy_float4(float4 *to, const float4 *from, size_t vectors)
{
    size_t i = (size_t)blockIdx.x * COPY_THREADS + threadIdx.x;
    if (i < vectors) to[i] = from[i];
}

static cudaError_t copy_memcpy(void *to, const void *from, size_t bytes, cudaStream_t stream)
{
    return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}

extern "C" cudaError_t roof_copy_rest(void *to, const void *from, size_t done, size_t bytes,
                                      cudaStream_t stream)
{
    if (done == bytes) return cudaSuccess;
    return copy_memcpy((char *)to + done, (const char *)from + done, bytes - done, stream);
}

extern "C" cudaError_t roof_copy_kernel(void *to, const void *from, size_t bytes,
                                        cudaStream_t stream)
{
    size_t vectors = bytes / sizeof(float4);
    unsigned blocks = (unsigned)((vectors + COPY_THREADS - 1) / COPY_THREADS);
    if (((uintptr_t)to | (uintptr_t)from) % ROOF_ALIGNMENT) return cudaErrorMisalignedAddress;
    if (blocks)
        CUDA_TRY(launch_kernel(copy_float4, blocks, COPY_THREADS, 0, stream, (float4 *)to,
                               (const float4 *)from, vectors));
    return roof_copy_rest(to, from, vectors * sizeof(float4), bytes, stream);
}

extern "C" const struct roof_way roof_ways[ROOF_WAYS] = {{"cudaMemcpyAsync", copy_memcpy},
                                                         {"float4 kernel", roof_copy_kernel},
                                                         {"bulk copies", roof_copy_bulk}};

struct copy {
    copy_fn *copy;
    void *to;
    const void *from;
    size_t bytes;
};

static cudaError_t run_copy(void *context, cudaStream_t stream)
{
    const struct copy *copy = (const struct copy *)context;
    return copy->copy(copy->to, copy->from, copy->bytes, stream);
}

extern "C" int roof_measure(struct timer *timer, void *to, const void *from, size_t bytes, int reps,
                            struct roof *roof, struct fault *fault)
{
    struct roof none = {};
    *roof = none;
    roof->bytes = bytes;
    for (int way = 0; way < ROOF_WAYS; way++) {
        struct copy copy = {roof_ways[way].copy, to, from, bytes};
        struct timing timing;
        int code = timer_run(timer, NULL, run_copy, &copy, reps, &timing, fault);
        if (code) return code;
        if (roof->how != NULL && timing.median >= roof->timing.median) continue;
        roof->timing = timing;
        roof->how = roof_ways[way].name;
    }
    return 0;
}
