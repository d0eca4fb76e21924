/*
 * cudart_graph.c — graphs as data: nodes, what they need, copies, an order.
 */
#include "cudart_graph.h"

#include <stdlib.h>
#include <string.h>

static struct graph *graphs; /* all that live, so that a stale handle is noticed */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- lists of nodes -------------------------------------------------------------------------- */

cudaError_t cudart_append(struct node_list *list, struct node *node)
{
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 4 : 2 * list->room;
        struct node **grown = realloc(list->node, room * sizeof *grown);
        if (grown == NULL) return cudaErrorMemoryAllocation;
        list->node = grown;
        list->room = room;
    }
    list->node[list->count++] = node;
    return cudaSuccess;
}

bool cudart_contains(const struct node_list *list, const struct node *node)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->node[i] == node) return true;
    return false;
}

bool cudart_remove(struct node_list *list, const struct node *node)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->node[i] != node) continue;
        list->count--;
        memmove(&list->node[i], &list->node[i + 1], (list->count - i) * sizeof *list->node);
        return true;
    }
    return false;
}

void cudart_empty(struct node_list *list)
{
    free(list->node);
    *list = (struct node_list){0};
}

/* ---- making and freeing ---------------------------------------------------------------------- */

cudaError_t cudart_new_graph(struct graph **graph)
{
    *graph = calloc(1, sizeof **graph);
    if (*graph == NULL) return cudaErrorMemoryAllocation;
    pthread_mutex_lock(&mutex);
    (*graph)->next = graphs;
    graphs = *graph;
    pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

struct graph *cudart_graph(cudaGraph_t handle)
{
    pthread_mutex_lock(&mutex);
    struct graph *graph = graphs;
    while (graph != NULL && graph != (struct graph *)handle) graph = graph->next;
    pthread_mutex_unlock(&mutex);
    return graph;
}

static void free_node(struct node *node)
{
    cudart_free_work(&node->work);
    cudart_empty(&node->needs);
    free(node);
}

void cudart_free_graph(struct graph *graph)
{
    pthread_mutex_lock(&mutex);
    struct graph **link = &graphs;
    while (*link != graph) link = &(*link)->next;
    *link = graph->next;
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < graph->nodes.count; i++) free_node(graph->nodes.node[i]);
    cudart_empty(&graph->nodes);
    cudart_drop_users(graph);
    free(graph);
}

cudaError_t cudart_add_node(struct graph *graph, const struct work *work, struct node *const *needs,
                            size_t count, struct node **added)
{
    struct node *node = calloc(1, sizeof *node);
    if (node == NULL) return cudaErrorMemoryAllocation;
    node->graph = graph;
    cudaError_t error = cudart_copy_work(&node->work, work);
    if (error == cudaSuccess && node->work.type == cudaGraphNodeTypeGraph)
        node->work.child->is_child = true;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        if (needs[i] == NULL || needs[i]->graph != graph || cudart_contains(&node->needs, needs[i]))
            error = cudaErrorInvalidValue;
        else
            error = cudart_append(&node->needs, needs[i]);
    }
    if (error == cudaSuccess) error = cudart_append(&graph->nodes, node);
    if (error != cudaSuccess) {
        free_node(node);
        return error;
    }
    *added = node;
    return cudaSuccess;
}

void cudart_drop_node(struct node *node)
{
    struct graph *graph = node->graph;
    cudart_remove(&graph->nodes, node);
    for (size_t i = 0; i < graph->nodes.count; i++)
        cudart_remove(&graph->nodes.node[i]->needs, node);
    free_node(node);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* The nodes first, so that each one's needs have a copy whatever their order. */
static cudaError_t copy_nodes(struct graph *copy, const struct graph *graph)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++) {
        struct node *node;
        error = cudart_add_node(copy, &graph->nodes.node[i]->work, NULL, 0, &node);
        if (error == cudaSuccess) {
            node->source = graph->nodes.node[i];
            graph->nodes.node[i]->waits = i; /* its index, for the needs below */
        }
    }
    for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++) {
        const struct node_list *needs = &graph->nodes.node[i]->needs;
        for (size_t k = 0; k < needs->count && error == cudaSuccess; k++)
            error =
                cudart_append(&copy->nodes.node[i]->needs, copy->nodes.node[needs->node[k]->waits]);
    }
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
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *node = graph->nodes.node[i];
        if (node->source == source) return node;
        if (node->work.type != cudaGraphNodeTypeGraph) continue;
        struct node *inside = cudart_find_copy(node->work.child, source);
        if (inside != NULL) return inside;
    }
    return NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Kahn's algorithm, taking of all nodes that are ready the one that was made first. */
static cudaError_t sort_nodes(struct graph *graph)
{
    struct node_list sorted = {0}, *nodes = &graph->nodes;
    for (size_t i = 0; i < nodes->count; i++) nodes->node[i]->waits = nodes->node[i]->needs.count;
    while (nodes->count > 0) {
        size_t first = 0;
        while (first < nodes->count && nodes->node[first]->waits > 0) first++;
        cudaError_t error = first < nodes->count ? cudart_append(&sorted, nodes->node[first])
                                                 : cudaErrorInvalidValue;
        if (error != cudaSuccess) { /* all nodes stay in the graph, for it to be freed */
            for (size_t i = 0; i < sorted.count; i++) cudart_append(nodes, sorted.node[i]);
            cudart_empty(&sorted);
            return error;
        }
        struct node *node = nodes->node[first];
        cudart_remove(nodes, node);
        for (size_t i = 0; i < nodes->count; i++)
            if (cudart_contains(&nodes->node[i]->needs, node)) nodes->node[i]->waits--;
    }
    cudart_empty(nodes);
    *nodes = sorted;
    return cudaSuccess;
}

cudaError_t cudart_sort_graph(struct graph *graph)
{
    cudaError_t error = sort_nodes(graph);
    for (size_t i = 0; i < graph->nodes.count && error == cudaSuccess; i++)
        if (graph->nodes.node[i]->work.type == cudaGraphNodeTypeGraph)
            error = cudart_sort_graph(graph->nodes.node[i]->work.child);
    return error;
}
