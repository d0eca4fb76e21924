/*
 * fake.c — a libcuda.so.1 without a GPU, for tests of gpu-lab: it knows one kernel, lab 3's
 * scan_block, and runs it on the host. FAKE=none: there is no GPU. FAKE=wrong: the last element is
 * wrong. FAKE=fault: the kernel ends with an error.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, NOT_FOUND = 500, ILLEGAL_ADDRESS = 700 };

static bool fakes(const char *what)
{
    const char *fake = getenv("FAKE");
    return fake && !strcmp(fake, what);
}

int cuInit(unsigned flags) { return (int)flags; }

int cuDeviceGetCount(int *count)
{
    *count = !fakes("none");
    return OK;
}

int cuDeviceGet(int *device, int number)
{
    *device = number;
    return OK;
}

int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "fake %d", device);
    return OK;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)device;
    *context = context;
    return OK;
}

int cuCtxSetCurrent(void *context) { return context ? OK : NOT_FOUND; }
int cuCtxSynchronize(void) { return fakes("fault") ? ILLEGAL_ADDRESS : OK; }

int cuGetErrorString(int error, const char **text)
{
    *text = error == ILLEGAL_ADDRESS ? "an illegal address" : "an error";
    return OK;
}

int cuModuleLoadData(void **module, const void *text)
{
    *module = (void *)(uintptr_t)text;
    return OK;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    *function = module;
    return strcmp(name, "_Z10scan_blockPfPKfi") ? NOT_FOUND : OK;
}

int cuMemAlloc_v2(unsigned long long *address, size_t bytes)
{
    *address = (uintptr_t)malloc(bytes);
    return OK;
}

int cuMemFree_v2(unsigned long long address)
{
    free((void *)(uintptr_t)address);
    return OK;
}

int cuMemsetD8_v2(unsigned long long address, unsigned char value, size_t bytes)
{
    memset((void *)(uintptr_t)address, value, bytes);
    return OK;
}

int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return OK;
}

int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes)
{
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return OK;
}

int cuLaunchKernel(void *function, unsigned x, unsigned y, unsigned z, unsigned threads,
                   unsigned threads_y, unsigned threads_z, unsigned shared, void *stream,
                   void **arguments, void **extra)
{
    float *out = *(float **)arguments[0], *in = *(float **)arguments[1], sum = 0;
    unsigned n = *(unsigned *)arguments[2];
    (void)function, (void)stream, (void)extra;
    if (x * y * z * threads_y * threads_z != 1 || 2 * threads != n || shared != 4 * n)
        return NOT_FOUND;
    for (unsigned i = 0; i < n; i++) {
        out[i] = sum;
        sum += in[i];
    }
    if (fakes("wrong")) out[n - 1] = -1 - out[n - 1];
    return OK;
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    *event = event;
    return OK;
}

int cuEventRecord(void *event, void *stream) { return event && !stream ? OK : NOT_FOUND; }
int cuEventSynchronize(void *event) { return event ? OK : NOT_FOUND; }

int cuEventElapsedTime(float *milliseconds, void *begin, void *end)
{
    *milliseconds = 0.005f;
    return begin && end ? OK : NOT_FOUND;
}
