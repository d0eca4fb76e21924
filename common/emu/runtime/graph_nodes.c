/*
 * graph_nodes.c — adding nodes of each kind to a graph, and changing their parameters.
 */
#include "graph.h"

#include <string.h>

/* ---- from parameters to work ----------------------------------------------------------------- */

cudaError_t cudart_kernel_from(struct work *work, const struct cudaKernelNodeParams *params)
{
    if (params == NULL || params->extra != NULL) return cudaErrorInvalidValue;
    *work = (struct work){.type = cudaGraphNodeTypeKernel, .device = cudart_device()->number};
    work->kernel = (struct kernel_work){.host = params->func,
                                        .grid = params->gridDim,
                                        .block = params->blockDim,
                                        .shared = params->sharedMemBytes,
                                        .args = params->kernelParams};
    struct function *function;
    return cudart_check_kernel(&work->kernel, &function);
}

cudaError_t cudart_copy_from(struct work *work, const struct cudaMemcpy3DParms *params)
{
    if (params == NULL) return cudaErrorInvalidValue;
    *work = (struct work){
        .type = cudaGraphNodeTypeMemcpy, .device = cudart_device()->number, .copy = *params};
    return cudart_check_copy(params);
}

cudaError_t cudart_fill_from(struct work *work, const struct cudaMemsetParams *params)
{
    if (params == NULL) return cudaErrorInvalidValue;
    *work = (struct work){
        .type = cudaGraphNodeTypeMemset, .device = cudart_device()->number, .fill = *params};
    return cudart_check_fill(params);
}

cudaError_t cudart_host_from(struct work *work, const struct cudaHostNodeParams *params)
{
    if (params == NULL || params->fn == NULL) return cudaErrorInvalidValue;
    *work = (struct work){
        .type = cudaGraphNodeTypeHost, .device = cudart_device()->number, .host = *params};
    return cudaSuccess;
}

