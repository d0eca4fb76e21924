/*
 * work.c — carries out work, and copies it.
 */
#include "work.h"
#include "capture.h"
#include "graph.h"
#include "order.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- carrying out ---------------------------------------------------------------------------- */

static cudaError_t carry_out(const struct work *, cudaStream_t);

/* Carries out a graph that has been sorted. */
static cudaError_t run_graph(struct graph *graph, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    cudart_order_graph(graph);
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess;
         node = node->next) {
        cudart_order_node(graph, node, stream);
        if (!node->disabled && !cudart_is_faulty()) error = carry_out(&node->work, stream);
        cudart_order_node_end(node);
    }
    cudart_order_graph_end(graph);
    return error;
}

/* Has a loop reached the limit in seconds? Its kernels see to that themselves, if it has any. */
static void end_loop_in_time(void)
{
    int error = emu_together_check(emu_runtime());
    if (error == EMU_OK || cudart_is_faulty()) return;
    cudart_print(emu_message(emu_runtime()));
    cudart_check_failure();
    cudart_set_fault((cudaError_t)error);
}

/* The value of its condition decides, before each body, which one is carried out. The bodies count
 * as one for the limits of kernels. */
static cudaError_t run_conditional(const struct conditional *conditional, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    struct graph *body;
    cudart_order_condition(conditional->handle);
    emu_together_begin(emu_runtime());
    for (bool is_first = true; error == cudaSuccess && !cudart_is_faulty() &&
                               (body = cudart_next_body(conditional, is_first)) != NULL;
         is_first = false) {
        error = run_graph(body, stream);
        end_loop_in_time();
    }
    emu_together_end(emu_runtime());
    return error;
}

static cudaError_t carry_out_here(const struct work *work, cudaStream_t stream)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return cudart_run_kernel(&work->kernel, stream);
    case cudaGraphNodeTypeMemcpy: return cudart_run_copy(&work->copy);
    case cudaGraphNodeTypeMemset: return cudart_run_fill(&work->fill);
    case cudaGraphNodeTypeHost: cudart_run_host(&work->host); return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: cudart_record_event(work->event); return cudaSuccess;
    case cudaGraphNodeTypeGraph: return run_graph(work->child, stream);
    case cudaGraphNodeTypeConditional: return run_conditional(work->conditional, stream);
    case cudaGraphNodeTypeMemAlloc:
        cudart_order_graph_memory(work->memory);
        return cudart_graph_memory_take(work->memory);
    case cudaGraphNodeTypeMemFree:
        cudart_order_graph_memory(work->memory);
        return cudart_graph_memory_give(work->memory);
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent: return cudaSuccess; /* the event's work is done */
    default: return cudaErrorNotSupported;
    }
}

/* Carries out work on its device. */
static cudaError_t carry_out(const struct work *work, cudaStream_t stream)
{
    int was = cudart_use_device(work->device);
    bool may_overtake = work->type == cudaGraphNodeTypeMemcpy ||
                        work->type == cudaGraphNodeTypeMemset ||
                        work->type == cudaGraphNodeTypeHost;
    if (may_overtake)
        cudart_go_on_for(stream, true);
    else
        cudart_go_on(true);
    cudart_work_begins(work->device);
    cudaError_t error = carry_out_here(work, stream);
    cudart_work_ends(work->device);
    cudart_use_device(was);
    return error;
}

static cudaError_t submit(cudaStream_t stream, struct work *work)
{
    bool captured;
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    cudaError_t error = cudart_capture(stream, work, &captured);
    if (error != cudaSuccess || captured) return error;
    cudart_order_begin(stream, work);
    error = carry_out(work, stream);
    cudart_order_end(stream, work);
    return error;
}

/* On a device with a fault, submitting fails. Until the program knows of the fault, launches
 * succeed and do nothing. */
cudaError_t cudart_submit(cudaStream_t stream, struct work *work)
{
    if (cudart_in_host_function()) return cudart_done(cudaErrorNotPermitted);
    cudart_bind_context();
    bool may_pass = work->type == cudaGraphNodeTypeKernel && !cudart_device()->fault_known;
    if (!may_pass) RETURN_IF_FAULTY();
    work->device = cudart_stream_device(stream);
    cudart_work_begins(work->device);
    cudaError_t error = submit(stream, work);
    cudart_work_ends(work->device);
    return cudart_done(error);
}

/* ---- host functions -------------------------------------------------------------------------- */

/* CUDA does not allow host functions to call the runtime: the driver waits for the thread that runs
 * them. */
static _Thread_local bool in_host_function;

bool cudart_in_host_function(void) { return in_host_function; }

void cudart_run_host(const struct cudaHostNodeParams *host)
{
    bool was = in_host_function;
    in_host_function = true;
    cudart_order_host(host);
    in_host_function = was;
}

/* ---- copies of work -------------------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

/* Copies a kernel's arguments into one piece of memory: an array of pointers, and the values behind
 * it. */
static cudaError_t copy_arguments(struct kernel_work *to, const struct kernel_work *from)
{
    struct function *function;
    cudaError_t error = cudart_function(from->host, &function);
    if (error != cudaSuccess) return error;
    const struct emu_kernel_info *info = emu_kernel_info(function->kernel);
    size_t bytes = 0, pointers = aligned(info->params * sizeof(void *));
    for (unsigned i = 0; i < info->params; i++) bytes += aligned(info->param_size[i]);
    if (info->params == 0) {
        to->args = NULL;
        return cudaSuccess;
    }
    if (from->args == NULL) return cudaErrorInvalidValue;
    to->args = malloc(pointers + bytes);
    if (to->args == NULL) return cudaErrorMemoryAllocation;
    char *place = (char *)to->args + pointers;
    for (unsigned i = 0; i < info->params; i++) {
        to->args[i] = memcpy(place, from->args[i], info->param_size[i]);
        place += aligned(info->param_size[i]);
    }
    return cudaSuccess;
}

cudaError_t cudart_copy_work(struct work *to, const struct work *from)
{
    *to = *from;
    int was = cudart_use_device(from->device);
    cudart_work_begins(from->device);
    cudaError_t error = cudaSuccess;
    if (from->type == cudaGraphNodeTypeKernel)
        error = copy_arguments(&to->kernel, &from->kernel);
    else if (from->type == cudaGraphNodeTypeGraph)
        error = cudart_clone_graph(&to->child, from->child);
    else if (from->type == cudaGraphNodeTypeConditional)
        error = cudart_clone_conditional(&to->conditional, from->conditional);
    else if (from->type == cudaGraphNodeTypeMemAlloc || from->type == cudaGraphNodeTypeMemFree)
        cudart_graph_memory_share(from->memory);
    cudart_work_ends(from->device);
    cudart_use_device(was);
    if (error != cudaSuccess) *to = (struct work){.type = cudaGraphNodeTypeEmpty};
    return error;
}

void cudart_free_work(struct work *work)
{
    if (work->type == cudaGraphNodeTypeKernel)
        free(work->kernel.args);
    else if (work->type == cudaGraphNodeTypeGraph)
        cudart_free_graph(work->child);
    else if (work->type == cudaGraphNodeTypeConditional)
        cudart_free_conditional(work->conditional);
    else if (work->type == cudaGraphNodeTypeMemAlloc || work->type == cudaGraphNodeTypeMemFree)
        cudart_graph_memory_drop(work->memory);
    *work = (struct work){.type = cudaGraphNodeTypeEmpty};
}
