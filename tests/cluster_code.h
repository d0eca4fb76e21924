/* cluster_code.h — launches of the kernels in cluster_code.cu. */
#ifndef CLUSTER_CODE_H
#define CLUSTER_CODE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a block knows about its cluster. */
struct cluster_view {
    unsigned rank, blocks, id[3], index[3], size[3], grid[3], is_explicit;
};

/* Clusters of `cluster` blocks, asked for by an attribute; x = 0: none is asked for. */
cudaError_t launch_cluster_view(struct cluster_view *out, dim3 blocks, dim3 cluster);
/* Blocks of 64 threads in clusters of 4. out[i] = what thread i's block got from its neighbours:
 * by loads, by atomics, by a bulk copy. */
cudaError_t launch_neighbours(int *out, const int *in, int blocks);
cudaError_t launch_histogram(int *out, const int *in, int n, int blocks, int cluster);
cudaError_t launch_push(int *out, const int *in, int blocks);
/* out[rank] = whether addresses are what they should be */
cudaError_t launch_addresses(int *out);
/* Wrong: a block reads the memory of one that has exited; half a cluster waits for ever. */
cudaError_t launch_gone(int *out);
cudaError_t launch_half_waits(int *out);

cudaError_t allow_large_clusters(void); /* for launch_cluster_view */
cudaError_t active_clusters(int *clusters, int *largest, int cluster, int threads, size_t shared);
cudaError_t fixed_attributes(struct cudaFuncAttributes *); /* of launch_neighbours' kernel */

#ifdef __cplusplus
}
#endif

#endif
