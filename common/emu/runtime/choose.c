/*
 * choose.c — choosing a device, waiting for it, its limits. Its properties are in properties.c.
 */
#include "context.h"
#include "capture.h"
#include "process.h"
#include "order.h"

/* ---- which device ---------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaGetDeviceCount(int *count)
{
    if (cudart_is_forked_too_late()) return cudart_done(cudaErrorInitializationError);
    if (count == NULL) return cudart_done(cudaErrorInvalidValue);
    *count = cudart_device_count();
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDevice(int *device)
{
    if (device == NULL) return cudart_done(cudaErrorInvalidValue);
    cudart_bind_context();
    *device = cudart_device()->number;
    return cudaSuccess;
}

static bool is_device(int number) { return number >= 0 && number < cudart_device_count(); }

cudaError_t CUDARTAPI cudaSetDevice(int device)
{
    if (cudart_is_forked_too_late()) return cudart_done(cudaErrorInitializationError);
    if (!is_device(device)) return cudart_done(cudaErrorInvalidDevice);
    cudart_set_context(cudart_primary_context(device));
    return cudaSuccess;
}

/* Does not change the thread's device. */
cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    if (!is_device(device)) return cudart_done(cudaErrorInvalidDevice);
    if (flags & cudaInitDeviceFlagsAreValid) cudart_device_at(device)->flags = device_flags;
    return cudaSuccess;
}

/* The flags say how to wait for the device, by one bit at most. They are kept without effect. */
cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned flags)
{
    RETURN_IF_FAULTY();
    unsigned way = flags & cudaDeviceScheduleMask;
    if (flags & ~(unsigned)cudaDeviceMask || way & (way - 1))
        return cudart_done(cudaErrorInvalidValue);
    cudart_device()->flags = flags;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGetDeviceFlags(unsigned *flags)
{
    RETURN_IF_FAULTY();
    if (flags == NULL) return cudart_done(cudaErrorInvalidValue);
    *flags = cudart_device()->flags | cudaDeviceMapHost; /* always set with unified addresses */
    return cudaSuccess;
}

/* Takes the first device of the list, which is in order of preference: all devices are available.
 * */
cudaError_t CUDARTAPI cudaSetValidDevices(int *devices, int count)
{
    if (count < 0 || (count > 0 && devices == NULL)) return cudart_done(cudaErrorInvalidValue);
    for (int i = 0; i < count; i++)
        if (!is_device(devices[i])) return cudart_done(cudaErrorInvalidDevice);
    return count > 0 ? cudaSetDevice(devices[0]) : cudaSuccess;
}

/* ---- synchronise, reset ---------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaDeviceSynchronize(void)
{
    RETURN_IF_UNSAFE();
    cudart_order_wait_device();
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceReset(void)
{
    cudart_end_context(cudart_primary_context(cudart_device()->number));
    return cudaSuccess;
}

/* ---- limits and preferences: kept, most of them without effect ------------------------------- */

/* The limits of an H200 (profiles/h200/answers.csv): a value is raised to the least one and rounded
 * up to a multiple of the unit. In bytes, except for the number of launches. */
static const struct {
    size_t initial, unit, least, most;
    bool is_clamped; /* a larger value counts as the most, and is no error */
} limits[LIMITS] = {
    [cudaLimitStackSize] = {1024, 16, 0, 511 << 10, false},
    [cudaLimitPrintfFifoSize] = {(8 << 20) + (256 << 10), 256, 512 << 10, SIZE_MAX, false},
    [cudaLimitMallocHeapSize] = {8 << 20, 64 << 10, 4 << 20, SIZE_MAX, false},
    [cudaLimitDevRuntimeSyncDepth] = {2, 1, 0, SIZE_MAX, false},
    [cudaLimitDevRuntimePendingLaunchCount] = {2048, 1, 32, 599186, true},
    [cudaLimitMaxL2FetchGranularity] = {64, 1, 0, 128, false},
    [cudaLimitPersistingL2CacheSize] = {0, 1, 0, SIZE_MAX, false}, /* see below */
};

/* One way of 16 of the L2 cache. Accesses can be made to stay in 10 of them. */
static size_t persisting_unit(const struct device *device)
{
    const struct emu_gpu *gpu = emu_gpu(device->emu);
    return gpu->major >= 8 ? gpu->l2 / 16 : 0;
}

void cudart_default_limits(struct device *device)
{
    for (int i = 0; i < LIMITS; i++) device->limits[i] = limits[i].initial;
    device->limits[cudaLimitPersistingL2CacheSize] = 3 * persisting_unit(device);
    device->cache = cudaFuncCachePreferNone;
}

/* Hopper has no depth at which kernels wait for each other. */
static bool has_limit(enum cudaLimit limit)
{
    return (unsigned)limit < LIMITS &&
           (limit != cudaLimitDevRuntimeSyncDepth || emu_gpu(emu_runtime())->major < 9);
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RETURN_IF_FAULTY();
    if (!has_limit(limit)) return cudart_done(cudaErrorUnsupportedLimit);
    size_t unit = limits[limit].unit, most = limits[limit].most;
    if (limit == cudaLimitPersistingL2CacheSize) {
        unit = persisting_unit(cudart_device());
        most = 10 * unit;
    }
    if (value > most && !limits[limit].is_clamped) return cudart_done(cudaErrorInvalidValue);
    if (value > most) value = most;
    if (value < limits[limit].least) value = limits[limit].least;
    if (value % (unit + !unit)) value += unit - value % unit;
    int error = limit == cudaLimitMallocHeapSize ? emu_heap_limit(emu_runtime(), value)
                : limit == cudaLimitDevRuntimePendingLaunchCount
                    ? emu_pending_limit(emu_runtime(), value)
                    : EMU_OK;
    if (error) return cudart_done(error);
    cudart_device()->limits[limit] = value;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    RETURN_IF_FAULTY();
    if (value == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!has_limit(limit)) return cudart_done(cudaErrorUnsupportedLimit);
    *value = cudart_device()->limits[limit];
    return cudaSuccess;
}
