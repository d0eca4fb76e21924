/* properties.c — properties of devices, versions, and functions that only give advice. */
#include "cudart.h"
#include <cuda.h>

/* ---- the properties of a device -------------------------------------------------------------- */

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

static bool is_for_computing(int minor) { return minor == 0; } /* 8.0, 9.0, 10.0 */

/* Properties about what the emulator refuses stay 0, so that a program takes another way: virtual
 * memory, sparse arrays, pools for other processes, other drivers' memory. Concurrent kernels and
 * copies are reported as on the GPU, although the emulator runs them one after the other. */
static void fill(struct cudaDeviceProp *p, int device, size_t memory)
{
    enum { COPY_ENGINES = 3 };
    const struct emu_gpu *g = gpu();
    bool is_ampere = g->major >= 8; /* or later */
    *p = (struct cudaDeviceProp){
        .totalGlobalMem = memory,
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
        .textureAlignment = TEXTURE_ALIGNMENT,
        .texturePitchAlignment = TEXTURE_PITCH_ALIGNMENT,
        .multiProcessorCount = g->sms,
        .canMapHostMemory = 1,
        .surfaceAlignment = TEXTURE_ALIGNMENT,
        .concurrentKernels = 1,
        .pciBusID = device,
        .asyncEngineCount = COPY_ENGINES,
        .unifiedAddressing = 1,
        .memoryBusWidth = g->memory_bus_bits,
        .l2CacheSize = (int)g->l2,
        .persistingL2CacheMaxSize = is_ampere ? (int)(g->l2 / 8 * 5) : 0,
        .maxThreadsPerMultiProcessor = g->threads_per_sm,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .sharedMemPerMultiprocessor = g->shared_per_sm,
        .regsPerMultiprocessor = g->registers_per_sm,
        .managedMemory = 1,
        .multiGpuBoardGroupID = device,
        .concurrentManagedAccess = 1,
        .computePreemptionSupported = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .cooperativeLaunch = 1,
        .clusterLaunch = g->major >= 9,
        .sharedMemPerBlockOptin = g->shared_per_block_optin,
        .maxBlocksPerMultiProcessor = g->blocks_per_sm,
        .accessPolicyMaxWindowSize = is_ampere ? 128 << 20 : 0,
        .reservedSharedMemPerBlock = g->shared_reserved,
        .ECCEnabled = is_for_computing(g->minor),
        .ipcEventSupported = 1,
        .deviceNumaId = -1,
        .maxTexture1D = 131072,
        .maxTexture1DMipmap = 32768,
        .maxTexture2D = {131072, 65536},
        .maxTexture2DMipmap = {32768, 32768},
        .maxTexture2DLinear = {LARGEST_PITCH_WIDTH, LARGEST_PITCH_HEIGHT, LARGEST_PITCH},
        .maxTexture2DGather = {32768, 32768},
        .maxTexture3D = {16384, 16384, 16384},
        .maxTexture3DAlt = {8192, 8192, 32768},
        .maxTextureCubemap = 32768,
        .maxTexture1DLayered = {32768, 2048},
        .maxTexture2DLayered = {32768, 32768, 2048},
        .maxTextureCubemapLayered = {32768, 2046},
        .maxSurface1D = 32768,
        .maxSurface2D = {131072, 65536},
        .maxSurface3D = {16384, 16384, 16384},
        .maxSurface1DLayered = {32768, 2048},
        .maxSurface2DLayered = {32768, 32768, 2048},
        .maxSurfaceCubemap = 32768,
        .maxSurfaceCubemapLayered = {32768, 2046},
        .hostRegisterSupported = 1,
        .hostRegisterReadOnlySupported = 1,
        .memoryPoolsSupported = 1,
    };
    snprintf(p->name, sizeof p->name, "%s (emulated)", g->name);
    memcpy(p->uuid.bytes, "emulated GPU", strlen("emulated GPU"));
    p->uuid.bytes[sizeof p->uuid.bytes - 1] = (char)device;
}

