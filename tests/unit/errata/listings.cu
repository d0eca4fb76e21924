/*
 * listings.cu — the documents' kernels, as printed and as they must be.
 *
 * The form of each is the document's; `AS_PRINTED` chooses its words where they are wrong.
 * notes/errata.md explains each error and its effect.
 */
#include "listings.h"

/* ---- Harris 2007, Listing 1 ---------------------------------------------------------------- */

template <bool AS_PRINTED>
static __global__ void listing_1(float *g_odata, const float *g_idata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x;
    int pout = 0, pin = 1;
    temp[pout * n + thid] = thid > 0 ? g_idata[thid - 1] : 0;
    __syncthreads();
    for (int offset = 1; offset < n; offset *= 2) {
        pout = 1 - pout;
        pin = 1 - pout;
        if (thid < offset)
            temp[pout * n + thid] = temp[pin * n + thid];
        else if (AS_PRINTED)
            temp[pout * n + thid] += temp[pin * n + thid - offset];
        else
            temp[pout * n + thid] = temp[pin * n + thid] + temp[pin * n + thid - offset];
        __syncthreads();
    }
    g_odata[thid] = temp[pout * n + thid];
}

cudaError_t launch_listing_1(float *out, const float *in, int n, bool as_printed)
{
    size_t shared = 2 * n * sizeof(float);
    if (as_printed)
        listing_1<true><<<1, n, shared>>>(out, in, n);
    else
        listing_1<false><<<1, n, shared>>>(out, in, n);
    return cudaGetLastError();
}

/* ---- Listings 2 to 4 (39-2 to 39-4) -------------------------------------------------------- */

/* As printed, except that a shift by 32 or more is undefined in C++. PTX's shift, which nvcc emits
 * for it, gives 0. */
static __device__ int shifted(int n, int by) { return by > 31 ? 0 : n >> by; }

template <padded_as AS> static __host__ __device__ int padding(int n)
{
    switch (AS) {
    case PADDED_RIGHT:
    case PADDED_OFFSET_B: return (n >> 5) + (n >> 10);
    case PADDED_UNALLOWED: return n >> 4;
#ifdef __CUDA_ARCH__
    case PADDED_ZERO: return shifted(shifted(n, 16 + n), 2 * 4); /* + binds first */
#endif
    default: return 0;
    }
}

template <padded_as AS> static __global__ void padded(float *g_odata, const float *g_idata, int n)
{
    extern __shared__ float temp[];
    int thid = threadIdx.x, offset = 1;
    int ai = thid, bi = thid + n / 2;
    int bankOffsetA = padding<AS>(ai);
    int bankOffsetB = padding<AS>(AS == PADDED_OFFSET_B ? ai : bi);
    temp[ai + bankOffsetA] = g_idata[ai];
    temp[bi + bankOffsetB] = g_idata[bi];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            temp[bi + padding<AS>(bi)] += temp[ai + padding<AS>(ai)];
        }
        offset *= 2;
    }
    if (thid == 0) temp[n - 1 + padding<AS>(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (thid < d) {
            int ai = offset * (2 * thid + 1) - 1, bi = offset * (2 * thid + 2) - 1;
            ai += padding<AS>(ai);
            bi += padding<AS>(bi);
            float t = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += t;
        }
    }
    __syncthreads();
    g_odata[ai] = temp[ai + bankOffsetA];
    g_odata[bi] = temp[bi + bankOffsetB];
}

template <padded_as AS> static cudaError_t launch(float *out, const float *in, int n)
{
    int grown = AS == PADDED_UNALLOWED ? 0 : padding<PADDED_RIGHT>(n - 1);
    padded<AS><<<1, n / 2, (n + grown) * sizeof(float)>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t launch_padded(float *out, const float *in, int n, padded_as as)
{
    switch (as) {
    case PADDED_RIGHT: return launch<PADDED_RIGHT>(out, in, n);
    case PADDED_OFFSET_B: return launch<PADDED_OFFSET_B>(out, in, n);
    case PADDED_ZERO: return launch<PADDED_ZERO>(out, in, n);
    case PADDED_NOT: return launch<PADDED_NOT>(out, in, n);
    case PADDED_UNALLOWED: return launch<PADDED_UNALLOWED>(out, in, n);
    }
    return cudaErrorInvalidValue;
}

/* ---- the lecture: vectorized copies -------------------------------------------------------- */

enum { COPY_THREADS = 128, MAX_BLOCKS = 2 };

static int blocks_for(int vectors)
{
    int blocks = (vectors + COPY_THREADS - 1) / COPY_THREADS;
    return blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
}

/* The tail belongs to a thread that always exists: thread 0. */
template <bool AS_PRINTED> static __global__ void copy_int2(int *d_out, const int *d_in, int N)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = idx; i < N / 2; i += blockDim.x * gridDim.x)
        reinterpret_cast<int2 *>(d_out)[i] = reinterpret_cast<const int2 *>(d_in)[i];
    if (idx == (AS_PRINTED ? N / 2 : 0) && N % 2 == 1) d_out[N - 1] = d_in[N - 1];
}

