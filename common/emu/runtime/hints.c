/*
 * hints.c — functions without effect on what kernels do: preferences for caches and shared memory,
 * on which occupancy depends, and a profiler's range.
 */
#include "cudart.h"

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache preference)
{
    RETURN_IF_FAULTY();
    if ((unsigned)preference > cudaFuncCachePreferEqual) return cudart_done(cudaErrorInvalidValue);
    cudart_device()->cache = preference;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *preference)
{
    if (preference == NULL) return cudart_done(cudaErrorInvalidValue);
    *preference = cudart_device()->cache;
    return cudaSuccess;
}

/* A profiler's range is ignored: the report has every launch. */
cudaError_t CUDARTAPI cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaProfilerStop(void) { return cudaSuccess; }

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache preference)
{
    RETURN_IF_FAULTY();
    RETURN_UNLESS_FUNCTION(host, function);
    if ((unsigned)preference > cudaFuncCachePreferEqual) return cudart_done(cudaErrorInvalidValue);
    function->cache = preference;
    return cudaSuccess;
}

/* Only Kepler had banks of 8 bytes. */
cudaError_t CUDARTAPI cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    (void)config;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    if (config == NULL) return cudart_done(cudaErrorInvalidValue);
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaFuncSetSharedMemConfig(const void *host, enum cudaSharedMemConfig config)
{
    (void)host, (void)config;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaCtxResetPersistingL2Cache(void)
{
    RETURN_IF_FAULTY();
    return cudaSuccess;
}
