/* async_code.h — launches of the kernels in async_code.cu: one block of `threads` threads each. */
#ifndef ASYNC_CODE_H
#define ASYNC_CODE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each reverses the elements of every tile of `threads` elements, `tiles` of them. */
cudaError_t launch_pipeline_primitives(int *out, const int *in, int threads, int tiles);
cudaError_t launch_group_memcpy(int *out, const int *in, int threads, int tiles);
cudaError_t launch_barrier_memcpy(int *out, const int *in, int threads, int tiles);
cudaError_t launch_pipeline(int *out, const int *in, int threads, int tiles);
cudaError_t launch_producer_warp(int *out, const int *in, int threads, int tiles);
cudaError_t launch_bulk(int *out, const int *in, int threads, int tiles);      /* compute_90 */
cudaError_t launch_bulk_ring(int *out, const int *in, int threads, int tiles); /* compute_90 */
/* The same without the wait that it needs: what it reads is what was there before. */
cudaError_t launch_forgotten_wait(int *out, const int *in, int threads, int tiles);
/* Threads leave a barrier one after the other; out[t] = rounds that it took part in. */
cudaError_t launch_drop(int *out, const int *in, int threads, int rounds);
/* A barrier for one thread more than there are. */
cudaError_t launch_barrier_that_lacks_one(int *out, const int *in, int threads, int tiles);

#ifdef __cplusplus
}
#endif

#endif