RUNTIME_ANYWHERE(cudaGetDeviceProperties, (struct cudaDeviceProp *p, int device),
                 IF(!cudart_is_forked_too_late(), cudaErrorInitializationError,
                    IF(p != NULL, cudaErrorInvalidValue,
                       IF_DEVICE(device, (fill(p, device, total_memory()), cudaSuccess)))))

/* The ratio of a GPU's throughput in 32-bit operations to that in 64-bit operations. */
static int double_ratio(const struct cudaDeviceProp *p)
{
    return is_for_computing(p->minor) ? 2 : p->major == 7 ? 32 : 64;
}

/* Attributes that are not in the list are 0. None of them says how much memory there is. */
static int cudart_attribute(enum cudaDeviceAttr attribute, int device, int *value)
{
    if (attribute < cudaDevAttrMaxThreadsPerBlock || attribute >= cudaDevAttrMax)
        return cudaErrorInvalidValue;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    struct cudaDeviceProp p;
    fill(&p, device, 0);
    const int values[cudaDevAttrMax] = {
        [cudaDevAttrMaxThreadsPerBlock] = p.maxThreadsPerBlock,
        [cudaDevAttrMaxBlockDimX] = p.maxThreadsDim[0],
        [cudaDevAttrMaxBlockDimY] = p.maxThreadsDim[1],
        [cudaDevAttrMaxBlockDimZ] = p.maxThreadsDim[2],
        [cudaDevAttrMaxGridDimX] = p.maxGridSize[0],
        [cudaDevAttrMaxGridDimY] = p.maxGridSize[1],
        [cudaDevAttrMaxGridDimZ] = p.maxGridSize[2],
        [cudaDevAttrMaxSharedMemoryPerBlock] = (int)p.sharedMemPerBlock,
        [cudaDevAttrTotalConstantMemory] = (int)p.totalConstMem,
        [cudaDevAttrWarpSize] = p.warpSize,
        [cudaDevAttrMaxPitch] = (int)p.memPitch,
        [cudaDevAttrMaxRegistersPerBlock] = p.regsPerBlock,
        [cudaDevAttrClockRate] = gpu()->clock_khz,
        [cudaDevAttrTextureAlignment] = (int)p.textureAlignment,
        [cudaDevAttrGpuOverlap] = p.asyncEngineCount > 0,
        [cudaDevAttrMultiProcessorCount] = p.multiProcessorCount,
        [cudaDevAttrCanMapHostMemory] = p.canMapHostMemory,
        [cudaDevAttrComputeMode] = cudaComputeModeDefault,
        [cudaDevAttrSurfaceAlignment] = (int)p.surfaceAlignment,
        [cudaDevAttrConcurrentKernels] = p.concurrentKernels,
        [cudaDevAttrPciBusId] = p.pciBusID,
        [cudaDevAttrMemoryClockRate] = gpu()->memory_clock_khz,
        [cudaDevAttrGlobalMemoryBusWidth] = p.memoryBusWidth,
        [cudaDevAttrL2CacheSize] = p.l2CacheSize,
        [cudaDevAttrMaxThreadsPerMultiProcessor] = p.maxThreadsPerMultiProcessor,
        [cudaDevAttrAsyncEngineCount] = p.asyncEngineCount,
        [cudaDevAttrUnifiedAddressing] = p.unifiedAddressing,
        [cudaDevAttrTexturePitchAlignment] = (int)p.texturePitchAlignment,
        [cudaDevAttrComputeCapabilityMajor] = p.major,
        [cudaDevAttrComputeCapabilityMinor] = p.minor,
        [cudaDevAttrStreamPrioritiesSupported] = p.streamPrioritiesSupported,
        [cudaDevAttrGlobalL1CacheSupported] = p.globalL1CacheSupported,
        [cudaDevAttrLocalL1CacheSupported] = p.localL1CacheSupported,
        [cudaDevAttrMaxSharedMemoryPerMultiprocessor] = (int)p.sharedMemPerMultiprocessor,
        [cudaDevAttrMaxRegistersPerMultiprocessor] = p.regsPerMultiprocessor,
        [cudaDevAttrManagedMemory] = p.managedMemory,
        [cudaDevAttrMultiGpuBoardGroupID] = p.multiGpuBoardGroupID,
        [cudaDevAttrSingleToDoublePrecisionPerfRatio] = double_ratio(&p),
        [cudaDevAttrConcurrentManagedAccess] = p.concurrentManagedAccess,
        [cudaDevAttrComputePreemptionSupported] = p.computePreemptionSupported,
        [cudaDevAttrCanUseHostPointerForRegisteredMem] = p.canUseHostPointerForRegisteredMem,
        [cudaDevAttrCooperativeLaunch] = p.cooperativeLaunch,
        [cudaDevAttrMaxSharedMemoryPerBlockOptin] = (int)p.sharedMemPerBlockOptin,
        [cudaDevAttrHostRegisterSupported] = p.hostRegisterSupported,
        [cudaDevAttrMaxBlocksPerMultiprocessor] = p.maxBlocksPerMultiProcessor,
        [cudaDevAttrMaxPersistingL2CacheSize] = p.persistingL2CacheMaxSize,
        [cudaDevAttrMaxAccessPolicyWindowSize] = p.accessPolicyMaxWindowSize,
        [cudaDevAttrReservedSharedMemoryPerBlock] = (int)p.reservedSharedMemPerBlock,
        [cudaDevAttrHostRegisterReadOnlySupported] = p.hostRegisterReadOnlySupported,
        [cudaDevAttrMemoryPoolsSupported] = p.memoryPoolsSupported,
        [cudaDevAttrClusterLaunch] = p.clusterLaunch,
        [cudaDevAttrMemSyncDomainCount] = p.major >= 9 ? 4 : 1,
        [CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED] = p.major >= 9,
        [CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER] = 1,
        [cudaDevAttrEccEnabled] = p.ECCEnabled,
        [cudaDevAttrIpcEventSupport] = p.ipcEventSupported,
        [cudaDevAttrMaxTexture1DMipmappedWidth] = p.maxTexture1DMipmap,
        [cudaDevAttrMaxTexture2DMipmappedWidth] = p.maxTexture2DMipmap[0],
        [cudaDevAttrMaxTexture2DMipmappedHeight] = p.maxTexture2DMipmap[1],
        [cudaDevAttrMaxTexture1DWidth] = p.maxTexture1D,
        [cudaDevAttrMaxTexture2DWidth] = p.maxTexture2D[0],
        [cudaDevAttrMaxTexture2DHeight] = p.maxTexture2D[1],
        [cudaDevAttrMaxTexture3DWidth] = p.maxTexture3D[0],
        [cudaDevAttrMaxTexture3DHeight] = p.maxTexture3D[1],
        [cudaDevAttrMaxTexture3DDepth] = p.maxTexture3D[2],
        [cudaDevAttrMaxTexture1DLayeredWidth] = p.maxTexture1DLayered[0],
        [cudaDevAttrMaxTexture1DLayeredLayers] = p.maxTexture1DLayered[1],
        [cudaDevAttrMaxTexture2DLayeredWidth] = p.maxTexture2DLayered[0],
        [cudaDevAttrMaxTexture2DLayeredHeight] = p.maxTexture2DLayered[1],
        [cudaDevAttrMaxTexture2DLayeredLayers] = p.maxTexture2DLayered[2],
        [cudaDevAttrMaxTextureCubemapWidth] = p.maxTextureCubemap,
        [cudaDevAttrMaxTextureCubemapLayeredWidth] = p.maxTextureCubemapLayered[0],
        [cudaDevAttrMaxTextureCubemapLayeredLayers] = p.maxTextureCubemapLayered[1],
        [cudaDevAttrMaxTexture2DGatherWidth] = p.maxTexture2DGather[0],
        [cudaDevAttrMaxTexture2DGatherHeight] = p.maxTexture2DGather[1],
        [cudaDevAttrMaxTexture3DWidthAlt] = p.maxTexture3DAlt[0],
        [cudaDevAttrMaxTexture3DHeightAlt] = p.maxTexture3DAlt[1],
        [cudaDevAttrMaxTexture3DDepthAlt] = p.maxTexture3DAlt[2],
        [cudaDevAttrMaxTexture1DLinearWidth] = LARGEST_LINEAR_TEXTURE,
        [cudaDevAttrMaxTexture2DLinearWidth] = p.maxTexture2DLinear[0],
        [cudaDevAttrMaxTexture2DLinearHeight] = p.maxTexture2DLinear[1],
        [cudaDevAttrMaxTexture2DLinearPitch] = p.maxTexture2DLinear[2],
        [cudaDevAttrMaxSurface1DWidth] = p.maxSurface1D,
        [cudaDevAttrMaxSurface2DWidth] = p.maxSurface2D[0],
        [cudaDevAttrMaxSurface2DHeight] = p.maxSurface2D[1],
        [cudaDevAttrMaxSurface3DWidth] = p.maxSurface3D[0],
        [cudaDevAttrMaxSurface3DHeight] = p.maxSurface3D[1],
        [cudaDevAttrMaxSurface3DDepth] = p.maxSurface3D[2],
        [cudaDevAttrMaxSurface1DLayeredWidth] = p.maxSurface1DLayered[0],
        [cudaDevAttrMaxSurface1DLayeredLayers] = p.maxSurface1DLayered[1],
        [cudaDevAttrMaxSurface2DLayeredWidth] = p.maxSurface2DLayered[0],
        [cudaDevAttrMaxSurface2DLayeredHeight] = p.maxSurface2DLayered[1],
        [cudaDevAttrMaxSurface2DLayeredLayers] = p.maxSurface2DLayered[2],
        [cudaDevAttrMaxSurfaceCubemapWidth] = p.maxSurfaceCubemap,
        [cudaDevAttrMaxSurfaceCubemapLayeredWidth] = p.maxSurfaceCubemapLayered[0],
        [cudaDevAttrMaxSurfaceCubemapLayeredLayers] = p.maxSurfaceCubemapLayered[1],
        [cudaDevAttrNumaId] = p.deviceNumaId,
        [cudaDevAttrHostNumaId] = p.hostNumaId,
    };
    *value = values[attribute];
    return cudaSuccess;
}