template <bool INDEX_AS_PRINTED, bool TAIL_AS_PRINTED>
static __global__ void copy_int4(int *d_out, const int *d_in, int N)
{
    int idx = INDEX_AS_PRINTED ? blockIdx.x * blockDim.x * threadIdx.x
                               : blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = idx; i < N / 4; i += blockDim.x * gridDim.x)
        reinterpret_cast<int4 *>(d_out)[i] = reinterpret_cast<const int4 *>(d_in)[i];
    int remainder = N % 4;
    if (idx == (TAIL_AS_PRINTED ? N / 4 : 0) && remainder != 0) {
        while (remainder) {
            int idx = N - remainder--;
            d_out[idx] = d_in[idx];
        }
    }
}

/* At least one block, for the tail of an array shorter than a vector. */
static int at_least_one(int blocks) { return blocks > 0 ? blocks : 1; }

cudaError_t launch_copy_int2(int *out, const int *in, int n, bool as_printed)
{
    int blocks = blocks_for(n / 2);
    if (as_printed)
        copy_int2<true><<<blocks, COPY_THREADS>>>(out, in, n);
    else
        copy_int2<false><<<at_least_one(blocks), COPY_THREADS>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t launch_copy_int4(int *out, const int *in, int n, bool as_printed)
{
    int blocks = blocks_for(n / 4);
    if (as_printed)
        copy_int4<true, true><<<blocks, COPY_THREADS>>>(out, in, n);
    else
        copy_int4<false, false><<<at_least_one(blocks), COPY_THREADS>>>(out, in, n);
    return cudaGetLastError();
}

cudaError_t launch_copy_int4_tail(int *out, const int *in, int n, bool as_printed)
{
    int blocks = blocks_for(n / 4);
    if (as_printed)
        copy_int4<false, true><<<blocks, COPY_THREADS>>>(out, in, n);
    else
        copy_int4<false, false><<<at_least_one(blocks), COPY_THREADS>>>(out, in, n);
    return cudaGetLastError();
}

/* ---- the lecture: exchanges inside a warp -------------------------------------------------- */

enum { WARP_SIZE = 32 };

/* A tree over 64 words, whose upper 32 words are zero, so no step reads beyond the array. */
template <warp_sum_as AS> static __global__ void warp_sum(int *out, const int *in)
{
    __shared__ int shmem[2 * WARP_SIZE];
    int tid = threadIdx.x;
    shmem[tid] = in[tid];
    shmem[tid + WARP_SIZE] = 0;
    __syncwarp();
    int v = shmem[tid];
    for (int step = 16; step > 0; step /= 2) {
        if (AS == WARP_SUM_SOLUTION && step == 8) continue; // the printed one has no such line
        v += shmem[tid + step];
        __syncwarp();
        shmem[tid] = v;
        __syncwarp();
    }
    if (tid == 0) out[0] = shmem[0];
}

cudaError_t launch_warp_sum(int *out, const int *in, warp_sum_as as)
{
    switch (as) {
    case WARP_SUM_RIGHT: warp_sum<WARP_SUM_RIGHT><<<1, WARP_SIZE>>>(out, in); break;
    case WARP_SUM_SOLUTION: warp_sum<WARP_SUM_SOLUTION><<<1, WARP_SIZE>>>(out, in); break;
    }
    return cudaGetLastError();
}

static __global__ void all(int *out, int predicate)
{
    out[threadIdx.x] = __all_sync(0xffffffff, predicate);
}

cudaError_t launch_all(int *out, int predicate)
{
    all<<<1, WARP_SIZE>>>(out, predicate);
    return cudaGetLastError();
}
