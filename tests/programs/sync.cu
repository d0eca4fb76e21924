/*
 * sync.cu — one wrong use of a barrier or of a member mask of each kind, and right ones beside
 * them, for the tests of synccheck.
 *
 * usage: sync CASE [exit code]
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cg = cooperative_groups;

enum { THREADS = 64, MANY = 4 * THREADS, FULL = 0xffffffff };

/* Wrong: half of warp 0 comes to one barrier, the other half to another. */
__global__ void both_arms(int *out)
{
    if (threadIdx.x % 2) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
    }
}

/* Wrong: warps come to different barriers. */
__global__ void each_warp_its_own(int *out)
{
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        out[threadIdx.x] = 2;
        __syncthreads();
    }
}

/* Wrong: the last thread does not come. */
__global__ void one_exits(int *out, unsigned last)
{
    if (threadIdx.x >= last) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

/* Wrong: lane 0 waits for its warp at the barrier, which waits for lane 0 at the shuffle. */
__global__ void barrier_against_shuffle(int *out)
{
    int value = threadIdx.x;
    if (threadIdx.x == 0)
        __syncthreads();
    else
        value = __shfl_sync(FULL, value, 1);
    out[threadIdx.x] = value;
}

__global__ void named(int threads) { asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory"); }

__global__ void named_apart(void)
{
    int threads = threadIdx.x < 32 ? 64 : 32;
    asm volatile("bar.sync 1, %0;" ::"r"(threads) : "memory");
}

__global__ void ballot(int *out, unsigned mask)
{
    out[threadIdx.x] = __ballot_sync(mask, threadIdx.x & 1);
}

__global__ void different_masks(int *out)
{
    unsigned mask = threadIdx.x < 16 ? FULL : 0xffff0000;
    out[threadIdx.x] = __shfl_sync(mask, threadIdx.x, 20);
}

__global__ void exited_lanes(int *out, unsigned last)
{
    if (threadIdx.x >= last) return;
    out[threadIdx.x] = __ballot_sync(FULL, 1);
}

__global__ void shuffle_from_outside(int *out, unsigned lanes)
{
    if (threadIdx.x < lanes)
        out[threadIdx.x] = __shfl_down_sync((1u << lanes) - 1, threadIdx.x, 1, 16);
}

__global__ void warp_barrier(int *out, unsigned mask)
{
    __syncwarp(mask);
    out[threadIdx.x] = 1;
}

/* Right: one barrier in each arm of a condition that is the same for all threads. */
__global__ void uniform(int *out, bool yes)
{
    out += blockIdx.x * blockDim.x;
    if (yes) {
        __syncthreads();
        out[threadIdx.x] = 1;
    } else {
        __syncthreads();
        out[threadIdx.x] = 2;
    }
    for (int i = 0; i < 3; i++) __syncthreads();
    if (__syncthreads_or(threadIdx.x == 3)) out[threadIdx.x]++;
}

/* Right: halves of a warp with masks of their own, groups, and named barriers. */
__global__ void groups(int *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int value = tile.shfl_down(threadIdx.x, 1) + tile.ballot(threadIdx.x & 1);
    if (threadIdx.x % 3 == 0) value += cg::coalesced_threads().size();
    __syncwarp();
    asm volatile("bar.sync 2, 64;" ::: "memory");
    if (threadIdx.x < 32)
        asm volatile("bar.arrive 3, 64;" ::: "memory");
    else
        asm volatile("bar.sync 3, 64;" ::: "memory");
    out[threadIdx.x] = value;
}

int main(int argc, char **argv)
{
    int *out;
    const char *name = argc > 1 ? argv[1] : "";
    auto is = [name](const char *other) { return strcmp(name, other) == 0; };
    cudaMalloc(&out, MANY * sizeof(int));
    if (is("right")) {
        uniform<<<2, THREADS>>>(out, true);
        uniform<<<2, THREADS>>>(out, false);
        groups<<<1, THREADS>>>(out);
        named<<<1, THREADS>>>(THREADS);
        ballot<<<1, 32>>>(out, FULL);
        ballot<<<1, 16>>>(out, 0xffff);
        shuffle_from_outside<<<1, THREADS>>>(out, 16);
    } else if (is("both arms"))
        both_arms<<<1, THREADS>>>(out);
    else if (is("each warp"))
        each_warp_its_own<<<1, THREADS>>>(out);
    else if (is("exit"))
        one_exits<<<1, THREADS>>>(out, THREADS - 1);
    else if (is("deadlock"))
        barrier_against_shuffle<<<1, MANY>>>(out);
    else if (is("count"))
        named<<<1, 48>>>(48);
    else if (is("large count"))
        named<<<1, 32>>>(64);
    else if (is("counts"))
        named_apart<<<1, THREADS>>>();
    else if (is("not a member"))
        ballot<<<1, 32>>>(out, 0xfffffffe);
    else if (is("warp mask"))
        warp_barrier<<<1, 32>>>(out, 0xffff);
    else if (is("masks"))
        different_masks<<<1, 32>>>(out);
    else if (is("exited members"))
        exited_lanes<<<1, 32>>>(out, 30);
    else if (is("shuffle"))
        shuffle_from_outside<<<1, THREADS>>>(out, 12);
    else {
        fprintf(stderr, "sync: there is no case %s\n", name);
        return 98;
    }
    cudaDeviceSynchronize();
    printf("end\n");
    return argc > 2 ? atoi(argv[2]) : 0;
}