RUNTIME_ANYWHERE(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device),
                 IF(!cudart_is_forked_too_late(), cudaErrorInitializationError,
                    IF(value != NULL, cudaErrorInvalidValue,
                       cudart_attribute(attribute, device, value))))

/* ---- other names of a device ----------------------------------------------------------------- */

/* The emulator's devices are device 0 of the buses 0, 1, …; no real GPU is at bus 0, device 0. */
#define PCI_FORMAT "0000:%02x:00.0"
enum { PCI_BYTES = sizeof "0000:00:00.0" };

WORK_OF(RUNTIME_ANYWHERE, cudaDeviceGetPCIBusId, (char *id, int length, int device),
        (id, length, device))
{
    if (id == NULL || length < PCI_BYTES) return cudaErrorInvalidValue;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    snprintf(id, (size_t)length, PCI_FORMAT, (unsigned)device);
    return cudaSuccess;
}

/* Domain, bus, device and function; the first and the last may be left out. */
WORK_OF(RUNTIME_ANYWHERE, cudaDeviceGetByPCIBusId, (int *device, const char *id), (device, id))
{
    unsigned domain = 0, bus, slot, function = 0;
    if (device == NULL || id == NULL) return cudaErrorInvalidValue;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2) return cudaErrorInvalidValue;
    }
    if (domain != 0 || slot != 0 || function != 0 || !cudart_is_device((int)bus))
        return cudaErrorInvalidDevice;
    *device = (int)bus;
    return cudaSuccess;
}

