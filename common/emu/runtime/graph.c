/*
 * graph.c — graphs as a data structure: their nodes and edges, and copying them.
 */
#include "graph.h"
#include "handles.h"

#include <stdlib.h>

static struct handles graphs = NO_HANDLES;

/* ---- making and freeing ---------------------------------------------------------------------- */

cudaError_t cudart_new_graph(struct graph **graph)
{
    static _Atomic uint64_t made;
    *graph = calloc(1, sizeof **graph);
    if (*graph == NULL) return cudaErrorMemoryAllocation;
    (*graph)->id = ++made;
    if (cudart_handles_add(&graphs, *graph)) return cudaSuccess;
    free(*graph);
    return cudaErrorMemoryAllocation;
}

struct graph *cudart_graph(cudaGraph_t handle)
{
    return cudart_handles_have(&graphs, handle) ? (struct graph *)handle : NULL;
}

static void free_node(struct node *node)
{
    cudart_free_work(&node->work);
    cudart_empty(&node->needs);
    cudart_empty(&node->dependents);
    free(node);
}

void cudart_free_graph(struct graph *graph)
{
    cudart_handles_remove(&graphs, graph);
    for (struct node *node = graph->first, *next; node != NULL; node = next) {
        next = node->next;
        free_node(node);
    }
    address_table_close(&graph->copies);
    cudart_drop_users(graph);
    free(graph);
}

/* ---- nodes and edges ------------------------------------------------------------------------- */

cudaError_t cudart_connect(struct node *before, struct node *after)
{
    cudaError_t error = cudart_append(&after->needs, before);
    if (error != cudaSuccess) return error;
    error = cudart_append(&before->dependents, after);
    if (error != cudaSuccess) cudart_remove(&after->needs, before);
    return error;
}

bool cudart_disconnect(struct node *before, struct node *after)
{
    if (!cudart_remove(&after->needs, before)) return false;
    cudart_remove(&before->dependents, after);
    return true;
}

static void disconnect_all(struct node *node)
{
    while (node->needs.count > 0) cudart_disconnect(node->needs.node[node->needs.count - 1], node);
    while (node->dependents.count > 0)
        cudart_disconnect(node, node->dependents.node[node->dependents.count - 1]);
}

/* Adds a node at the end of the list. */
static void link_node(struct graph *graph, struct node *node)
{
    node->previous = graph->last;
    node->number = graph->last != NULL ? graph->last->number + 1 : 0;
    *(graph->last != NULL ? &graph->last->next : &graph->first) = node;
    graph->last = node;
    graph->count++;
}

static void unlink_node(struct graph *graph, struct node *node)
{
    *(node->previous != NULL ? &node->previous->next : &graph->first) = node->next;
    *(node->next != NULL ? &node->next->previous : &graph->last) = node->previous;
    graph->count--;
}

/* Lets a new node depend on others. Each of them may occur only once in the array. */
static cudaError_t connect_all(struct node *node, struct node *const *needs, size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        bool is_right = needs[i] != NULL && needs[i]->graph == node->graph &&
                        !cudart_contains(&node->needs, needs[i]);
        error = is_right ? cudart_connect(needs[i], node) : cudaErrorInvalidValue;
    }
    return error;
}

void cudart_own(const struct graph *graph, const struct work *work)
{
    if (work->type == cudaGraphNodeTypeConditional) cudart_own_bodies(work->conditional, graph);
    if (work->type != cudaGraphNodeTypeGraph) return;
    work->child->is_child = true;
    work->child->parent = graph;
}

cudaError_t cudart_add_node(struct graph *graph, const struct work *work, struct node *const *needs,
                            size_t count, struct node **added)
{
    if (!cudart_graph_may_have(graph, work)) return cudaErrorInvalidValue;
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) return cudaErrorMemoryAllocation;
    node->graph = graph;
    cudaError_t error = cudart_copy_work(&node->work, work);
    if (error == cudaSuccess) cudart_own(graph, &node->work);
    if (error == cudaSuccess) error = connect_all(node, needs, count);
    if (error != cudaSuccess) {
        disconnect_all(node);
        free_node(node);
        return error;
    }
    link_node(graph, node);
    *added = node;
    return cudaSuccess;
}

void cudart_drop_node(struct node *node)
{
    disconnect_all(node);
    unlink_node(node->graph, node);
    address_table_remove(&node->graph->copies, (uint64_t)node->source);
    free_node(node);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static struct node *find_copy(const struct graph *copy, const struct node *source)
{
    return address_table_find(&copy->copies, (uint64_t)source);
}

static cudaError_t copy_node(struct graph *copy, const struct node *source)
{
    struct node *node;
    cudaError_t error = cudart_add_node(copy, &source->work, NULL, 0, &node);
    if (error != cudaSuccess) return error;
    node->source = source;
    return address_table_set(&copy->copies, (uint64_t)source, node) ? cudaSuccess
                                                                    : cudaErrorMemoryAllocation;
}

static cudaError_t copy_needs(struct graph *copy, const struct node *source)
{
    struct node *node = find_copy(copy, source);
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < source->needs.count && error == cudaSuccess; i++)
        error = cudart_connect(find_copy(copy, source->needs.node[i]), node);
    return error;
}

/* Copies all nodes before the edges, so that both ends of each edge have a copy. */
static cudaError_t copy_nodes(struct graph *copy, const struct graph *graph)
{
    cudaError_t error = cudaSuccess;
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess; node = node->next)
        error = copy_node(copy, node);
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess; node = node->next)
        error = copy_needs(copy, node);
    return error;
}

cudaError_t cudart_clone_graph(struct graph **copy, const struct graph *graph)
{
    cudaError_t error = cudart_new_graph(copy);
    if (error != cudaSuccess) return error;
    error = copy_nodes(*copy, graph);
    if (error != cudaSuccess)
        cudart_free_graph(*copy);
    else
        cudart_copy_users(*copy, graph);
    return error;
}

struct node *cudart_find_copy(const struct graph *graph, const struct node *source)
{
    struct node *found = find_copy(graph, source);
    for (struct node *node = graph->first; node != NULL && found == NULL; node = node->next) {
        const struct work *work = &node->work;
        if (work->type == cudaGraphNodeTypeGraph) found = cudart_find_copy(work->child, source);
        if (work->type != cudaGraphNodeTypeConditional) continue;
        for (unsigned i = 0; i < work->conditional->size && found == NULL; i++)
            found = cudart_find_copy(work->conditional->bodies[i], source);
    }
    return found;
}
