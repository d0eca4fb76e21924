/*
 * graph_params.c — reading and changing the parameters of a graph's nodes.
 */
#include "graph.h"
#include "registered.h"

static cudaError_t set_node(cudaGraphNode_t node, const struct work *work, cudaError_t error)
{
    RETURN_IF_FAULTY();
    return cudart_done(cudart_set_work((struct node *)node, work, error));
}

/* The work of a node; NULL if the node does not have that type, or if there is no place for the
 * answer. */
static struct work *get(cudaGraphNode_t handle, enum cudaGraphNodeType type, const void *answer)
{
    struct node *node = (struct node *)handle;
    return node != NULL && answer != NULL && node->work.type == type ? &node->work : NULL;
}

#define RETURN_UNLESS_WORK(name, node, type, answer)                                               \
    RETURN_IF_FAULTY();                                                                            \
    struct work *name = get(node, type, answer);                                                   \
    if (name == NULL) return cudart_done(cudaErrorInvalidValue)

/* ---- kernels --------------------------------------------------------------------------------- */

/* The stub of a kernel. The program names a kernel by its stub, while the stub launches by a
 * handle. */
static void *stub_of(const void *host)
{
    pthread_mutex_lock(&cudart_registered.mutex);
    const struct kernel *kernel = cudart_find_kernel(host);
    pthread_mutex_unlock(&cudart_registered.mutex);
    return (void *)(kernel != NULL && kernel->host != NULL ? kernel->host : host);
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaKernelNodeParams *params)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeKernel, params);
    *params = (struct cudaKernelNodeParams){.func = stub_of(work->kernel.host),
                                            .gridDim = work->kernel.grid,
                                            .blockDim = work->kernel.block,
                                            .sharedMemBytes = (unsigned)work->kernel.shared,
                                            .kernelParams = work->kernel.args};
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaKernelNodeParams *params)
{
    struct work work;
    return set_node(node, &work, cudart_kernel_from(&work, params));
}

/* The attributes of launches that nodes have, too. One more can only be set. */
static const unsigned of_nodes =
    1u << cudaLaunchAttributeAccessPolicyWindow | 1u << cudaLaunchAttributeCooperative |
    1u << cudaLaunchAttributeClusterDimension |
    1u << cudaLaunchAttributeClusterSchedulingPolicyPreference | 1u << cudaLaunchAttributePriority |
    1u << cudaLaunchAttributeMemSyncDomainMap | 1u << cudaLaunchAttributeMemSyncDomain |
    1u << cudaLaunchAttributeDeviceUpdatableKernelNode |
    1u << cudaLaunchAttributePreferredSharedMemoryCarveout;
static const unsigned only_set = 1u << cudaLaunchAttributeNvlinkUtilCentricScheduling;

static bool is_among(cudaKernelNodeAttrID id, unsigned ids) { return id < 32 && ids >> id & 1; }

/* The cluster of the launch, or else as the kernel was compiled. */
static cudaError_t get_cluster(const struct kernel_work *kernel, cudaKernelNodeAttrValue *value)
{
    dim3 size = kernel->cluster;
    RETURN_UNLESS_FUNCTION(kernel->host, function);
    const unsigned *exact = emu_kernel_info(function->kernel)->cluster;
    if (size.x == 0) size = (dim3){exact[0], exact[1], exact[2]};
    value->clusterDim.x = size.x;
    value->clusterDim.y = size.y;
    value->clusterDim.z = size.z;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id,
                                                      cudaKernelNodeAttrValue *value)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeKernel, value);
    if (!is_among(id, of_nodes)) return cudart_done(cudaErrorInvalidValue);
    *value = (cudaKernelNodeAttrValue){0};
    switch (id) {
    case cudaLaunchAttributeCooperative: value->cooperative = work->kernel.cooperative; break;
    case cudaLaunchAttributePriority: value->priority = work->kernel.priority; break;
    case cudaLaunchAttributeClusterDimension: return get_cluster(&work->kernel, value);
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
        value->clusterSchedulingPolicyPreference = cudaClusterSchedulingPolicySpread;
        break;
    case cudaLaunchAttributeMemSyncDomainMap: value->memSyncDomainMap.remote = 1; break;
    default: break;
    }
    return cudaSuccess;
}

/* Attributes that only affect speed are not kept. */
cudaError_t CUDARTAPI cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaKernelNodeAttrID id,
                                                      const cudaKernelNodeAttrValue *value)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeKernel, value);
    if (!is_among(id, of_nodes | only_set)) return cudart_done(cudaErrorInvalidValue);
    if (id == cudaLaunchAttributeCooperative) work->kernel.cooperative = value->cooperative != 0;
    if (id == cudaLaunchAttributePriority) work->kernel.priority = value->priority;
    if (id == cudaLaunchAttributeClusterDimension)
        work->kernel.cluster =
            (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from)
{
    RETURN_UNLESS_WORK(source, from, cudaGraphNodeTypeKernel, from);
    RETURN_UNLESS_WORK(target, to, cudaGraphNodeTypeKernel, to);
    target->kernel.cooperative = source->kernel.cooperative;
    target->kernel.priority = source->kernel.priority;
    target->kernel.cluster = source->kernel.cluster;
    return cudaSuccess;
}

/* ---- copies and fills ------------------------------------------------------------------------ */

cudaError_t CUDARTAPI cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemcpy3DParms *params)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeMemcpy, params);
    *params = work->copy;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemcpy3DParms *params)
{
    struct work work;
    return set_node(node, &work, cudart_copy_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to,
                                                     const void *from, size_t bytes,
                                                     enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = cudart_plain_copy(to, from, bytes, kind);
    return cudaGraphMemcpyNodeSetParams(node, &copy);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                           const void *from, size_t bytes,
                                                           size_t offset, enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                             const void *symbol, size_t bytes,
                                                             size_t offset,
                                                             enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                   struct cudaMemsetParams *params)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeMemset, params);
    *params = work->fill;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                   const struct cudaMemsetParams *params)
{
    struct work work;
    return set_node(node, &work, cudart_fill_from(&work, params));
}

/* ---- the others ------------------------------------------------------------------------------ */

cudaError_t CUDARTAPI cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                                 struct cudaHostNodeParams *params)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeHost, params);
    *params = work->host;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                                 const struct cudaHostNodeParams *params)
{
    struct work work;
    return set_node(node, &work, cudart_host_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *child)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeGraph, child);
    *child = (cudaGraph_t)work->child;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeEventRecord, event);
    *event = work->event;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    struct work work;
    return set_node(node, &work, cudart_event_from(&work, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeWaitEvent, event);
    *event = work->event;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    struct work work;
    return set_node(node, &work, cudart_event_from(&work, cudaGraphNodeTypeWaitEvent, event));
}

cudaError_t CUDARTAPI cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                     struct cudaMemAllocNodeParams *params)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeMemAlloc, params);
    *params = (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = work->device}},
        .bytesize = cudart_graph_memory_bytes(work->memory),
        .dptr = cudart_graph_memory_address(work->memory)};
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *address)
{
    RETURN_UNLESS_WORK(work, node, cudaGraphNodeTypeMemFree, address);
    *(void **)address = cudart_graph_memory_address(work->memory);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeSetParams(cudaGraphNode_t node,
                                             struct cudaGraphNodeParams *params)
{
    struct work work;
    return set_node(node, &work, cudart_work_from(&work, params));
}
