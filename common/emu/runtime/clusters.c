/* clusters.c — how many clusters of blocks fit on the GPU. */
#include "cudart.h"

/* The number of blocks of the cluster that a launch asks for, or that its kernel was compiled for.
 * */
static unsigned cluster_blocks(const cudaLaunchConfig_t *config, const struct function *function)
{
    const unsigned *exact = emu_kernel_info(function->kernel)->cluster;
    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            return config->attrs[i].val.clusterDim.x * config->attrs[i].val.clusterDim.y *
                   config->attrs[i].val.clusterDim.z;
    return exact[0] ? exact[0] * exact[1] * exact[2] : 1;
}

static int largest(const struct function *function)
{
    return function->large_clusters ? EMU_LARGEST_CLUSTER : EMU_PORTABLE_CLUSTER;
}

cudaError_t CUDARTAPI cudaOccupancyMaxActiveClusters(int *clusters, const void *host,
                                                     const cudaLaunchConfig_t *config)
{
    RETURN_IF_FAULTY();
    if (clusters == NULL || config == NULL) return cudart_done(cudaErrorInvalidValue);
    RETURN_UNLESS_FUNCTION(host, function);
    unsigned blocks = cluster_blocks(config, function);
    if (blocks == 0 || blocks > (unsigned)largest(function))
        return cudart_done(cudaErrorInvalidClusterSize);
    int per_sm;
    dim3 block = config->blockDim;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_sm, host, (int)(block.x * block.y * block.z), config->dynamicSmemBytes);
    if (error != cudaSuccess) return error;
    *clusters = (int)emu_active_clusters(emu_gpu(emu_runtime()), blocks, (unsigned)per_sm);
    return cudaSuccess;
}

/* On an H200 the result does not depend on the size of the grid. */
cudaError_t CUDARTAPI cudaOccupancyMaxPotentialClusterSize(int *size, const void *host,
                                                           const cudaLaunchConfig_t *config)
{
    RETURN_IF_FAULTY();
    if (size == NULL || config == NULL) return cudart_done(cudaErrorInvalidValue);
    RETURN_UNLESS_FUNCTION(host, function);
    *size = largest(function);
    return cudaSuccess;
}
