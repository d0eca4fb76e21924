/*
 * sort.c — sorts a graph's nodes into the order of execution.
 *
 * Kahn's algorithm: among all nodes that are ready, the node that was made first comes next. The
 * ready nodes are in a binary heap, so n nodes and e edges take time O(n log n + e).
 */
#include "graph.h"

#include <stdlib.h>

struct ready_heap {
    struct node **node; /* node[i] was made before node[2i + 1] and node[2i + 2] */
    size_t count;
};

static void swap(struct node **a, struct node **b)
{
    struct node *was = *a;
    *a = *b;
    *b = was;
}

static void push(struct ready_heap *heap, struct node *node)
{
    struct node **nodes = heap->node;
    size_t at = heap->count++;
    nodes[at] = node;
    for (; at > 0 && nodes[at]->number < nodes[(at - 1) / 2]->number; at = (at - 1) / 2)
        swap(&nodes[at], &nodes[(at - 1) / 2]);
}

static struct node *pop(struct ready_heap *heap)
{
    struct node **nodes = heap->node, *first = nodes[0];
    nodes[0] = nodes[--heap->count];
    for (size_t at = 0, child = 1; child < heap->count; at = child, child = 2 * at + 1) {
        if (child + 1 < heap->count && nodes[child + 1]->number < nodes[child]->number) child++;
        if (nodes[at]->number < nodes[child]->number) break;
        swap(&nodes[at], &nodes[child]);
    }
    return first;
}

/* Writes the nodes into `order` and returns their number, which is less than graph->count if
 * dependencies form a circle. */
static size_t order(const struct graph *graph, struct ready_heap *ready, struct node **sorted)
{
    size_t count = 0;
    for (struct node *node = graph->first; node != NULL; node = node->next) {
        node->waits = node->needs.count;
        if (node->waits == 0) push(ready, node);
    }
    while (ready->count > 0) {
        struct node *node = sorted[count++] = pop(ready);
        for (size_t i = 0; i < node->dependents.count; i++)
            if (--node->dependents.node[i]->waits == 0) push(ready, node->dependents.node[i]);
    }
    return count;
}

static void link_sorted(struct graph *graph, struct node *const *sorted)
{
    for (size_t i = 0; i < graph->count; i++) {
        sorted[i]->number = i;
        sorted[i]->previous = i > 0 ? sorted[i - 1] : NULL;
        sorted[i]->next = i + 1 < graph->count ? sorted[i + 1] : NULL;
    }
    graph->first = sorted[0];
    graph->last = sorted[graph->count - 1];
}

static cudaError_t sort_nodes(struct graph *graph)
{
    if (graph->count == 0) return cudaSuccess;
    struct node **memory = malloc(2 * graph->count * sizeof *memory);
    if (memory == NULL) return cudaErrorMemoryAllocation;
    struct node **sorted = memory + graph->count;
    struct ready_heap ready = {.node = memory};
    bool is_sorted = order(graph, &ready, sorted) == graph->count;
    if (is_sorted) link_sorted(graph, sorted);
    free(memory);
    return is_sorted ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudart_sort_graph(struct graph *graph)
{
    cudaError_t error = sort_nodes(graph);
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess;
         node = node->next) {
        const struct work *work = &node->work;
        if (work->type == cudaGraphNodeTypeGraph) error = cudart_sort_graph(work->child);
        if (work->type != cudaGraphNodeTypeConditional) continue;
        for (unsigned i = 0; i < work->conditional->size && error == cudaSuccess; i++)
            error = cudart_sort_graph(work->conditional->bodies[i]);
    }
    return error;
}
