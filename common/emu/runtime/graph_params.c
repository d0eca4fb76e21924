/*
 * graph_params.c — parameters of nodes, in graphs and in executable graphs.
 */
#include "graph.h"

/* ---- reading and changing the parameters of a graph's nodes ---------------------------------- */

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

/* ---- changing executable graphs -------------------------------------------------------------- */

/*
 * The program names a node of the original graph, and means its copy in the executable graph.
 */

/* The copy of an original node; NULL: not found. */
static struct node *copy_of(cudaGraphExec_t handle, cudaGraphNode_t node)
{
    const struct executable *exec = cudart_executable(handle);
    return exec != NULL && node != NULL ? cudart_find_copy(exec->graph, (const struct node *)node)
                                        : NULL;
}

static cudaError_t set_in_executable(cudaGraphExec_t exec, cudaGraphNode_t node,
                                     const struct work *work, cudaError_t error)
{
    RETURN_IF_FAULTY();
    error = cudart_set_work(copy_of(exec, node), work, error);
    if (error == cudaSuccess && work->type == cudaGraphNodeTypeGraph)
        error = cudart_sort_graph(copy_of(exec, node)->work.child);
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const struct cudaKernelNodeParams *params)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_kernel_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const struct cudaMemcpy3DParms *params)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_copy_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         void *to, const void *from, size_t bytes,
                                                         enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = cudart_plain_copy(to, from, bytes, kind);
    return cudaGraphExecMemcpyNodeSetParams(exec, node, &copy);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec,
                                                               cudaGraphNode_t node,
                                                               const void *symbol, const void *from,
                                                               size_t bytes, size_t offset,
                                                               enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                                 cudaGraphNode_t node, void *to,
                                                                 const void *symbol, size_t bytes,
                                                                 size_t offset,
                                                                 enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    if (error != cudaSuccess) return cudart_done(error);
    return cudaGraphExecMemcpyNodeSetParams1D(exec, node, to, from, bytes, kind);
}

cudaError_t CUDARTAPI cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       const struct cudaMemsetParams *params)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_fill_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const struct cudaHostNodeParams *params)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_host_from(&work, params));
}

cudaError_t CUDARTAPI cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node, cudaGraph_t child)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_child_from(&work, child));
}

cudaError_t CUDARTAPI cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec,
                                                           cudaGraphNode_t node, cudaEvent_t event)
{
    struct work work;
    return set_in_executable(exec, node, &work,
                             cudart_event_from(&work, cudaGraphNodeTypeEventRecord, event));
}

cudaError_t CUDARTAPI cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                         cudaEvent_t event)
{
    struct work work;
    return set_in_executable(exec, node, &work,
                             cudart_event_from(&work, cudaGraphNodeTypeWaitEvent, event));
}

cudaError_t CUDARTAPI cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 struct cudaGraphNodeParams *params)
{
    struct work work;
    return set_in_executable(exec, node, &work, cudart_work_from(&work, params));
}

/* Only kernels, copies and fills can be left out. */
static bool can_be_disabled(const struct node *node)
{
    return node != NULL && (node->work.type == cudaGraphNodeTypeKernel ||
                            node->work.type == cudaGraphNodeTypeMemcpy ||
                            node->work.type == cudaGraphNodeTypeMemset);
}

cudaError_t CUDARTAPI cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              unsigned enabled)
{
    RETURN_IF_FAULTY();
    struct node *copy = copy_of(exec, node);
    if (!can_be_disabled(copy)) return cudart_done(cudaErrorInvalidValue);
    copy->disabled = enabled == 0;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              unsigned *enabled)
{
    RETURN_IF_FAULTY();
    const struct node *copy = copy_of(exec, node);
    if (!can_be_disabled(copy) || enabled == NULL) return cudart_done(cudaErrorInvalidValue);
    *enabled = !copy->disabled;
    return cudaSuccess;
}

/* ---- updating from another graph ------------------------------------------------------------- */

/* Do two nodes of sorted graphs depend on nodes with the same numbers, in the same order? */
static bool same_needs(const struct node *a, const struct node *b)
{
    if (a->needs.count != b->needs.count) return false;
    for (size_t i = 0; i < a->needs.count; i++)
        if (a->needs.node[i]->number != b->needs.node[i]->number) return false;
    return true;
}

/* Does `changed`, which is sorted, too, differ from the graph only in parameters? */
static enum cudaGraphExecUpdateResult
compare(const struct graph *graph, const struct graph *changed, const struct node **wrong)
{
    enum cudaGraphExecUpdateResult result = cudaGraphExecUpdateSuccess;
    const struct node *a = graph->first, *b = changed->first;
    if (graph->count != changed->count) return cudaGraphExecUpdateErrorTopologyChanged;
    for (; a != NULL && result == cudaGraphExecUpdateSuccess; a = a->next, b = b->next) {
        if (!same_needs(a, b))
            result = cudaGraphExecUpdateErrorTopologyChanged;
        else if (a->work.type != b->work.type)
            result = cudaGraphExecUpdateErrorNodeTypeChanged;
        else if (a->work.type == cudaGraphNodeTypeGraph)
            result = compare(a->work.child, b->work.child, wrong);
        if (result != cudaGraphExecUpdateSuccess && *wrong == NULL) *wrong = b->source;
    }
    return result;
}

/* Exchanges the work of the two graphs, so `changed` then has the old work. */
static void exchange(struct graph *graph, struct graph *changed)
{
    struct node *to = graph->first, *from = changed->first;
    for (; to != NULL; to = to->next, from = from->next) {
        struct work *a = &to->work, *b = &from->work, was = *a;
        if (a->type == cudaGraphNodeTypeGraph) { /* the nodes inside keep their sources */
            exchange(a->child, b->child);
            continue;
        }
        *a = *b;
        *b = was;
        cudart_own(graph, a);
        cudart_own(changed, b);
    }
}

cudaError_t CUDARTAPI cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t changed,
                                          cudaGraphExecUpdateResultInfo *info)
{
    RETURN_IF_FAULTY();
    struct executable *exec = cudart_executable(handle), *other;
    struct graph *graph = cudart_graph(changed);
    if (exec == NULL || graph == NULL || info == NULL) return cudart_done(cudaErrorInvalidValue);
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError};
    cudaError_t error = cudart_instantiate(&other, graph, 0);
    if (error != cudaSuccess) return cudart_done(error);
    const struct node *wrong = NULL;
    info->result = compare(exec->graph, other->graph, &wrong);
    info->errorNode = (cudaGraphNode_t)wrong;
    if (info->result == cudaGraphExecUpdateSuccess) exchange(exec->graph, other->graph);
    cudaGraphExecDestroy((cudaGraphExec_t)other);
    return cudart_done(
        info->result == cudaGraphExecUpdateSuccess ? cudaSuccess : cudaErrorGraphExecUpdateFailure);
}
