/* stand_in.c — what the libraries share that take the place of NVIDIA's. */
#define _GNU_SOURCE /* flockfile, dladdr */
#include "libs.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void stand_in_say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("emu: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

void *stand_in_kept(void *memory)
{
    if (memory != NULL) return memory;
    stand_in_say("out of memory");
    abort();
}

static const void *file_of(uintptr_t function)
{
    Dl_info info;
    return dladdr((const void *)function, &info) != 0 ? info.dli_fbase : NULL;
}

/* Why the library cannot be used; NULL: it can. A program that has the runtime linked into it has
 * other streams and memory than the libcudart.so.13 that this library would work for. */
static const char *obstacle(void)
{
    if (emu_library_work == NULL)
        return "works on the emulator alone: run the program by emu, or take the folder of this "
               "library out of LD_LIBRARY_PATH";
    if (file_of((uintptr_t)emu_library_work) != file_of((uintptr_t)cudaFree))
        return "works for libcudart.so.13 alone, and the program has a runtime linked into it: "
               "link it with nvcc -cudart shared";
    return NULL;
}

bool stand_in_introduce(const char *library)
{
    static atomic_flag is_said = ATOMIC_FLAG_INIT;
    const char *why_not = obstacle();
    if (!atomic_flag_test_and_set(&is_said))
        stand_in_say("this %s is the emulator's, not NVIDIA's, and %s", library,
                     why_not != NULL ? why_not
                                     : "computes on the CPU: its results may differ in the last "
                                       "bits, and its work is in no counter");
    return why_not == NULL;
}

bool stand_in_is_device(const void *address)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, address) == cudaSuccess &&
           attributes.type == cudaMemoryTypeDevice;
}

/* ---- handles --------------------------------------------------------------------------------- */

static struct stand_in_handle *first;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void stand_in_add(struct stand_in_handle *handle)
{
    pthread_mutex_lock(&mutex);
    handle->next = first;
    first = handle;
    pthread_mutex_unlock(&mutex);
}

/* The pointer to a handle in the list, which holds NULL if it is not there. The mutex is held. */
static struct stand_in_handle **find(const void *handle)
{
    struct stand_in_handle **at = &first;
    while (*at != NULL && *at != handle) at = &(*at)->next;
    return at;
}

bool stand_in_has(const void *handle)
{
    pthread_mutex_lock(&mutex);
    bool is_there = *find(handle) != NULL;
    pthread_mutex_unlock(&mutex);
    return is_there;
}

bool stand_in_remove(const void *handle)
{
    pthread_mutex_lock(&mutex);
    struct stand_in_handle **at = find(handle);
    bool is_there = *at != NULL;
    if (is_there) *at = (*at)->next;
    pthread_mutex_unlock(&mutex);
    return is_there;
}
