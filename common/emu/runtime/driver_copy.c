/* driver_copy.c — copies and fills. */
#include "driver.h"
#include "work.h"

/* ---- copies of rows -------------------------------------------------------------------------- */

/* One side of a copy. */
struct copy_side {
    CUmemorytype type;
    void *first;
    size_t pitch, height;
    struct cudaPos from;
};

static struct copy_side side(CUmemorytype type, const void *host, CUdeviceptr device, size_t pitch,
                             size_t height, struct cudaPos from)
{
    void *first = type == CU_MEMORYTYPE_HOST ? (void *)host : at(device);
    return (struct copy_side){type, first, pitch, height, from};
}

static bool is_linear(const struct copy_side *s)
{
    return s->type == CU_MEMORYTYPE_HOST || s->type == CU_MEMORYTYPE_DEVICE ||
           s->type == CU_MEMORYTYPE_UNIFIED;
}

static enum cudaMemcpyKind kind_of(const struct copy_side *to, const struct copy_side *from)
{
    if (to->type == CU_MEMORYTYPE_UNIFIED || from->type == CU_MEMORYTYPE_UNIFIED)
        return cudaMemcpyDefault;
    if (to->type == CU_MEMORYTYPE_HOST)
        return from->type == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyDeviceToHost;
    return from->type == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
}

/* A pitch of 0 means rows without gaps. */
static struct cudaPitchedPtr area(const struct copy_side *s, struct cudaExtent extent)
{
    size_t pitch = s->pitch > 0 ? s->pitch : s->from.x + extent.width;
    size_t height = s->height > 0 ? s->height : s->from.y + extent.height;
    return (struct cudaPitchedPtr){s->first, pitch, pitch, height};
}

static int copy_rows(struct copy_side to, struct copy_side from, struct cudaExtent extent,
                     CUstream stream, bool now)
{
    if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY)
        return (int)cudart_done(cudart_not_supported("a copy of arrays by the driver API",
                                                     "use the runtime's cudaMemcpy3D instead"));
    if (!is_linear(&to) || !is_linear(&from)) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    const struct cudaMemcpy3DParms copy = {.srcPos = from.from,
                                           .srcPtr = area(&from, extent),
                                           .dstPos = to.from,
                                           .dstPtr = area(&to, extent),
                                           .extent = extent,
                                           .kind = kind_of(&to, &from)};
    return now ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, stream);
}

static int copy_2d(const CUDA_MEMCPY2D *c, CUstream s, bool now)
{
    if (c == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    return copy_rows(side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, 0,
                          (struct cudaPos){c->dstXInBytes, c->dstY, 0}),
                     side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, 0,
                          (struct cudaPos){c->srcXInBytes, c->srcY, 0}),
                     (struct cudaExtent){c->WidthInBytes, c->Height, 1}, s, now);
}

static int copy_3d(const CUDA_MEMCPY3D *c, CUstream s, bool now)
{
    if (c == NULL) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    return copy_rows(side(c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->dstHeight,
                          (struct cudaPos){c->dstXInBytes, c->dstY, c->dstZ}),
                     side(c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->srcHeight,
                          (struct cudaPos){c->srcXInBytes, c->srcY, c->srcZ}),
                     (struct cudaExtent){c->WidthInBytes, c->Height, c->Depth}, s, now);
}

static int copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t bytes, CUstream s, bool now)
{
    const struct context *target = driver_context(to_context),
                         *source = driver_context(from_context);
    if (target == NULL || source == NULL) return driver_failed(CUDA_ERROR_INVALID_CONTEXT);
    int there = target->device->number, here = source->device->number;
    return now ? cudaMemcpyPeer(at(to), there, at(from), here, bytes)
               : cudaMemcpyPeerAsync(at(to), there, at(from), here, bytes, s);
}

/* ---- fills ----------------------------------------------------------------------------------- */

/* Fills rows of elements of 1, 2 or 4 bytes. */
static int fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                size_t height, CUstream s, bool now)
{
    bool is_aligned = to % element == 0 && (height <= 1 || pitch % element == 0);
    if (!is_aligned) return driver_failed(CUDA_ERROR_INVALID_VALUE);
    const struct cudaMemsetParams parameters = {.dst = at(to),
                                                .pitch = pitch,
                                                .value = value,
                                                .elementSize = element,
                                                .width = width,
                                                .height = height};
    return now ? cudart_fill_now(&parameters) : cudart_submit_fill(&parameters, s);
}

