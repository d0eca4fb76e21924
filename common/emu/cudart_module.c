/*
 * cudart_module.c — loading what the program has registered.
 *
 * PTX is decompressed and parsed when a kernel or a variable is first used on a device.
 */
#include "cudart_module.h"
#include "fatbin.h"

#include <stdio.h>
#include <stdlib.h>

/* Loads one container's PTX. 209 (no kernel image), if it has none, is for the caller to judge. */
static int load_container(struct image *image, const void *data, char *message, size_t size)
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
    size_t count = image->modules + 1;
    struct emu_module **grown = realloc(image->module, count * sizeof *grown);
    if (grown == NULL) {
        emu_unload(emu, module);
        snprintf(message, size, "no host memory to load the program's kernels");
        return EMU_OUT_OF_MEMORY;
    }
    grown[count - 1] = module;
    image->module = grown;
    image->modules = count;
    image->ptx_arch = ptx.arch;
    return EMU_OK;
}

/* Moves a __managed__ variable into memory that host and devices share. */
static int place_managed(const struct image *image, struct variable *variable, bool is_first)
{
    if (variable->managed == NULL) variable->managed = cudart_map_new(variable->bytes);
    if (variable->managed == NULL) return EMU_OUT_OF_MEMORY;
    int error = EMU_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < image->modules && error == EMU_SYMBOL_NOT_FOUND; i++)
        error = emu_place_symbol(emu_runtime(), image->module[i], variable->name, variable->managed,
                                 is_first);
    *(void **)variable->host = variable->managed;
    return error;
}

/* They keep what they hold when a second device loads them. */
static int place_all_managed(const struct program *program, const struct image *image)
{
    int error = EMU_OK;
    bool is_first = true;
    for (int i = 0; i < MAX_DEVICES; i++)
        if (&program->on[i] != image && program->on[i].modules > 0) is_first = false;
    for (struct variable *v = cudart_registered.variables; v != NULL && error == EMU_OK;
         v = v->next)
        if (v->is_managed && v->program == program) error = place_managed(image, v, is_first);
    return error;
}

cudaError_t cudart_load(struct program *program)
{
    struct image *image = &program->on[cudart_device()->number];
    if (image->loaded) return image->error;
    image->loaded = true;

    const struct fatbin_wrapper *wrapper = program->wrapper;
    char message[1024] = "the program registered something that is not a fat binary";
    int error = EMU_INVALID_PTX;
    if (wrapper->magic == WRAPPER_MAGIC && wrapper->version == WRAPPER_WITH_OBJECTS) {
        error = cudaErrorNoKernelImageForDevice;
        for (const void *const *object = wrapper->objects; *object != NULL; object++) {
            int result = load_container(image, *object, message, sizeof message);
            if (result == cudaErrorNoKernelImageForDevice) continue; /* an object without kernels */
            error = result;
            if (error != EMU_OK) break;
        }
    } else if (wrapper->magic == WRAPPER_MAGIC) {
        error = load_container(image, wrapper->data, message, sizeof message);
    }
    if (error == EMU_OK) {
        error = place_all_managed(program, image);
        if (error != EMU_OK)
            snprintf(message, sizeof message,
                     "the program's __managed__ variables have no place: %s",
                     emu_message(emu_runtime()));
    }
    if (error != EMU_OK) cudart_print(message);
    return image->error = (cudaError_t)error;
}

/* Finds the kernel on the thread's device unless it has been tried before. What goes wrong is
 * printed, once. */
static cudaError_t prepare(struct kernel *kernel, struct function *function)
{
    if (function->kernel != NULL || function->error != cudaSuccess) return function->error;

    int error = cudart_load(kernel->program);
    if (error == EMU_OK) {
        const struct image *image = &kernel->program->on[cudart_device()->number];
        error = EMU_INVALID_DEVICE_FUNCTION;
        for (size_t i = 0; i < image->modules && error == EMU_INVALID_DEVICE_FUNCTION; i++)
            error = emu_kernel(emu_runtime(), image->module[i], kernel->name, &function->kernel);
        if (error != EMU_OK) cudart_print(emu_message(emu_runtime()));
        function->name = kernel->name;
        function->ptx_arch = image->ptx_arch;
    }
    return function->error = (cudaError_t)error;
}

struct kernel *cudart_find_kernel(const void *host)
{
    for (struct kernel *k = cudart_registered.kernels; k != NULL; k = k->next)
        if (k->host == host || k == host) return k;
    return NULL;
}

cudaError_t cudart_function(const void *host, struct function **function)
{
    cudaError_t error = cudaErrorInvalidDeviceFunction;
    *function = NULL;
    pthread_mutex_lock(&cudart_registered.mutex);
    struct kernel *kernel = cudart_find_kernel(host);
    if (kernel != NULL) {
        struct function *found = &kernel->on[cudart_device()->number];
        error = prepare(kernel, found);
        if (error == cudaSuccess) *function = found;
    }
    pthread_mutex_unlock(&cudart_registered.mutex);
    return error;
}

static cudaError_t find_variable(const struct variable *variable, emu_addr *address, size_t *bytes)
{
    int error = cudart_load(variable->program);
    if (error != EMU_OK) return (cudaError_t)error;
    const struct image *image = &variable->program->on[cudart_device()->number];
    error = EMU_SYMBOL_NOT_FOUND;
    for (size_t i = 0; i < image->modules && error == EMU_SYMBOL_NOT_FOUND; i++)
        error = emu_symbol(emu_runtime(), image->module[i], variable->name, address, bytes);
    return error == EMU_SYMBOL_NOT_FOUND ? cudaErrorInvalidSymbol : (cudaError_t)error;
}

/* A __managed__ variable is named by the address that host and device share. */
static bool is_named_by(const struct variable *variable, const void *host)
{
    return variable->host == host || (variable->managed != NULL && variable->managed == host);
}

cudaError_t cudart_variable(const void *host, emu_addr *address, size_t *bytes)
{
    cudaError_t error = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&cudart_registered.mutex);
    const struct variable *variable = cudart_registered.variables;
    while (variable != NULL && !is_named_by(variable, host)) variable = variable->next;
    if (variable != NULL) error = find_variable(variable, address, bytes);
    pthread_mutex_unlock(&cudart_registered.mutex);
    return error;
}

void cudart_unload(void)
{
    int number = cudart_device()->number;
    pthread_mutex_lock(&cudart_registered.mutex);
    for (struct kernel *k = cudart_registered.kernels; k != NULL; k = k->next)
        k->on[number] = (struct function){0};
    for (struct program *p = cudart_registered.programs; p != NULL; p = p->next) {
        struct image *image = &p->on[number];
        for (size_t i = 0; i < image->modules; i++) emu_unload(emu_runtime(), image->module[i]);
        free(image->module);
        *image = (struct image){0};
    }
    pthread_mutex_unlock(&cudart_registered.mutex);
}
