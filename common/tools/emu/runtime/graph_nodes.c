/* graph_nodes.c — making graphs and nodes of each kind; their edges and parameters. */
#include "graph.h"

/* ---- making graphs, querying their nodes, and changing their edges --------------------------- */

/* Of an edge's data only racecheck needs something: whether a kernel may begin before its
 * predecessor has ended (programmatic launches). Here it never does. */

#define RETURN_UNLESS_GRAPH(handle, graph)                                                         \
    struct graph *graph = cudart_graph(handle);                                                    \
    if (graph == NULL) return cudaErrorInvalidValue

static struct node *node_of(cudaGraphNode_t handle) { return (struct node *)handle; }

RUNTIME(cudaGraphCreate, (cudaGraph_t *handle, unsigned flags),
        IF(flags == 0, cudaErrorInvalidValue, TELL(handle, (cudaGraph_t)cudart_new_graph())))

WORK_OF(RUNTIME, cudaGraphDestroy, (cudaGraph_t handle), (handle))
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (graph->is_child) return cudaErrorInvalidValue; /* it belongs to a node */
    cudart_free_graph(graph);
    return cudaSuccess;
}

RUNTIME(cudaGraphClone, (cudaGraph_t *copy, cudaGraph_t graph),
        IF(copy != NULL && cudart_graph(graph) != NULL, cudaErrorInvalidValue,
           cudart_clone_graph((struct graph **)copy, cudart_graph(graph))))

WORK_OF(RUNTIME, cudaGraphNodeFindInClone, (cudaGraphNode_t *node, cudaGraphNode_t original,
        cudaGraph_t clone), (node, original, clone))
{
    RETURN_UNLESS_GRAPH(clone, graph);
    if (node == NULL || original == NULL) return cudaErrorInvalidValue;
    *node = (cudaGraphNode_t)cudart_find_copy(graph, node_of(original));
    return *node != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

WORK_OF(RUNTIME, cudaGraphDestroyNode, (cudaGraphNode_t node), (node))
{
    if (node == NULL) return cudaErrorInvalidValue;
    enum cudaGraphNodeType type = node_of(node)->work.type;
    if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)
        return cudaErrorNotSupported;
    cudart_drop_node(node_of(node));
    return cudaSuccess;
}

RUNTIME(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
        IF(node != NULL, cudaErrorInvalidValue, TELL(type, node_of(node)->work.type)))

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

static cudaError_t tell_nodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count, bool roots)
{
    const struct graph *graph = cudart_graph(handle);
    if (graph == NULL || count == NULL) return cudaErrorInvalidValue;
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        if (!roots || node->needs.count == 0) tell(&answer, node, NULL);
    return end_answer(&answer, NULL, count);
}

RUNTIME(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        tell_nodes(graph, nodes, count, false))
RUNTIME(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        tell_nodes(graph, nodes, count, true))

WORK_OF(RUNTIME, cudaGraphGetEdges, (cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to,
        cudaGraphEdgeData *data, size_t *count), (handle, from, to, data, count))
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count == NULL || (from == NULL) != (to == NULL)) return cudaErrorInvalidValue;
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

/* clang-format off */
RUNTIME(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
        cudaGraphEdgeData *data, size_t *count),
        IF(node != NULL && count != NULL, cudaErrorInvalidValue,
           tell_list(&node_of(node)->needs, nodes, data, count)))
RUNTIME(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
        cudaGraphEdgeData *data, size_t *count),
        IF(node != NULL && count != NULL, cudaErrorInvalidValue,
           tell_list(&node_of(node)->dependents, nodes, data, count)))
/* clang-format on */

/* ---- edges ----------------------------------------------------------------------------------- */

/* Keeps what racecheck needs of the data of an edge; NULL: it has no data. */
static void keep_data(struct node *before, struct node *after, const cudaGraphEdgeData *data)
{
    if (data != NULL && data->type == cudaGraphDependencyTypeProgrammatic)
        cudart_append(&after->early, before);
}

