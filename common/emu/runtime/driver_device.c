/* driver_device.c — the devices. They have the same numbers in the runtime. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

bool driver_is_device(CUdevice device) { return device >= 0 && device < cudart_device_count(); }

static int get_device(CUdevice *device, int number)
{
    if (device == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    *device = number;
    return CUDA_SUCCESS;
}

static int get_name(char *name, int length, CUdevice device)
{
    struct cudaDeviceProp p;
    if (name == NULL || length <= 0) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) snprintf(name, (size_t)length, "%s", p.name);
    return error;
}

static int get_uuid(CUuuid *uuid, CUdevice device)
{
    struct cudaDeviceProp p;
    if (uuid == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) memcpy(uuid, &p.uuid, sizeof *uuid);
    return error;
}

static int get_total(size_t *bytes, CUdevice device)
{
    struct cudaDeviceProp p;
    if (bytes == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error == cudaSuccess) *bytes = p.totalGlobalMem;
    return error;
}

static int get_capability(int *major, int *minor, CUdevice device)
{
    if (major == NULL || minor == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    cudaError_t error = cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
}

#undef cuDeviceGetUuid /* the older form does the same */
/* clang-format off */
DRIVER_ANYWHERE(cuDeviceGet, (CUdevice *device, int number),
                ON_DEVICE(number, get_device(device, number)))
DRIVER_ANYWHERE(cuDeviceGetCount, (int *count), cudaGetDeviceCount(count))
DRIVER_ANYWHERE(cuDeviceGetName, (char *name, int length, CUdevice device),
                get_name(name, length, device))
DRIVER_ANYWHERE(cuDeviceGetUuid, (CUuuid *uuid, CUdevice device), get_uuid(uuid, device))
DRIVER_ANYWHERE(cuDeviceGetUuid_v2, (CUuuid *uuid, CUdevice device), get_uuid(uuid, device))
DRIVER_ANYWHERE(cuDeviceTotalMem, (size_t *bytes, CUdevice device), get_total(bytes, device))
DRIVER_ANYWHERE(cuDeviceComputeCapability, (int *major, int *minor, CUdevice device),
                get_capability(major, minor, device))
DRIVER_ANYWHERE(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device),
                cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, device))
DRIVER_ANYWHERE(cuDeviceGetPCIBusId, (char *id, int length, CUdevice device),
                cudaDeviceGetPCIBusId(id, length, device))
DRIVER_ANYWHERE(cuDeviceGetByPCIBusId, (CUdevice *device, const char *id),
                cudaDeviceGetByPCIBusId(device, id))
DRIVER_ANYWHERE(cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer),
                cudaDeviceCanAccessPeer(can, device, peer))
DRIVER_ANYWHERE(cuDeviceGetP2PAttribute, (int *value, CUdevice_P2PAttribute attribute,
                 CUdevice from, CUdevice to),
                cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attribute, from, to))
DRIVER_ANYWHERE(cuDeviceGetDefaultMemPool, (CUmemoryPool *pool, CUdevice device),
                cudaDeviceGetDefaultMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceGetMemPool, (CUmemoryPool *pool, CUdevice device),
                cudaDeviceGetMemPool(pool, device))
DRIVER_ANYWHERE(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool),
                cudaDeviceSetMemPool(device, pool))
/* clang-format on */
