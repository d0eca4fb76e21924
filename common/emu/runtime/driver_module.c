/*
 * driver_module.c — modules, which belong to a context, and libraries, which belong to none; their
 * kernels and variables. Both are struct program (module.h), and their kernels struct kernel.
 */
#include "driver_jit.h"
#include "module.h"

#include <stdlib.h>
#include <string.h>

/* ---- loading --------------------------------------------------------------------------------- */

struct options {
    unsigned count;
    CUjit_option *names;
    void **values;
};

static int load(void *handle, const void *image, size_t limit, const char *name,
                const struct context *context, const struct options *options)
{
    struct jit_log log;
    struct program *program;
    char message[LOAD_MESSAGE] = "";
    if (handle == NULL || image == NULL ||
        !jit_read(&log, options->count, options->names, options->values))
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudart_refusal();
    if (error != cudaSuccess) return error;
    error = cudart_load_module(image, limit, name, context, &program, message);
    jit_write(&log, message);
    if (error == cudaErrorSymbolNotFound) error = cudaErrorInvalidPtx; /* as a driver says it */
    if (error != cudaSuccess) return (int)cudart_done(error);
    if (log.registers > 0) program->module->registers = log.registers;
    *(struct program **)handle = program;
    return CUDA_SUCCESS;
}

static int load_data(CUmodule *module, const void *image, struct options options)
{
    return load(module, image, SIZE_MAX, "the module's code", cudart_current_context(), &options);
}

static int load_library(CUlibrary *library, const void *image, struct options options)
{
    return load(library, image, SIZE_MAX, "the library's code", NULL, &options);
}