#define HTOD cudaMemcpyHostToDevice
#define DTOH cudaMemcpyDeviceToHost
#define DTOD cudaMemcpyDeviceToDevice
#define FILLS(bits, type)                                                                          \
    DRIVER(cuMemsetD##bits##_v2, (CUdeviceptr p, type value, size_t n),                            \
           fill(p, 0, value, bits / 8, n, 1, NULL, true))                                          \
    DRIVER(cuMemsetD##bits##Async, (CUdeviceptr p, type value, size_t n, CUstream s),              \
           fill(p, 0, value, bits / 8, n, 1, s, false))                                            \
    DRIVER(cuMemsetD2D##bits##_v2,                                                                 \
           (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height),                 \
           fill(p, pitch, value, bits / 8, width, height, NULL, true))                             \
    DRIVER(cuMemsetD2D##bits##Async,                                                               \
           (CUdeviceptr p, size_t pitch, type value, size_t width, size_t height, CUstream s),     \
           fill(p, pitch, value, bits / 8, width, height, s, false))                               \
    DRIVER_PTDS(cuMemsetD##bits##_v2);                                                             \
    DRIVER_PTSZ(cuMemsetD##bits##Async);                                                           \
    DRIVER_PTDS(cuMemsetD2D##bits##_v2);                                                           \
    DRIVER_PTSZ(cuMemsetD2D##bits##Async)

FILLS(8, unsigned char);
FILLS(16, unsigned short);
FILLS(32, unsigned);

/* clang-format off */
DRIVER(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
       cudaMemcpy(at(to), at(from), bytes, cudaMemcpyDefault))
DRIVER(cuMemcpyHtoD, (CUdeviceptr to, const void *from, size_t bytes),
       cudaMemcpy(at(to), from, bytes, HTOD))
DRIVER(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes),
       cudaMemcpy(to, at(from), bytes, DTOH))
DRIVER(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
       cudaMemcpy(at(to), at(from), bytes, DTOD))
DRIVER(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s),
       cudaMemcpyAsync(at(to), at(from), bytes, cudaMemcpyDefault, s))
DRIVER(cuMemcpyHtoDAsync, (CUdeviceptr to, const void *from, size_t bytes, CUstream s),
       cudaMemcpyAsync(at(to), from, bytes, HTOD, s))
DRIVER(cuMemcpyDtoHAsync, (void *to, CUdeviceptr from, size_t bytes, CUstream s),
       cudaMemcpyAsync(to, at(from), bytes, DTOH, s))
DRIVER(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s),
       cudaMemcpyAsync(at(to), at(from), bytes, DTOD, s))
DRIVER(cuMemcpyPeer, (CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
        size_t bytes),
       copy_peer(to, there, from, here, bytes, NULL, true))
DRIVER(cuMemcpyPeerAsync, (CUdeviceptr to, CUcontext there, CUdeviceptr from, CUcontext here,
        size_t bytes, CUstream s),
       copy_peer(to, there, from, here, bytes, s, false))
DRIVER(cuMemcpy2D, (const CUDA_MEMCPY2D *copy), copy_2d(copy, NULL, true))
DRIVER(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *copy), copy_2d(copy, NULL, true))
DRIVER(cuMemcpy2DAsync, (const CUDA_MEMCPY2D *copy, CUstream s), copy_2d(copy, s, false))
DRIVER(cuMemcpy3D, (const CUDA_MEMCPY3D *copy), copy_3d(copy, NULL, true))
DRIVER(cuMemcpy3DAsync, (const CUDA_MEMCPY3D *copy, CUstream s), copy_3d(copy, s, false))
/* clang-format on */

DRIVER_PTDS(cuMemcpy);
DRIVER_PTDS(cuMemcpyHtoD);
DRIVER_PTDS(cuMemcpyDtoH);
DRIVER_PTDS(cuMemcpyDtoD);
DRIVER_PTSZ(cuMemcpyAsync);
DRIVER_PTSZ(cuMemcpyHtoDAsync);
DRIVER_PTSZ(cuMemcpyDtoHAsync);
DRIVER_PTSZ(cuMemcpyDtoDAsync);
DRIVER_PTDS(cuMemcpyPeer);
DRIVER_PTSZ(cuMemcpyPeerAsync);
DRIVER_PTDS(cuMemcpy2D);
DRIVER_PTDS(cuMemcpy2DUnaligned);
DRIVER_PTSZ(cuMemcpy2DAsync);
DRIVER_PTDS(cuMemcpy3D);
DRIVER_PTSZ(cuMemcpy3DAsync);
