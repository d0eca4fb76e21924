/* version.c — versions, and the functions that give access to the driver API (runtime/driver*.c).
 * */
#include "cudart.h"

cudaError_t CUDARTAPI cudaDriverGetVersion(int *version)
{
    if (version == NULL) return cudart_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                                       unsigned version, unsigned long long flags,
                                                       enum cudaDriverEntryPointQueryResult *result)
{
    RETURN_IF_FAULTY();
    if (name == NULL || function == NULL) return cudart_done(cudaErrorInvalidValue);
    enum cudart_query query = cudart_driver_function(
        name, (int)version, flags & cudaEnablePerThreadDefaultStream, function);
    if (result == NULL)
        return cudart_done(query == QUERY_FOUND ? cudaSuccess : cudaErrorSymbolNotFound);
    *result = query == QUERY_FOUND     ? cudaDriverEntryPointSuccess
              : query == QUERY_TOO_NEW ? cudaDriverEntryPointVersionNotSufficent
                                       : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDriverEntryPoint(const char *name, void **function,
                                              unsigned long long flags,
                                              enum cudaDriverEntryPointQueryResult *result)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, result);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the older function is deprecated */
ALSO_PTSZ(cudaGetDriverEntryPoint);
ALSO_PTSZ(cudaGetDriverEntryPointByVersion);
