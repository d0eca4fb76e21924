/*
 * cudart_graph_exec.c — executable graphs: instantiating and launching them.
 *
 * One is a sorted copy of the graph that it was made from.
 */
#include "cudart_capture.h"
#include "cudart_graph.h"

#include <stdlib.h>

static struct executable *executables;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of the list */

struct executable *cudart_executable(cudaGraphExec_t handle)
{
    pthread_mutex_lock(&mutex);
    struct executable *exec = executables;
    while (exec != NULL && exec != (struct executable *)handle) exec = exec->next;
    pthread_mutex_unlock(&mutex);
    return exec;
}

/* ---- instantiating --------------------------------------------------------------------------- */

cudaError_t cudart_instantiate(struct executable **made, const struct graph *graph,
                               unsigned long long flags)
{
    struct executable *exec = calloc(1, sizeof *exec);
    if (exec == NULL) return cudaErrorMemoryAllocation;
    exec->flags = flags;
    cudaError_t error = cudart_clone_graph(&exec->graph, graph);
    if (error == cudaSuccess) {
        error = cudart_sort_graph(exec->graph);
        if (error == cudaErrorInvalidValue)
            cudart_print("a graph is not instantiated, for nodes of it wait for each other in a"
                         " circle");
        if (error != cudaSuccess) cudart_free_graph(exec->graph);
    }
    if (error != cudaSuccess) {
        free(exec);
        return error;
    }
    exec->graph->is_child = true; /* not for cudaGraphDestroy */
    pthread_mutex_lock(&mutex);
    exec->next = executables;
    executables = exec;
    pthread_mutex_unlock(&mutex);
    *made = exec;
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t handle,
                                                     cudaGraphInstantiateParams *params)
{
    enum { KNOWN = 0xF }; /* cudaGraphInstantiateFlag… */
    RETURN_IF_FAULTY();
    struct graph *graph = cudart_graph(handle);
    if (exec == NULL || graph == NULL || params == NULL ||
        params->flags & ~(unsigned long long)KNOWN)
        return cudart_done(cudaErrorInvalidValue);
    params->errNode_out = NULL;
    params->result_out = cudaGraphInstantiateError;
    if (params->flags & cudaGraphInstantiateFlagDeviceLaunch) {
        cudart_print("a graph that kernels launch is not supported");
        return cudart_done(cudaErrorNotSupported);
    }
    cudaError_t error = cudart_instantiate((struct executable **)exec, graph, params->flags);
    params->result_out = error == cudaSuccess             ? cudaGraphInstantiateSuccess
                         : error == cudaErrorInvalidValue ? cudaGraphInstantiateInvalidStructure
                                                          : cudaGraphInstantiateError;
    return cudart_done(error);
}

cudaError_t CUDARTAPI cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                    unsigned long long flags)
{
    cudaGraphInstantiateParams params = {.flags = flags};
    return cudaGraphInstantiateWithParams(exec, graph, &params);
}

cudaError_t CUDARTAPI cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                           unsigned long long flags)
{
    return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t CUDARTAPI cudaGraphExecDestroy(cudaGraphExec_t handle)
{
    RETURN_IF_FAULTY();
    struct executable *exec = cudart_executable(handle);
    if (exec == NULL) return cudart_done(cudaErrorInvalidValue);
    pthread_mutex_lock(&mutex);
    struct executable **link = &executables;
    while (*link != exec) link = &(*link)->next;
    *link = exec->next;
    pthread_mutex_unlock(&mutex);
    cudart_free_graph(exec->graph);
    free(exec);
    return cudaSuccess;
}

cudaError_t CUDARTAPI cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long *flags)
{
    const struct executable *exec = cudart_executable(handle);
    if (exec == NULL || flags == NULL) return cudart_done(cudaErrorInvalidValue);
    *flags = exec->flags;
    return cudaSuccess;
}

/* ---- launching ------------------------------------------------------------------------------- */

cudaError_t cudart_run_graph(const struct graph *graph, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++)
        if (!graph->nodes.node[i]->disabled && !cudart_is_faulty())
            error = cudart_carry_out(&graph->nodes.node[i]->work, stream);
    return error;
}

/* What the last launch has left allocated is freed, if that was asked for. */
static void free_for_launch(const struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct work *work = &graph->nodes.node[i]->work;
        if (work->type == cudaGraphNodeTypeMemAlloc) cudart_graph_memory_give(work->memory);
        if (work->type == cudaGraphNodeTypeGraph) free_for_launch(work->child);
    }
}

/* In a stream that is being captured it becomes a child graph. */
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    struct executable *exec = cudart_executable(handle);
    if (exec == NULL) return cudart_done(cudaErrorInvalidValue);
    if (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) free_for_launch(exec->graph);
    struct work work = {.type = cudaGraphNodeTypeGraph, .child = exec->graph};
    return cudart_submit(stream, &work);
}

/* There is nothing to send ahead. */
cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (cudart_executable(handle) == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

ALSO_PTSZ(cudaGraphInstantiateWithParams);
ALSO_PTSZ(cudaGraphLaunch);
ALSO_PTSZ(cudaGraphUpload);
