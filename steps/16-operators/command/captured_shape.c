/*
 * captured_shape.c — see captured_shape.h. The library chooses the kernel and the number of
 * blocks; a captured call says which.
 */
#include "captured_shape.h"

#define NODES_MOST 16

/* The shape of a captured graph: of its last kernel, and how many kernels there are. */
static void look_at(cudaGraph_t graph, struct launch_shape *shape)
{
    cudaGraphNode_t nodes[NODES_MOST];
    size_t count = NODES_MOST;
    if (cudaGraphGetNodes(graph, nodes, &count)) return;
    for (size_t i = 0; i < count; i++) {
        enum cudaGraphNodeType type;
        struct cudaKernelNodeParams p;
        struct cudaFuncAttributes about;
        if (cudaGraphNodeGetType(nodes[i], &type) || type != cudaGraphNodeTypeKernel) continue;
        shape->launches++;
        if (cudaGraphKernelNodeGetParams(nodes[i], &p) || cudaFuncGetAttributes(&about, p.func))
            continue;
        shape->grid = p.gridDim.x;
        shape->block = p.blockDim.x;
        shape->shared_bytes = about.sharedSizeBytes + p.sharedMemBytes;
    }
}

struct launch_shape captured_shape(run_fn *scan, void *context)
{
    struct launch_shape shape = {0};
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return shape;
    if (!cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal)) {
        cudaError_t error = scan(context, stream);
        if (!cudaStreamEndCapture(stream, &graph) && !error) look_at(graph, &shape);
        if (graph) cudaGraphDestroy(graph);
    }
    cudaStreamDestroy(stream);
    (void)cudaGetLastError();
    return shape;
}