static int load_file(void *handle, const char *path, const struct context *context,
                     struct options options)
{
    if (path == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    size_t bytes;
    char *text = driver_read_file(path, &bytes);
    if (text == NULL) return driver_failed(CUDA_ERROR_FILE_NOT_FOUND);
    int error = load(handle, text, bytes, path, context, &options);
    free(text);
    return error;
}

/* ---- what a module has ----------------------------------------------------------------------- */

/* Finds a module or library. Until leave(), the thread's device is that of the module's context. */
static struct program *enter(const void *handle, int *was)
{
    struct program *program = cudart_find_module(handle);
    const struct context *context = program != NULL ? program->module->context : NULL;
    *was = cudart_device()->number;
    if (context != NULL) cudart_use_device(context->device->number);
    return program;
}

static int leave(int was, int error)
{
    cudart_use_device(was);
    return error;
}

static int find_kernel(void *place, const void *handle, const char *name)
{
    int was;
    struct kernel *kernel;
    struct program *program = enter(handle, &was);
    if (program == NULL) return leave(was, driver_failed(CUDA_ERROR_INVALID_HANDLE));
    if (place == NULL || name == NULL || name[0] == '\0')
        return leave(was, driver_failed(CUDA_ERROR_INVALID_VALUE));
    cudaError_t error = cudart_module_kernel(program, name, &kernel);
    if (error == cudaSuccess) *(struct kernel **)place = kernel;
    return leave(was, (int)cudart_done(error));
}

static int count_kernels(unsigned *count, const void *handle)
{
    int was;
    struct program *program = enter(handle, &was);
    if (program == NULL) return leave(was, driver_failed(CUDA_ERROR_INVALID_HANDLE));
    if (count == NULL) return leave(was, driver_failed(CUDA_ERROR_INVALID_VALUE));
    for (*count = 0; cudart_module_kernel_name(program, *count) != NULL;) ++*count;
    return leave(was, CUDA_SUCCESS);
}

/* The list also has kernels that cannot run: a launch of one says why. */
static int list_kernels(void *places, unsigned room, const void *handle)
{
    int was;
    struct program *program = enter(handle, &was);
    if (program == NULL) return leave(was, driver_failed(CUDA_ERROR_INVALID_HANDLE));
    if (places == NULL || room == 0) return leave(was, driver_failed(CUDA_ERROR_INVALID_VALUE));
    struct kernel **kernels = places;
    const char *name;
    for (unsigned i = 0; i < room && (name = cudart_module_kernel_name(program, i)) != NULL; i++)
        cudart_module_kernel(program, name, &kernels[i]);
    return leave(was, CUDA_SUCCESS);
}

static int find_variable(CUdeviceptr *address, size_t *bytes, const void *handle, const char *name)
{
    int was;
    emu_addr found;
    size_t size;
    struct program *program = enter(handle, &was);
    if (program == NULL) return leave(was, driver_failed(CUDA_ERROR_INVALID_HANDLE));
    if ((address == NULL && bytes == NULL) || name == NULL)
        return leave(was, driver_failed(CUDA_ERROR_INVALID_VALUE));
    cudaError_t error = cudart_module_variable(program, name, &found, &size);
    if (error != cudaSuccess) return leave(was, (int)cudart_done(error));
    if (address != NULL) *address = found;
    if (bytes != NULL) *bytes = size;
    return leave(was, CUDA_SUCCESS);
}

static int unload(const void *handle, bool is_library)
{
    struct program *program = cudart_find_module(handle);
    if (program == NULL || (program->module->context == NULL) != is_library)
        return driver_failed(CUDA_ERROR_INVALID_HANDLE);
    cudart_unload_module(program);
    return CUDA_SUCCESS;
}

/* Writes a handle of a library or of its module in a context. Both have the same handle here. */
static int give(void *place, const void *handle)
{
    if (handle == NULL) return driver_failed(CUDA_ERROR_INVALID_HANDLE);
    if (place == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    *(const void **)place = handle;
    return CUDA_SUCCESS;
}

/* ---- attributes of kernels ------------------------------------------------------------------- */

static int get_attribute(int *value, CUfunction_attribute attribute, const void *kernel)
{
    struct cudaFuncAttributes a;
    if (value == NULL || (unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudaFuncGetAttributes(&a, kernel);
    if (error != cudaSuccess) return error;
    const int values[CU_FUNC_ATTRIBUTE_MAX] = {
        [CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = a.maxThreadsPerBlock,
        [CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = (int)a.sharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = (int)a.constSizeBytes,
        [CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = (int)a.localSizeBytes,
        [CU_FUNC_ATTRIBUTE_NUM_REGS] = a.numRegs,
        [CU_FUNC_ATTRIBUTE_PTX_VERSION] = a.ptxVersion,
        [CU_FUNC_ATTRIBUTE_BINARY_VERSION] = a.binaryVersion,
        [CU_FUNC_ATTRIBUTE_CACHE_MODE_CA] = a.cacheModeCA,
        [CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = a.maxDynamicSharedSizeBytes,
        [CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = a.preferredShmemCarveout,
        [CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET] = a.clusterDimMustBeSet,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH] = a.requiredClusterWidth,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT] = a.requiredClusterHeight,
        [CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH] = a.requiredClusterDepth,
        [CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED] = a.nonPortableClusterSizeAllowed,
    };
    *value = values[attribute];
    return CUDA_SUCCESS;
}

static int set_attribute(const void *kernel, CUfunction_attribute attribute, int value)
{
    bool can_be_set = attribute >= CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
                      attribute < CU_FUNC_ATTRIBUTE_MAX;
    if (!can_be_set) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    return cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute)attribute, value);
}

static int get_attribute_on(int *value, CUfunction_attribute attribute, const void *kernel,
                            CUdevice device)
{
    int was = cudart_use_device(device);
    return leave(was, get_attribute(value, attribute, kernel));
}

/* Loads a kernel in the current context, if it can run there. */
static int load_kernel(const void *kernel)
{
    struct function *function;
    return (int)cudart_done(cudart_function(kernel, &function));
}

static int get_function(CUfunction *function, const void *kernel)
{
    int error = load_kernel(kernel);
    return error != CUDA_SUCCESS ? error : give(function, kernel);
}

static int is_loaded(CUfunctionLoadingState *state, const void *kernel)
{
    if (state == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return load_kernel(kernel);
}

static int loading_mode(CUmoduleLoadingMode *mode)
{
    if (mode == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---- the functions --------------------------------------------------------------------------- */

#define NO_OPTIONS ((struct options){0, NULL, NULL})
#define CURRENT    cudart_current_context()

/* clang-format off */
DRIVER(cuModuleLoad, (CUmodule *m, const char *path), load_file(m, path, CURRENT, NO_OPTIONS))
DRIVER(cuModuleLoadData, (CUmodule *m, const void *image), load_data(m, image, NO_OPTIONS))
DRIVER(cuModuleLoadDataEx, (CUmodule *m, const void *image, unsigned count, CUjit_option *options,
        void **values),
       load_data(m, image, (struct options){count, options, values}))
DRIVER(cuModuleLoadFatBinary, (CUmodule *m, const void *image), load_data(m, image, NO_OPTIONS))
DRIVER_ANYWHERE(cuModuleUnload, (CUmodule m), unload(m, false))
DRIVER_ANYWHERE(cuModuleGetLoadingMode, (CUmoduleLoadingMode *mode), loading_mode(mode))
DRIVER_ANYWHERE(cuModuleGetFunction, (CUfunction *f, CUmodule m, const char *name),
                find_kernel(f, m, name))
DRIVER_ANYWHERE(cuModuleGetFunctionCount, (unsigned *count, CUmodule m), count_kernels(count, m))
DRIVER_ANYWHERE(cuModuleEnumerateFunctions, (CUfunction *f, unsigned room, CUmodule m),
                list_kernels(f, room, m))
DRIVER_ANYWHERE(cuModuleGetGlobal, (CUdeviceptr *address, size_t *bytes, CUmodule m,
                 const char *name),
                find_variable(address, bytes, m, name))

DRIVER_ANYWHERE(cuLibraryLoadData, (CUlibrary *l, const void *image, CUjit_option *options,
                 void **values, unsigned count, CUlibraryOption *library_options,
                 void **library_values, unsigned library_count),
                ((void)library_options, (void)library_values, (void)library_count, load_library(l,
                    image, (struct options){count, options, values})))
DRIVER_ANYWHERE(cuLibraryLoadFromFile, (CUlibrary *l, const char *path, CUjit_option *options,
                 void **values, unsigned count, CUlibraryOption *library_options,
                 void **library_values, unsigned library_count),
                ((void)library_options, (void)library_values, (void)library_count, load_file(l,
                    path, NULL, (struct options){count, options, values})))
DRIVER_ANYWHERE(cuLibraryUnload, (CUlibrary l), unload(l, true))
DRIVER_ANYWHERE(cuLibraryGetKernel, (CUkernel *k, CUlibrary l, const char *name),
                find_kernel(k, l, name))
DRIVER_ANYWHERE(cuLibraryGetKernelCount, (unsigned *count, CUlibrary l), count_kernels(count, l))
DRIVER_ANYWHERE(cuLibraryEnumerateKernels, (CUkernel *k, unsigned room, CUlibrary l),
                list_kernels(k, room, l))
DRIVER(cuLibraryGetModule, (CUmodule *m, CUlibrary l), give(m, cudart_find_module(l)))
DRIVER(cuLibraryGetGlobal, (CUdeviceptr *address, size_t *bytes, CUlibrary l, const char *name),
       find_variable(address, bytes, l, name))

DRIVER(cuKernelGetFunction, (CUfunction *f, CUkernel k), get_function(f, k))
DRIVER_ANYWHERE(cuKernelGetLibrary, (CUlibrary *l, CUkernel k), give(l, cudart_program_of(k)))
DRIVER_ANYWHERE(cuKernelGetAttribute, (int *value, CUfunction_attribute a, CUkernel k,
                 CUdevice device),
                ON_DEVICE(device, get_attribute_on(value, a, k, device)))
DRIVER_ANYWHERE(cuKernelSetAttribute, (CUfunction_attribute a, int value, CUkernel k,
                 CUdevice device),
                cudaKernelSetAttributeForDevice((cudaKernel_t)k, (enum cudaFuncAttribute)a, value,
                    device))
DRIVER_ANYWHERE(cuKernelSetCacheConfig, (CUkernel k, CUfunc_cache config, CUdevice device),
                ON_DEVICE(device, cudaFuncSetCacheConfig(k, (enum cudaFuncCache)config)))
DRIVER_ANYWHERE(cuKernelGetName, (const char **name, CUkernel k), cudaFuncGetName(name, k))
DRIVER_ANYWHERE(cuKernelGetParamInfo, (CUkernel k, size_t index, size_t *offset, size_t *size),
                cudaFuncGetParamInfo(k, index, offset, size))

DRIVER(cuFuncGetAttribute, (int *value, CUfunction_attribute a, CUfunction f),
       get_attribute(value, a, f))
DRIVER(cuFuncSetAttribute, (CUfunction f, CUfunction_attribute a, int value),
       set_attribute(f, a, value))
DRIVER(cuFuncSetCacheConfig, (CUfunction f, CUfunc_cache config),
       cudaFuncSetCacheConfig(f, (enum cudaFuncCache)config))
DRIVER(cuFuncSetSharedMemConfig, (CUfunction f, CUsharedconfig config),
       cudaFuncSetSharedMemConfig(f, (enum cudaSharedMemConfig)config))
DRIVER(cuFuncGetModule, (CUmodule *m, CUfunction f), give(m, cudart_program_of(f)))
DRIVER(cuFuncGetName, (const char **name, CUfunction f), cudaFuncGetName(name, f))
DRIVER(cuFuncGetParamInfo, (CUfunction f, size_t index, size_t *offset, size_t *size),
       cudaFuncGetParamInfo(f, index, offset, size))
DRIVER(cuFuncIsLoaded, (CUfunctionLoadingState *state, CUfunction f), is_loaded(state, f))
DRIVER(cuFuncLoad, (CUfunction f), load_kernel(f))
/* Only cuLaunch uses the shape, and it is refused. PyCUDA sets the shape here, but also gives it to
 * cuLaunchKernel. */
DRIVER(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z),
       ((void)x, (void)y, (void)z, load_kernel(f)))
DRIVER(cuFuncSetSharedSize, (CUfunction f, unsigned bytes), ((void)bytes, load_kernel(f)))
/* clang-format on */
