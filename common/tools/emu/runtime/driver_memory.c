/* driver_memory.c — the driver API: memory, copies and fills. */
#include "driver.h"
#include "graph.h"

/* ---- memory of devices and of the host, pools, and attributes of pointers -------------------- */

static void **place(CUdeviceptr *address) { return (void **)address; }

static int allocate(CUdeviceptr *address, size_t bytes)
{
    return bytes > 0 ? (int)cudaMalloc(place(address), bytes) : CUDA_ERROR_INVALID_VALUE;
}

static int allocate_pitch(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                          unsigned element)
{
    bool is_element = element == 4 || element == 8 || element == 16;
    if (!is_element || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    return cudaMallocPitch(place(address), pitch, width, height);
}

/* The allocation, mapped host memory or variable that holds an address. */
static bool find(CUdeviceptr address, emu_addr *base, size_t *bytes)
{
    const struct device *owner = cudart_owner(at(address));
    return emu_find(owner != NULL ? owner->emu : emu_runtime(), address, base, bytes);
}

static int get_range(CUdeviceptr *begin, size_t *size, CUdeviceptr address)
{
    emu_addr base;
    size_t bytes;
    if (!find(address, &base, &bytes)) return CUDA_ERROR_NOT_FOUND;
    if (begin != NULL) *begin = base;
    if (size != NULL) *size = bytes;
    return CUDA_SUCCESS;
}

/* Host memory that CUDA allocates is always mapped. */
static int get_host_flags(unsigned *flags, void *host)
{
    cudaError_t error = cudaHostGetFlags(flags, host);
    if (error == cudaSuccess) *flags |= CU_MEMHOSTALLOC_DEVICEMAP;
    return error;
}

static int open_handle(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
    cudaIpcMemHandle_t same;
    _Static_assert(sizeof same == sizeof handle, "handles are the same bytes");
    memcpy(&same, &handle, sizeof same);
    return cudaIpcOpenMemHandle(place(address), same, flags);
}

/* ---- pointers -------------------------------------------------------------------------------- */

static const struct context *owner_of(emu_addr base, int device)
{
    struct runtime_allocation allocation;
    bool found = cudart_recall((const void *)base, &allocation);
    return found ? allocation.context : cudart_primary_context(device);
}

struct pointer {
    struct cudaPointerAttributes known;
    emu_addr base;
    size_t bytes;
};

/* Writes an attribute of a pointer; *bytes becomes the size of its type. False: the pointer has no
 * such attribute. */
static bool describe(const struct pointer *p, CUpointer_attribute attribute, void *value,
                     size_t *bytes)
{
    bool is_device = p->known.type == cudaMemoryTypeDevice;
    uint64_t number;
    *bytes = sizeof number;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        number = (uint64_t)(uintptr_t)owner_of(p->base, p->known.device);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: number = (uint64_t)p->known.devicePointer; break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        number = (uint64_t)p->known.hostPointer;
        if (is_device) return false;
        break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: number = p->base; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: number = p->bytes; break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: number = p->base; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        number = p->known.type == cudaMemoryTypeHost ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        *bytes = sizeof(unsigned);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        number = (unsigned)p->known.device;
        *bytes = sizeof(int);
        break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        number = p->known.type == cudaMemoryTypeManaged;
        *bytes = sizeof(unsigned);
        break;
    case CU_POINTER_ATTRIBUTE_MAPPED: number = *bytes = 1; break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        number = is_device;
        *bytes = 1;
        break;
    default: return false;
    }
    memcpy(value, &number, *bytes); /* little-endian */
    return true;
}

static int inspect(CUdeviceptr address, struct pointer *p, bool *is_known)
{
    cudaError_t error = cudaPointerGetAttributes(&p->known, at(address));
    *is_known = error == cudaSuccess && p->known.type != cudaMemoryTypeUnregistered &&
                find(address, &p->base, &p->bytes);
    return error;
}

static int get_attribute(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct pointer p;
    bool is_known;
    size_t bytes;
    int error = inspect(address, &p, &is_known);
    if (error != CUDA_SUCCESS) return error;
    bool done = value != NULL && is_known && describe(&p, attribute, value, &bytes);
    return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Attributes that a pointer does not have become 0, the number of its device -2. */
static int get_attributes(unsigned count, const CUpointer_attribute *attributes, void **values,
                          CUdeviceptr address)
{
    struct pointer p, none = {.known.device = cudaInvalidDeviceId};
    bool is_known;
    if (count == 0 || attributes == NULL || values == NULL) return CUDA_ERROR_INVALID_VALUE;
    int error = inspect(address, &p, &is_known);
    for (unsigned i = 0; i < count && error == CUDA_SUCCESS; i++) {
        size_t bytes;
        if (is_known && describe(&p, attributes[i], values[i], &bytes)) continue;
        if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)values[i] = none.known.device;
        else if (describe(&none, attributes[i], values[i], &bytes))
            memset(values[i], 0, bytes);
    }
    return error;
}

