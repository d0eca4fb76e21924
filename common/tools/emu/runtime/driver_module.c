/* driver_module.c — the driver API: modules and libraries, and joining texts. */
#define _POSIX_C_SOURCE 200809L /* strnlen, strdup, strndup */
#include "driver.h"

/* ---- options of code that is loaded or linked: where messages go ----------------------------- */

/* Those that tell a compiler how to compile are ignored, since nothing is compiled, but for the
 * most registers. */

struct jit_log {
    char *text; /* the program's buffer for errors; NULL: it has given none */
    size_t size;
    void **used; /* where the number of bytes in it is told; may be NULL */
    void **info_used;
    unsigned registers; /* the most that a thread may have; 0: any number */
};

/* The size of a buffer is passed in the pointer itself; after loading, the pointer says how many
 * bytes were used. */
static bool jit_read(struct jit_log *log, unsigned count, const CUjit_option *options,
                     void **values)
{
    *log = (struct jit_log){0};
    if (count > 0 && (options == NULL || values == NULL)) return false;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: log->text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->size = (size_t)(uintptr_t)values[i];
            log->used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: log->info_used = &values[i]; break;
        case CU_JIT_MAX_REGISTERS: log->registers = (unsigned)(uintptr_t)values[i]; break;
        default: break;
        }
    }
    return true;
}

/* Writes an error into the program's buffer, or else on stderr. "": there was none. */
static void jit_write(const struct jit_log *log, const char *message)
{
    bool has_buffer = log->text != NULL && log->size > 0;
    size_t length = has_buffer ? strnlen(message, log->size - 1) : 0;
    if (has_buffer) {
        memcpy(log->text, message, length);
        log->text[length] = '\0';
    } else {
        cudart_print(message);
    }
    if (log->used != NULL) *log->used = (void *)(uintptr_t)(length > 0 ? length + 1 : 0);
    if (log->info_used != NULL) *log->info_used = NULL;
}

/* ---- joins several PTX texts ----------------------------------------------------------------- */

/* The result, which on a GPU is a cubin, is here an image that holds the texts; cuModuleLoadData
 * links them again. */

struct link {
    struct jit_log log;
    struct emu_ptx *texts; /* each text and name owned */
    size_t count;
    void *image; /* the result; NULL: not complete */
    size_t bytes;
};

static struct handles links = NO_HANDLES;

static struct link *find(CUlinkState state)
{
    return cudart_handles_find(&links, state);
}

static int create(unsigned count, CUjit_option *options, void **values, CUlinkState *state)
{
    struct jit_log log;
    if (state == NULL || !jit_read(&log, count, options, values)) return CUDA_ERROR_INVALID_VALUE;
    struct link *link = allocated(calloc(1, sizeof *link));
    cudart_handles_set(&links, link, link);
    link->log = log;
    *state = (CUlinkState)link;
    return CUDA_SUCCESS;
}

