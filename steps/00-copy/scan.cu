/*
 * Step 0: copying, in the access patterns of the lecture (CS 380, lecture 25, "Global Memory
 * Accesses").
 *
 * What it is: not a scan yet, but the roof over all of them. A scan reads n elements and writes n
 * elements, so none can be faster than a copy. Here are copies that come near the roof, and copies
 * that request many more bytes than they need.
 * What to look at: a warp's 32 addresses become 32-byte sectors. Each sector that any lane touches
 * is requested whole, once. So bytes requested = 32 * sectors, against the bytes that are needed.
 * How to run it: make step0 && ./step0                    (all patterns)
 *                ./step0 --variant strided --counters     (one)
 *
 * Every pattern copies in[pattern_source(pattern, i, n)] to out[i] (patterns.h). Stores are always
 * as good as they can be, except those of structures.
 */
#include "common/step/step.h"
#include "patterns.h"

// One float for each thread: a warp reads 128 consecutive bytes, 4 sectors.
static __global__ void copy_scalar(float *out, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = in[i];
}

// Each thread copies two or four floats in one access. At the end fewer floats than a vector has
// may be left over: the first threads of the first block copy one each. (The lecture leaves them
// to the thread behind the last vector, which does not exist if the vectors fill the grid.)
template <typename vector> static __global__ void copy_vector(float *out, const float *in, size_t n)
{
    const size_t width = sizeof(vector) / sizeof(float);
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    size_t vectors = n / width;

    if (i < vectors) ((vector *)out)[i] = ((const vector *)in)[i];
    if (i < n % width) out[vectors * width + i] = in[vectors * width + i];
}

// A column of a matrix that is stored by rows: from lane to lane STRIDE floats, so 32 sectors for
// 32 floats. blockIdx.y is the column.
static __global__ void copy_strided(float *out, const float *in, size_t n)
{
    size_t rows = n / STRIDE;
    size_t row = (size_t)blockIdx.x * THREADS + threadIdx.x;
    size_t column = blockIdx.y;

    if (row < rows) out[column * rows + row] = in[row * STRIDE + column];
    if (column == 0 && row < n % STRIDE) out[rows * STRIDE + row] = in[rows * STRIDE + row];
}

// Each thread copies one float from where the pattern says. Sectors for each warp: 5 and not 4 if
// misaligned by one float, still 4 for the warp's own 32 floats in reverse, 32 for floats all over
// the input, 1 for the same float in all lanes (of this sector, 4 bytes are needed).
template <enum pattern PATTERN>
static __global__ void copy_gather(float *out, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = in[pattern_source(PATTERN, i, n)];
}

// Each thread copies a structure of 12 bytes. No access is 12 bytes wide, so it takes three, each
// with 12 bytes from lane to lane. Each touches all 12 sectors of the warp's 384 bytes, so every
// byte moves three times; likewise when storing.
static __global__ void copy_structures(struct position *out, const struct position *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    struct position p = in[i];
    out[i] = {p.y, p.z, p.x};
}

// Remedy 1: a structure of arrays, x at in[0], y at in[n], z at in[2 n]. Each access is a
// copy_scalar's.
static __global__ void copy_structures_soa(float *out, const float *in, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    struct position p = {in[i], in[n + i], in[2 * n + i]};
    out[i] = p.y, out[n + i] = p.z, out[2 * n + i] = p.x;
}

// Remedy 2: load through the read-only cache. The accesses are the same; the second and the third
// find the sectors of the first in the cache, if they are still there.
static __global__ void copy_structures_read_only(struct position *out, const struct position *in,
                                                 size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    struct position p = {__ldg(&in[i].x), __ldg(&in[i].y), __ldg(&in[i].z)};
    out[i] = {p.y, p.z, p.x};
}

