/*
 * allocate.c — prefetching managed memory, and advice about its place.
 *
 * Managed memory never moves here, so advice has no effect. It is kept for queries: one advice for
 * each allocation, while a GPU keeps one for each page.
 */
#include "capture.h"
#include "allocations.h"

static bool is_location(const struct cudaMemLocation *where)
{
    switch (where->type) {
    case cudaMemLocationTypeDevice: return where->id >= 0 && where->id < cudart_device_count();
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

cudaError_t CUDARTAPI cudaMemPrefetchAsync(const void *pointer, size_t bytes,
                                           struct cudaMemLocation where, unsigned flags,
                                           cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    struct advice *advice;
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    if (cudart_is_capturing(stream)) return cudart_done(cudart_check_wait(stream));
    if (flags != 0 || !is_managed(pointer, bytes, &advice))
        return cudart_done(cudaErrorInvalidValue);
    if (!is_location(&where)) return cudart_done(cudaErrorInvalidDevice);
    if (advice != NULL) advice->prefetched = where;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemAdvise(const void *pointer, size_t bytes, enum cudaMemoryAdvise what,
                                    struct cudaMemLocation where)
{
    RETURN_IF_FAULTY();
    struct advice *advice, unkept;
    if (!is_managed(pointer, bytes, &advice)) return cudart_done(cudaErrorInvalidValue);
    if (advice == NULL) advice = &unkept;
    bool of_place = what != cudaMemAdviseSetReadMostly && what != cudaMemAdviseUnsetReadMostly &&
                    what != cudaMemAdviseUnsetPreferredLocation;
    if (of_place && !is_location(&where)) return cudart_done(cudaErrorInvalidDevice);
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
    default: return cudart_done(cudaErrorInvalidValue);
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

cudaError_t CUDARTAPI cudaMemRangeGetAttribute(void *data, size_t size,
                                               enum cudaMemRangeAttribute attribute,
                                               const void *pointer, size_t bytes)
{
    RETURN_IF_FAULTY();
    const struct advice none = {.preferred.id = cudaInvalidDeviceId,
                                .prefetched.id = cudaInvalidDeviceId};
    struct advice *advice;
    if (data == NULL || size < sizeof(int) || size % sizeof(int) != 0 ||
        !is_managed(pointer, bytes, &advice))
        return cudart_done(cudaErrorInvalidValue);
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
    default: return cudart_done(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemRangeGetAttributes(void **data, size_t *sizes,
                                                enum cudaMemRangeAttribute *attributes,
                                                size_t count, const void *pointer, size_t bytes)
{
    if (data == NULL || sizes == NULL || attributes == NULL || count == 0)
        return cudart_done(cudaErrorInvalidValue);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemRangeGetAttribute(data[i], sizes[i], attributes[i], pointer, bytes);
    return error;
}

/* Which stream uses the memory has no effect. */
cudaError_t CUDARTAPI cudaStreamAttachMemAsync(cudaStream_t stream, void *pointer, size_t bytes,
                                               unsigned flags)
{
    RETURN_IF_FAULTY();
    struct advice *advice;
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    if (cudart_is_capturing(stream)) return cudart_done(cudart_check_wait(stream));
    if (!is_managed(pointer, bytes > 0 ? bytes : 1, &advice) ||
        (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost &&
         flags != cudaMemAttachSingle))
        return cudart_done(cudaErrorInvalidValue);
    return cudaSuccess;
}

ALSO_PTSZ(cudaMemPrefetchAsync);
ALSO_PTSZ(cudaStreamAttachMemAsync);
