/*
 * register.c — keeps what the program's constructors register about its code.
 *
 * nvcc puts a constructor into every object file, which registers the fat binary and then each
 * kernel and each variable. They are only written down here, so programs with much code start
 * quickly, too.
 */
#include "registered.h"

#include <stdio.h>
#include <stdlib.h>

struct registered cudart_registered = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (memory == NULL) {
        cudart_print("no host memory to register the program's kernels");
        cudart_exit(EXIT_DEVICE);
    }
    return memory;
}

/* ---- registration: called by the program's constructors -------------------------------------- */

void **CUDARTAPI __cudaRegisterFatBinary(void *wrapper)
{
    struct program *program = allocate(sizeof *program);
    program->wrapper = wrapper;
    pthread_mutex_lock(&cudart_registered.mutex);
    program->next = cudart_registered.programs;
    cudart_registered.programs = program;
    pthread_mutex_unlock(&cudart_registered.mutex);
    return (void **)program;
}

void CUDARTAPI __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

/* Called at exit. The lists are kept: the report at the end of the process still names kernels. */
void CUDARTAPI __cudaUnregisterFatBinary(void **handle) { (void)handle; }

void CUDARTAPI __cudaRegisterFunction(void **handle, const char *host, char *device,
                                      const char *name, int thread_limit, uint3 *thread,
                                      uint3 *block, dim3 *block_dim, dim3 *grid_dim, int *warp_size)
{
    (void)device, (void)thread_limit, (void)thread, (void)block; /* always NULL or -1 */
    (void)block_dim, (void)grid_dim, (void)warp_size;
    struct kernel *kernel = allocate(sizeof *kernel);
    *kernel = (struct kernel){.host = host, .name = name, .program = (struct program *)handle};
    pthread_mutex_lock(&cudart_registered.mutex);
    kernel->next = cudart_registered.kernels;
    cudart_registered.kernels = kernel;
    pthread_mutex_unlock(&cudart_registered.mutex);
}

static void add_variable(struct variable variable)
{
    struct variable *added = allocate(sizeof *added);
    *added = variable;
    pthread_mutex_lock(&cudart_registered.mutex);
    added->next = cudart_registered.variables;
    cudart_registered.variables = added;
    pthread_mutex_unlock(&cudart_registered.mutex);
}

void CUDARTAPI __cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                 int is_extern, size_t bytes, int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add_variable((struct variable){
        .host = host, .name = name, .program = (struct program *)handle, .bytes = bytes});
}

/* The host accesses a __managed__ variable through *host_pointer. */
void CUDARTAPI __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                        const char *name, int is_extern, size_t bytes,
                                        int is_constant, int is_global)
{
    (void)device, (void)is_extern, (void)is_constant, (void)is_global;
    add_variable((struct variable){.host = host_pointer,
                                   .name = name,
                                   .program = (struct program *)handle,
                                   .is_managed = true,
                                   .bytes = bytes});
}

/* The program calls this before its first access to a __managed__ variable, and ignores the result.
 * So if loading fails, the process ends here; the reason has been printed. */
char CUDARTAPI __cudaInitModule(void **handle)
{
    pthread_mutex_lock(&cudart_registered.mutex);
    cudaError_t error = cudart_load((struct program *)handle);
    pthread_mutex_unlock(&cudart_registered.mutex);
    if (error != cudaSuccess) cudart_exit(EXIT_DEVICE);
    return 1;
}

/* ---- handles --------------------------------------------------------------------------------- */

/* A stub asks for its handle once and keeps it. So this does not check whether the kernel can run;
 * the launch does. */
cudaError_t CUDARTAPI __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    pthread_mutex_lock(&cudart_registered.mutex);
    struct kernel *found = cudart_find_kernel(host);
    pthread_mutex_unlock(&cudart_registered.mutex);
    *kernel = (cudaKernel_t)found;
    return cudart_done(found != NULL ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t CUDARTAPI cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    if (kernel == NULL) return cudart_done(cudaErrorInvalidValue);
    return __cudaGetKernel(kernel, host);
}
