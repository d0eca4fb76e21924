/* cooperative_code.h — launches of the kernels in cooperative_code.cu. */
#ifndef COOPERATIVE_CODE_H
#define COOPERATIVE_CODE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread of a grid knows about it. */
struct grid_view {
    unsigned long long size, thread_rank;
    unsigned block_rank, blocks, is_valid;
};

/* out[i] = the sum of in[0 … i], by `steps` sweeps over the whole array with a grid sync between. */
cudaError_t launch_grid_scan(int *out, int *scratch, const int *in, int n, int blocks, int threads);
cudaError_t launch_grid_view(struct grid_view *out, dim3 blocks, dim3 threads, int cooperative);
cudaError_t launch_grid_sync(int *out, int blocks, int threads, int rounds, int cooperative);
/* A kernel, compiled with _CG_DEBUG, that only asks for this_grid(). (cg_debug_code.cu) */
cudaError_t launch_checked_this_grid(int blocks, int cooperative);
/* The sum of each 64 threads, for each of them. */
cudaError_t launch_large_tiles(int *out, const int *in, int threads);
/* A block's barrier in two halves. */
cudaError_t launch_split_barrier(int *out, int threads);
/* out[0], out[1]: of %clock64 and %globaltimer, over `loops` additions */
cudaError_t launch_clocks(unsigned long long *out, int loops);

#ifdef __cplusplus
}
#endif

#endif
