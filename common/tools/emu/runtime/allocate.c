/* allocate.c — memory of devices and of the host, and what a program may ask about it. */
#include "graph.h"

/* ---- allocating device memory ---------------------------------------------------------------- */

enum { PITCH_ALIGNMENT = 512 };

cudaError_t cudart_allocate(void **pointer, size_t bytes, struct memory_pool *pool)
{
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    emu_addr address;
    int error = emu_alloc(emu_runtime(), bytes, &address);
    if (error != EMU_OK) return (cudaError_t)error;
    cudart_remember((struct runtime_allocation){.address = (void *)address,
                                                .bytes = bytes,
                                                .kind = DEVICE,
                                                .device = cudart_device()->number,
                                                .pool = pool});
    if (pool != NULL) cudart_pool_take(pool, bytes);
    *pointer = (void *)address;
    return cudaSuccess;
}

WORK_OF(RUNTIME_WAITS, cudaFree, (void *pointer), (pointer))
{
    if (pointer == NULL) return cudaSuccess;
    cudart_order_free_now(pointer);
    struct graph_memory *memory = cudart_graph_memory_at(pointer);
    if (memory != NULL) return cudart_graph_memory_give(memory);
    return cudart_done_free(cudart_forget(pointer, 1u << DEVICE | 1u << MANAGED), pointer);
}

static cudaError_t allocate_rows(void **pointer, size_t *pitch, size_t width, size_t height)
{
    if (pitch == NULL || width > SIZE_MAX - PITCH_ALIGNMENT) return cudaErrorInvalidValue;
    *pitch = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT;
    if (*pitch != 0 && height > SIZE_MAX / *pitch) return cudaErrorMemoryAllocation;
    return cudaMalloc(pointer, *pitch * height);
}

static cudaError_t allocate_3d(struct cudaPitchedPtr *area, struct cudaExtent extent)
{
    if (area == NULL || (extent.depth > 0 && extent.height > SIZE_MAX / extent.depth))
        return cudaErrorInvalidValue;
    *area = (struct cudaPitchedPtr){.xsize = extent.width, .ysize = extent.height};
    return allocate_rows(&area->ptr, &area->pitch, extent.width, extent.height * extent.depth);
}

/* An allocation of no bytes needs no device. */
RUNTIME_IF((pointer == NULL || bytes > 0) ? cudart_refusal_to_wait() : cudaSuccess, cudaMalloc,
           (void **pointer, size_t bytes),
           IF(pointer != NULL, cudaErrorInvalidValue, cudart_allocate(pointer, bytes, NULL)))
RUNTIME_ANYWHERE(cudaMallocPitch, (void **pointer, size_t *pitch, size_t width, size_t height),
                 allocate_rows(pointer, pitch, width, height))
RUNTIME_ANYWHERE(cudaMalloc3D, (struct cudaPitchedPtr *area, struct cudaExtent extent),
                 allocate_3d(area, extent))

WORK_OF(RUNTIME, cudaMemGetInfo, (size_t *free_bytes, size_t *total_bytes),
        (free_bytes, total_bytes))
{
    size_t left, all;
    emu_memory_info(emu_runtime(), &left, &all);
    if (free_bytes != NULL) *free_bytes = left;
    if (total_bytes != NULL) *total_bytes = all;
    return cudaSuccess;
}

/* ---- host memory that kernels can access: pinned, registered, managed ------------------------ */

/* It has the same address on every device, and it never moves. */

static struct advice *no_advice(void)
{
    struct advice *advice = allocated(calloc(1, sizeof *advice));
    advice->preferred.id = advice->prefetched.id = cudaInvalidDeviceId;
    return advice;
}

enum { HOST_FLAGS = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined };

static cudaError_t allocate_host(void **pointer, size_t bytes, enum memory_kind kind,
                                 unsigned flags)
{
    if (pointer == NULL) return cudaErrorInvalidValue;
    *pointer = NULL;
    if (bytes == 0) return cudaSuccess;
    void *memory = cudart_map_new(bytes);
    if (memory == NULL) return cudaErrorMemoryAllocation;
    struct runtime_allocation allocation = {
        .address = memory, .bytes = bytes, .kind = kind, .flags = flags};
    if (kind == MANAGED) allocation.advice = no_advice();
    cudart_remember(allocation);
    *pointer = memory;
    return cudaSuccess;
}