/* The only attribute that can be set makes copies synchronous. Here they always are. */
static int set_attribute(const void *value, CUpointer_attribute attribute)
{
    bool can_be_set = value != NULL && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS;
    return can_be_set ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- pools ----------------------------------------------------------------------------------- */

_Static_assert(sizeof(CUmemPoolProps) == sizeof(struct cudaMemPoolProps) &&
                   sizeof(CUmemAccessDesc) == sizeof(struct cudaMemAccessDesc) &&
                   sizeof(CUmemLocation) == sizeof(struct cudaMemLocation),
               "the structures of both APIs are alike");

static struct cudaMemLocation location(CUmemLocation where)
{
    return (struct cudaMemLocation){(enum cudaMemLocationType)where.type, where.id};
}

/* The location for the number of a device, which functions took before CUDA 13. CU_DEVICE_CPU is
 * the host. */
static struct cudaMemLocation place_of(CUdevice device)
{
    bool is_host = device == CU_DEVICE_CPU;
    return (struct cudaMemLocation){is_host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                    is_host ? 0 : device};
}

/* clang-format off */
DRIVER(cuMemAlloc, (CUdeviceptr *p, size_t bytes), allocate(p, bytes))
DRIVER(cuMemAllocPitch, (CUdeviceptr *p, size_t *pitch, size_t width, size_t height,
        unsigned element),
       allocate_pitch(p, pitch, width, height, element))
DRIVER(cuMemAllocManaged, (CUdeviceptr *p, size_t bytes, unsigned flags),
       bytes > 0 ? (int)cudaMallocManaged(place(p), bytes, flags)
                 : CUDA_ERROR_INVALID_VALUE)
DRIVER_ANYWHERE(cuMemFree, (CUdeviceptr p), cudaFree(at(p)))
DRIVER(cuMemGetInfo, (size_t *left, size_t *total), cudaMemGetInfo(left, total))
DRIVER(cuMemGetAddressRange, (CUdeviceptr *begin, size_t *size, CUdeviceptr p),
       get_range(begin, size, p))
DRIVER(cuMemAllocHost, (void **p, size_t bytes), cudaMallocHost(p, bytes))
DRIVER(cuMemHostAlloc, (void **p, size_t bytes, unsigned flags), cudaHostAlloc(p, bytes, flags))
DRIVER_ANYWHERE(cuMemFreeHost, (void *p), cudaFreeHost(p))
DRIVER(cuMemHostRegister, (void *p, size_t bytes, unsigned flags),
       cudaHostRegister(p, bytes, flags))
DRIVER(cuMemHostUnregister, (void *p), cudaHostUnregister(p))
DRIVER(cuMemHostGetDevicePointer, (CUdeviceptr *device, void *host, unsigned flags),
       cudaHostGetDevicePointer(place(device), host, flags))
DRIVER(cuMemHostGetFlags, (unsigned *flags, void *host), get_host_flags(flags, host))

DRIVER_PTSZ(cuMemAllocAsync, (CUdeviceptr *p, size_t bytes, CUstream s),
            cudaMallocAsync(place(p), bytes, s))
DRIVER_PTSZ(cuMemAllocFromPoolAsync, (CUdeviceptr *p, size_t bytes, CUmemoryPool pool, CUstream s),
            cudaMallocFromPoolAsync(place(p), bytes, pool, s))
DRIVER_PTSZ(cuMemFreeAsync, (CUdeviceptr p, CUstream s), cudaFreeAsync(at(p), s))
DRIVER_ANYWHERE(cuMemPoolCreate, (CUmemoryPool *pool, const CUmemPoolProps *properties),
                cudaMemPoolCreate(pool, (const struct cudaMemPoolProps *)properties))
DRIVER_ANYWHERE(cuMemPoolDestroy, (CUmemoryPool pool), cudaMemPoolDestroy(pool))
DRIVER_ANYWHERE(cuMemPoolTrimTo, (CUmemoryPool pool, size_t bytes), cudaMemPoolTrimTo(pool, bytes))
DRIVER_ANYWHERE(cuMemPoolGetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void *value),
                cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)a, value))
