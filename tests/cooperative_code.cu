/*
 * cooperative_code.cu — grids, blocks and tiles of cooperative groups that wait for each other, and
 * clocks.
 */
#include "cooperative_code.h"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

/* ---- grids ----------------------------------------------------------------------------------- */

/* Hillis and Steele over the whole grid: a sweep that began early would read old sums. */
static __global__ void grid_scan(int *out, int *scratch, const int *in, int n)
{
    cg::grid_group grid = cg::this_grid();
    int *from = scratch, *to = out;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) from[i] = in[i];
    for (int offset = 1; offset < n; offset *= 2) {
        grid.sync();
        for (int i = grid.thread_rank(); i < n; i += grid.size())
            to[i] = from[i] + (i >= offset ? from[i - offset] : 0);
        int *other = from;
        from = to;
        to = other;
    }
    grid.sync();
    if (from != out)
        for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = from[i];
}

static __global__ void grid_view_of(grid_view *out)
{
    cg::grid_group grid = cg::this_grid();
    out[grid.thread_rank()] = {grid.size(), grid.thread_rank(), (unsigned)grid.block_rank(),
                               (unsigned)grid.num_blocks(), grid.is_valid()};
}

/* Each block hands its number to the next one, once a round. */
static __global__ void grid_sync(int *out, int rounds)
{
    cg::grid_group grid = cg::this_grid();
    int blocks = gridDim.x, block = blockIdx.x, value = block;
    for (int round = 0; round < rounds; round++) {
        int *place = out + round % 2 * blocks;
        if (threadIdx.x == 0) place[(block + 1) % blocks] = value;
        auto token = grid.barrier_arrive();
        grid.barrier_wait(std::move(token));
        value = place[block];
    }
    if (threadIdx.x == 0) out[2 * blocks + block] = value;
}

/* ---- blocks and tiles ------------------------------------------------------------------------ */

static __global__ void large_tiles(int *out, const int *in)
{
    __shared__ cg::block_tile_memory<1024> memory;
    cg::thread_block block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    out[threadIdx.x] = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
}

static __global__ void split_barrier(int *out)
{
    __shared__ int s[1024];
    cg::thread_block block = cg::this_thread_block();
    s[threadIdx.x] = 3 * threadIdx.x;
    auto token = block.barrier_arrive();
    int own = threadIdx.x;
    block.barrier_wait(std::move(token));
    out[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + own;
}

/* ---- clocks ---------------------------------------------------------------------------------- */

static __global__ void clocks(unsigned long long *out, int loops)
{
    unsigned long long before, after;
    long long start = clock64();
    unsigned low = (unsigned)clock();
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(before));
    volatile int sum = 0;
    for (int i = 0; i < loops; i++) sum += i;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(after));
    out[0] = clock64() - start;
    out[1] = after - before;
    out[2] = (unsigned)clock() - low;
}

/* ---- launches -------------------------------------------------------------------------------- */

template <class Kernel>
static cudaError_t cooperative(Kernel kernel, dim3 blocks, dim3 threads, void **args)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, blocks, threads, args, 0, 0);
}

cudaError_t launch_grid_scan(int *out, int *scratch, const int *in, int n, int blocks, int threads)
{
    void *args[] = {&out, &scratch, &in, &n};
    return cooperative(grid_scan, blocks, threads, args);
}
cudaError_t launch_grid_view(grid_view *out, dim3 blocks, dim3 threads, int is_cooperative)
{
    void *args[] = {&out};
    if (is_cooperative) return cooperative(grid_view_of, blocks, threads, args);
    grid_view_of<<<blocks, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_grid_sync(int *out, int blocks, int threads, int rounds, int is_cooperative)
{
    void *args[] = {&out, &rounds};
    if (is_cooperative) return cooperative(grid_sync, blocks, threads, args);
    grid_sync<<<blocks, threads>>>(out, rounds);
    return cudaGetLastError();
}
cudaError_t launch_large_tiles(int *out, const int *in, int threads)
{
    large_tiles<<<1, threads>>>(out, in);
    return cudaGetLastError();
}
cudaError_t launch_split_barrier(int *out, int threads)
{
    split_barrier<<<1, threads>>>(out);
    return cudaGetLastError();
}
cudaError_t launch_clocks(unsigned long long *out, int loops)
{
    clocks<<<1, 32>>>(out, loops);
    return cudaGetLastError();
}