RUNTIME_WAITS(cudaHostAlloc, (void **pointer, size_t bytes, unsigned flags),
              IF(!(flags & ~(unsigned)HOST_FLAGS), cudaErrorInvalidValue,
                 allocate_host(pointer, bytes, PINNED, flags)))
RUNTIME_WAITS(cudaMallocHost, (void **pointer, size_t bytes),
              allocate_host(pointer, bytes, PINNED, cudaHostAllocDefault))
RUNTIME_WAITS(cudaMallocManaged, (void **pointer, size_t bytes, unsigned flags),
              IF(flags == cudaMemAttachGlobal || flags == cudaMemAttachHost, cudaErrorInvalidValue,
                 allocate_host(pointer, bytes, MANAGED, flags)))

RUNTIME_WAITS(cudaFreeHost, (void *pointer),
              IF(pointer != NULL, cudaSuccess,
                 cudart_done_free(cudart_forget(pointer, 1u << PINNED), pointer)))

WORK_OF(RUNTIME_WAITS, cudaHostRegister, (void *pointer, size_t bytes, unsigned flags),
        (pointer, bytes, flags))
{
    struct runtime_allocation allocation = {
        .address = pointer, .bytes = bytes, .kind = REGISTERED, .flags = flags};
    unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory |
                     cudaHostRegisterReadOnly;
    if (pointer == NULL || bytes == 0 || flags & ~known) return cudaErrorInvalidValue;
    if (cudart_is_reachable(pointer, 1)) return cudaErrorHostMemoryAlreadyRegistered;
    int error = cudart_map(pointer, bytes);
    if (error == EMU_OK) cudart_remember(allocation);
    return error;
}

WORK_OF(RUNTIME_WAITS, cudaHostUnregister, (void *pointer), (pointer))
{
    struct runtime_allocation found;
    int error = cudart_forget(pointer, 1u << REGISTERED);
    bool is_unknown = error == cudaErrorInvalidValue && !cudart_recall(pointer, &found);
    return is_unknown ? cudaErrorHostMemoryNotRegistered : error;
}

WORK_OF(RUNTIME, cudaHostGetDevicePointer, (void **device, void *host, unsigned flags),
        (device, host, flags))
{
    emu_addr base;
    size_t bytes;
    if (device == NULL || flags != 0 || cudart_owner(host) != NULL ||
        !emu_find(emu_runtime(), (emu_addr)host, &base, &bytes))
        return cudaErrorInvalidValue;
    *device = host;
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaHostGetFlags, (unsigned *flags, void *host), (flags, host))
{
    struct runtime_allocation allocation;
    if (flags == NULL || !cudart_recall(host, &allocation) || allocation.kind != PINNED)
        return cudaErrorInvalidValue;
    *flags = allocation.flags;
    return cudaSuccess;
}

/* ---- prefetching managed memory, and advice about its place ---------------------------------- */

/* Managed memory never moves here, so advice has no effect. It is kept for queries: one advice for
 * each allocation, while a GPU keeps one for each page. */

static bool is_location(const struct cudaMemLocation *where)
{
    switch (where->type) {
    case cudaMemLocationTypeDevice: return cudart_is_device(where->id);
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNuma:
    case cudaMemLocationTypeHostNumaCurrent: return true;
    default: return false;
    }
}

/* Do these bytes lie inside one piece of managed memory? Sets *advice to its advice, or to NULL for
 * a __managed__ variable, which has none. */
static bool is_managed(const void *pointer, size_t bytes, struct advice **advice)
{
    emu_addr base;
    size_t size;
    struct runtime_allocation allocation;
    *advice = NULL;
    if (cudart_owner(pointer) != NULL || bytes == 0 ||
        !emu_find(emu_runtime(), (emu_addr)pointer, &base, &size) ||
        bytes > size - ((emu_addr)pointer - base))
        return false;
    if (!cudart_recall((const void *)base, &allocation)) return true;
    *advice = allocation.advice;
    return allocation.kind == MANAGED;
}

