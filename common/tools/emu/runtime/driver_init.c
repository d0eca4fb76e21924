/* driver_init.c — the driver API: cuInit, functions by name, devices, contexts. */
#define _GNU_SOURCE /* open_memstream, dladdr */
#include "driver.h"
#include <cudaProfiler.h>
#include <dlfcn.h>

/* ---- reads files of code --------------------------------------------------------------------- */

char *driver_read_file(const char *path, size_t *bytes)
{
    char part[1 << 14], *text;
    size_t got;
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    FILE *copy = allocated(open_memstream(&text, bytes));
    while ((got = fread(part, 1, sizeof part, file)) > 0) fwrite(part, 1, got, copy);
    bool failed = ferror(file);
    fclose(file);
    fclose(copy);
    if (!failed) return text;
    free(text);
    return NULL;
}

/* ---- the frame of each function -------------------------------------------------------------- */

static atomic_bool is_initialised;

int driver_begin(enum driver_need need)
{
    const struct context *current = cudart_current_context();
    cudart_in_driver = true;
    cudart_begin();
    if (need == NEEDS_NOTHING) return CUDA_SUCCESS;
    if (!is_initialised && current == NULL) return CUDA_ERROR_NOT_INITIALIZED;
    if (need == NEEDS_DRIVER) return CUDA_SUCCESS;
    if (current == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return current->references > 0 ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* An error that both APIs have has the same number in both. The runtime has more errors. */
int cudart_driver_error(int error)
{
    if (error == cudaErrorInvalidSymbol) return CUDA_ERROR_NOT_FOUND;
    if (error == cudaErrorInvalidDeviceFunction) return CUDA_ERROR_INVALID_HANDLE;
    bool is_of_runtime = error > CUDA_ERROR_DEINITIALIZED && error < CUDA_ERROR_STUB_LIBRARY;
    return is_of_runtime ? CUDA_ERROR_INVALID_VALUE : error;
}

CUresult driver_end(int error)
{
    cudart_end(error);
    cudart_in_driver = false;
    return (CUresult)cudart_driver_error(error);
}

/* ---- cuInit ---------------------------------------------------------------------------------- */

static int initialise(unsigned flags)
{
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t refusal = cudart_refusal();
    if (refusal == cudaSuccess) is_initialised = true;
    return refusal;
}

DRIVER_ALWAYS(cuInit, (unsigned flags), initialise(flags))
DRIVER_ALWAYS(cuDriverGetVersion, (int *version), cudaDriverGetVersion(version))

/* The range that a program marks for a profiler is ignored: the report has every launch. */
DRIVER(cuProfilerStart, (void), CUDA_SUCCESS)
DRIVER(cuProfilerStop, (void), CUDA_SUCCESS)

/* The file name of the library that has called, without its folder. */
static const char *caller(const void *address)
{
    Dl_info info;
    if (dladdr(address, &info) == 0 || info.dli_fname == NULL) return "a library";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash != NULL ? slash + 1 : info.dli_fname;
}

/* NVIDIA's libraries ask for functions that are not documented. Compilers such as libnvrtc.so
 * can do without them; NVIDIA's runtime, which may be linked into a library, cannot. */
CUresult CUDAAPI cuGetExportTable(const void **table, const CUuuid *id)
{
    char feature[200];
    const char *library = caller(__builtin_return_address(0));
    (void)table, (void)id;
    if (strncmp(library, "libnv", strlen("libnv")) == 0) return CUDA_ERROR_NOT_SUPPORTED;
    driver_begin(NEEDS_NOTHING);
    snprintf(feature, sizeof feature, "NVIDIA's runtime in %s", library);
    return driver_end((int)cudart_not_supported(
        feature, "it needs a GPU: the emulator runs what is linked with libcudart.so.13"));
}

/* ---- errors ---------------------------------------------------------------------------------- */

const char *cudart_driver_error_name(int error)
{
    switch (error) {
#define ERROR(name)                                                                                \
    case name:                                                                                     \
        return #name;
#include <errors.inc>
#undef ERROR
    default: return NULL;
    }
}

CUresult CUDAAPI cuGetErrorName(CUresult error, const char **name)
{
    if (name == NULL) return CUDA_ERROR_INVALID_VALUE;
    *name = cudart_driver_error_name((int)error);
    return *name != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CUDAAPI cuGetErrorString(CUresult error, const char **text)
{
    if (text == NULL) return CUDA_ERROR_INVALID_VALUE;
    bool is_known = cudart_driver_error_name((int)error) != NULL;
    *text = is_known ? cudaGetErrorString((cudaError_t)(int)error) : NULL;
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- functions by their names ---------------------------------------------------------------- */

static bool is_per_thread(const char *name) { return strstr(name, "_pt") != NULL; }

/* Does the function have a form for per-thread default streams? */
static bool has_per_thread(const struct driver_name *f)
{
    const struct driver_name *end = driver_names + driver_name_count;
    size_t length = strlen(f->name);
    for (const struct driver_name *g = f; g < end && strncmp(g->name, f->name, length) == 0; g++)
        if (strncmp(g->name + length, "_pt", strlen("_pt")) == 0) return true;
    return false;
}

/* The newest form of a function that this version of CUDA has; NULL: it has none. *exists: some
 * version has one. */
static const struct driver_name *find_form(const char *base, int version, bool per_thread,
                                           bool *exists)
{
    const struct driver_name *best = NULL;
    *exists = false;
    for (size_t i = 0; i < driver_name_count; i++) {
        const struct driver_name *f = &driver_names[i];
        if (strcmp(f->base, base) != 0) continue;
        *exists = true;
        bool fits = is_per_thread(f->name) ? per_thread : !per_thread || !has_per_thread(f);
        if (fits && f->version <= version && (best == NULL || f->version > best->version)) best = f;
    }
    return best;
}

enum cudart_query cudart_driver_function(const char *name, int version, bool per_thread,
                                         void **function)
{
    bool exists;
    const struct driver_name *found = find_form(name, version, per_thread, &exists);
    *function = found != NULL ? (void *)(uintptr_t)found->function : NULL;
    return found != NULL ? QUERY_FOUND : exists ? QUERY_TOO_NEW : QUERY_UNKNOWN;
}

static int get_function(const char *name, void **function, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *result)
{
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (name == NULL || name[0] == '\0' || function == NULL || version < 0 || flags & ~known)
        return CUDA_ERROR_INVALID_VALUE;
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    enum cudart_query query = cudart_driver_function(name, version, per_thread, function);
    if (result == NULL) return CUDA_SUCCESS;
    *result = query == QUERY_FOUND     ? CU_GET_PROC_ADDRESS_SUCCESS
              : query == QUERY_TOO_NEW ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* The older form has no `result`, so it returns an error if there is no such function. */
static int get_existing(const char *name, void **function, int version, cuuint64_t flags)
{
    int error = get_function(name, function, version, flags, NULL);
    return error == CUDA_SUCCESS && *function == NULL ? CUDA_ERROR_NOT_FOUND : error;
}

#undef cuGetProcAddress
/* clang-format off */
DRIVER_ALWAYS(cuGetProcAddress, (const char *name, void **function, int version, cuuint64_t flags),
              get_existing(name, function, version, flags))
DRIVER_ALWAYS(cuGetProcAddress_v2, (const char *name, void **function, int version,
               cuuint64_t flags, CUdriverProcAddressQueryResult *result),
              get_function(name, function, version, flags, result))
DRIVER_ALWAYS(cuGetProcAddress_v2_ptsz, (const char *name, void **function, int version,
               cuuint64_t flags, CUdriverProcAddressQueryResult *result),
              get_function(name, function, version, flags == CU_GET_PROC_ADDRESS_DEFAULT ?
                  (cuuint64_t)CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : flags, result))
/* clang-format on */

/* ---- the devices ----------------------------------------------------------------------------- */

/* They have the same numbers in the runtime. */

/* The work with `p`, the device's properties, if there is a place for the answer. */
#define OF_DEVICE(device, has_place, work)                                                         \
    ({                                                                                             \
        struct cudaDeviceProp p;                                                                   \
        cudaError_t error =                                                                        \
            has_place ? cudaGetDeviceProperties(&p, device) : cudaErrorInvalidValue;               \
        IF(error == cudaSuccess, error, work);                                                     \
    })

static int get_capability(int *major, int *minor, CUdevice device)
{
    if (major == NULL || minor == NULL) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
}

#undef cuDeviceGetUuid /* the older form does the same */
/* clang-format off */
DRIVER_ANYWHERE(cuDeviceGet, (CUdevice *device, int number),
                ON_DEVICE(number, TELL(device, number)))
DRIVER_ANYWHERE(cuDeviceGetCount, (int *count), cudaGetDeviceCount(count))
DRIVER_ANYWHERE(cuDeviceGetName, (char *name, int length, CUdevice device),
                OF_DEVICE(device, name != NULL && length > 0,
                          (snprintf(name, (size_t)length, "%s", p.name), CUDA_SUCCESS)))
DRIVER_ANYWHERE(cuDeviceGetUuid, (CUuuid *uuid, CUdevice device),
                OF_DEVICE(device, uuid != NULL, TELL(uuid, p.uuid)))
DRIVER_ANYWHERE(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device),
                OF_DEVICE(device, uuid != NULL, TELL(uuid, p.uuid)))
DRIVER_ANYWHERE(cuDeviceTotalMem, (size_t *bytes, CUdevice device),
                OF_DEVICE(device, bytes != NULL, TELL(bytes, p.totalGlobalMem)))
DRIVER_ANYWHERE(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
                get_capability(major, minor, device))
DRIVER_ANYWHERE(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device),
                cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device))
DRIVER_ANYWHERE(cuDeviceGetPCIBusId, (char *id, int length, CUdevice device),
                cudaDeviceGetPCIBusId(id, length, device))
DRIVER_ANYWHERE(cuDeviceGetByPCIBusId, (CUdevice *device, const char *id),
                cudaDeviceGetByPCIBusId(device, id))
DRIVER_ANYWHERE(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer),
                cudaDeviceCanAccessPeer(can, device, peer))
DRIVER_ANYWHERE(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute,
                 CUdevice from, CUdevice to),
                cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attribute, from, to))
