#include "contract.h"

#include "common/step/cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- calls that cannot be captured ----------------------------------------------------------- */

/* Describes the call that made CUDA refuse the capture. */
static const char *refused(cudaError_t error)
{
    switch (error) {
    case cudaErrorStreamCaptureImplicit:
        return "the scan uses the default stream (a launch there, cudaMemcpy or cudaMemset), not "
               "the given one";
    case cudaErrorStreamCaptureUnjoined:
    case cudaErrorStreamCaptureIsolation:
    case cudaErrorStreamCaptureMerge:
        return "the scan uses other streams, which do not begin and end with the given one";
    case cudaErrorStreamCaptureUnsupported:
        return "the scan allocates memory, waits, or copies synchronously, which would be timed";
    case cudaErrorStreamCaptureInvalidated:
        return "the scan allocates memory, waits, copies synchronously or uses the default stream";
    default: return NULL;
    }
}

static void name_refusal(cudaError_t error, char *breach)
{
    const char *why = refused(error);
    snprintf(breach, CONTRACT_TEXT, "%s (%s)",
             why ? why : "the scan fails where its stream is captured", cudaGetErrorName(error));
}

/* ---- nodes that a graph must not have -------------------------------------------------------- */

static bool is_on_device(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) return false;
    return attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
}

static cudaError_t look_at_copy(cudaGraphNode_t node, const char **breach)
{
    struct cudaMemcpy3DParms copy = {0};
    CUDA_TRY(cudaGraphMemcpyNodeGetParams(node, &copy));
    if (!is_on_device(copy.srcPtr.ptr) || !is_on_device(copy.dstPtr.ptr))
        *breach = "the scan copies from or to the host";
    return cudaSuccess;
}

static cudaError_t look_at_graph(cudaGraph_t graph, const char **breach);

static cudaError_t look_at_node(cudaGraphNode_t node, const char **breach)
{
    enum cudaGraphNodeType type;
    cudaGraph_t child;
    CUDA_TRY(cudaGraphNodeGetType(node, &type));
    switch (type) {
    case cudaGraphNodeTypeHost: *breach = "the scan has the host compute (a host function)"; break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        *breach = "the scan allocates memory, which would be timed (cudaMallocAsync)";
        break;
    case cudaGraphNodeTypeMemcpy: return look_at_copy(node, breach);
    case cudaGraphNodeTypeGraph:
        CUDA_TRY(cudaGraphChildGraphNodeGetGraph(node, &child));
        return look_at_graph(child, breach);
    default: break;
    }
    return cudaSuccess;
}

static cudaError_t look_at_graph(cudaGraph_t graph, const char **breach)
{
    size_t count = 0;
    CUDA_TRY(cudaGraphGetNodes(graph, NULL, &count));
    if (count == 0) return cudaSuccess;
    cudaGraphNode_t *nodes = allocated(calloc(count, sizeof(cudaGraphNode_t)));
    cudaError_t error = cudaGraphGetNodes(graph, nodes, &count);
    for (size_t i = 0; i < count && !error && !*breach; i++) error = look_at_node(nodes[i], breach);
    free(nodes);
    return error;
}

/* ---- both checks ----------------------------------------------------------------------------- */

/* Begins and ends a capture around the work, even if a launch in it has failed. */
static cudaError_t capture(run_fn *work, void *context, cudaStream_t stream, cudaGraph_t *graph)
{
    *graph = NULL;
    CUDA_TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cudaError_t error = work(context, stream);
    if (!error) error = cudaGetLastError();
    cudaError_t ended = cudaStreamEndCapture(stream, graph);
    (void)cudaGetLastError(); /* the error of the capture is reported, and cleared here */
    return error ? error : ended;
}

int contract_capture(run_fn *work, void *context, cudaStream_t stream, cudaGraphExec_t *exec,
                     char *breach, struct fault *fault)
{
    cudaGraph_t graph;
    const char *found = NULL;
    *exec = NULL;
    breach[0] = '\0';
    cudaError_t refusal = capture(work, context, stream, &graph);
    cudaError_t error = refusal ? cudaSuccess : look_at_graph(graph, &found);
    if (refusal) name_refusal(refusal, breach);
    if (found) snprintf(breach, CONTRACT_TEXT, "%s", found);
    if (!*breach && !error) error = cudaGraphInstantiate(exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    CUDA_CHECK(fault, error);
    return 0;
}