WORK_OF(RUNTIME_PTSZ, cudaMemPrefetchAsync, (const void *pointer, size_t bytes,
        struct cudaMemLocation where, unsigned flags, cudaStream_t stream),
        (pointer, bytes, where, flags, stream))
{
    struct advice *advice;
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (cudart_is_capturing(stream)) return cudart_check_wait(stream);
    if (flags != 0 || !is_managed(pointer, bytes, &advice)) return cudaErrorInvalidValue;
    if (!is_location(&where)) return cudaErrorInvalidDevice;
    if (advice != NULL) advice->prefetched = where;
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaMemAdvise, (const void *pointer, size_t bytes, enum cudaMemoryAdvise what,
        struct cudaMemLocation where), (pointer, bytes, what, where))
{
    struct advice *advice, unkept;
    if (!is_managed(pointer, bytes, &advice)) return cudaErrorInvalidValue;
    if (advice == NULL) advice = &unkept;
    bool of_place = what != cudaMemAdviseSetReadMostly && what != cudaMemAdviseUnsetReadMostly &&
                    what != cudaMemAdviseUnsetPreferredLocation;
    if (of_place && !is_location(&where)) return cudaErrorInvalidDevice;
    bool on_device = where.type == cudaMemLocationTypeDevice;
    switch (what) {
    case cudaMemAdviseSetReadMostly: advice->read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: advice->read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: advice->preferred = where; break;
    case cudaMemAdviseUnsetPreferredLocation:
        advice->preferred = (struct cudaMemLocation){.id = cudaInvalidDeviceId};
        break;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        *(on_device ? &advice->by_device[where.id] : &advice->by_host) =
            what == cudaMemAdviseSetAccessedBy;
        break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The number by which older attributes name a place. */
static int number_of(const struct cudaMemLocation *where)
{
    return where->type == cudaMemLocationTypeDevice ? where->id
           : where->type == cudaMemLocationTypeHost ? cudaCpuDeviceId
                                                    : cudaInvalidDeviceId;
}

/* Writes the numbers of the devices that are said to access the memory, at most `room` of them, and
 * fills the rest with cudaInvalidDeviceId. */
static void tell_users(const struct advice *advice, int *numbers, size_t room)
{
    size_t count = 0;
    for (int i = 0; i < cudart_device_count() && count < room; i++)
        if (advice->by_device[i]) numbers[count++] = i;
    if (advice->by_host && count < room) numbers[count++] = cudaCpuDeviceId;
    while (count < room) numbers[count++] = cudaInvalidDeviceId;
}

WORK_OF(RUNTIME, cudaMemRangeGetAttribute, (void *data, size_t size,
        enum cudaMemRangeAttribute attribute, const void *pointer, size_t bytes),
        (data, size, attribute, pointer, bytes))
{
    const struct advice none = {.preferred.id = cudaInvalidDeviceId,
                                .prefetched.id = cudaInvalidDeviceId};
    struct advice *advice;
    if (data == NULL || size < sizeof(int) || size % sizeof(int) != 0 ||
        !is_managed(pointer, bytes, &advice))
        return cudaErrorInvalidValue;
    const struct advice *a = advice != NULL ? advice : &none;
    int *value = data;
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *value = a->read_mostly; break;
    case cudaMemRangeAttributePreferredLocation: *value = number_of(&a->preferred); break;
    case cudaMemRangeAttributeAccessedBy: tell_users(a, value, size / sizeof(int)); break;
    case cudaMemRangeAttributeLastPrefetchLocation: *value = number_of(&a->prefetched); break;
    case cudaMemRangeAttributePreferredLocationType: *value = a->preferred.type; break;
    case cudaMemRangeAttributePreferredLocationId: *value = a->preferred.id; break;
    case cudaMemRangeAttributeLastPrefetchLocationType: *value = a->prefetched.type; break;
    case cudaMemRangeAttributeLastPrefetchLocationId: *value = a->prefetched.id; break;
    default: return cudaErrorInvalidValue;
    }
    return cudaSuccess;
}

WORK_OF(RUNTIME_ANYWHERE, cudaMemRangeGetAttributes, (void **data, size_t *sizes,
        enum cudaMemRangeAttribute *attributes, size_t count, const void *pointer, size_t bytes),
        (data, sizes, attributes, count, pointer, bytes))
{
    if (data == NULL || sizes == NULL || attributes == NULL || count == 0)
        return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], pointer, bytes);
    return error;
}