WORK_OF(RUNTIME, cudaGraphAddDependencies, (cudaGraph_t handle, const cudaGraphNode_t *from,
        const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (handle, from, to, data, count))
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct node *before = node_of(from[i]), *after = node_of(to[i]);
        if (before == NULL || after == NULL || before == after || before->graph != graph ||
            after->graph != graph || cudart_contains(&after->needs, before))
            return cudaErrorInvalidValue;
        cudart_connect(before, after);
        keep_data(before, after, data != NULL ? &data[i] : NULL);
    }
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaGraphRemoveDependencies, (cudaGraph_t handle, const cudaGraphNode_t *from,
        const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (handle, from, to, data, count))
{
    (void)data;
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (to[i] == NULL || node_of(to[i])->graph != graph ||
            !cudart_disconnect(node_of(from[i]), node_of(to[i])))
            return cudaErrorInvalidValue;
    return cudaSuccess;
}

/* ---- from parameters to work ----------------------------------------------------------------- */

/* Work for a node, or why it cannot be made. */
struct made {
    cudaError_t error;
    struct work work;
};

static struct made made(enum cudaGraphNodeType type, cudaError_t error)
{
    return (struct made){error, {.type = type, .device = cudart_device()->number}};
}

static struct made from_kernel(const struct cudaKernelNodeParams *params)
{
    struct made m = made(cudaGraphNodeTypeKernel, cudaErrorInvalidValue);
    struct function *function;
    if (params == NULL || params->extra != NULL) return m;
    m.work.kernel = (struct kernel_work){.host = params->func,
                                         .grid = params->gridDim,
                                         .block = params->blockDim,
                                         .shared = params->sharedMemBytes,
                                         .args = params->kernelParams};
    m.error = cudart_check_kernel(&m.work.kernel, &function);
    return m;
}

static struct made from_copy(const struct cudaMemcpy3DParms *params)
{
    struct made m = made(cudaGraphNodeTypeMemcpy, cudaErrorInvalidValue);
    if (params == NULL) return m;
    m.work.copy = *params;
    m.error = cudart_check_copy(params);
    return m;
}

static struct made from_plain_copy(void *to, const void *from, size_t bytes,
                                   enum cudaMemcpyKind kind)
{
    struct cudaMemcpy3DParms copy = cudart_plain_copy(to, from, bytes, kind);
    return from_copy(&copy);
}

static struct made to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                             enum cudaMemcpyKind kind)
{
    void *to;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &to);
    return error != cudaSuccess ? made(cudaGraphNodeTypeMemcpy, error)
                                : from_plain_copy(to, from, bytes, kind);
}

static struct made from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    void *from;
    cudaError_t error = cudart_locate(symbol, bytes, offset, &from);
    return error != cudaSuccess ? made(cudaGraphNodeTypeMemcpy, error)
                                : from_plain_copy(to, from, bytes, kind);
}

static struct made from_fill(const struct cudaMemsetParams *params)
{
    struct made m = made(cudaGraphNodeTypeMemset, cudaErrorInvalidValue);
    if (params == NULL) return m;
    m.work.fill = *params;
    m.error = cudart_check_fill(params);
    return m;
}

static struct made from_host(const struct cudaHostNodeParams *params)
{
    struct made m = made(cudaGraphNodeTypeHost, cudaErrorInvalidValue);
    if (params == NULL || params->fn == NULL) return m;
    m.work.host = *params;
    m.error = cudaSuccess;
    return m;
}

static struct made from_child(cudaGraph_t child)
{
    struct made m = made(cudaGraphNodeTypeGraph, cudaSuccess);
    m.work.child = cudart_graph(child);
    if (m.work.child == NULL) m.error = cudaErrorInvalidValue;
    return m;
}

static struct made from_event(enum cudaGraphNodeType type, cudaEvent_t event)
{
    bool is_there = cudart_find(event, EVENT) != NULL;
    struct made m = made(type, is_there ? cudaSuccess : cudaErrorInvalidResourceHandle);
    m.work.event = event;
    return m;
}

static struct made from_freed(void *address)
{
    struct made m = made(cudaGraphNodeTypeMemFree, cudaSuccess);
    m.work.memory = cudart_graph_memory_at(address);
    if (m.work.memory == NULL) m.error = cudaErrorInvalidValue;
    return m;
}

