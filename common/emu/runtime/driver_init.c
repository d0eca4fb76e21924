/* driver_init.c — making and destroying contexts; a thread's current context; primary contexts. */
#include "driver.h"

#include <string.h>

enum { API_VERSION = 3020 }; /* what drivers answer since CUDA 3.2 */

static struct context *current(void) { return cudart_current_context(); }

struct context *driver_context(CUcontext handle)
{
    struct context *context = (struct context *)handle;
    return cudart_is_context(context) && context->references > 0 ? context : NULL;
}

/* The error for a handle that is not that of a living context. */
static int wrong_context(CUcontext handle)
{
    bool is_dead = cudart_is_context((struct context *)handle);
    return driver_failed(is_dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT);
}

#define WITH_CONTEXT(handle, work)                                                                 \
    (driver_context(handle) != NULL ? (int)(work) : wrong_context(handle))

static int set(void *place, const void *value, size_t bytes)
{
    if (place == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    memcpy(place, value, bytes);
    return CUDA_SUCCESS;
}
#define SET(place, value) set(place, &(__typeof__(*(place))){value}, sizeof *(place))

/* ---- made and destroyed ---------------------------------------------------------------------- */

static int create(CUcontext *handle, unsigned flags, CUdevice device)
{
    if (handle == NULL || flags & ~(unsigned)CU_CTX_FLAGS_MASK)
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (!driver_is_device(device)) return driver_failed(CUDA_ERROR_INVALID_DEVICE);
    int was = cudart_use_device(device);
    cudaError_t fault = cudart_refusal();
    cudart_use_device(was);
    if (fault != cudaSuccess) return fault;
    struct context *context = cudart_new_context(cudart_device_at(device), flags);
    if (context == NULL || !cudart_push_context(context))
        return driver_failed(CUDA_ERROR_OUT_OF_MEMORY);
    context->references = 1;
    *handle = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* Parameters say which part of a GPU, or which other process, a context is for. */
static int create_with(CUcontext *handle, bool has_parameters, unsigned flags, CUdevice device)
{
    if (!has_parameters) return create(handle, flags, device);
    return (int)cudart_done(cudart_not_supported(
        "cuCtxCreate with parameters", "a context has the whole GPU here; give it NULL instead"));
}

static int destroy(CUcontext handle)
{
    struct context *context = driver_context(handle);
    if (handle == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (context == NULL) return wrong_context(handle);
    if (context == cudart_primary_context(context->device->number))
        return driver_failed(CUDA_ERROR_INVALID_CONTEXT);
    cudart_end_context(context);
    if (context == current()) cudart_set_context(NULL);
    return CUDA_SUCCESS;
}

/* ---- current --------------------------------------------------------------------------------- */

static int push(CUcontext handle)
{
    if (handle == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    if (driver_context(handle) == NULL) return wrong_context(handle);
    bool done = cudart_push_context((struct context *)handle);
    return done ? CUDA_SUCCESS : driver_failed(CUDA_ERROR_OUT_OF_MEMORY);
}

static int pop(CUcontext *handle)
{
    struct context *top = current();
    if (top == NULL) return driver_failed(CUDA_ERROR_INVALID_CONTEXT);
    if (handle != NULL) *handle = (CUcontext)top;
    cudart_set_context(NULL);
    return CUDA_SUCCESS;
}

static int make_current(CUcontext handle)
{
    if (handle != NULL && driver_context(handle) == NULL) return wrong_context(handle);
    cudart_set_context((struct context *)handle);
    return CUDA_SUCCESS;
}

static int synchronize(struct context *context)
{
    int was = cudart_use_device(context->device->number);
    cudaError_t error = cudaDeviceSynchronize();
    cudart_use_device(was);
    return error;
}

static int set_flags(struct context *context, unsigned flags)
{
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    context->flags = flags;
    return CUDA_SUCCESS;
}

/* ---- primary --------------------------------------------------------------------------------- */

static int retain(CUcontext *handle, CUdevice device)
{
    if (handle == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    struct context *primary = cudart_primary_context(device);
    primary->references++;
    *handle = (CUcontext)primary;
    return CUDA_SUCCESS;
}

static int release(struct context *primary)
{
    if (primary->references == 0) return driver_failed(CUDA_ERROR_INVALID_CONTEXT);
    if (--primary->references == 0) cudart_end_context(primary);
    return CUDA_SUCCESS;
}

static int reset(struct context *primary)
{
    cudart_end_context(primary);
    return CUDA_SUCCESS;
}

static int get_state(const struct context *primary, unsigned *flags, int *active)
{
    if (flags == NULL || active == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    *flags = primary->flags;
    *active = primary->references > 0;
    return CUDA_SUCCESS;
}

#define ON_PRIMARY(device, call, ...)                                                              \
    ON_DEVICE(device, call(cudart_primary_context(device), ##__VA_ARGS__))

static int peer(CUcontext handle, bool enables, unsigned flags)
{
    const struct context *context = driver_context(handle);
    if (context == NULL) return wrong_context(handle);
    return enables ? cudaDeviceEnablePeerAccess(context->device->number, flags)
                   : cudaDeviceDisablePeerAccess(context->device->number);
}

/* clang-format off */
#undef cuCtxCreate
#undef cuCtxGetDevice
#undef cuCtxSynchronize
DRIVER_ANYWHERE(cuCtxCreate, (CUcontext *c, unsigned flags, CUdevice device),
                create(c, flags, device))
DRIVER_ANYWHERE(cuCtxCreate_v2, (CUcontext *c, unsigned flags, CUdevice device),
                create(c, flags, device))
DRIVER_ANYWHERE(cuCtxCreate_v3, (CUcontext *c, CUexecAffinityParam *parameters, int count,
                 unsigned flags, CUdevice device),
                create_with(c, count > 0 && parameters != NULL, flags, device))
DRIVER_ANYWHERE(cuCtxCreate_v4, (CUcontext *c, CUctxCreateParams *parameters, unsigned flags,
                 CUdevice device),
                create_with(c, parameters != NULL && (parameters->execAffinityParams != NULL ||
                    parameters->cigParams != NULL), flags, device))
DRIVER_ANYWHERE(cuCtxDestroy, (CUcontext c), destroy(c))
/* A context has one reference only: cuCtxAttach, which would make a second one, is refused. */
DRIVER_ANYWHERE(cuCtxDetach, (CUcontext c), destroy(c))
DRIVER_ANYWHERE(cuCtxPushCurrent, (CUcontext c), push(c))
DRIVER_ANYWHERE(cuCtxPopCurrent, (CUcontext *c), pop(c))
DRIVER_ANYWHERE(cuCtxSetCurrent, (CUcontext c), make_current(c))
DRIVER_ANYWHERE(cuCtxGetCurrent, (CUcontext *c), SET(c, (CUcontext)current()))
DRIVER(cuCtxGetDevice, (CUdevice *device), SET(device, current()->device->number))
DRIVER_ANYWHERE(cuCtxGetDevice_v2, (CUdevice *device, CUcontext c),
                WITH_CONTEXT(c, SET(device, driver_context(c)->device->number)))
DRIVER_ANYWHERE(cuCtxGetId, (CUcontext c, unsigned long long *id),
                WITH_CONTEXT(c, SET(id, driver_context(c)->id)))
DRIVER_ANYWHERE(cuCtxGetApiVersion, (CUcontext c, unsigned *version),
                c == NULL && current() != NULL ? SET(version, API_VERSION) : WITH_CONTEXT(c,
                    SET(version, API_VERSION)))
DRIVER(cuCtxGetFlags, (unsigned *flags), SET(flags, current()->flags))
DRIVER(cuCtxSetFlags, (unsigned flags), set_flags(current(), flags))
DRIVER(cuCtxSynchronize, (void), synchronize(current()))
DRIVER_ANYWHERE(cuCtxSynchronize_v2, (CUcontext c), WITH_CONTEXT(c, synchronize(driver_context(c))))
DRIVER(cuCtxGetLimit, (size_t *value, CUlimit limit),
       cudaDeviceGetLimit(value, (enum cudaLimit)limit))
DRIVER(cuCtxSetLimit, (CUlimit limit, size_t value),
       cudaDeviceSetLimit((enum cudaLimit)limit, value))
DRIVER(cuCtxGetCacheConfig, (CUfunc_cache *config),
       cudaDeviceGetCacheConfig((enum cudaFuncCache *)config))
DRIVER(cuCtxSetCacheConfig, (CUfunc_cache config),
       cudaDeviceSetCacheConfig((enum cudaFuncCache)config))
DRIVER(cuCtxGetSharedMemConfig, (CUsharedconfig *config),
       cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)config))
DRIVER(cuCtxSetSharedMemConfig, (CUsharedconfig config),
       cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config))
DRIVER(cuCtxGetStreamPriorityRange, (int *lowest, int *highest),
       cudaDeviceGetStreamPriorityRange(lowest, highest))
DRIVER(cuCtxResetPersistingL2Cache, (void), cudaCtxResetPersistingL2Cache())
DRIVER(cuCtxEnablePeerAccess, (CUcontext c, unsigned flags), peer(c, true, flags))
DRIVER(cuCtxDisablePeerAccess, (CUcontext c), peer(c, false, 0))

DRIVER_ANYWHERE(cuDevicePrimaryCtxRetain, (CUcontext *c, CUdevice device),
                ON_DEVICE(device, retain(c, device)))
DRIVER_ANYWHERE(cuDevicePrimaryCtxRelease, (CUdevice device), ON_PRIMARY(device, release))
DRIVER_ANYWHERE(cuDevicePrimaryCtxReset, (CUdevice device), ON_PRIMARY(device, reset))
DRIVER_ANYWHERE(cuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned flags),
                ON_PRIMARY(device, set_flags, flags))
DRIVER_ANYWHERE(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned *flags, int *active),
                ON_PRIMARY(device, get_state, flags, active))
/* clang-format on */