DRIVER_ANYWHERE(cuMemPoolSetAttribute, (CUmemoryPool pool, CUmemPool_attribute a, void *value),
                cudaMemPoolSetAttribute(pool, (enum cudaMemPoolAttr)a, value))
DRIVER_ANYWHERE(cuMemPoolGetAccess, (CUmemAccess_flags *flags, CUmemoryPool pool,
                 CUmemLocation *where),
                cudaMemPoolGetAccess((enum cudaMemAccessFlags *)flags, pool,
                    (struct cudaMemLocation *)where))
DRIVER_ANYWHERE(cuMemPoolSetAccess, (CUmemoryPool pool, const CUmemAccessDesc *access,
                 size_t count),
                cudaMemPoolSetAccess(pool, (const struct cudaMemAccessDesc *)access, count))

DRIVER_ANYWHERE(cuPointerGetAttribute, (void *value, CUpointer_attribute a, CUdeviceptr p),
                get_attribute(value, a, p))
DRIVER_ANYWHERE(cuPointerGetAttributes, (unsigned count, CUpointer_attribute *a, void **values,
                 CUdeviceptr p),
                get_attributes(count, a, values, p))
DRIVER_ANYWHERE(cuPointerSetAttribute, (const void *value, CUpointer_attribute a, CUdeviceptr p),
                ((void)p, set_attribute(value, a)))

DRIVER_PTSZ(cuMemPrefetchAsync, (CUdeviceptr p, size_t bytes, CUmemLocation where, unsigned flags,
             CUstream s),
            cudaMemPrefetchAsync(at(p), bytes, location(where), flags, s))
DRIVER(cuMemAdvise, (CUdeviceptr p, size_t bytes, CUmem_advise what, CUmemLocation where),
       cudaMemAdvise(at(p), bytes, (enum cudaMemoryAdvise)what, location(where)))
DRIVER(cuMemRangeGetAttribute, (void *data, size_t size, CUmem_range_attribute a, CUdeviceptr p,
        size_t bytes),
       cudaMemRangeGetAttribute(data, size, (enum cudaMemRangeAttribute)a, at(p), bytes))
DRIVER(cuMemRangeGetAttributes, (void **data, size_t *sizes, CUmem_range_attribute *a, size_t count,
        CUdeviceptr p, size_t bytes),
       cudaMemRangeGetAttributes(data, sizes, (enum cudaMemRangeAttribute *)a, count, at(p), bytes))

DRIVER(cuIpcGetMemHandle, (CUipcMemHandle *handle, CUdeviceptr p),
       cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, at(p)))
DRIVER(cuIpcOpenMemHandle, (CUdeviceptr *p, CUipcMemHandle handle, unsigned flags),
       open_handle(p, handle, flags))
DRIVER(cuIpcCloseMemHandle, (CUdeviceptr p), cudaIpcCloseMemHandle(at(p)))

/* The older forms, with the number of a device. */
#undef cuMemPrefetchAsync
#undef cuMemAdvise
DRIVER_PTSZ(cuMemPrefetchAsync, (CUdeviceptr p, size_t bytes, CUdevice device, CUstream s),
            cudaMemPrefetchAsync(at(p), bytes, place_of(device), 0, s))
DRIVER(cuMemAdvise, (CUdeviceptr p, size_t bytes, CUmem_advise what, CUdevice device),
       cudaMemAdvise(at(p), bytes, (enum cudaMemoryAdvise)what, place_of(device)))
/* clang-format on */

/* ---- copies and fills ------------------------------------------------------------------------ */

/* One side of a copy. */
struct copy_side {
    CUmemorytype type;
    void *first;
    size_t pitch, height;
    struct cudaPos from;
};

