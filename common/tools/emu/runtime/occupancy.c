/* occupancy.c — attributes of kernels, and how many of their blocks and clusters fit. */
#include "cudart.h"
#include <cuda_occupancy.h>

/* ---- attributes of kernels, and the number of their blocks that fit on a multiprocessor ------ */

/* NVIDIA's <cuda_occupancy.h> calculates the occupancy from the limits of the modelled GPU. The
 * number of registers is an estimate made from PTX; on a GPU, ptxas decides it. */

size_t cudart_dynamic_limit(const struct function *function, size_t per_block)
{
    size_t fixed = emu_kernel_info(function->kernel)->shared_bytes;
    return fixed < per_block ? per_block - fixed : 0;
}

/* The most dynamic shared memory that a launch may ask for: as set by the program, or the default.
 * */
static size_t dynamic_allowed(const struct function *function)
{
    if (function->max_dynamic_shared) return function->max_dynamic_shared;
    return cudart_dynamic_limit(function, emu_gpu(emu_runtime())->shared_per_block);
}

size_t cudart_dynamic_most(const struct function *function)
{
    return cudart_dynamic_limit(function, emu_gpu(emu_runtime())->shared_per_block_optin);
}

static cudaError_t set_dynamic(struct function *function, int bytes)
{
    size_t most = cudart_dynamic_most(function);
    if (bytes < 0 || (size_t)bytes > most) {
        cudart_printf("kernel %s cannot be allowed %d bytes of dynamic shared memory: the limit of "
                      "this GPU is %zu bytes for this kernel",
                      function->name, bytes, most);
        return cudaErrorInvalidValue;
    }
    function->max_dynamic_shared = (size_t)bytes;
    emu_allow_shared(function->kernel, (size_t)bytes);
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaFuncGetAttributes, (struct cudaFuncAttributes *attributes, const void *host),
        (attributes, host))
{
    if (attributes == NULL) return cudaErrorInvalidValue;
    RETURN_UNLESS_FUNCTION(host, function);

    const struct emu_kernel_info *info = emu_kernel_info(function->kernel);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = info->shared_bytes,
        .constSizeBytes = info->constant_bytes,
        .localSizeBytes = info->local_bytes,
        .maxThreadsPerBlock = (int)info->max_threads,
        .numRegs = (int)info->registers,
        .ptxVersion = (int)function->ptx_arch,
        .binaryVersion = (int)function->code_arch,
        .maxDynamicSharedSizeBytes = (int)dynamic_allowed(function),
        .preferredShmemCarveout = function->carveout - 1,
        .clusterDimMustBeSet = info->cluster[0] != 0,
        .requiredClusterWidth = (int)info->cluster[0],
        .requiredClusterHeight = (int)info->cluster[1],
        .requiredClusterDepth = (int)info->cluster[2],
        .nonPortableClusterSizeAllowed = function->large_clusters,
    };
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaFuncSetAttribute, (const void *host, enum cudaFuncAttribute attribute,
        int value), (host, attribute, value))
{
    RETURN_UNLESS_FUNCTION(host, function);

    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize: return set_dynamic(function, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100) return cudaErrorInvalidValue;
        function->carveout = value + 1;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        function->large_clusters = value != 0;
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference: return cudaSuccess; /* a hint */
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return cudart_not_supported("a cluster's size as a kernel's attribute",
                                    "give it at the launch, as "
                                    "cudaLaunchAttributeClusterDimension, or by __cluster_dims__");
    default: return cudaErrorInvalidValue;
    }
}

RUNTIME(cudaFuncGetName, (const char **name, const void *host),
        IF(name != NULL, cudaErrorInvalidValue, WITH_FUNCTION(host, TELL(name, function->name))))

WORK_OF(RUNTIME, cudaFuncGetParamInfo, (const void *host, size_t index, size_t *offset,
        size_t *size), (host, index, offset, size))
{
    if (offset == NULL) return cudaErrorInvalidValue;
    RETURN_UNLESS_FUNCTION(host, function);
    const struct emu_kernel_info *info = emu_kernel_info(function->kernel);
    if (index >= info->params) return cudaErrorInvalidValue;
    *offset = info->param_offset[index];
    if (size != NULL) *size = info->param_size[index];
    return cudaSuccess;
}

/* A handle for the functions of the driver. It is the runtime's own handle, which they accept, too.
 * */
RUNTIME(cudaGetFuncBySymbol, (cudaFunction_t *function, const void *host),
        IF(function != NULL, cudaErrorInvalidValue, cudaGetKernel((cudaKernel_t *)function, host)))

RUNTIME_ANYWHERE(cudaKernelSetAttributeForDevice, (cudaKernel_t kernel,
                 enum cudaFuncAttribute attribute, int value, int device),
                 IF_DEVICE(device, WITH_DEVICE(device, cudaFuncSetAttribute((const void *)kernel,
                                                                     attribute, value))))

/* ---- occupancy ------------------------------------------------------------------------------- */

static struct cudaOccDeviceProp device_limits(const struct emu_gpu *gpu)
{
    return (struct cudaOccDeviceProp){
        .computeMajor = gpu->major,
        .computeMinor = gpu->minor,
        .maxThreadsPerBlock = gpu->threads_per_block,
        .maxThreadsPerMultiprocessor = gpu->threads_per_sm,
        .regsPerBlock = gpu->registers_per_block,
        .regsPerMultiprocessor = gpu->registers_per_sm,
        .warpSize = gpu->warp_size,
        .sharedMemPerBlock = gpu->shared_per_block,
        .sharedMemPerMultiprocessor = gpu->shared_per_sm,
        .numSms = gpu->sms,
        .sharedMemPerBlockOptin = gpu->shared_per_block_optin,
        .reservedSharedMemPerBlock = gpu->shared_reserved,
    };
}

