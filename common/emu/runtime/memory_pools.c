/*
 * memory_pools.c — allocating from memory pools in stream order, which here means at once.
 */
#include "capture.h"
#include "graph.h"
#include "allocations.h"
#include "order.h"
#include "pool.h"
#include "common/emu/machine/address_table.h"

static struct memory_pool defaults[MAX_DEVICES];
static struct memory_pool *current[MAX_DEVICES]; /* cudaDeviceSetMemPool; NULL: the default */
static struct address_table pools;        /* those that the program has made */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void cudart_pool_prepare(struct memory_pool *pool, int device)
{
    *pool = (struct memory_pool){.device = device, .reuse = {1, 1, 1}};
    pool->access[device] = cudaMemAccessFlagsProtReadWrite;
}

static void prepare_defaults(void)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        cudart_pool_prepare(&defaults[i], i);
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

struct memory_pool *cudart_pool_find(cudaMemPool_t handle)
{
    struct memory_pool *pool = (struct memory_pool *)handle;
    for (int i = 0; i < cudart_device_count(); i++)
        if (pool == default_pool(i)) return pool;
    pthread_mutex_lock(&mutex);
    struct memory_pool *made = address_table_find(&pools, (uint64_t)pool);
    pthread_mutex_unlock(&mutex);
    return made;
}

bool cudart_pool_add(struct memory_pool *pool)
{
    pthread_mutex_lock(&mutex);
    bool added = address_table_set(&pools, (uint64_t)pool, pool);
    pthread_mutex_unlock(&mutex);
    return added;
}

bool cudart_pool_remove(struct memory_pool *pool)
{
    pthread_mutex_lock(&mutex);
    address_table_remove(&pools, (uint64_t)pool);
    if (current[pool->device] == pool) current[pool->device] = NULL;
    bool is_unused = pool->used == 0;
    pthread_mutex_unlock(&mutex);
    return is_unused;
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

static void trim(struct memory_pool *pool, uint64_t keep)
{
    if (keep < pool->used) keep = pool->used;
    if (pool->reserved > keep) pool->reserved = keep;
}

void cudart_pool_trim(struct memory_pool *pool, uint64_t keep)
{
    pthread_mutex_lock(&mutex);
    trim(pool, keep);
    pthread_mutex_unlock(&mutex);
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
    if (work.memory == NULL) return cudart_done(cudaErrorMemoryAllocation);
    cudaError_t error = cudart_submit(stream, &work);
    if (error == cudaSuccess) *pointer = cudart_graph_memory_address(work.memory);
    cudart_graph_memory_drop(work.memory); /* the node has its own reference */
    return error;
}

static cudaError_t allocate(void **pointer, size_t bytes, struct memory_pool *pool,
                            cudaStream_t stream)
{
    int was = cudart_use_device(pool->device);
    bool captured = cudart_is_capturing(stream);
    cudaError_t error = captured ? capture(pointer, bytes, stream)
                                 : cudart_done(cudart_allocate(pointer, bytes, pool));
    if (error == cudaSuccess && !captured) cudart_order_alloc(stream, *pointer, bytes);
    cudart_use_device(was);
    return error;
}

cudaError_t CUDARTAPI cudaMallocFromPoolAsync(void **pointer, size_t bytes, cudaMemPool_t handle,
                                              cudaStream_t stream)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return allocate(pointer, bytes, pool, stream);
}

cudaError_t CUDARTAPI cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (pointer == NULL) return cudart_done(cudaErrorInvalidValue);
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    return allocate(pointer, bytes, current_pool(cudart_stream_device(stream)), stream);
}

cudaError_t CUDARTAPI cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    if (pointer == NULL) return cudaSuccess;
    struct work work = {.type = cudaGraphNodeTypeMemFree};
    work.memory = cudart_graph_memory_at(pointer);
    if (work.memory != NULL) return cudart_submit(stream, &work);
    if (cudart_is_capturing(stream))
        return cudart_done(cudaErrorInvalidValue); /* not a graph's memory */
    cudart_order_free(stream, pointer);
    return cudart_done_free(cudart_forget(pointer, 1u << DEVICE), pointer);
}

/* ---- each device's --------------------------------------------------------------------------- */

static cudaError_t tell(cudaMemPool_t *handle, int device, bool by_default)
{
    RETURN_IF_FAULTY();
    if (handle == NULL) return cudart_done(cudaErrorInvalidValue);
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    *handle = (cudaMemPool_t)(by_default ? default_pool(device) : current_pool(device));
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaDeviceGetDefaultMemPool(cudaMemPool_t *handle, int device)
{
    return tell(handle, device, true);
}

cudaError_t CUDARTAPI cudaDeviceGetMemPool(cudaMemPool_t *handle, int device)
{
    return tell(handle, device, false);
}

cudaError_t CUDARTAPI cudaDeviceSetMemPool(int device, cudaMemPool_t handle)
{
    RETURN_UNLESS_POOL(handle, pool);
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    if (pool->device != device) return cudart_done(cudaErrorInvalidValue);
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

cudaError_t CUDARTAPI cudaMemGetDefaultMemPool(cudaMemPool_t *handle,
                                               struct cudaMemLocation *location,
                                               enum cudaMemAllocationType type)
{
    cudaError_t error = check_place(location, type);
    return error != cudaSuccess ? cudart_done(error) : tell(handle, location->id, true);
}

cudaError_t CUDARTAPI cudaMemGetMemPool(cudaMemPool_t *handle, struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type)
{
    cudaError_t error = check_place(location, type);
    return error != cudaSuccess ? cudart_done(error) : tell(handle, location->id, false);
}

cudaError_t CUDARTAPI cudaMemSetMemPool(struct cudaMemLocation *location,
                                        enum cudaMemAllocationType type, cudaMemPool_t handle)
{
    cudaError_t error = check_place(location, type);
    return error != cudaSuccess ? cudart_done(error) : cudaDeviceSetMemPool(location->id, handle);
}

ALSO_PTSZ(cudaMallocAsync);
ALSO_PTSZ(cudaMallocFromPoolAsync);
ALSO_PTSZ(cudaFreeAsync);
