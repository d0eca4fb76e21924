/* host_side.c — what kernels ask of the runtime (emu_host_side in emu.h). Threads that run blocks
 * call these functions, so they keep no errors. */
#include "cudart.h"

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
