/*
 * executable.c — executable graphs: instantiating and launching them.
 *
 * An executable graph is a sorted copy of the graph that it was made from.
 */
#include "graph.h"
#include "handles.h"

#include <stdlib.h>

static struct handles executables = NO_HANDLES;

struct executable *cudart_executable(cudaGraphExec_t handle)
{
    return cudart_handles_have(&executables, handle) ? (struct executable *)handle : NULL;
}

/* ---- instantiating --------------------------------------------------------------------------- */

/* A sorted copy of a graph. */
static cudaError_t sorted_copy(struct graph **copy, const struct graph *graph)
{
    cudaError_t error = cudart_clone_graph(copy, graph);
    if (error != cudaSuccess) return error;
    error = cudart_sort_graph(*copy);
    if (error == cudaErrorInvalidValue)
        cudart_print("a graph is not instantiated, for nodes of it wait for each other in a"
                     " circle");
    if (error != cudaSuccess) cudart_free_graph(*copy);
    return error;
}

cudaError_t cudart_instantiate(struct executable **made, const struct graph *graph,
                               unsigned long long flags)
{
    struct executable *exec = calloc(1, sizeof *exec);
    if (exec == NULL) return cudaErrorMemoryAllocation;
    exec->flags = flags;
    cudaError_t error = sorted_copy(&exec->graph, graph);
    if (error == cudaSuccess && !cudart_handles_add(&executables, exec)) {
        cudart_free_graph(exec->graph);
        error = cudaErrorMemoryAllocation;
    }
    if (error != cudaSuccess) {
        free(exec);
        return error;
    }
    exec->graph->is_child = true; /* cudaGraphDestroy must refuse it */
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
    if (params->flags & cudaGraphInstantiateFlagDeviceLaunch)
        return cudart_done(cudart_not_supported("a graph that kernels launch",
                                                "launch the graph from the host instead"));
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
    struct executable *exec = (struct executable *)handle;
    if (!cudart_handles_remove(&executables, exec)) return cudart_done(cudaErrorInvalidValue);
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

/* Frees what the last launch has left allocated, if the graph was instantiated with that flag. */
static void free_for_launch(const struct graph *graph)
{
    for (const struct node *node = graph->first; node != NULL; node = node->next) {
        const struct work *work = &node->work;
        if (work->type == cudaGraphNodeTypeMemAlloc) cudart_graph_memory_give(work->memory);
        if (work->type == cudaGraphNodeTypeGraph) free_for_launch(work->child);
    }
}

/* In a stream that is being captured, the launched graph becomes a child graph. */
cudaError_t CUDARTAPI cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    struct executable *exec = cudart_executable(handle);
    if (exec == NULL) return cudart_done(cudaErrorInvalidValue);
    if (exec->flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) free_for_launch(exec->graph);
    cudart_begin_conditions(exec->graph);
    struct work work = {.type = cudaGraphNodeTypeGraph, .child = exec->graph};
    return cudart_submit(stream, &work);
}

/* A GPU would load the graph now. The emulator need not. */
cudaError_t CUDARTAPI cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream)
{
    RETURN_IF_FAULTY();
    if (cudart_executable(handle) == NULL) return cudart_done(cudaErrorInvalidValue);
    return cudart_done(cudart_is_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle);
}

ALSO_PTSZ(cudaGraphInstantiateWithParams);
ALSO_PTSZ(cudaGraphLaunch);
ALSO_PTSZ(cudaGraphUpload);
