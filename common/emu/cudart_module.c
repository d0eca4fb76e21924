/*
 * cudart_module.c — the code that the program brings along.
 *
 * nvcc puts a constructor into every object file that hands over its fat binary and then names each
 * kernel and each variable of it. Here that is only written down: PTX is decompressed and parsed
 * when a kernel or a variable is first used, so a program starts at once however much code it
 * carries.
 */
#include "cudart.h"
#include "fatbin.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What __cudaRegisterFatBinary is given (fatbinary_section.h). */
struct fatbin_wrapper {
    int magic, version;
    const void *data;
    /* Version 2, made by nvcc -rdc=true: `data` is the linked machine code, without PTX, and this
     * is a NULL-terminated array of the object files' own fat binaries. */
    const void *const *objects;
};

enum { WRAPPER_MAGIC = 0x466243B1, WRAPPER_WITH_OBJECTS = 2 };

/* A fat binary, or all those that -rdc=true linked together. */
struct program {
    const struct fatbin_wrapper *wrapper;
    bool loaded;
    cudaError_t error; /* of loading */
    unsigned ptx_arch;
    size_t modules; /* how many of module[] there are */
    struct emu_module **module;
    struct program *next;
};

struct variable {
    const void *host;
    const char *name;
    struct program *program;
    bool managed; /* `host` is the address of the host's pointer to it */
    struct variable *next;
};

static struct program *programs;
static struct function *functions;
static struct variable *variables;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the three lists */

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        cudart_print("no host memory to register the program's kernels");
        cudart_exit(EXIT_DEVICE);
    }
    return memory;
}

/* ---- registration: called by the program's constructors ------------------------------------ */

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper)
{
    struct program *program = allocate(sizeof *program);
    program->wrapper = wrapper;
    pthread_mutex_lock(&mutex);
    program->next = programs;
    programs = program;
    pthread_mutex_unlock(&mutex);
    return (void **)program;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

/* Called at exit. The lists are kept: the report at the end of the process still names kernels. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
                                      const char *name, int thread_limit, uint3 *thread,
                                      uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block; /* always NULL or -1 today */
    (void)block_dim, (void)grid_dim, (void)warp_size;
    struct function *function = allocate(sizeof *function);
    *function = (struct function){.host = host, .name = name, .program = (struct program *)handle};
    pthread_mutex_lock(&mutex);
    function->next = functions;
    functions = function;
    pthread_mutex_unlock(&mutex);
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                 int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)bytes, (void)is_constant, (void)is_global;
    struct variable *variable = allocate(sizeof *variable);
    *variable = (struct variable){.host = host, .name = name, .program = (struct program *)handle};
    pthread_mutex_lock(&mutex);
    variable->next = variables;
    variables = variable;
    pthread_mutex_unlock(&mutex);
}

/* ---- loading: on first use ------------------------------------------------------------------ */

/* Loads one container's PTX. 209 (no kernel image), if it has none, is for the caller to judge. */
static int load_container(struct program *program, const void *data, char *message, size_t size)
{
    struct emu *emu = emu_runtime();
    const struct emu_gpu *gpu = emu_gpu(emu);
    struct fatbin_ptx ptx;
    int error = fatbin_extract(data, SIZE_MAX, (unsigned)(10 * gpu->major + gpu->minor), &ptx,
                               message, size);
    if (error != EMU_OK) return error;

    struct emu_module *module;
    error = emu_load(emu, ptx.text, ptx.length, "the program's PTX", &module);
    free(ptx.text);
    if (error != EMU_OK) {
        snprintf(message, size, "%s", emu_message(emu));
        return error;
    }
    size_t count = program->modules + 1;
    struct emu_module **grown = realloc(program->module, count * sizeof *grown);
    if (grown == NULL) {
        emu_unload(emu, module);
        snprintf(message, size, "no host memory to load the program's kernels");
        return EMU_OUT_OF_MEMORY;
    }
    grown[count - 1] = module;
    program->module = grown;
    program->modules = count;
    program->ptx_arch = ptx.arch;
    return EMU_OK;
}

/* Loads a program unless it has been tried before. What goes wrong is printed, once. */
static cudaError_t load(struct program *program)
{
    if (program->loaded) return program->error;
    program->loaded = true;

    const struct fatbin_wrapper *wrapper = program->wrapper;
    char message[1024] = "the program registered something that is not a fat binary";
    int error = EMU_INVALID_PTX;
    if (wrapper->magic == WRAPPER_MAGIC && wrapper->version == WRAPPER_WITH_OBJECTS) {
        error = cudaErrorNoKernelImageForDevice;
        for (const void *const *object = wrapper->objects; *object != NULL; object++) {
            int result = load_container(program, *object, message, sizeof message);
            if (result == cudaErrorNoKernelImageForDevice) continue; /* an object without kernels */
            error = result;
            if (error != EMU_OK) break;
        }
    } else if (wrapper->magic == WRAPPER_MAGIC) {
        error = load_container(program, wrapper->data, message, sizeof message);
    }
    if (error != EMU_OK) cudart_print(message);
    return program->error = (cudaError_t)error;
}

