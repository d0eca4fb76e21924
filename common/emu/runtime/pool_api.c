/*
 * pool_api.c — making and querying memory pools, and access to their memory.
 *
 * A device with access to a pool may access the whole memory of the pool's device.
 */
#include "pool.h"

#include <stdlib.h>

cudaError_t CUDARTAPI cudaMemPoolCreate(cudaMemPool_t *handle,
                                        const struct cudaMemPoolProps *properties)
{
    RETURN_IF_FAULTY();
    if (handle == NULL || properties == NULL ||
        properties->allocType != cudaMemAllocationTypePinned)
        return cudart_done(cudaErrorInvalidValue);
    if (properties->handleTypes != cudaMemHandleTypeNone ||
        properties->location.type != cudaMemLocationTypeDevice)
        return cudart_done(
            cudart_not_supported("a memory pool on the host, or shared with other processes",
                                 "use a pool of a device, for this process alone"));
    int device = properties->location.id;
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    struct memory_pool *pool = malloc(sizeof *pool);
    if (pool == NULL) return cudart_done(cudaErrorMemoryAllocation);
    cudart_pool_prepare(pool, device);
    if (!cudart_pool_add(pool)) {
        free(pool);
        return cudart_done(cudaErrorMemoryAllocation);
    }
    *handle = (cudaMemPool_t)pool;
    return cudaSuccess;
}

/* Memory that is still allocated remains valid. Then the pool is kept, because its counts are
 * needed. */
cudaError_t CUDARTAPI cudaMemPoolDestroy(cudaMemPool_t handle)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (pool->is_default) return cudart_done(cudaErrorInvalidValue);
    if (cudart_pool_remove(pool)) free(pool);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep)
{
    RETURN_UNLESS_POOL(handle, pool);
    cudart_pool_trim(pool, keep);
    return cudaSuccess;
}

/* The place of a 64-bit attribute; NULL: the attribute is not one. */
static uint64_t *wide_attribute(struct memory_pool *pool, enum cudaMemPoolAttr attribute)
{
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold: return &pool->threshold;
    case cudaMemPoolAttrReservedMemCurrent: return &pool->reserved;
    case cudaMemPoolAttrReservedMemHigh: return &pool->reserved_high;
    case cudaMemPoolAttrUsedMemCurrent: return &pool->used;
    case cudaMemPoolAttrUsedMemHigh: return &pool->used_high;
    default: return NULL;
    }
}

static bool is_reuse(enum cudaMemPoolAttr attribute)
{
    return attribute >= cudaMemPoolReuseFollowEventDependencies &&
           attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

cudaError_t CUDARTAPI cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
                                              void *value)
{
    RETURN_UNLESS_POOL(handle, pool);
    const uint64_t *wide = wide_attribute(pool, attribute);
    if (value == NULL || (wide == NULL && !is_reuse(attribute)))
        return cudart_done(cudaErrorInvalidValue);
    if (wide != NULL)
        *(uint64_t *)value = *wide;
    else
        *(int *)value = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
    return cudaSuccess;
}

/* High-water marks can only be set to 0, which sets them to the current use. */
cudaError_t CUDARTAPI cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
                                              void *value)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (value == NULL) return cudart_done(cudaErrorInvalidValue);
    if (is_reuse(attribute)) {
        pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies] = *(const int *)value;
        return cudaSuccess;
    }
    uint64_t wide = *(const uint64_t *)value;
    bool is_high =
        attribute == cudaMemPoolAttrReservedMemHigh || attribute == cudaMemPoolAttrUsedMemHigh;
    if (attribute == cudaMemPoolAttrReleaseThreshold)
        pool->threshold = wide;
    else if (is_high && wide == 0)
        *wide_attribute(pool, attribute) =
            attribute == cudaMemPoolAttrUsedMemHigh ? pool->used : pool->reserved;
    else
        return cudart_done(cudaErrorInvalidValue);
    return cudaSuccess;
}

/* ---- access ---------------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaMemPoolSetAccess(cudaMemPool_t handle,
                                           const struct cudaMemAccessDesc *descriptions,
                                           size_t count)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (count > 0 && descriptions == NULL) return cudart_done(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        int device = descriptions[i].location.id;
        bool allowed = descriptions[i].flags != cudaMemAccessFlagsProtNone;
        if (descriptions[i].location.type != cudaMemLocationTypeDevice || device < 0 ||
            device >= cudart_device_count() || (device == pool->device && !allowed))
            return cudart_done(cudaErrorInvalidValue);
        pool->access[device] = descriptions[i].flags;
        if (device != pool->device)
            emu_set_peer(cudart_device_at(device)->emu, cudart_device_at(pool->device)->emu,
                         allowed || cudart_device_at(device)->peer_enabled[pool->device]);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
                                           struct cudaMemLocation *location)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (flags == NULL || location == NULL || location->type != cudaMemLocationTypeDevice ||
        location->id < 0 || location->id >= cudart_device_count())
        return cudart_done(cudaErrorInvalidValue);
    *flags = pool->access[location->id];
    return cudaSuccess;
}
