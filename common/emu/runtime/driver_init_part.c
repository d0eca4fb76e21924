/* driver_init_part.c — cuInit, errors, and finding functions by name. */
#define _GNU_SOURCE /* dladdr */
#include "driver.h"
#include "driver_names.h"

#include <cudaProfiler.h>
#include <dlfcn.h>

#include <stdlib.h>
#include <string.h>

/* ---- the frame of each function -------------------------------------------------------------- */

static atomic_bool is_initialised;
static _Thread_local int obstacle;

static int find_obstacle(bool needs_context)
{
    const struct context *current = cudart_current_context();
    if (!is_initialised && current == NULL) return CUDA_ERROR_NOT_INITIALIZED;
    if (!needs_context) return CUDA_SUCCESS;
    if (current == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return current->references > 0 ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

bool driver_begin(bool needs_context)
{
    cudart_in_driver = true;
    obstacle = find_obstacle(needs_context);
    if (obstacle != CUDA_SUCCESS) driver_failed((CUresult)obstacle);
    return obstacle == CUDA_SUCCESS;
}

int driver_obstacle(void) { return obstacle; }

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
    cudart_in_driver = false;
    return (CUresult)cudart_driver_error(error);
}

int driver_failed(CUresult error) { return (int)cudart_done((int)error); }

/* ---- cuInit ---------------------------------------------------------------------------------- */

CUresult CUDAAPI cuInit(unsigned flags)
{
    cudart_in_driver = true;
    if (flags != 0) return driver_end(driver_failed(CUDA_ERROR_INVALID_VALUE));
    cudaError_t refusal = cudart_refusal();
    if (refusal == cudaSuccess) is_initialised = true;
    return driver_end(refusal);
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    cudart_in_driver = true;
    return driver_end(cudaDriverGetVersion(version));
}

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
    cudart_in_driver = true;
    if (strncmp(library, "libnv", strlen("libnv")) == 0)
        return driver_end(CUDA_ERROR_NOT_SUPPORTED);
    snprintf(feature, sizeof feature, "NVIDIA's runtime in %s", library);
    return driver_end((int)cudart_done(cudart_not_supported(
        feature, "it needs a GPU: the emulator runs what is linked with libcudart.so.13")));
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
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    enum cudart_query query = cudart_driver_function(name, version, per_thread, function);
    if (result == NULL) return CUDA_SUCCESS;
    *result = query == QUERY_FOUND     ? CU_GET_PROC_ADDRESS_SUCCESS
              : query == QUERY_TOO_NEW ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                       : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **function, int version,
                                     cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
    cudart_in_driver = true;
    return driver_end(get_function(name, function, version, flags, result));
}

CUresult CUDAAPI cuGetProcAddress_v2_ptsz(const char *name, void **function, int version,
                                          cuuint64_t flags, CUdriverProcAddressQueryResult *result)
{
    cudart_in_driver = true;
    if (flags == CU_GET_PROC_ADDRESS_DEFAULT) flags = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    return driver_end(get_function(name, function, version, flags, result));
}

/* The older form has no `result`, so it returns an error if there is no such function. */
#undef cuGetProcAddress
CUresult CUDAAPI cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    cudart_in_driver = true;
    int error = get_function(name, function, version, flags, NULL);
    bool is_missing = error == CUDA_SUCCESS && *function == NULL;
    return driver_end(is_missing ? driver_failed(CUDA_ERROR_NOT_FOUND) : error);
}
