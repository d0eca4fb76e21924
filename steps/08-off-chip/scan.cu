/*
 * Step 8: a scan without shared memory, as OpenGL had to do it.
 *
 * What it is: the hybrid of Sengupta, Lefohn and Owens (2006), Algorithms 5 and 6 in section 39.2.6
 * of GPU Gems 3, with the misprints corrected: reduce steps add pairs, again and again, until few
 * sums are left; Algorithm 2 (two buffers, naive) scans these; down-sweep steps lead back. As
 * printed the result is an inclusive scan. Here it is exclusive like all steps'; scan_levels says
 * how.
 * Same as step 5 except: no block knows of another's elements, nor a thread of its neighbour's. No
 * shared memory, no __syncthreads(): every level of the tree is a launch of its own, and what it
 * hands to the next lies in device memory.
 * What it fixes: nothing. It shows what the blocks of steps 5 to 7 are good for.
 * What is still bad: 8n words move where blocks move 4n, and for some dozens of launches each waits
 * for the one before. Step 9 goes on from step 7, the other way: from shared memory to registers.
 * How to run it: make step8 && ./step8 --variant tree; its tests: make test-step8
 */
#include "common/step/step.h"
#include "scan.h"
#include "pair.cuh"

/* The number of the thread in the grid: the number of its pair, or of its element. */
static __device__ size_t thread_in_grid(void) { return (size_t)blockIdx.x * THREADS + threadIdx.x; }

/* A step of Algorithm 5: sums[k] = a[2k] + a[2k + 1], one thread for each k. */
static __global__ void reduce_step(float *sums, const float *a, size_t n)
{
    size_t k = thread_in_grid();

    if (2 * k < n) {
        float2 pair = load_pair(a, k, n);
        sums[k] = pair.x + pair.y;
    }
}

/*
 * A sweep of Algorithm 2, from one buffer to the other: every element adds the one `offset` places
 * to its left. `shift` is 1 in the first sweep, which moves the elements to the right by one: an
 * inclusive scan of the shifted input is the exclusive scan.
 */
static __global__ void naive_step(float *out, const float *in, size_t n, size_t offset,
                                  size_t shift)
{
    size_t k = thread_in_grid();

    if (k < n) {
        float sum = k >= shift ? in[k - shift] : 0;
        if (k >= offset + shift) sum += in[k - shift - offset];
        out[k] = sum;
    }
}

/*
 * A step of Algorithm 6, exclusive. before[k] is the sum of all pairs before pair k of a. The left
 * element becomes before[k], the right one before[k] plus the old left element. No two threads
 * have the same pair, so out may be a.
 */
static __global__ void down_step(float *out, const float *a, const float *before, size_t n)
{
    size_t k = thread_in_grid();

    if (2 * k < n) {
        float left = load_pair(a, k, n).x;
        store_pair(out, k, n, make_float2(before[k], before[k] + left));
    }
}

static unsigned blocks_for(size_t threads) { return (threads + THREADS - 1) / THREADS; }

/* Scans the n elements of a. The result is in a or in `other`, which has room for as many; *result
 * says in which. */
static cudaError_t scan_naive(float *a, float *other, size_t n, float **result, cudaStream_t stream)
{
    size_t offset = 1, shift = 1;

    do {
        naive_step<<<blocks_for(n), THREADS, 0, stream>>>(other, a, n, offset, shift);
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;

        float *written = other; // swap the buffers, which GPU Gems' Algorithm 2 forgets
        other = a, a = written;
        offset *= 2, shift = 0;
    } while (offset + 1 < n); // the last element is in no sum: n - 1 elements are to be added up
    *result = a;
    return cudaSuccess;
}

/*
 * The whole: add up pairs, scan the sums of the pairs, and spread the result over the pairs. The
 * printed algorithm scans these sums inclusively. Then the odd element 2k + 1, the end of pair k,
 * takes the scanned sum as it is. The even element 2k is added to the sum of the pairs before k,
 * which does not exist for k = 0. Here the sums are scanned exclusively: the even element takes
 * the scanned sum as it is, and the odd one adds its neighbour. So k = 0 is no special case. The
 * workspace holds the sums of this level, followed by those of the levels above.
 */
static cudaError_t scan_levels(float *out, const float *in, size_t n, size_t most, float *workspace,
                               cudaStream_t stream)
{
    size_t pairs = pairs_of(n);
    float *sums = workspace, *rest = workspace + room_for(pairs);

    reduce_step<<<blocks_for(pairs), THREADS, 0, stream>>>(sums, in, n);
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) return error;

    if (pairs <= most)
        error = scan_naive(sums, rest, pairs, &sums, stream);
    else
        error = scan_levels(sums, sums, pairs, most, rest, stream);
    if (error != cudaSuccess) return error;

    down_step<<<blocks_for(pairs), THREADS, 0, stream>>>(out, in, sums, n);
    return cudaGetLastError();
}

extern "C" scan_fn step08_scan;

cudaError_t step08_scan(void *out, const void *in, size_t n, int variant, void *workspace,
                        cudaStream_t stream)
{
    if (n == 0) return cudaSuccess;
    if (pairs_of(n) > (size_t)INT32_MAX * THREADS) return cudaErrorInvalidValue; // beyond any grid
    return scan_levels((float *)out, (const float *)in, n, most_left(n, variant),
                       (float *)workspace, stream);
}

/* The sums of all levels. Those of the last level have a second buffer of the same size. */
extern "C" size_t step08_workspace(size_t n, int variant)
{
    size_t left, floats = 0, most = most_left(n, variant);
    do {
        left = pairs_of(n);
        floats += room_for(left);
        n = left;
    } while (left > most);
    return (floats + room_for(left)) * sizeof(float);
}