DRIVER_ANYWHERE(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device),
                cudaDeviceGetDefaultMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice device),
                cudaDeviceGetMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
                cudaDeviceSetMemPool(device, pool))
/* clang-format on */

/* ---- making and destroying contexts; a thread's current context; primary contexts ------------ */

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
    return is_dead ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT;
}

#define WITH_CONTEXT(handle, work)                                                                 \
    (driver_context(handle) != NULL ? (int)(work) : wrong_context(handle))

/* ---- made and destroyed ---------------------------------------------------------------------- */

static int create(CUcontext *handle, unsigned flags, CUdevice device)
{
    if (handle == NULL || flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    if (!cudart_is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    cudaError_t fault = WITH_DEVICE(device, cudart_refusal());
    if (fault != cudaSuccess) return fault;
    struct context *context = cudart_new_context(cudart_device_at(device), flags);
    if (!cudart_push_context(context)) return CUDA_ERROR_OUT_OF_MEMORY;
    context->references = 1;
    *handle = (CUcontext)context;
    return CUDA_SUCCESS;
}

/* Parameters say which part of a GPU, or which other process, a context is for. */
static int create_with(CUcontext *handle, bool has_parameters, unsigned flags, CUdevice device)
{
    if (!has_parameters) return create(handle, flags, device);
    return cudart_not_supported("cuCtxCreate with parameters",
                                "a context has the whole GPU here; give it NULL instead");
}

static int destroy(CUcontext handle)
{
    struct context *context = driver_context(handle);
    if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (context == NULL) return wrong_context(handle);
    if (context == cudart_primary_context(context->device->number))
        return CUDA_ERROR_INVALID_CONTEXT;
    cudart_end_context(context);
    if (context == current()) cudart_set_context(NULL);
    return CUDA_SUCCESS;
}

/* ---- current --------------------------------------------------------------------------------- */

static int push(CUcontext handle)
{
    if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (driver_context(handle) == NULL) return wrong_context(handle);
    bool done = cudart_push_context((struct context *)handle);
    return done ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static int pop(CUcontext *handle)
{
    struct context *top = current();
    if (top == NULL) return CUDA_ERROR_INVALID_CONTEXT;
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
    return WITH_DEVICE(context->device->number, cudaDeviceSynchronize());
}

static int set_flags(struct context *context, unsigned flags)
{
    if (flags & ~(unsigned)CU_CTX_FLAGS_MASK) return CUDA_ERROR_INVALID_VALUE;
    context->flags = flags;
    return CUDA_SUCCESS;
}

/* ---- primary --------------------------------------------------------------------------------- */

static int retain(CUcontext *handle, CUdevice device)
{
    if (handle == NULL) return CUDA_ERROR_INVALID_VALUE;
    struct context *primary = cudart_primary_context(device);
    primary->references++;
    *handle = (CUcontext)primary;
    return CUDA_SUCCESS;
}

static int release(struct context *primary)
{
    if (primary->references == 0) return CUDA_ERROR_INVALID_CONTEXT;
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
    if (flags == NULL || active == NULL) return CUDA_ERROR_INVALID_VALUE;
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
DRIVER_ANYWHERE(cuCtxGetCurrent, (CUcontext *c), TELL(c, (CUcontext)current()))
DRIVER(cuCtxGetDevice, (CUdevice *device), TELL(device, current()->device->number))
DRIVER_ANYWHERE(cuCtxGetDevice_v2, (CUdevice *device, CUcontext c),
                WITH_CONTEXT(c, TELL(device, driver_context(c)->device->number)))
DRIVER_ANYWHERE(cuCtxGetId, (CUcontext c, unsigned long long *id),
                WITH_CONTEXT(c, TELL(id, driver_context(c)->id)))
DRIVER_ANYWHERE(cuCtxGetApiVersion, (CUcontext c, unsigned *version),
                c == NULL && current() != NULL ? TELL(version, API_VERSION) : WITH_CONTEXT(c,
                    TELL(version, API_VERSION)))
DRIVER(cuCtxGetFlags, (unsigned *flags), TELL(flags, current()->flags))
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
