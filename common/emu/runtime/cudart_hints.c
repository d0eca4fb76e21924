/*
 * cudart_hints.c — what makes no difference here: preferences for caches and shared memory, and a
 * profiler's range.
 */
#include "cudart.h"

cudaError_t CUDARTAPI cudaDeviceSetCacheConfig(enum cudaFuncCache preference)
{
    (void)preference;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetCacheConfig(enum cudaFuncCache *preference)
{
    if (preference == NULL) return cudart_done(cudaErrorInvalidValue);
    *preference = cudaFuncCachePreferNone;
    return cudaSuccess;
}

/* A profiler's range. The report counts every launch. */
cudaError_t CUDARTAPI cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaProfilerStop(void) { return cudaSuccess; }

cudaError_t CUDARTAPI cudaFuncSetCacheConfig(const void *host, enum cudaFuncCache preference)
{
    (void)host, (void)preference; /* a hint */
    return cudaSuccess;
}

/* Banks of 8 bytes were Kepler's. */
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