/* `end` is src or dst; c is of one of two types. */
#define SIDE(c, end, height, z)                                                                    \
    ((struct copy_side){c->end##MemoryType,                                                        \
                        c->end##MemoryType == CU_MEMORYTYPE_HOST ? (void *)c->end##Host            \
                                                                 : at(c->end##Device),             \
                        c->end##Pitch,                                                             \
                        height,                                                                    \
                        {c->end##XInBytes, c->end##Y, z}})

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
                     struct when when)
{
    if (to.type == CU_MEMORYTYPE_ARRAY || from.type == CU_MEMORYTYPE_ARRAY)
        return cudart_not_supported("a copy of arrays by the driver API",
                                    "use the runtime's cudaMemcpy3D instead");
    if (!is_linear(&to) || !is_linear(&from)) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemcpy3DParms copy = {.srcPos = from.from,
                                           .srcPtr = area(&from, extent),
                                           .dstPos = to.from,
                                           .dstPtr = area(&to, extent),
                                           .extent = extent,
                                           .kind = kind_of(&to, &from)};
    return when.now ? cudaMemcpy3D(&copy) : cudaMemcpy3DAsync(&copy, when.stream);
}

static int copy_2d(const CUDA_MEMCPY2D *c, struct when when)
{
    if (c == NULL) return CUDA_ERROR_INVALID_VALUE;
    return copy_rows(SIDE(c, dst, 0, 0), SIDE(c, src, 0, 0),
                     (struct cudaExtent){c->WidthInBytes, c->Height, 1}, when);
}

static int copy_3d(const CUDA_MEMCPY3D *c, struct when when)
{
    if (c == NULL) return CUDA_ERROR_INVALID_VALUE;
    return copy_rows(SIDE(c, dst, c->dstHeight, c->dstZ), SIDE(c, src, c->srcHeight, c->srcZ),
                     (struct cudaExtent){c->WidthInBytes, c->Height, c->Depth}, when);
}

static int copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                     size_t bytes, struct when when)
{
    const struct context *target = driver_context(to_context),
                         *source = driver_context(from_context);
    if (target == NULL || source == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    int there = target->device->number, here = source->device->number;
    return when.now ? cudaMemcpyPeer(at(to), there, at(from), here, bytes)
                    : cudaMemcpyPeerAsync(at(to), there, at(from), here, bytes, when.stream);
}

static int copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                struct when when)
{
    return when.now ? cudaMemcpy(to, from, bytes, kind)
                    : cudaMemcpyAsync(to, from, bytes, kind, when.stream);
}

/* ---- fills ----------------------------------------------------------------------------------- */

/* Fills rows of elements of 1, 2 or 4 bytes. */
static int fill(CUdeviceptr to, size_t pitch, unsigned value, unsigned element, size_t width,
                size_t height, struct when when)
{
    bool is_aligned = to % element == 0 && (height <= 1 || pitch % element == 0);
    if (!is_aligned) return CUDA_ERROR_INVALID_VALUE;
    const struct cudaMemsetParams parameters = {.dst = at(to),
                                                .pitch = pitch,
                                                .value = value,
                                                .elementSize = element,
                                                .width = width,
                                                .height = height};
    return cudart_fill(parameters, when);
}

#define FILLS(bits, type)                                                                          \
    DRIVER_NOW_OR_IN_STREAM(cuMemsetD##bits, fill(p, 0, value, bits / 8, n, 1, when),              \
                            CUdeviceptr p, type value, size_t n)                                   \
    DRIVER_NOW_OR_IN_STREAM(cuMemsetD2D##bits,                                                     \
                            fill(p, pitch, value, bits / 8, width, height, when), CUdeviceptr p,   \
                            size_t pitch, type value, size_t width, size_t height)

FILLS(8, unsigned char)
FILLS(16, unsigned short)
FILLS(32, unsigned)

DRIVER_NOW_OR_IN_STREAM(cuMemcpy, copy(at(to), at(from), bytes, cudaMemcpyDefault, when),
                        CUdeviceptr to, CUdeviceptr from, size_t bytes)
DRIVER_NOW_OR_IN_STREAM(cuMemcpyHtoD, copy(at(to), from, bytes, cudaMemcpyHostToDevice, when),
                        CUdeviceptr to, const void *from, size_t bytes)
DRIVER_NOW_OR_IN_STREAM(cuMemcpyDtoH, copy(to, at(from), bytes, cudaMemcpyDeviceToHost, when),
                        void *to, CUdeviceptr from, size_t bytes)
DRIVER_NOW_OR_IN_STREAM(cuMemcpyDtoD, copy(at(to), at(from), bytes, cudaMemcpyDeviceToDevice, when),
                        CUdeviceptr to, CUdeviceptr from, size_t bytes)
DRIVER_NOW_OR_IN_STREAM(cuMemcpyPeer, copy_peer(to, there, from, here, bytes, when), CUdeviceptr to,
                        CUcontext there, CUdeviceptr from, CUcontext here, size_t bytes)
DRIVER_NOW_OR_IN_STREAM(cuMemcpy2D, copy_2d(c, when), const CUDA_MEMCPY2D *c)
DRIVER_NOW_OR_IN_STREAM(cuMemcpy3D, copy_3d(c, when), const CUDA_MEMCPY3D *c)
DRIVER_PTDS(cuMemcpy2DUnaligned, (const CUDA_MEMCPY2D *c),
            copy_2d(c, (struct when){.now = true}))
