/*
 * version.c — versions, and the functions that give access to the driver, which does not exist
 * here.
 */
#include "common/emu/runtime/cudart.h"

#include <stdio.h>
#include <string.h>

cudaError_t CUDARTAPI cudaDriverGetVersion(int *version)
{
    if (version == NULL) return cudart_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaRuntimeGetVersion(int *version) { return cudaDriverGetVersion(version); }

static void tell_of_driver(const char *name)
{
    char feature[80];
    snprintf(feature, sizeof feature, "the driver's function %s", name);
    cudart_not_supported(feature, "there is no driver behind this runtime; use the runtime's "
                                  "functions, or run it on a GPU");
}

/* Reports that the driver has no function of this name, because there is no driver. A program that
 * asks for the result can do without the function, except for those of tensor maps. */
cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(const char *name, void **function,
                                                       unsigned version, unsigned long long flags,
                                                       enum cudaDriverEntryPointQueryResult *result)
{
    (void)version, (void)flags;
    RETURN_IF_FAULTY();
    if (name == NULL || function == NULL) return cudart_done(cudaErrorInvalidValue);
    *function = NULL;
    if (result == NULL || strncmp(name, "cuTensorMap", strlen("cuTensorMap")) == 0)
        tell_of_driver(name);
    if (result == NULL) return cudart_done(cudaErrorSymbolNotFound);
    *result = cudaDriverEntryPointSymbolNotFound;
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