/* The parameters of an older and of a newer function differ in name only. */
static struct made from_any(const struct cudaGraphNodeParams *params)
{
    if (params == NULL) return made(cudaGraphNodeTypeEmpty, cudaErrorInvalidValue);
    switch (params->type) {
    case cudaGraphNodeTypeKernel:
        return from_kernel((const struct cudaKernelNodeParams *)&params->kernel);
    case cudaGraphNodeTypeMemcpy: return from_copy(&params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return from_fill((const struct cudaMemsetParams *)&params->memset);
    case cudaGraphNodeTypeHost: return from_host((const struct cudaHostNodeParams *)&params->host);
    case cudaGraphNodeTypeGraph: return from_child(params->graph.graph);
    case cudaGraphNodeTypeEmpty: return made(params->type, cudaSuccess);
    case cudaGraphNodeTypeEventRecord: return from_event(params->type, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent: return from_event(params->type, params->eventWait.event);
    case cudaGraphNodeTypeConditional: /* it has no parameters to set */
        return made(params->type, cudaErrorInvalidValue);
    default:
        return made(params->type,
                    cudart_not_supported("a graph's node of this type",
                                         "make nodes for kernels, copies, fills, host functions, "
                                         "events and child graphs alone"));
    }
}

/* ---- adding a node, and changing one in a graph or in an executable graph -------------------- */

static cudaError_t add(cudaGraphNode_t *node, cudaGraph_t handle, const cudaGraphNode_t *needs,
                       size_t count, struct made made)
{
    struct graph *graph = cudart_graph(handle);
    if (graph == NULL || node == NULL || (count > 0 && needs == NULL)) return cudaErrorInvalidValue;
    if (made.error != cudaSuccess) return made.error;
    return cudart_add_node(graph, &made.work, (struct node *const *)needs, count,
                           (struct node **)node);
}

/* Gives a node other work of the same type; on failure the node does not change. */
static cudaError_t set_work(struct node *node, const struct made *made)
{
    struct work copy;
    if (made->error != cudaSuccess) return made->error;
    if (node == NULL || node->work.type != made->work.type) return cudaErrorInvalidValue;
    if (!cudart_graph_may_have(node->graph, &made->work)) return cudaErrorInvalidValue;
    cudaError_t error = cudart_copy_work(&copy, &made->work);
    if (error != cudaSuccess) return error;
    cudart_own(node->graph, &copy);
    if (copy.type == cudaGraphNodeTypeKernel) { /* keep the attributes */
        copy.kernel.cooperative = node->work.kernel.cooperative;
        copy.kernel.priority = node->work.kernel.priority;
        copy.kernel.cluster = node->work.kernel.cluster;
    }
    cudart_free_work(&node->work);
    node->work = copy;
    return cudaSuccess;
}

static cudaError_t set(cudaGraphNode_t node, struct made made)
{
    return set_work((struct node *)node, &made);
}

/* The program names a node of the original graph, and means its copy in the executable graph. NULL:
 * not found. */
static struct node *copy_of(cudaGraphExec_t handle, cudaGraphNode_t node)
{
    const struct executable *exec = cudart_executable(handle);
    return exec != NULL && node != NULL ? cudart_find_copy(exec->graph, (const struct node *)node)
                                        : NULL;
}

static cudaError_t set_in(cudaGraphExec_t exec, cudaGraphNode_t node, struct made made)
{
    struct node *copy = copy_of(exec, node);
    cudaError_t error = set_work(copy, &made);
    return error == cudaSuccess && made.work.type == cudaGraphNodeTypeGraph
               ? cudart_sort_graph(copy->work.child)
               : error;
}

static cudaError_t add_alloc(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                             size_t count, struct cudaMemAllocNodeParams *params)
{
    if (params == NULL || params->bytesize == 0) return cudaErrorInvalidValue;
    int device = params->poolProps.location.id;
    if (!cudart_is_device(device)) return cudaErrorInvalidDevice;
    int was = cudart_use_device(device);
    struct made m = made(cudaGraphNodeTypeMemAlloc, cudaSuccess);
    m.work.memory = cudart_graph_memory_new(params->bytesize);
    cudart_use_device(was);
    if (m.work.memory == NULL) return cudaErrorMemoryAllocation;
    params->dptr = cudart_graph_memory_address(m.work.memory);
    cudaError_t error = add(node, graph, needs, count, m);
    cudart_graph_memory_drop(m.work.memory); /* the node has its own reference */
    return error;
}

static cudaError_t add_any(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs,
                           size_t count, struct cudaGraphNodeParams *params)
{
    if (params == NULL) return cudaErrorInvalidValue;
    if (params->type == cudaGraphNodeTypeMemAlloc)
        return add_alloc(node, graph, needs, count,
                         (struct cudaMemAllocNodeParams *)&params->alloc);
    if (params->type == cudaGraphNodeTypeMemFree)
        return add(node, graph, needs, count, from_freed(params->free.dptr));
    if (params->type != cudaGraphNodeTypeConditional)
        return add(node, graph, needs, count, from_any(params));
    if (cudart_graph(graph) == NULL || node == NULL || (count > 0 && needs == NULL))
        return cudaErrorInvalidValue;
    return cudart_add_conditional(node, cudart_graph(graph), (struct node *const *)needs, count,
                                  &params->conditional);
}

static cudaError_t add_with_data(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *needs, const cudaGraphEdgeData *data,
                                 size_t count, struct cudaGraphNodeParams *params)
{
    cudaError_t error = add_any(node, graph, needs, count, params);
    for (size_t i = 0; i < count && data != NULL && error == cudaSuccess; i++)
        keep_data(node_of(needs[i]), node_of(*node), &data[i]);
    return error;
}

#define NEW    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *needs
#define ADD(w) add(node, graph, needs, count, w)
/* A kind of nodes has three functions: one that adds a node, and two that give it other work. */
#define NODE(added, changed, work, ...)                                                            \
    RUNTIME(cudaGraphAdd##added, (NEW, size_t count, __VA_ARGS__), ADD(work))                      \
    RUNTIME(cudaGraph##changed, (cudaGraphNode_t node, __VA_ARGS__), set(node, work))              \
    RUNTIME(cudaGraphExec##changed, (cudaGraphExec_t exec, cudaGraphNode_t node, __VA_ARGS__),     \
            set_in(exec, node, work))

/* clang-format off */
NODE(KernelNode, KernelNodeSetParams, from_kernel(params),
     const struct cudaKernelNodeParams *params)
NODE(MemcpyNode, MemcpyNodeSetParams, from_copy(params), const struct cudaMemcpy3DParms *params)
NODE(MemcpyNode1D, MemcpyNodeSetParams1D, from_plain_copy(to, from, bytes, kind),
     void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
NODE(MemcpyNodeToSymbol, MemcpyNodeSetParamsToSymbol, to_symbol(symbol, from, bytes, offset, kind),
     const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
NODE(MemcpyNodeFromSymbol, MemcpyNodeSetParamsFromSymbol,
     from_symbol(to, symbol, bytes, offset, kind),
     void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
NODE(MemsetNode, MemsetNodeSetParams, from_fill(params), const struct cudaMemsetParams *params)
NODE(HostNode, HostNodeSetParams, from_host(params), const struct cudaHostNodeParams *params)
NODE(EventRecordNode, EventRecordNodeSetEvent, from_event(cudaGraphNodeTypeEventRecord, event),
     cudaEvent_t event)
NODE(EventWaitNode, EventWaitNodeSetEvent, from_event(cudaGraphNodeTypeWaitEvent, event),
     cudaEvent_t event)
RUNTIME(cudaGraphAddChildGraphNode, (NEW, size_t count, cudaGraph_t child), ADD(from_child(child)))
RUNTIME(cudaGraphExecChildGraphNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
        cudaGraph_t child),
        set_in(exec, node, from_child(child)))
RUNTIME(cudaGraphAddEmptyNode, (NEW, size_t count),
        ADD(((struct made){.work.type = cudaGraphNodeTypeEmpty})))
RUNTIME(cudaGraphAddMemAllocNode, (NEW, size_t count, struct cudaMemAllocNodeParams *params),
        add_alloc(node, graph, needs, count, params))
RUNTIME(cudaGraphAddMemFreeNode, (NEW, size_t count, void *address), ADD(from_freed(address)))
RUNTIME(cudaGraphAddNode, (NEW, const cudaGraphEdgeData *data, size_t count,
        struct cudaGraphNodeParams *params),
        add_with_data(node, graph, needs, data, count, params))
RUNTIME(cudaGraphNodeSetParams, (cudaGraphNode_t node, struct cudaGraphNodeParams *params),
        set(node, from_any(params)))
RUNTIME(cudaGraphExecNodeSetParams, (cudaGraphExec_t exec, cudaGraphNode_t node,
        struct cudaGraphNodeParams *params),
        set_in(exec, node, from_any(params)))
/* clang-format on */

/* ---- reading parameters ---------------------------------------------------------------------- */

/* The work of a node; NULL if the node does not have that type, or if there is no place for the
 * answer. */
static struct work *get(cudaGraphNode_t handle, enum cudaGraphNodeType type, const void *answer)
{
    struct node *node = (struct node *)handle;
    return node != NULL && answer != NULL && node->work.type == type ? &node->work : NULL;
}

/* The stub of a kernel. The program names a kernel by its stub, while the stub launches by a
 * handle. */
static void *stub_of(const void *handle)
{
    const struct kernel *kernel = LOCKED(cudart_registered.mutex, cudart_find_kernel(handle));
    return (void *)(kernel != NULL && kernel->host != NULL ? kernel->host : handle);
}

static struct cudaKernelNodeParams kernel_params(const struct kernel_work *kernel)
{
    return (struct cudaKernelNodeParams){.func = stub_of(kernel->host),
                                         .gridDim = kernel->grid,
                                         .blockDim = kernel->block,
                                         .sharedMemBytes = (unsigned)kernel->shared,
                                         .kernelParams = kernel->args};
}

static struct cudaMemAllocNodeParams alloc_params(const struct work *work)
{
    return (struct cudaMemAllocNodeParams){
        .poolProps = {.allocType = cudaMemAllocationTypePinned,
                      .location = {.type = cudaMemLocationTypeDevice, .id = work->device}},
        .bytesize = cudart_graph_memory_bytes(work->memory),
        .dptr = cudart_graph_memory_address(work->memory)};
}

/* The value is that of `work`. */
#define GET(name, kind, type, value)                                                               \
    WORK_OF(RUNTIME, name, (cudaGraphNode_t node, type answer), (node, answer))                    \
    {                                                                                              \
        const struct work *work = get(node, cudaGraphNodeType##kind, answer);                      \
        return IF(work != NULL, cudaErrorInvalidValue, TELL(answer, value));                       \
    }

/* clang-format off */
GET(cudaGraphKernelNodeGetParams, Kernel, struct cudaKernelNodeParams *,
    kernel_params(&work->kernel))
GET(cudaGraphMemcpyNodeGetParams, Memcpy, struct cudaMemcpy3DParms *, work->copy)
GET(cudaGraphMemsetNodeGetParams, Memset, struct cudaMemsetParams *, work->fill)
GET(cudaGraphHostNodeGetParams, Host, struct cudaHostNodeParams *, work->host)
GET(cudaGraphChildGraphNodeGetGraph, Graph, cudaGraph_t *, (cudaGraph_t)work->child)
GET(cudaGraphEventRecordNodeGetEvent, EventRecord, cudaEvent_t *, work->event)
GET(cudaGraphEventWaitNodeGetEvent, WaitEvent, cudaEvent_t *, work->event)
GET(cudaGraphMemAllocNodeGetParams, MemAlloc, struct cudaMemAllocNodeParams *, alloc_params(work))
/* clang-format on */

static cudaError_t get_freed(const struct work *work, void *address)
{
    if (work == NULL) return cudaErrorInvalidValue;
    *(void **)address = cudart_graph_memory_address(work->memory);
    return cudaSuccess;
}

RUNTIME(cudaGraphMemFreeNodeGetParams, (cudaGraphNode_t node, void *address),
        get_freed(get(node, cudaGraphNodeTypeMemFree, address), address))

/* ---- attributes of kernels ------------------------------------------------------------------- */

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

WORK_OF(RUNTIME, cudaGraphKernelNodeGetAttribute, (cudaGraphNode_t node, cudaKernelNodeAttrID id,
        cudaKernelNodeAttrValue *value), (node, id, value))
{
    struct work *work = get(node, cudaGraphNodeTypeKernel, value);
    if (work == NULL || !is_among(id, of_nodes)) return cudaErrorInvalidValue;
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
WORK_OF(RUNTIME, cudaGraphKernelNodeSetAttribute, (cudaGraphNode_t node, cudaKernelNodeAttrID id,
        const cudaKernelNodeAttrValue *value), (node, id, value))
{
    struct work *work = get(node, cudaGraphNodeTypeKernel, value);
    if (work == NULL || !is_among(id, of_nodes | only_set)) return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeCooperative) work->kernel.cooperative = value->cooperative != 0;
    if (id == cudaLaunchAttributePriority) work->kernel.priority = value->priority;
    if (id == cudaLaunchAttributeClusterDimension)
        work->kernel.cluster =
            (dim3){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
    return cudaSuccess;
}

static cudaError_t copy_attributes(struct work *to, const struct work *from)
{
    if (to == NULL || from == NULL) return cudaErrorInvalidValue;
    to->kernel.cooperative = from->kernel.cooperative;
    to->kernel.priority = from->kernel.priority;
    to->kernel.cluster = from->kernel.cluster;
    return cudaSuccess;
}

RUNTIME(cudaGraphKernelNodeCopyAttributes, (cudaGraphNode_t to, cudaGraphNode_t from),
        copy_attributes(get(to, cudaGraphNodeTypeKernel, to),
                        get(from, cudaGraphNodeTypeKernel, from)))

/* ---- nodes that are left out ----------------------------------------------------------------- */

/* Only kernels, copies and fills can be left out. */
static bool can_be_disabled(const struct node *node)
{
    return node != NULL && (node->work.type == cudaGraphNodeTypeKernel ||
                            node->work.type == cudaGraphNodeTypeMemcpy ||
                            node->work.type == cudaGraphNodeTypeMemset);
}

static cudaError_t enable(struct node *copy, unsigned enabled)
{
    if (!can_be_disabled(copy)) return cudaErrorInvalidValue;
    copy->disabled = enabled == 0;
    return cudaSuccess;
}

static cudaError_t is_enabled(const struct node *copy, unsigned *enabled)
{
    return can_be_disabled(copy) ? TELL(enabled, !copy->disabled) : cudaErrorInvalidValue;
}

RUNTIME(cudaGraphNodeSetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled),
        enable(copy_of(exec, node), enabled))
RUNTIME(cudaGraphNodeGetEnabled, (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned *enabled),
        is_enabled(copy_of(exec, node), enabled))

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

WORK_OF(RUNTIME, cudaGraphExecUpdate, (cudaGraphExec_t handle, cudaGraph_t changed,
        cudaGraphExecUpdateResultInfo *info), (handle, changed, info))
{
    struct executable *exec = cudart_executable(handle), *other;
    struct graph *graph = cudart_graph(changed);
    if (exec == NULL || graph == NULL || info == NULL) return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateError};
    cudaError_t error = cudart_instantiate(&other, graph, 0);
    if (error != cudaSuccess) return error;
    const struct node *wrong = NULL;
    info->result = compare(exec->graph, other->graph, &wrong);
    info->errorNode = (cudaGraphNode_t)wrong;
    if (info->result == cudaGraphExecUpdateSuccess) exchange(exec->graph, other->graph);
    cudaGraphExecDestroy((cudaGraphExec_t)other);
    return info->result == cudaGraphExecUpdateSuccess ? (int)cudaSuccess
                                                      : (int)cudaErrorGraphExecUpdateFailure;
}