cudaError_t cudart_child_from(struct work *work, cudaGraph_t child)
{
    *work = (struct work){.type = cudaGraphNodeTypeGraph,
                          .device = cudart_device()->number,
                          .child = cudart_graph(child)};
    return work->child != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudart_event_from(struct work *work, enum cudaGraphNodeType type, cudaEvent_t event)
{
    *work = (struct work){.type = type, .device = cudart_device()->number, .event = event};
    return cudart_find(event, EVENT) != NULL ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* The parameters of an older and of a newer function differ in name only. */
cudaError_t cudart_work_from(struct work *work, const struct cudaGraphNodeParams *params)
{
    if (params == NULL) return cudaErrorInvalidValue;
    switch (params->type) {
    case cudaGraphNodeTypeKernel:
        return cudart_kernel_from(work, (const struct cudaKernelNodeParams *)&params->kernel);
    case cudaGraphNodeTypeMemcpy: return cudart_copy_from(work, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return cudart_fill_from(work, (const struct cudaMemsetParams *)&params->memset);
    case cudaGraphNodeTypeHost:
        return cudart_host_from(work, (const struct cudaHostNodeParams *)&params->host);
    case cudaGraphNodeTypeGraph: return cudart_child_from(work, params->graph.graph);
    case cudaGraphNodeTypeEmpty: *work = (struct work){.type = params->type}; return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        return cudart_event_from(work, params->type, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return cudart_event_from(work, params->type, params->eventWait.event);
    case cudaGraphNodeTypeConditional:
        return cudaErrorInvalidValue; /* it has no parameters to set */
    default:
        return cudart_not_supported("a graph's node of this type",
                                    "make nodes for kernels, copies, fills, host functions, events "
                                    "and child graphs alone");
    }
}

cudaError_t cudart_set_work(struct node *node, const struct work *work, cudaError_t error)
{
    struct work copy;
    if (error != cudaSuccess) return error;
    if (node == NULL || node->work.type != work->type) return cudaErrorInvalidValue;
    if (!cudart_graph_may_have(node->graph, work)) return cudaErrorInvalidValue;
    error = cudart_copy_work(&copy, work);
    if (error != cudaSuccess) return error;
    cudart_own(node->graph, &copy);
    if (work->type == cudaGraphNodeTypeKernel) { /* keep the attributes */
        copy.kernel.cooperative = node->work.kernel.cooperative;
        copy.kernel.priority = node->work.kernel.priority;
        copy.kernel.cluster = node->work.kernel.cluster;
    }
    cudart_free_work(&node->work);
    node->work = copy;
    return cudaSuccess;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Adds a node. `error` is the result of making the work, and is returned if it failed. */
static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t handle, const cudaGraphNode_t *needs,
                       size_t count, const struct work *work, cudaError_t error)
{
    RETURN_IF_FAULTY();
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || node == NULL || (count > 0 && needs == NULL))
        return cudart_done(cudaErrorInvalidValue);
    if (error == cudaSuccess)
        error =
            cudart_add_node(graph, work, (struct node *const *)needs, count, (struct node **)node);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *needs, size_t count,
                                             const struct cudaKernelNodeParams *params)
{
    struct work work;
    return add(node, graph, needs, count, &work, cudart_kernel_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *needs, size_t count,
                                             const struct cudaMemcpy3DParms *params)
{
    struct work work;
    return add(node, graph, needs, count, &work, cudart_copy_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *needs, size_t count, void *to,
                                               const void *from, size_t bytes,
                                               enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = cudart_plain_copy(to, from, bytes, kind);
    return cudaGraphAddMemcpyNode(node, graph, needs, count, &copy);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                     const cudaGraphNode_t *needs, size_t count,
                                                     const void *symbol, const void *from,
                                                     size_t bytes, size_t offset,
                                                     enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphAddMemcpyNode1D(node, graph, needs, count, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                       const cudaGraphNode_t *needs, size_t count,
                                                       void *to, const void *symbol, size_t bytes,
                                                       size_t offset, enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphAddMemcpyNode1D(node, graph, needs, count, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *needs, size_t count,
                                             const struct cudaMemsetParams *params)
{
    struct work work;
    return add(node, graph, needs, count, &work, cudart_fill_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *needs, size_t count,
                                           const struct cudaHostNodeParams *params)
{
    struct work work;
    return add(node, graph, needs, count, &work, cudart_host_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *needs, size_t count,
                                                 cudaGraph_t child)
{
    struct work work;
    return add(node, graph, needs, count, &work, cudart_child_from(&work, child));
}

cudaError_t CUDARTAPI cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *needs, size_t count)
{
    struct work work = {.type = cudaGraphNodeTypeEmpty};
    return add(node, graph, needs, count, &work, cudaSuccess);
}

cudaError_t CUDARTAPI cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *needs, size_t count,
                                                  cudaEvent_t event)
{
    struct work work;
    return add(node, graph, needs, count, &work,
               cudart_event_from(&work, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t CUDARTAPI cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *needs, size_t count,
                                                cudaEvent_t event)
{
    struct work work;
    return add(node, graph, needs, count, &work,
               cudart_event_from(&work, cudaGraphNodeTypeWaitEvent, event));
}

cudaError_t CUDARTAPI cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *needs, size_t count,
                                               struct cudaMemAllocNodeParams *params)
{
    RETURN_IF_FAULTY();
    if (params == NULL || params->bytesize == 0) return cudart_done(cudaErrorInvalidValue);
    int device = params->poolProps.location.id;
    if (device < 0 || device >= cudart_device_count()) return cudart_done(cudaErrorInvalidDevice);
    struct work work = {.type = cudaGraphNodeTypeMemAlloc, .device = device};
    int was = cudart_use_device(device);
    work.memory = cudart_graph_memory_new(params->bytesize);
    cudart_use_device(was);
    if (work.memory == NULL) return cudart_done(cudaErrorMemoryAllocation);
    params->dptr = cudart_graph_memory_address(work.memory);
    cudaError_t error = add(node, graph, needs, count, &work, cudaSuccess);
    cudart_graph_memory_drop(work.memory); /* the node has its own reference */
    return error;
}

cudaError_t CUDARTAPI cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *needs, size_t count,
                                              void *address)
{
    struct work work = {.type = cudaGraphNodeTypeMemFree,
                        .device = cudart_device()->number,
                        .memory = cudart_graph_memory_at(address)};
    return add(node, graph, needs, count, &work,
               work.memory != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t CUDARTAPI cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *needs, const cudaGraphEdgeData *data,
                                       size_t count, struct cudaGraphNodeParams *params)
{
    (void)data;
    struct work work;
    if (params == NULL) return cudart_done(cudaErrorInvalidValue);
    if (params->type == cudaGraphNodeTypeMemAlloc)
        return cudaGraphAddMemAllocNode(node, graph, needs, count,
                                        (struct cudaMemAllocNodeParams *)&params->alloc);
    if (params->type == cudaGraphNodeTypeMemFree)
        return cudaGraphAddMemFreeNode(node, graph, needs, count, params->free.dptr);
    if (params->type == cudaGraphNodeTypeConditional) {
        RETURN_IF_FAULTY();
        if (cudart_graph(graph) == NULL || node == NULL || (count > 0 && needs == NULL))
            return cudart_done(cudaErrorInvalidValue);
        return cudart_done(cudart_add_conditional(
            node, cudart_graph(graph), (struct node *const *)needs, count, &params->conditional));
    }
    return add(node, graph, needs, count, &work, cudart_work_from(&work, params));
}