static int destroy(CUlinkState state)
{
    struct link *link = cudart_handles_take(&links, state);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    for (size_t i = 0; i < link->count; i++) {
        free((char *)link->texts[i].text);
        free((char *)link->texts[i].name);
    }
    free(link->texts);
    free(link->image);
    free(link);
    return CUDA_SUCCESS;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Loads and unloads an image, which finds mistakes. What is not defined may be in another text if
 * it is only a part. */
static cudaError_t try_image(const struct link *link, const void *image, size_t bytes,
                             const char *name, bool is_part)
{
    char message[LOAD_MESSAGE] = "";
    struct program *program;
    cudaError_t error = cudart_load_module(image, bytes, name, NULL, &program, message);
    if (error == cudaSuccess) cudart_unload_module(program);
    if (error == cudaErrorSymbolNotFound && is_part) return cudaSuccess;
    jit_write(&link->log, message);
    return error;
}

/* The text becomes the link's. */
static int add_text(struct link *link, char *text, size_t length, const char *name)
{
    if (name == NULL) name = "the linked PTX";
    int error = (int)try_image(link, text, length, name, true);
    if (error != CUDA_SUCCESS) {
        free(text);
        return error;
    }
    link->texts = grown(link->texts, link->count, sizeof *link->texts);
    link->texts[link->count++] = (struct emu_ptx){text, length, allocated(strdup(name)), false};
    return CUDA_SUCCESS;
}

static int add_ptx(struct link *link, const char *data, size_t bytes, const char *name)
{
    size_t length = strnlen(data, bytes);
    char *text = allocated(strndup(data, length));
    if (cudart_is_ptx(text)) return add_text(link, text, length, name);
    free(text);
    jit_write(&link->log, "what is to be linked as PTX does not begin with .version");
    return CUDA_ERROR_INVALID_IMAGE;
}

static int add_fat_binary(struct link *link, const void *data, size_t bytes, const char *name)
{
    char message[LOAD_MESSAGE];
    struct fatbin_ptx ptx;
    int error = fatbin_extract(data, bytes, cudart_newest_code(), &ptx, message, sizeof message);
    if (error == CUDA_SUCCESS) return add_text(link, ptx.text, ptx.length, name);
    jit_write(&link->log, message);
    return error;
}

static int add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes,
               const char *name)
{
    struct link *link = find(state);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (data == NULL || bytes == 0 || link->image != NULL) return CUDA_ERROR_INVALID_VALUE;
    switch (type) {
    case CU_JIT_INPUT_PTX: return add_ptx(link, data, bytes, name);
    case CU_JIT_INPUT_FATBINARY: return add_fat_binary(link, data, bytes, name);
    case CU_JIT_INPUT_CUBIN:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_NVVM:
        return cudart_not_supported(
            "linking machine code, objects or NVVM code",
            "the emulator links PTX and fat binaries that hold PTX; compile to PTX instead");
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

/* What libcudadevrt.a has for cooperative groups, as Numba calls it: the barrier that nvcc makes of
 * grid.sync(). The emulator supplies the other functions itself. */
static const char cooperative[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {\n"
    ".reg .b32 %r<2>; .reg .b64 %h; mov.u32 %r0, %envreg2; mov.u32 %r1, %envreg1;\n"
    "mov.b64 %h, {%r0, %r1}; st.param.b64 [handle], %h; ret; }\n"
    ".visible .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 f) {\n"
    ".reg .pred %p; .reg .b32 %r<5>; .reg .b64 %h; ld.param.b64 %h, [handle];\n"
    "setp.ne.u64 %p, %h, 0; @%p bra GRID; trap; GRID: barrier.sync 0;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; or.b32 %r0, %r0, %r1; mov.u32 %r1, %tid.z;\n"
    "or.b32 %r0, %r0, %r1; setp.ne.u32 %p, %r0, 0; @%p bra END; mov.u32 %r0, %nctaid.x;\n"
    "mov.u32 %r1, %nctaid.y; mul.lo.u32 %r0, %r0, %r1; mov.u32 %r1, %nctaid.z;\n"
    "mul.lo.u32 %r0, %r0, %r1; sub.u32 %r2, 0x80000001, %r0; mov.u32 %r0, %ctaid.x;\n"
    "mov.u32 %r1, %ctaid.y; or.b32 %r0, %r0, %r1; mov.u32 %r1, %ctaid.z;\n"
    "or.b32 %r0, %r0, %r1; setp.eq.u32 %p, %r0, 0; selp.b32 %r2, %r2, 1, %p;\n"
    "atom.add.release.gpu.u32 %r3, [%h+4], %r2;\n"
    "POLL: ld.acquire.gpu.u32 %r4, [%h+4]; xor.b32 %r4, %r4, %r3; setp.gt.s32 %p, %r4, -1;\n"
    "@%p bra POLL; END: barrier.sync 0; st.param.b32 [error], 0; ret; }\n";

static bool is_device_runtime(const char *path)
{
    const char *name = strrchr(path, '/');
    return !strcmp(name != NULL ? name + 1 : path, "libcudadevrt.a");
}

static int add_file(CUlinkState state, CUjitInputType type, const char *path)
{
    size_t bytes;
    if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (type == CU_JIT_INPUT_LIBRARY && is_device_runtime(path))
        return add(state, CU_JIT_INPUT_PTX, cooperative, sizeof cooperative, path);
    char *data = driver_read_file(path, &bytes);
    if (data == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
    int error = add(state, type, data, bytes, path);
    free(data);
    return error;
}

/* ---- the result ------------------------------------------------------------------------------ */

static int complete(CUlinkState state, void **image, size_t *bytes)
{
    struct link *link = find(state);
    if (link == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (image == NULL || link->count == 0) return CUDA_ERROR_INVALID_VALUE;
    if (link->image == NULL)
        link->image =
            cudart_pack_texts(link->texts, link->count, link->log.registers, &link->bytes);
    cudaError_t error = try_image(link, link->image, link->bytes, "the linked code", false);
    if (error == cudaErrorSymbolNotFound) error = cudaErrorUnknown; /* as on an H200 */
    if (error != cudaSuccess) return error;
    *image = link->image;
    if (bytes != NULL) *bytes = link->bytes;
    return CUDA_SUCCESS;
}

/* The options of single inputs are ignored: those of cuLinkCreate say where messages go. */
/* clang-format off */
DRIVER(cuLinkCreate, (unsigned count, CUjit_option *options, void **values, CUlinkState *state),
       create(count, options, values, state))
DRIVER_ANYWHERE(cuLinkAddData, (CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                 const char *name, unsigned count, CUjit_option *options, void **values),
                ((void)count, (void)options, (void)values, add(state, type, data, bytes, name)))
DRIVER_ANYWHERE(cuLinkAddFile, (CUlinkState state, CUjitInputType type, const char *path,
                 unsigned count, CUjit_option *options, void **values),
                ((void)count, (void)options, (void)values, add_file(state, type, path)))
DRIVER(cuLinkComplete, (CUlinkState state, void **image, size_t *bytes),
       complete(state, image, bytes))
DRIVER_ANYWHERE(cuLinkDestroy, (CUlinkState state), destroy(state))
/* clang-format on */

/* ---- module ---------------------------------------------------------------------------------- */

/* Modules, which belong to a context, and libraries, which belong to none; their
 * kernels and variables. Both are struct program (cudart.h), and their kernels struct kernel. */

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
        return CUDA_ERROR_INVALID_VALUE;
    cudaError_t error = cudart_refusal();
    if (error != cudaSuccess) return error;
    error = cudart_load_module(image, limit, name, context, &program, message);
    jit_write(&log, message);
    if (error == cudaErrorSymbolNotFound) error = cudaErrorInvalidPtx; /* as a driver says it */
    if (error != cudaSuccess) return error;
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
    if (path == NULL) return CUDA_ERROR_INVALID_VALUE;
    size_t bytes;
    char *text = driver_read_file(path, &bytes);
    if (text == NULL) return CUDA_ERROR_FILE_NOT_FOUND;
    int error = load(handle, text, bytes, path, context, &options);
    free(text);
    return error;
}

/* ---- what a module has ----------------------------------------------------------------------- */

/* Finds a module or library. From then on the thread's device is that of the module's context. */
static struct program *enter(const void *handle, int *was)
{
    struct program *program = cudart_find_module(handle);
    const struct context *context = program != NULL ? program->module->context : NULL;
    *was = cudart_device()->number;
    if (context != NULL) cudart_use_device(context->device->number);
    return program;
}

/* The work with `program`. */
#define IN_MODULE(handle, work)                                                                    \
    ({                                                                                             \
        int was;                                                                                   \
        struct program *program = enter(handle, &was);                                             \
        int error = program != NULL ? (int)(work) : CUDA_ERROR_INVALID_HANDLE;                     \
        cudart_use_device(was);                                                                    \
        error;                                                                                     \
    })

static int find_kernel(void *place, struct program *program, const char *name)
{
    struct kernel *kernel;
    if (place == NULL || name == NULL || name[0] == '\0') return CUDA_ERROR_INVALID_VALUE;
    cudaError_t error = cudart_module_kernel(program, name, &kernel);
    if (error == cudaSuccess) *(struct kernel **)place = kernel;
    return error;
}

static int count_kernels(unsigned *count, struct program *program)
{
    if (count == NULL) return CUDA_ERROR_INVALID_VALUE;
    for (*count = 0; cudart_module_kernel_name(program, *count) != NULL;) ++*count;
    return CUDA_SUCCESS;
}

/* The list also has kernels that cannot run: a launch of one says why. */
static int list_kernels(void *places, unsigned room, struct program *program)
{
    if (places == NULL || room == 0) return CUDA_ERROR_INVALID_VALUE;
    struct kernel **kernels = places;
    const char *name;
    for (unsigned i = 0; i < room && (name = cudart_module_kernel_name(program, i)) != NULL; i++)
        cudart_module_kernel(program, name, &kernels[i]);
    return CUDA_SUCCESS;
}

static int find_variable(CUdeviceptr *address, size_t *bytes, struct program *program,
                         const char *name)
{
    emu_addr found;
    size_t size;
    if ((address == NULL && bytes == NULL) || name == NULL) return CUDA_ERROR_INVALID_VALUE;
    cudaError_t error = cudart_module_variable(program, name, &found, &size);
    if (error != cudaSuccess) return error;
    if (address != NULL) *address = found;
    if (bytes != NULL) *bytes = size;
    return CUDA_SUCCESS;
}

static int unload(const void *handle, bool is_library)
{
    struct program *program = cudart_find_module(handle);
    if (program == NULL || (program->module->context == NULL) != is_library)
        return CUDA_ERROR_INVALID_HANDLE;
    cudart_unload_module(program);
    return CUDA_SUCCESS;
}

/* Writes a handle of a library or of its module in a context. Both have the same handle here. */
static int give(void *place, const void *handle)
{
    if (handle == NULL) return CUDA_ERROR_INVALID_HANDLE;
    if (place == NULL) return CUDA_ERROR_INVALID_VALUE;
    *(const void **)place = handle;
    return CUDA_SUCCESS;
}

/* ---- attributes of kernels ------------------------------------------------------------------- */

static int get_attribute(int *value, CUfunction_attribute attribute, const void *kernel)
{
    struct cudaFuncAttributes a;
    if (value == NULL || (unsigned)attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
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
    if (!can_be_set) return CUDA_ERROR_INVALID_VALUE;
    return cudaFuncSetAttribute(kernel, (enum cudaFuncAttribute)attribute, value);
}

/* Loads a kernel in the current context, if it can run there. */
static int load_kernel(const void *kernel)
{
    struct function *function;
    return cudart_function(kernel, &function);
}

static int get_function(CUfunction *function, const void *kernel)
{
    int error = load_kernel(kernel);
    return error != CUDA_SUCCESS ? error : give(function, kernel);
}

static int is_loaded(CUfunctionLoadingState *state, const void *kernel)
{
    if (state == NULL) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return load_kernel(kernel);
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
DRIVER_ANYWHERE(cuModuleGetLoadingMode, (CUmoduleLoadingMode *mode),
                TELL(mode, CU_MODULE_EAGER_LOADING))
DRIVER_ANYWHERE(cuModuleGetFunction, (CUfunction *f, CUmodule m, const char *name),
                IN_MODULE(m, find_kernel(f, program, name)))
DRIVER_ANYWHERE(cuModuleGetFunctionCount, (unsigned *count, CUmodule m),
                IN_MODULE(m, count_kernels(count, program)))
DRIVER_ANYWHERE(cuModuleEnumerateFunctions, (CUfunction *f, unsigned room, CUmodule m),
                IN_MODULE(m, list_kernels(f, room, program)))
DRIVER_ANYWHERE(cuModuleGetGlobal, (CUdeviceptr *address, size_t *bytes, CUmodule m,
                 const char *name),
                IN_MODULE(m, find_variable(address, bytes, program, name)))

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
                IN_MODULE(l, find_kernel(k, program, name)))
DRIVER_ANYWHERE(cuLibraryGetKernelCount, (unsigned *count, CUlibrary l),
                IN_MODULE(l, count_kernels(count, program)))
DRIVER_ANYWHERE(cuLibraryEnumerateKernels, (CUkernel *k, unsigned room, CUlibrary l),
                IN_MODULE(l, list_kernels(k, room, program)))
DRIVER(cuLibraryGetModule, (CUmodule *m, CUlibrary l), give(m, cudart_find_module(l)))
DRIVER(cuLibraryGetGlobal, (CUdeviceptr *address, size_t *bytes, CUlibrary l, const char *name),
       IN_MODULE(l, find_variable(address, bytes, program, name)))

DRIVER(cuKernelGetFunction, (CUfunction *f, CUkernel k), get_function(f, k))
DRIVER_ANYWHERE(cuKernelGetLibrary, (CUlibrary *l, CUkernel k), give(l, cudart_program_of(k)))
DRIVER_ANYWHERE(cuKernelGetAttribute, (int *value, CUfunction_attribute a, CUkernel k,
                 CUdevice device),
                ON_DEVICE(device, WITH_DEVICE(device, get_attribute(value, a, k))))
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