// Remedy 3: stage them in shared memory. The block moves its floats as copy_scalar does; each
// thread takes its structure from there, at a stride of 3 words, which is odd: no two lanes
// use the same bank.
static __global__ void copy_structures_staged(float *out, const float *in, size_t n)
{
    __shared__ __align__(16) float temp[3 * THREADS];
    size_t begin = (size_t)blockIdx.x * 3 * THREADS;
    int thid = threadIdx.x;

    for (int i = thid; i < 3 * THREADS; i += THREADS)
        if (begin + i < 3 * n) temp[i] = in[begin + i];

    // Other threads have loaded this thread's structure: it must not be read before it is there.
    __syncthreads();

    if (begin + 3 * thid < 3 * n) {
        struct position p = {temp[3 * thid], temp[3 * thid + 1], temp[3 * thid + 2]};
        temp[3 * thid] = p.y, temp[3 * thid + 1] = p.z, temp[3 * thid + 2] = p.x;
    }

    // Other threads store it, too: it must not be fetched before it is turned around.
    __syncthreads();

    for (int i = thid; i < 3 * THREADS; i += THREADS)
        if (begin + i < 3 * n) out[begin + i] = temp[i];
}

// Blocks for that many threads; at least one, for what is left over.
static size_t blocks_for(size_t threads) { return threads > 0 ? (threads - 1) / THREADS + 1 : 1; }

extern "C" scan_fn step00_scan;

/*
 * Not a scan, but one copy in the pattern `variant`; ALL stands for SCALAR here. out must not be
 * in. Buffers that are not aligned to a vector are copied by scalars instead.
 */
cudaError_t step00_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    (void)workspace;
    if (n == 0) return cudaSuccess;

    float *to = (float *)out;
    const float *from = (const float *)in;
    struct position *to_structures = (struct position *)out;
    const struct position *from_structures = (const struct position *)in;
    uintptr_t both = (uintptr_t)out | (uintptr_t)in;
    size_t m = pattern_structures(n);

    if (variant == FLOAT2 && both % sizeof(float2) != 0) variant = SCALAR;
    if (variant == FLOAT4 && both % sizeof(float4) != 0) variant = SCALAR;

    switch (variant) {
    case ALL:
    case SCALAR: copy_scalar<<<blocks_for(n), THREADS, 0, stream>>>(to, from, n); break;
    case FLOAT2: copy_vector<float2><<<blocks_for(n / 2), THREADS, 0, stream>>>(to, from, n); break;
    case FLOAT4: copy_vector<float4><<<blocks_for(n / 4), THREADS, 0, stream>>>(to, from, n); break;
    case STRIDED: {
        dim3 grid(blocks_for(n / STRIDE), STRIDE);
        copy_strided<<<grid, THREADS, 0, stream>>>(to, from, n);
        break;
    }
    case MISALIGNED:
        copy_gather<MISALIGNED><<<blocks_for(n), THREADS, 0, stream>>>(to, from, n);
        break;
    case PERMUTED: copy_gather<PERMUTED><<<blocks_for(n), THREADS, 0, stream>>>(to, from, n); break;
    case SCATTERED:
        copy_gather<SCATTERED><<<blocks_for(n), THREADS, 0, stream>>>(to, from, n);
        break;
    case SAME_WORD:
        copy_gather<SAME_WORD><<<blocks_for(n), THREADS, 0, stream>>>(to, from, n);
        break;
    case STRUCTURES:
        copy_structures<<<blocks_for(m), THREADS, 0, stream>>>(to_structures, from_structures, m);
        break;
    case STRUCTURES_SOA:
        copy_structures_soa<<<blocks_for(m), THREADS, 0, stream>>>(to, from, m);
        break;
    case STRUCTURES_READ_ONLY:
        copy_structures_read_only<<<blocks_for(m), THREADS, 0, stream>>>(to_structures,
                                                                         from_structures, m);
        break;
    case STRUCTURES_STAGED:
        copy_structures_staged<<<blocks_for(m), THREADS, 0, stream>>>(to, from, m);
        break;
    default: return cudaErrorInvalidValue;
    }
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess || variant < STRUCTURES || n == 3 * m) return error;

    // Copy the floats that make no structure.
    copy_scalar<<<1, THREADS, 0, stream>>>(to + 3 * m, from + 3 * m, n - 3 * m);
    return cudaGetLastError();
}
