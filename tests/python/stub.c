/* stub.c -- what stands in the place of libupsweep.so, of NVIDIA's runtime and of its driver: it
 * loads, and can do nothing. DEVICE_COUNT, DRIVER and VERSION say what it answers. */
#include <stdlib.h>

#ifndef DEVICE_COUNT
#define DEVICE_COUNT 0 /* an error, or 0 */
#endif
#ifndef DRIVER
#define DRIVER 13000
#endif
#ifndef VERSION
#define VERSION 1000
#endif
#define NOTHING(name)                                                                              \
    int name(void) { return 0; }
#define ANSWER(name, value, error)                                                                 \
    int name(int *answer)                                                                          \
    {                                                                                              \
        *answer = value;                                                                           \
        return error;                                                                              \
    }

int upsweep_version(void) { return VERSION; }
NOTHING(upsweep_clear)
int upsweep_scan_sum_i32(void *workspace, size_t *bytes)
{
    if (workspace == NULL) *bytes = 100;
    return 0;
}

ANSWER(cudaGetDeviceCount, 1, DEVICE_COUNT)
ANSWER(cudaGetDevice, 0, 0)
ANSWER(cudaDriverGetVersion, DRIVER, 0)
ANSWER(cudaRuntimeGetVersion, 13020, 0)
NOTHING(cudaSetDevice)
NOTHING(cudaMemcpyAsync)
NOTHING(cudaStreamSynchronize)
NOTHING(cudaStreamQuery)
NOTHING(cudaPointerGetAttributes)
NOTHING(cudaFree)
NOTHING(cudaHostAlloc)
NOTHING(cudaGetLastError)
int cudaStreamIsCapturing(void *stream, int *capturing)
{
    (void)stream;
    *capturing = 0;
    return 0;
}
int cudaMalloc(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return *memory == NULL;
}
const char *cudaGetErrorString(int error) { return error ? "an error" : "no error"; }

NOTHING(cuInit)
ANSWER(cuDeviceGetCount, 1, 0)
