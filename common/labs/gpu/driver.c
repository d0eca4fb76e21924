/* driver.c — finds the functions of the CUDA driver when gpu-lab runs. */
#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libcuda.so.1"

struct symbol {
    const char *name;
    size_t member; /* offset in struct driver */
};

#define MEMBER(member, name)                                                                       \
    {                                                                                              \
        name, offsetof(struct driver, member)                                                      \
    }

static const struct symbol symbols[] = {
    MEMBER(init, "cuInit"),
    MEMBER(device_count, "cuDeviceGetCount"),
    MEMBER(device_get, "cuDeviceGet"),
    MEMBER(device_name, "cuDeviceGetName"),
    MEMBER(context_retain, "cuDevicePrimaryCtxRetain"),
    MEMBER(context_set, "cuCtxSetCurrent"),
    MEMBER(synchronize, "cuCtxSynchronize"),
    MEMBER(error_text, "cuGetErrorString"),
    MEMBER(module_load, "cuModuleLoadData"),
    MEMBER(function_get, "cuModuleGetFunction"),
    MEMBER(alloc, "cuMemAlloc_v2"),
    MEMBER(free_memory, "cuMemFree_v2"),
    MEMBER(fill, "cuMemsetD8_v2"),
    MEMBER(write, "cuMemcpyHtoD_v2"),
    MEMBER(read, "cuMemcpyDtoH_v2"),
    MEMBER(launch, "cuLaunchKernel"),
    MEMBER(event_create, "cuEventCreate"),
    MEMBER(event_record, "cuEventRecord"),
    MEMBER(event_wait, "cuEventSynchronize"),
    MEMBER(event_elapsed, "cuEventElapsedTime"),
};

/* Returns the name of a function that is missing, or NULL. */
static const char *find_symbols(void *library, struct driver *driver)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function) return symbols[i].name;
        memcpy((char *)driver + symbols[i].member, &function, sizeof function);
    }
    return NULL;
}

const char *driver_error(const struct driver *driver, int error)
{
    const char *text = NULL;
    if (driver->error_text(error, &text) || !text) return "unknown error";
    return text;
}

static int open_first(const struct driver *driver, int *count, char *name, size_t name_size)
{
    int device, error = driver->init(0);
    void *context;
    if (!error) error = driver->device_count(count);
    if (error || *count == 0) return error;
    error = driver->device_get(&device, 0);
    if (!error) error = driver->device_name(name, (int)name_size, device);
    if (!error) error = driver->context_retain(&context, device);
    return error ? error : driver->context_set(context);
}

bool driver_open(struct driver *driver, char *name, size_t name_size, char *why, size_t why_size)
{
    int count = 0;
    void *library = dlopen(LIBRARY, RTLD_NOW);
    *why = '\0';
    if (!library) return false;
    const char *missing = find_symbols(library, driver);
    if (missing) {
        snprintf(why, why_size, "the NVIDIA driver is too old: it has no %s", missing);
        return false;
    }
    int error = open_first(driver, &count, name, name_size);
    if (error)
        snprintf(why, why_size, "the GPU cannot be used: %s", driver_error(driver, error));
    else if (count == 0)
        snprintf(why, why_size, "there is no GPU");
    return !error && count > 0;
}