/* All devices are alike, so the first one is chosen. */
RUNTIME_ANYWHERE(cudaChooseDevice, (int *device, const struct cudaDeviceProp *wanted),
                 IF(wanted != NULL, cudaErrorInvalidValue, TELL(device, 0)))

/* ---- versions, and the functions that give access to the driver API (runtime/driver*.c) ------ */

RUNTIME_ANYWHERE(cudaDriverGetVersion, (int *version), TELL(version, CUDART_VERSION))
RUNTIME_ANYWHERE(cudaRuntimeGetVersion, (int *version), TELL(version, CUDART_VERSION))

WORK_OF(RUNTIME_PTSZ, cudaGetDriverEntryPointByVersion, (const char *name, void **function,
        unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *result),
        (name, function, version, flags, result))
{
    if (name == NULL || function == NULL) return cudaErrorInvalidValue;
    enum cudart_query query = cudart_driver_function(
        name, (int)version, flags & cudaEnablePerThreadDefaultStream, function);
    if (result == NULL) return query == QUERY_FOUND ? cudaSuccess : cudaErrorSymbolNotFound;
    *result = query == QUERY_FOUND     ? cudaDriverEntryPointSuccess
              : query == QUERY_TOO_NEW ? cudaDriverEntryPointVersionNotSufficent
                                       : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* the older function is deprecated */
RUNTIME_ANYWHERE_PTSZ(cudaGetDriverEntryPoint, (const char *name, void **function,
                      unsigned long long flags, enum cudaDriverEntryPointQueryResult *result),
                      cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags,
                                                       result))

