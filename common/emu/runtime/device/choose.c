/*
 * choose.c — choosing a device, waiting for it, its limits. Its properties are in properties.c.
 */
#include "context.h"
#include "common/emu/runtime/stream/capture.h"
#include "common/emu/runtime/process/process.h"
#include "common/emu/runtime/stream/order.h"

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

/* The thread's device changes even if the new device has a fault, which is then returned. */
cudaError_t CUDARTAPI cudaSetDevice(int device)
{
    if (!is_device(device)) return cudart_done(cudaErrorInvalidDevice);
    cudart_set_context(cudart_primary_context(device));
    RETURN_IF_FAULTY();
    return cudaSuccess;
}

/* Does not change the thread's device. */
cudaError_t CUDARTAPI cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    if (!is_device(device)) return cudart_done(cudaErrorInvalidDevice);
    if (flags & cudaInitDeviceFlagsAreValid) cudart_device_at(device)->flags = device_flags;
    return cudaSuccess;
}

/* The flags say how to wait for the device. They are kept without effect. */
cudaError_t CUDARTAPI cudaSetDeviceFlags(unsigned flags)
{
    RETURN_IF_FAULTY();
    if (flags & ~(unsigned)cudaDeviceMask) return cudart_done(cudaErrorInvalidValue);
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

/* ---- limits and preferences: kept, without effect -------------------------------------------- */

/* Bytes, except for depth and count. The first three values are a GPU's defaults. */
void cudart_default_limits(struct device *device)
{
    device->limits[cudaLimitStackSize] = 1024;
    device->limits[cudaLimitPrintfFifoSize] = 8 << 20;
    device->limits[cudaLimitMallocHeapSize] = 8 << 20;
    device->limits[cudaLimitDevRuntimeSyncDepth] = 2;
    device->limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
    device->limits[cudaLimitMaxL2FetchGranularity] = 64;
}

cudaError_t CUDARTAPI cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RETURN_IF_FAULTY();
    if ((unsigned)limit >= LIMITS) return cudart_done(cudaErrorUnsupportedLimit);
    if (limit == cudaLimitMallocHeapSize) {
        /* A GPU has a smallest heap, too. emu_heap_limit must not get 0, which means the default.
         * */
        enum { LEAST = 4096 };
        int error = emu_heap_limit(emu_runtime(), value < LEAST ? LEAST : value);
        if (error) return cudart_done(error);
    }
    if (limit == cudaLimitDevRuntimePendingLaunchCount) {
        int error = emu_pending_limit(emu_runtime(), value < 1 ? 1 : value);
        if (error) return cudart_done(error);
    }
    cudart_device()->limits[limit] = value;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    RETURN_IF_FAULTY();
    if (value == NULL) return cudart_done(cudaErrorInvalidValue);
    if ((unsigned)limit >= LIMITS) return cudart_done(cudaErrorUnsupportedLimit);
    *value = cudart_device()->limits[limit];
    return cudaSuccess;
}
