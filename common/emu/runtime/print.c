/*
 * print.c — prints a graph as text for Graphviz (dot -Tsvg).
 */
#include "graph.h"
#include "common/emu/ptx/kernel_name.h"

#include <stdio.h>

/* Prints what a node does. */
static void describe(FILE *out, const struct work *work)
{
    static const char *const names[] = {
        [cudaGraphNodeTypeMemcpy] = "memcpy",      [cudaGraphNodeTypeMemset] = "memset",
        [cudaGraphNodeTypeHost] = "host",          [cudaGraphNodeTypeGraph] = "graph",
        [cudaGraphNodeTypeEmpty] = "empty",        [cudaGraphNodeTypeWaitEvent] = "wait event",
        [cudaGraphNodeTypeEventRecord] = "record", [cudaGraphNodeTypeMemAlloc] = "alloc",
        [cudaGraphNodeTypeMemFree] = "free",
    };
    struct function *function;
    char name[200];
    if (work->type != cudaGraphNodeTypeKernel) {
        fputs(names[work->type], out);
    } else if (cudart_function(work->kernel.host, &function) == cudaSuccess) {
        kernel_base_name(function->name, name, sizeof name);
        fprintf(out, "%s\\n<<<(%u,%u,%u), (%u,%u,%u), %zu>>>", name, work->kernel.grid.x,
                work->kernel.grid.y, work->kernel.grid.z, work->kernel.block.x,
                work->kernel.block.y, work->kernel.block.z, work->kernel.shared);
    } else {
        fputs("kernel", out);
    }
}

/* A child graph is drawn inside a frame, beside the node that holds it. */
static void print(FILE *out, const struct graph *graph)
{
    size_t i = 0;
    for (const struct node *node = graph->first; node != NULL; node = node->next, i++) {
        fprintf(out, "  \"%p\" [label=\"%zu\\n", (void *)node, i);
        describe(out, &node->work);
        fputs("\"];\n", out);
        for (size_t k = 0; k < node->needs.count; k++)
            fprintf(out, "  \"%p\" -> \"%p\";\n", (void *)node->needs.node[k], (void *)node);
        if (node->work.type != cudaGraphNodeTypeGraph) continue;
        fprintf(out, "  subgraph \"cluster_%p\" {\n", (void *)node);
        print(out, node->work.child);
        fputs("  }\n", out);
    }
}

cudaError_t CUDARTAPI cudaGraphDebugDotPrint(cudaGraph_t handle, const char *path, unsigned flags)
{
    (void)flags; /* the level of detail */
    RETURN_IF_FAULTY();
    const struct graph *graph = cudart_graph(handle);
    FILE *out = graph != NULL && path != NULL ? fopen(path, "w") : NULL;
    if (out == NULL) return cudart_done(cudaErrorInvalidValue);
    fputs("digraph {\n  node [shape=box];\n", out);
    print(out, graph);
    fputs("}\n", out);
    return cudart_done(fclose(out) == 0 ? cudaSuccess : cudaErrorOperatingSystem);
}