/* Which stream uses the memory has no effect. */
WORK_OF(RUNTIME_PTSZ, cudaStreamAttachMemAsync, (cudaStream_t stream, void *pointer, size_t bytes,
        unsigned flags), (stream, pointer, bytes, flags))
{
    struct advice *advice;
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (cudart_is_capturing(stream)) return cudart_check_wait(stream);
    if (!is_managed(pointer, bytes > 0 ? bytes : 1, &advice) ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
         flags != cudaMemAttachSingle))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- memory that several processes share ----------------------------------------------------- */

/* As on a GPU, only memory of cudaMalloc can be shared, and a process cannot open a handle of its
 * own. Where CUDA's documentation leaves it open what happens if the other process frees the memory
 * or ends, the memory stays here until it is closed. */

_Static_assert(sizeof(cudaIpcMemHandle_t) == EMU_HANDLE_BYTES, "the size of a handle");

/* Protects the numbers of open handles, which the emulator keeps, and the table's entries. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Any address inside of an allocation means all of it. */
WORK_OF(RUNTIME, cudaIpcGetMemHandle, (cudaIpcMemHandle_t *handle, void *pointer),
        (handle, pointer))
{
    emu_addr base;
    size_t bytes;
    struct runtime_allocation allocation;
    const struct device *owner = cudart_owner(pointer);
    if (handle == NULL || owner == NULL ||
        !emu_find(owner->emu, (emu_addr)pointer, &base, &bytes) ||
        !cudart_recall((const void *)base, &allocation) || allocation.kind != DEVICE ||
        allocation.pool != NULL)
        return cudaErrorInvalidValue;
    return emu_export(owner->emu, base, handle);
}

/* Opens a handle and, if it was not open yet, remembers the memory. */
static int import(const cudaIpcMemHandle_t *handle, emu_addr *address)
{
    struct emu *emu = emu_runtime();
    int error = emu_import(emu, handle, address);
    if (error != EMU_OK || emu_imported(emu, *address) > 1) return error;
    cudart_remember((struct runtime_allocation){.address = (void *)*address, .kind = IMPORTED});
    return EMU_OK;
}

WORK_OF(RUNTIME, cudaIpcOpenMemHandle, (void **pointer, cudaIpcMemHandle_t handle, unsigned flags),
        (pointer, handle, flags))
{
    emu_addr address;
    if (pointer == NULL || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    int error = LOCKED(mutex, import(&handle, &address));
    if (error == EMU_OK) *pointer = (void *)address;
    return error;
}

WORK_OF(RUNTIME_WAITS, cudaIpcCloseMemHandle, (void *pointer), (pointer))
{
    const struct device *owner = cudart_owner(pointer);
    if (owner == NULL) return cudaErrorInvalidValue;
    return LOCKED(mutex, emu_imported(owner->emu, (emu_addr)pointer) == 1
                             ? cudart_forget(pointer, 1u << IMPORTED)
                             : emu_close_import(owner->emu, (emu_addr)pointer));
}

/* ---- attributes of pointers ------------------------------------------------------------------ */

WORK_OF(RUNTIME, cudaPointerGetAttributes, (struct cudaPointerAttributes *attributes,
        const void *pointer), (attributes, pointer))
{
    if (attributes == NULL) return cudaErrorInvalidValue;
    *attributes = (struct cudaPointerAttributes){.type = cudaMemoryTypeUnregistered, .device = -2};

    emu_addr base;
    size_t bytes;
    const struct device *owner = cudart_owner(pointer);
    struct emu *emu = owner != NULL ? owner->emu : emu_runtime();
    if (!emu_find(emu, (emu_addr)pointer, &base, &bytes)) {
        attributes->hostPointer = (void *)pointer;
        return cudaSuccess;
    }
    attributes->devicePointer = (void *)pointer;
    if (owner != NULL) {
        attributes->device = owner->number;
        attributes->type = cudaMemoryTypeDevice;
        return cudaSuccess;
    }
    struct runtime_allocation allocation = {.kind = MANAGED}; /* a __managed__ variable */
    cudart_recall((const void *)base, &allocation);
    attributes->device = allocation.device;
    attributes->type = allocation.kind == MANAGED ? cudaMemoryTypeManaged : cudaMemoryTypeHost;
    attributes->hostPointer = (void *)pointer;
    return cudaSuccess;
}