static struct cudaOccFuncAttributes kernel_needs(const struct emu_kernel_info *info,
                                                 size_t most_dynamic)
{
    return (struct cudaOccFuncAttributes){
        .maxThreadsPerBlock = (int)info->max_threads,
        .numRegs = (int)info->registers,
        .sharedSizeBytes = info->shared_bytes,
        .partitionedGCConfig = PARTITIONED_GC_OFF,
        .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
        .maxDynamicSharedSizeBytes = most_dynamic,
        .numBlockBarriers = 1,
    };
}

/* How much of the L1 cache is wanted as shared memory. The kernel's wish comes before the
 * device's. */
static struct cudaOccDeviceState wanted(const struct function *function)
{
    enum cudaFuncCache cache = function->cache;
    if (cache == cudaFuncCachePreferNone) cache = cudart_device()->cache;
    return (struct cudaOccDeviceState){.cacheConfig = (cudaOccCacheConfig)cache,
                                       .carveoutConfig = function->carveout - 1};
}

static cudaError_t blocks_per_multiprocessor(const struct emu_gpu *gpu,
                                             const struct emu_kernel_info *info,
                                             const struct cudaOccDeviceState *state,
                                             size_t most_dynamic, int threads,
                                             size_t dynamic_shared, int *blocks)
{
    struct cudaOccDeviceProp device = device_limits(gpu);
    struct cudaOccFuncAttributes kernel = kernel_needs(info, most_dynamic);
    struct cudaOccResult result;
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, state, threads,
                                                dynamic_shared) != CUDA_OCC_SUCCESS)
        return cudaErrorInvalidValue;
    *blocks = result.activeBlocksPerMultiprocessor;
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (int *blocks,
        const void *host, int block_size, size_t dynamic_shared, unsigned flags),
        (blocks, host, block_size, dynamic_shared, flags))
{
    (void)flags; /* about caches that the modelled GPUs do not have */
    if (blocks == NULL || block_size <= 0) return cudaErrorInvalidValue;
    RETURN_UNLESS_FUNCTION(host, function);

    const struct cudaOccDeviceState state = wanted(function);
    return blocks_per_multiprocessor(emu_gpu(emu_runtime()), emu_kernel_info(function->kernel),
                                     &state, dynamic_allowed(function), block_size, dynamic_shared,
                                     blocks);
}

int cudart_occupancy(const struct emu_gpu *gpu, const struct emu_kernel *kernel, int threads,
                     size_t dynamic_shared, int *blocks)
{
    const struct cudaOccDeviceState none = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
    if (threads <= 0) return cudaErrorInvalidValue;
    return (int)blocks_per_multiprocessor(gpu, emu_kernel_info(kernel), &none,
                                          gpu->shared_per_block_optin, threads, dynamic_shared,
                                          blocks);
}

RUNTIME_ANYWHERE(cudaOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, const void *host,
                 int threads, size_t shared),
                 cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads,
                                                                        shared, 0))

WORK_OF(RUNTIME, cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *bytes, const void *host,
        int blocks, int block_size), (bytes, host, blocks, block_size))
{
    if (bytes == NULL || blocks <= 0 || block_size <= 0) return cudaErrorInvalidValue;
    RETURN_UNLESS_FUNCTION(host, function);

    struct cudaOccDeviceProp device = device_limits(emu_gpu(emu_runtime()));
    struct cudaOccFuncAttributes kernel =
        kernel_needs(emu_kernel_info(function->kernel), dynamic_allowed(function));
    struct cudaOccDeviceState state = wanted(function);
    if (cudaOccAvailableDynamicSMemPerBlock(bytes, &device, &kernel, &state, blocks, block_size) !=
        CUDA_OCC_SUCCESS)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- how many clusters of blocks fit on the GPU ---------------------------------------------- */

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

WORK_OF(RUNTIME, cudaOccupancyMaxActiveClusters, (int *clusters, const void *host,
        const cudaLaunchConfig_t *config), (clusters, host, config))
{
    if (clusters == NULL || config == NULL) return cudaErrorInvalidValue;
    RETURN_UNLESS_FUNCTION(host, function);
    unsigned blocks = cluster_blocks(config, function);
    if (blocks == 0 || blocks > (unsigned)largest(function)) return cudaErrorInvalidClusterSize;
    int per_sm;
    dim3 block = config->blockDim;
    cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
        &per_sm, host, (int)(block.x * block.y * block.z), config->dynamicSmemBytes);
    if (error != cudaSuccess) return error;
    *clusters = (int)emu_active_clusters(emu_gpu(emu_runtime()), blocks, (unsigned)per_sm);
    return cudaSuccess;
}

/* On an H200 the result does not depend on the size of the grid. */
RUNTIME(cudaOccupancyMaxPotentialClusterSize, (int *size, const void *host,
        const cudaLaunchConfig_t *config),
        IF(size != NULL && config != NULL, cudaErrorInvalidValue,
           WITH_FUNCTION(host, TELL(size, largest(function)))))
