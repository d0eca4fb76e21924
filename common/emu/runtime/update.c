/*
 * update.c — changing executable graphs.
 *
 * The program names a node of the original graph, and means its copy in the executable graph.
 */
#include "graph.h"

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