/* Finds the function's kernel unless it has been tried before. What goes wrong is printed, once. */
static cudaError_t prepare(struct function *function)
{
    if (function->kernel != NULL || function->error != cudaSuccess) return function->error;

    struct program *program = function->program;
    int error = load(program);
    if (error == EMU_OK) {
        error = EMU_INVALID_DEVICE_FUNCTION;
        for (size_t i = 0; i < program->modules && error == EMU_INVALID_DEVICE_FUNCTION; i++)
            error =
                emu_kernel(emu_runtime(), program->module[i], function->name, &function->kernel);
        if (error != EMU_OK) cudart_print(emu_message(emu_runtime()));
    }
    return function->error = (cudaError_t)error;
}

static struct function *find_function(const void *host)
{
    for (struct function *f = functions; f != NULL; f = f->next)
        if (f->host == host || f == host) return f;
    return NULL;
}

cudaError_t cudart_function(const void *host, struct function **function)
{
    pthread_mutex_lock(&mutex);
    struct function *found = find_function(host);
    cudaError_t error = found != NULL ? prepare(found) : cudaErrorInvalidDeviceFunction;
    pthread_mutex_unlock(&mutex);
    *function = error == cudaSuccess ? found : NULL;
    return error;
}

unsigned cudart_ptx_arch(const struct function *function) { return function->program->ptx_arch; }

static cudaError_t find_variable(const struct variable *variable, emu_addr *address, size_t *bytes)
{
    struct program *program = variable->program;
    int error = load(program);
    if (error != EMU_OK) return (cudaError_t)error;
    error = EMU_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < program->modules && error == EMU_SYMBOL_NOT_FOUND; i++)
        error = emu_symbol(emu_runtime(), program->module[i], variable->name, address, bytes);
    return error == EMU_SYMBOL_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)error;
}

cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&mutex);
    const struct variable *variable = variables;
    while (variable != NULL && variable->host != host) variable = variable->next;
    if (variable != NULL) error = find_variable(variable, address, bytes);
    pthread_mutex_unlock(&mutex);
    return error;
}

void cudart_unload(void)
{
    pthread_mutex_lock(&mutex);
    for (struct function *f = functions; f != NULL; f = f->next) {
        f->kernel = NULL;
        f->error = cudaSuccess;
        f->max_dynamic_shared = 0;
    }
    for (struct program *p = programs; p != NULL; p = p->next) {
        for (size_t i = 0; i < p->modules; i++) emu_unload(emu_runtime(), p->module[i]);
        free(p->module);
        p->module = NULL;
        p->modules = 0;
        p->loaded = false;
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- __managed__ variables ------------------------------------------------------------------ */

/* The host reads and writes such a variable through *host_pointer. */
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                        const char *name, int is_extern, size_t bytes,
                                        int is_constant, int is_global)
{
    __cudaRegisterVar(handle, (char *)host_pointer, device, name, is_extern, bytes, is_constant,
                      is_global);
    variables->managed = true;
}

/* The program calls this before it first touches a managed variable. It expects no failure: without
 * a pointer it could only crash, so what cannot be had ends it here, with a reason. */
char CUDARTAPI __cudaInitModule(void **handle)
{
    pthread_mutex_lock(&mutex);
    for (struct variable *v = variables; v != NULL; v = v->next) {
        if (!v->managed || v->program != (struct program *)handle) continue;
        emu_addr address;
        size_t bytes;
        if (find_variable(v, &address, &bytes) != cudaSuccess ||
            emu_is_device(emu_runtime(), address)) {
            fprintf(stderr,
                    "emu: the __managed__ variable %s is not supported; use cudaMallocManaged\n",
                    v->name);
            cudart_exit(EXIT_DEVICE);
        }
        *(void **)v->host = (void *)address;
    }
    pthread_mutex_unlock(&mutex);
    return 1;
}

/* ---- handles -------------------------------------------------------------------------------- */

/* A launch's stub asks for its handle once and keeps it, so this must not fail for a kernel that
 * only turns out at its launch to be one that cannot run. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    pthread_mutex_lock(&mutex);
    struct function *function = find_function(host);
    pthread_mutex_unlock(&mutex);
    *kernel = (cudaKernel_t)function;
    return cudart_done(function != NULL ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    if (kernel == NULL) return cudart_done(cudaErrorInvalidValue);
    return __cudaGetKernel(kernel, host);
}
