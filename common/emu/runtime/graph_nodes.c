/*
 * graph_nodes.c — making graphs, adding nodes of each kind, changing edges.
 */
#include "graph.h"

/* ---- adding nodes of each kind to a graph, and changing their parameters --------------------- */

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

/* ---- making graphs, querying their nodes, and changing their edges --------------------------- */

/*
 * Edges have no data here. Edges that allow a kernel to begin before its predecessor has ended
 * (programmatic launches) are ordinary edges, which is one of the allowed orders.
 */

#define RETURN_UNLESS_GRAPH(handle, graph)                                                         \
    RETURN_IF_FAULTY();                                                                            \
    struct graph *graph = cudart_graph(handle);                                                    \
    if (graph == NULL) return cudart_done(cudaErrorInvalidValue)

static struct node *node_of(cudaGraphNode_t handle) { return (struct node *)handle; }

cudaError_t CUDARTAPI cudaGraphCreate(cudaGraph_t *handle, unsigned flags)
{
    RETURN_IF_FAULTY();
    if (handle == NULL || flags != 0) return cudart_done(cudaErrorInvalidValue);
    *handle = (cudaGraph_t)cudart_new_graph();
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphDestroy(cudaGraph_t handle)
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (graph->is_child) return cudart_done(cudaErrorInvalidValue); /* it belongs to a node */
    cudart_free_graph(graph);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphClone(cudaGraph_t *copy, cudaGraph_t handle)
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (copy == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_clone_graph((struct graph **)copy, graph));
}

cudaError_t CUDARTAPI cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                               cudaGraph_t clone)
{
    RETURN_UNLESS_GRAPH(clone, graph);
    if (node == NULL || original == NULL) return cudart_done(cudaErrorInvalidValue);
    *node = (cudaGraphNode_t)cudart_find_copy(graph, node_of(original));
    return cudart_done(*node != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

cudaError_t CUDARTAPI cudaGraphDestroyNode(cudaGraphNode_t node)
{
    RETURN_IF_FAULTY();
    if (node == NULL) return cudart_done(cudaErrorInvalidValue);
    enum cudaGraphNodeType type = node_of(node)->work.type;
    if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)
        return cudart_done(cudaErrorNotSupported);
    cudart_drop_node(node_of(node));
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    RETURN_IF_FAULTY();
    if (node == NULL || type == NULL) return cudart_done(cudaErrorInvalidValue);
    *type = node_of(node)->work.type;
    return cudaSuccess;
}

/* ---- lists that the program asks for --------------------------------------------------------- */

/* All these functions answer alike: without an array they return only the number; the unused part
 * of a longer array is filled with NULL. */
struct answer {
    cudaGraphNode_t *first, *second; /* arrays, or NULL */
    size_t room, count;
};

static void tell(struct answer *answer, struct node *first, struct node *second)
{
    if (answer->count < answer->room) {
        if (answer->first != NULL) answer->first[answer->count] = (cudaGraphNode_t)first;
        if (answer->second != NULL) answer->second[answer->count] = (cudaGraphNode_t)second;
    }
    answer->count++;
}

static cudaError_t end_answer(struct answer *answer, cudaGraphEdgeData *data, size_t *count)
{
    size_t given = answer->count;
    bool asked = answer->first != NULL || answer->second != NULL;
    if (asked && given > answer->room) given = answer->room;
    for (size_t i = given; i < answer->room; i++) {
        if (answer->first != NULL) answer->first[i] = NULL;
        if (answer->second != NULL) answer->second[i] = NULL;
    }
    if (data != NULL && asked) memset(data, 0, given * sizeof *data);
    *count = given;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count)
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count == NULL) return cudart_done(cudaErrorInvalidValue);
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        tell(&answer, node, NULL);
    return end_answer(&answer, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t *nodes,
                                            size_t *count)
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count == NULL) return cudart_done(cudaErrorInvalidValue);
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        if (node->needs.count == 0) tell(&answer, node, NULL);
    return end_answer(&answer, NULL, count);
}

cudaError_t CUDARTAPI cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t *from,
                                        cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count == NULL || (from == NULL) != (to == NULL)) return cudart_done(cudaErrorInvalidValue);
    struct answer answer = {.first = from, .second = to, .room = from != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        for (size_t k = 0; k < node->needs.count; k++) tell(&answer, node->needs.node[k], node);
    return end_answer(&answer, data, count);
}

static cudaError_t tell_list(const struct node_list *list, cudaGraphNode_t *nodes,
                             cudaGraphEdgeData *data, size_t *count)
{
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (size_t k = 0; k < list->count; k++) tell(&answer, list->node[k], NULL);
    return end_answer(&answer, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                   cudaGraphEdgeData *data, size_t *count)
{
    RETURN_IF_FAULTY();
    if (node == NULL || count == NULL) return cudart_done(cudaErrorInvalidValue);
    return tell_list(&node_of(node)->needs, nodes, data, count);
}

cudaError_t CUDARTAPI cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                     cudaGraphEdgeData *data, size_t *count)
{
    RETURN_IF_FAULTY();
    if (node == NULL || count == NULL) return cudart_done(cudaErrorInvalidValue);
    return tell_list(&node_of(node)->dependents, nodes, data, count);
}

/* ---- edges ----------------------------------------------------------------------------------- */

cudaError_t CUDARTAPI cudaGraphAddDependencies(cudaGraph_t handle, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *data, size_t count)
{
    (void)data;
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudart_done(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++) {
        struct node *before = node_of(from[i]), *after = node_of(to[i]);
        if (before == NULL || after == NULL || before == after || before->graph != graph ||
            after->graph != graph || cudart_contains(&after->needs, before))
            return cudart_done(cudaErrorInvalidValue);
        cudart_connect(before, after);
    }
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphRemoveDependencies(cudaGraph_t handle, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to,
                                                  const cudaGraphEdgeData *data, size_t count)
{
    (void)data;
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudart_done(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; i++)
        if (to[i] == NULL || node_of(to[i])->graph != graph ||
            !cudart_disconnect(node_of(from[i]), node_of(to[i])))
            return cudart_done(cudaErrorInvalidValue);
    return cudaSuccess;
}
