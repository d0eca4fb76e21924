/*
 * cudart_properties.c — what a device says of itself.
 */
#include "cudart.h"

#include <stdio.h>
#include <string.h>

/* Limits of a grid and a block, the same for every GPU here (CUDA C++ Programming Guide, "Compute
 * Capabilities"). */
enum {
    MAX_BLOCK_X = 1024,
    MAX_BLOCK_Y = 1024,
    MAX_BLOCK_Z = 64,
    MAX_GRID_X = 2147483647,
    MAX_GRID_Y = 65535,
    MAX_GRID_Z = 65535,
    MAX_PITCH = 2147483647,
};

static const struct emu_gpu *gpu(void) { return emu_gpu(emu_runtime()); }

static size_t total_memory(void)
{
    size_t free_bytes, total_bytes;
    emu_memory_info(emu_runtime(), &free_bytes, &total_bytes);
    return total_bytes;
}

/* Textures, surfaces, peers and the like stay 0: the emulator has none. */
cudaError_t CUDARTAPI cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    if (p == NULL) return cudart_done(cudaErrorInvalidValue);
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    RETURN_IF_FAULTY();

    const struct emu_gpu *g = gpu();
    *p = (struct cudaDeviceProp){
        .totalGlobalMem = total_memory(),
        .sharedMemPerBlock = g->shared_per_block,
        .regsPerBlock = g->registers_per_block,
        .warpSize = g->warp_size,
        .memPitch = MAX_PITCH,
        .maxThreadsPerBlock = g->threads_per_block,
        .maxThreadsDim = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z},
        .maxGridSize = {MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z},
        .totalConstMem = g->constant,
        .major = g->major,
        .minor = g->minor,
        .multiProcessorCount = g->sms,
        .canMapHostMemory = 1,
        .unifiedAddressing = 1,
        .memoryBusWidth = g->memory_bus_bits,
        .l2CacheSize = (int)g->l2,
        .maxThreadsPerMultiProcessor = g->threads_per_sm,
        .sharedMemPerMultiprocessor = g->shared_per_sm,
        .regsPerMultiprocessor = g->registers_per_sm,
        .managedMemory = 1,
        .concurrentManagedAccess = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .cooperativeLaunch = 1,
        .sharedMemPerBlockOptin = g->shared_per_block_optin,
        .maxBlocksPerMultiProcessor = g->blocks_per_sm,
        .reservedSharedMemPerBlock = g->shared_reserved,
        .hostRegisterSupported = 1,
        .hostNumaId = -1,
    };
    snprintf(p->name, sizeof p->name, "%s (emulated)", g->name);
    return cudaSuccess;
}

/* The same, one at a time. */
cudaError_t CUDARTAPI cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    if (value == NULL || attribute < cudaDevAttrMaxThreadsPerBlock || attribute >= cudaDevAttrMax)
        return cudart_done(cudaErrorInvalidValue);
    struct cudaDeviceProp p;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) return error;

    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
    case cudaDevAttrMaxBlockDimX: *value = p.maxThreadsDim[0]; break;
    case cudaDevAttrMaxBlockDimY: *value = p.maxThreadsDim[1]; break;
    case cudaDevAttrMaxBlockDimZ: *value = p.maxThreadsDim[2]; break;
    case cudaDevAttrMaxGridDimX: *value = p.maxGridSize[0]; break;
    case cudaDevAttrMaxGridDimY: *value = p.maxGridSize[1]; break;
    case cudaDevAttrMaxGridDimZ: *value = p.maxGridSize[2]; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
    case cudaDevAttrTotalConstantMemory: *value = (int)p.totalConstMem; break;
    case cudaDevAttrWarpSize: *value = p.warpSize; break;
    case cudaDevAttrMaxPitch: *value = (int)p.memPitch; break;
    case cudaDevAttrMaxRegistersPerBlock: *value = p.regsPerBlock; break;
    case cudaDevAttrClockRate: *value = gpu()->clock_khz; break;
    case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
    case cudaDevAttrCanMapHostMemory: *value = p.canMapHostMemory; break;
    case cudaDevAttrMemoryClockRate: *value = gpu()->memory_clock_khz; break;
    case cudaDevAttrGlobalMemoryBusWidth: *value = p.memoryBusWidth; break;
    case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
    case cudaDevAttrUnifiedAddressing: *value = p.unifiedAddressing; break;
    case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
    case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = (int)p.sharedMemPerMultiprocessor;
        break;
    case cudaDevAttrMaxRegistersPerMultiprocessor: *value = p.regsPerMultiprocessor; break;
    case cudaDevAttrManagedMemory: *value = p.managedMemory; break;
    case cudaDevAttrConcurrentManagedAccess: *value = p.concurrentManagedAccess; break;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
        *value = p.canUseHostPointerForRegisteredMem;
        break;
    case cudaDevAttrCooperativeLaunch: *value = p.cooperativeLaunch; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
    case cudaDevAttrHostRegisterSupported: *value = p.hostRegisterSupported; break;
    case cudaDevAttrMaxBlocksPerMultiprocessor: *value = p.maxBlocksPerMultiProcessor; break;
    case cudaDevAttrReservedSharedMemoryPerBlock: *value = (int)p.reservedSharedMemPerBlock; break;
    case cudaDevAttrHostNumaId: *value = p.hostNumaId; break;
    default: *value = 0; break; /* a feature that the emulator does not have */
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    static const char address[] = "0000:00:00.0"; /* no real device has this one */
    if (id == NULL || length < (int)sizeof address) return cudart_done(cudaErrorInvalidValue);
    if (device != 0) return cudart_done(cudaErrorInvalidDevice);
    memcpy(id, address, sizeof address);
    return cudaSuccess;
}
