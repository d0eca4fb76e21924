/* radix_sort.cu — a radix sort without a library, with four bits per pass. Each block counts its
 * digits, the counts are scanned digit by digit, and each key goes to its place; equal digits keep
 * their order. */
#include "check.cuh"
#include <algorithm>

static const int BITS = 4, DIGITS = 1 << BITS, THREADS = 256;
static const unsigned ALL = 0xffffffff;

static __device__ int digit_of(unsigned key, int shift) { return key >> shift & (DIGITS - 1); }

/* counts[digit][block]: scanned in this order, it says where a block's keys of a digit go. */
static __global__ void count(const unsigned *in, int n, int shift, int *counts)
{
    __shared__ int mine[DIGITS];
    int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    if (t < DIGITS) mine[t] = 0;
    __syncthreads();
    if (i < n) atomicAdd(&mine[digit_of(in[i], shift)], 1);
    __syncthreads();
    if (t < DIGITS) counts[t * gridDim.x + blockIdx.x] = mine[t];
}

static __global__ void scan(int *counts, int n)
{
    __shared__ int s[THREADS];
    int t = threadIdx.x, each = (n + THREADS - 1) / THREADS, sum = 0;
    int begin = min(n, t * each), end = min(n, begin + each);
    for (int i = begin; i < end; i++) sum += counts[i];
    s[t] = sum;
    for (int distance = 1; distance < THREADS; distance *= 2) {
        __syncthreads();
        int before = t >= distance ? s[t - distance] : 0;
        __syncthreads();
        s[t] += before;
    }
    sum = s[t] - sum;
    for (int i = begin; i < end; i++) {
        int here = counts[i];
        counts[i] = sum;
        sum += here;
    }
}

static __global__ void scatter(const unsigned *in, unsigned *out, int n, int shift,
                               const int *counts)
{
    __shared__ int of_warp[THREADS / 32][DIGITS];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, i = blockIdx.x * THREADS + t;
    for (int k = t; k < THREADS / 32 * DIGITS; k += THREADS) of_warp[0][k] = 0;
    __syncthreads();
    unsigned key = i < n ? in[i] : 0;
    int digit = i < n ? digit_of(key, shift) : DIGITS; /* lanes beyond the end match each other */
    unsigned same = __match_any_sync(ALL, digit);
    int rank = __popc(same & ((1u << lane) - 1));
    if (i < n && rank == 0) of_warp[warp][digit] = __popc(same);
    __syncthreads();
    if (i >= n) return;
    for (int w = 0; w < warp; w++) rank += of_warp[w][digit];
    out[counts[digit * gridDim.x + blockIdx.x] + rank] = key;
}

int main()
{
    const int lengths[] = {1, 300, 20000};
    for (int n : lengths) {
        int blocks = blocks_for(n, THREADS);
        std::vector<unsigned> keys(n);
        for (unsigned &key : keys) key = next_random() << 1 ^ next_random();
        unsigned *from = device_copy(keys), *to = device_array<unsigned>(n);
        int *counts = device_array<int>(DIGITS * blocks);
        for (int shift = 0; shift < 32; shift += BITS) {
            count<<<blocks, THREADS>>>(from, n, shift, counts);
            scan<<<1, THREADS>>>(counts, DIGITS * blocks);
            scatter<<<blocks, THREADS>>>(from, to, n, shift, counts);
            CUDA_LAUNCHED();
            std::swap(from, to);
        }
        std::sort(keys.begin(), keys.end());
        expect_same("sorted", host_copy(from, n), keys);
    }
    return right("radix sort of up to 20000 keys");
}