/* ---- functions that only give advice --------------------------------------------------------- */

/* Functions without effect on what kernels do: preferences for caches and shared memory,
 * on which occupancy depends, and a profiler's range. */

RUNTIME(cudaDeviceSetCacheConfig, (enum cudaFuncCache preference),
        IF((unsigned)preference <= cudaFuncCachePreferEqual, cudaErrorInvalidValue,
           TELL(&cudart_device()->cache, preference)))

RUNTIME_ANYWHERE(cudaDeviceGetCacheConfig, (enum cudaFuncCache *preference),
                 TELL(preference, cudart_device()->cache))

/* A profiler's range is ignored: the report has every launch. */
cudaError_t CUDARTAPI cudaProfilerStart(void) { return cudaSuccess; }
cudaError_t CUDARTAPI cudaProfilerStop(void) { return cudaSuccess; }

RUNTIME(cudaFuncSetCacheConfig, (const void *kernel, enum cudaFuncCache preference),
        WITH_FUNCTION(kernel, IF((unsigned)preference <= cudaFuncCachePreferEqual,
                                 cudaErrorInvalidValue, TELL(&function->cache, preference))))

/* Only Kepler had banks of 8 bytes. */
RUNTIME_ANYWHERE(cudaDeviceSetSharedMemConfig, (enum cudaSharedMemConfig config),
                 ((void)config, cudaSuccess))
RUNTIME_ANYWHERE(cudaDeviceGetSharedMemConfig, (enum cudaSharedMemConfig *config),
                 TELL(config, cudaSharedMemBankSizeFourByte))
RUNTIME_ANYWHERE(cudaFuncSetSharedMemConfig, (const void *kernel, enum cudaSharedMemConfig config),
                 ((void)kernel, (void)config, cudaSuccess))

RUNTIME(cudaCtxResetPersistingL2Cache, (void), cudaSuccess)

/* ---- what kernels ask of the runtime (emu_host_side in emu.h) -------------------------------- */

/* Threads that run blocks call these functions, so they keep no errors. */

static int attribute(int which, int device, int *value)
{
    return cudart_attribute((enum cudaDeviceAttr)which, device, value);
}

static int limit(unsigned device, int which, size_t *value)
{
    if (which < 0 || which >= LIMITS) return cudaErrorUnsupportedLimit;
    *value = cudart_device_at((int)device)->limits[which];
    return cudaSuccess;
}

static const char *error_name(int error) { return cudaGetErrorName((cudaError_t)error); }
static const char *error_text(int error) { return cudaGetErrorString((cudaError_t)error); }

struct emu_host_side cudart_host_side(void)
{
    return (struct emu_host_side){.attribute = attribute,
                                  .limit = limit,
                                  .occupancy = cudart_occupancy,
                                  .set_condition = cudart_set_condition,
                                  .error_name = error_name,
                                  .error_text = error_text};
}
