/* conditional.cuh — a graph with a WHILE node, whose body is to be filled. */
#ifndef CONDITIONAL_CUH
#define CONDITIONAL_CUH

#include "pair.h"

struct conditional {
    cudaGraph_t graph, body;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle condition; /* 1 at each launch */

    conditional()
    {
        cudaGraphNodeParams params = {};
        cudaGraphCreate(&graph, 0);
        cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault);
        params.type = cudaGraphNodeTypeConditional;
        params.conditional.handle = condition;
        params.conditional.type = cudaGraphCondTypeWhile;
        params.conditional.size = 1;
        cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params);
        body = params.conditional.phGraph_out[0];
    }

    /* Adds a kernel to the graph or its body, after a node or (nullptr) as a first one. */
    template <typename... P, typename... A>
    cudaGraphNode_t add(cudaGraph_t to, cudaGraphNode_t after, void (*kernel)(P...), int blocks,
                        int threads, A... arguments)
    {
        void *pointers[] = {&arguments...};
        cudaKernelNodeParams params = {};
        cudaGraphNode_t added;
        params.func = (void *)kernel;
        params.gridDim = dim3(blocks);
        params.blockDim = dim3(threads);
        params.kernelParams = pointers;
        cudaGraphAddKernelNode(&added, to, &after, after ? 1 : 0, &params);
        return added;
    }

    void run()
    {
        cudaGraphExec_t exec;
        cudaGraphInstantiate(&exec, graph, 0);
        cudaGraphLaunch(exec, 0);
        cudaDeviceSynchronize();
        cudaGraphExecDestroy(exec);
        cudaGraphDestroy(graph);
    }
};

#endif
