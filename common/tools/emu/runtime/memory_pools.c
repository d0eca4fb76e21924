/* memory_pools.c — memory pools. */
#include "graph.h"

/* ---- a memory pool, which only counts bytes -------------------------------------------------- */

/* The memory that it holds in reserve (cudaMemPoolAttrReleaseThreshold) is in fact free. */

struct memory_pool {
    int device;
    bool is_default;
    int reuse[3]; /* the first three attributes, kept without effect */
    uint64_t threshold, reserved, reserved_high, used, used_high;
    enum cudaMemAccessFlags access[MAX_DEVICES];
};

/* The work, if there is such a pool, which it calls `pool`. */
#define WITH_POOL(handle, work)                                                                    \
    ({                                                                                             \
        struct memory_pool *pool = find(handle);                                       \
        IF(pool != NULL, cudaErrorInvalidValue, work);                                             \
    })

/* ---- allocating from memory pools in stream order, which here means at once ------------------ */

static struct memory_pool defaults[MAX_DEVICES];
static struct memory_pool *current[MAX_DEVICES]; /* cudaDeviceSetMemPool; NULL: the default */
static struct handles pools = NO_HANDLES; /* those that the program has made */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Initialises a pool of a device. */
static void prepare(struct memory_pool *pool, int device)
{
    *pool = (struct memory_pool){.device = device, .reuse = {1, 1, 1}};
    pool->access[device] = cudaMemAccessFlagsProtReadWrite;
}

static void prepare_defaults(void)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        prepare(&defaults[i], i);
        defaults[i].is_default = true;
    }
}

static struct memory_pool *default_pool(int device)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_defaults);
    return &defaults[device];
}

static struct memory_pool *current_pool(int device)
{
    return current[device] != NULL ? current[device] : default_pool(device);
}

/* The pool of a handle; NULL if the handle is not a pool. */
static struct memory_pool *find(cudaMemPool_t handle)
{
    struct memory_pool *pool = (struct memory_pool *)handle;
    for (int i = 0; i < cudart_device_count(); i++)
        if (pool == default_pool(i)) return pool;
    return cudart_handles_find(&pools, pool);
}

/* ---- allocating ------------------------------------------------------------------------------ */

void cudart_pool_take(struct memory_pool *pool, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    pool->used += bytes;
    if (pool->used > pool->reserved) pool->reserved = pool->used;
    if (pool->used > pool->used_high) pool->used_high = pool->used;
    if (pool->reserved > pool->reserved_high) pool->reserved_high = pool->reserved;
    pthread_mutex_unlock(&mutex);
}

/* Reduces the reserve to at most `keep` bytes. */
static cudaError_t trim(struct memory_pool *pool, uint64_t keep)
{
    if (keep < pool->used) keep = pool->used;
    if (pool->reserved > keep) pool->reserved = keep;
    return cudaSuccess;
}

void cudart_pool_give(struct memory_pool *pool, size_t bytes)
{
    pthread_mutex_lock(&mutex);
    pool->used -= bytes;
    trim(pool, pool->threshold);
    pthread_mutex_unlock(&mutex);
}

/* In a stream that is captured, an allocation becomes a node of the graph. */
static cudaError_t capture(void **pointer, size_t bytes, cudaStream_t stream)
{
    struct work work = {.type = cudaGraphNodeTypeMemAlloc};
    work.memory = cudart_graph_memory_new(bytes);
    if (work.memory == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudart_submit(stream, &work);
    if (error == cudaSuccess) *pointer = cudart_graph_memory_address(work.memory);
    cudart_graph_memory_drop(work.memory); /* the node has its own reference */
    return error;
}

/* In the stream's device's pool, if it gives no other one. */
static cudaError_t allocate(void **pointer, size_t bytes, struct memory_pool *pool,
                            cudaStream_t stream)
{
    if (pointer == NULL) return cudaErrorInvalidValue;
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (pool == NULL) pool = current_pool(cudart_stream_device(stream));
    int was = cudart_use_device(pool->device);
    bool captured = cudart_is_capturing(stream);
    cudaError_t error = captured ? capture(pointer, bytes, stream)
                                 : cudart_allocate(pointer, bytes, pool);
    if (error == cudaSuccess && !captured) cudart_order_alloc(stream, *pointer, bytes);
    cudart_use_device(was);
    return error;
}

WORK_OF(RUNTIME_PTSZ, cudaFreeAsync, (void *pointer, cudaStream_t stream), (pointer, stream))
{
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    if (pointer == NULL) return cudaSuccess;
    struct work work = {.type = cudaGraphNodeTypeMemFree};
    work.memory = cudart_graph_memory_at(pointer);
    if (work.memory != NULL) return cudart_submit(stream, &work);
    if (cudart_is_capturing(stream)) return cudaErrorInvalidValue; /* not a graph's memory */
    cudart_order_free(stream, pointer);
    return cudart_done_free(cudart_forget(pointer, 1u << DEVICE), pointer);
}

/* ---- each device's --------------------------------------------------------------------------- */

static cudaError_t tell(cudaMemPool_t *handle, int device, bool by_default)
{
    if (handle == NULL) return cudaErrorInvalidValue;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    *handle = (cudaMemPool_t)(by_default ? default_pool(device) : current_pool(device));
    return cudaSuccess;
}

static cudaError_t choose(int device, struct memory_pool *pool)
{
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    if (pool->device != device) return cudaErrorInvalidValue;
    current[device] = pool;
    return cudaSuccess;
}

/* CUDA 13 describes a place by its type and number. Only devices have pools here. */
static cudaError_t check_place(const struct cudaMemLocation *location,
                               enum cudaMemAllocationType type)
{
    if (location == NULL) return cudaErrorInvalidValue;
    if (location->type == cudaMemLocationTypeDevice && type == cudaMemAllocationTypePinned)
        return cudaSuccess;
    return cudart_not_supported("a memory pool on the host, or of managed memory",
                                "use a pool of a device, or cudaMallocHost or cudaMallocManaged");
}

#define AT_PLACE(work)                                                                             \
    ({                                                                                             \
        cudaError_t error = check_place(location, type);                                           \
        IF(error == cudaSuccess, error, work);                                                     \
    })

/* clang-format off */
RUNTIME_PTSZ(cudaMallocFromPoolAsync, (void **pointer, size_t bytes, cudaMemPool_t handle,
             cudaStream_t stream),
             WITH_POOL(handle, allocate(pointer, bytes, pool, stream)))
RUNTIME_PTSZ(cudaMallocAsync, (void **pointer, size_t bytes, cudaStream_t stream),
             allocate(pointer, bytes, NULL, stream))
RUNTIME(cudaDeviceGetDefaultMemPool, (cudaMemPool_t *handle, int device),
        tell(handle, device, true))
RUNTIME(cudaDeviceGetMemPool, (cudaMemPool_t *handle, int device), tell(handle, device, false))
RUNTIME(cudaDeviceSetMemPool, (int device, cudaMemPool_t handle),
        WITH_POOL(handle, choose(device, pool)))
RUNTIME(cudaMemGetDefaultMemPool, (cudaMemPool_t *handle, struct cudaMemLocation *location,
        enum cudaMemAllocationType type),
        AT_PLACE(tell(handle, location->id, true)))
RUNTIME(cudaMemGetMemPool, (cudaMemPool_t *handle, struct cudaMemLocation *location,
        enum cudaMemAllocationType type),
        AT_PLACE(tell(handle, location->id, false)))
RUNTIME(cudaMemSetMemPool, (struct cudaMemLocation *location, enum cudaMemAllocationType type,
        cudaMemPool_t handle),
        AT_PLACE(WITH_POOL(handle, choose(location->id, pool))))
/* clang-format on */

/* ---- making and querying memory pools, and access to their memory ---------------------------- */

/* A device with access to a pool may access the whole memory of the pool's device. */

WORK_OF(RUNTIME, cudaMemPoolCreate, (cudaMemPool_t *handle,
        const struct cudaMemPoolProps *properties), (handle, properties))
{
    if (handle == NULL || properties == NULL ||
        properties->allocType != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    if (properties->handleTypes != cudaMemHandleTypeNone ||
        properties->location.type != cudaMemLocationTypeDevice)
        return cudart_not_supported("a memory pool on the host, or shared with other processes",
                                    "use a pool of a device, for this process alone");
    int device = properties->location.id;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    struct memory_pool *pool = allocated(malloc(sizeof *pool));
    prepare(pool, device);
    cudart_handles_set(&pools, pool, pool);
    *handle = (cudaMemPool_t)pool;
    return cudaSuccess;
}

/* Memory that is still allocated remains valid. Then the pool is kept, because its counts are
 * needed. */
static cudaError_t destroy(struct memory_pool *pool)
{
    if (pool->is_default) return cudaErrorInvalidValue;
    cudart_handles_take(&pools, pool);
    pthread_mutex_lock(&mutex);
    if (current[pool->device] == pool) current[pool->device] = NULL;
    bool is_unused = pool->used == 0;
    pthread_mutex_unlock(&mutex);
    if (is_unused) free(pool);
    return cudaSuccess;
}

RUNTIME(cudaMemPoolDestroy, (cudaMemPool_t handle), WITH_POOL(handle, destroy(pool)))
RUNTIME(cudaMemPoolTrimTo, (cudaMemPool_t handle, size_t keep),
        WITH_POOL(handle, LOCKED(mutex, trim(pool, keep))))

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

static cudaError_t get_attribute(struct memory_pool *pool, enum cudaMemPoolAttr attribute,
                                 void *value)
{
    const uint64_t *wide = wide_attribute(pool, attribute);
    if (value == NULL || (wide == NULL && !is_reuse(attribute))) return cudaErrorInvalidValue;
    if (wide != NULL)
        *(uint64_t *)value = *wide;
    else
        *(int *)value = pool->reuse[attribute - cudaMemPoolReuseFollowEventDependencies];
    return cudaSuccess;
}

/* High-water marks can only be set to 0, which sets them to the current use. */
static cudaError_t set_attribute(struct memory_pool *pool, enum cudaMemPoolAttr attribute,
                                 const void *value)
{
    if (value == NULL) return cudaErrorInvalidValue;
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
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- access ---------------------------------------------------------------------------------- */

static cudaError_t set_access(struct memory_pool *pool,
                              const struct cudaMemAccessDesc *descriptions, size_t count)
{
    if (count > 0 && descriptions == NULL) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        int device = descriptions[i].location.id;
        bool allowed = descriptions[i].flags != cudaMemAccessFlagsProtNone;
        if (descriptions[i].location.type != cudaMemLocationTypeDevice ||
            !cudart_is_device(device) || (device == pool->device && !allowed))
            return cudaErrorInvalidValue;
        pool->access[device] = descriptions[i].flags;
        if (device != pool->device)
            emu_set_peer(cudart_device_at(device)->emu, cudart_device_at(pool->device)->emu,
                         allowed || cudart_device_at(device)->peer_enabled[pool->device]);
    }
    return cudaSuccess;
}

static cudaError_t get_access(const struct memory_pool *pool, enum cudaMemAccessFlags *flags,
                              const struct cudaMemLocation *location)
{
    if (location == NULL || location->type != cudaMemLocationTypeDevice ||
        !cudart_is_device(location->id))
        return cudaErrorInvalidValue;
    return TELL(flags, pool->access[location->id]);
}

/* clang-format off */
RUNTIME(cudaMemPoolGetAttribute, (cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
        void *value),
        WITH_POOL(handle, get_attribute(pool, attribute, value)))
RUNTIME(cudaMemPoolSetAttribute, (cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
        void *value),
        WITH_POOL(handle, set_attribute(pool, attribute, value)))
RUNTIME(cudaMemPoolSetAccess, (cudaMemPool_t handle, const struct cudaMemAccessDesc *descriptions,
        size_t count),
        WITH_POOL(handle, set_access(pool, descriptions, count)))
RUNTIME(cudaMemPoolGetAccess, (enum cudaMemAccessFlags *flags, cudaMemPool_t handle,
        struct cudaMemLocation *location),
        WITH_POOL(handle, get_access(pool, flags, location)))
/* clang-format on */
