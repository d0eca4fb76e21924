/*
 * graph_exec.c — conditional nodes of graphs: a node that carries out a graph, its body, if the
 * value of a condition is not 0 (IF), as long as it is not 0 (WHILE), or the body with that number
 * (SWITCH). Kernels set the value, by cudaGraphSetConditional.
 */
#include "graph.h"

#include <stdlib.h>

/* ---- conditions ------------------------------------------------------------------------------ */

/* A handle is the place of its condition, counted from 1. Conditions are never freed: a handle of
 * a graph that has been destroyed stays its own. */
struct condition {
    uint64_t graph; /* the id of the graph that it was made for */
    _Atomic unsigned value;
    unsigned first; /* the value at a launch, if the program has given one */
    bool has_first, has_node;
};
enum { MOST_CONDITIONS = 1 << 16 };
static struct condition *conditions[MOST_CONDITIONS];
static size_t condition_count;
static pthread_mutex_t condition_mutex = PTHREAD_MUTEX_INITIALIZER; /* of both */

/* NULL: there is no such handle. */
static struct condition *condition_of(cudaGraphConditionalHandle handle)
{
    pthread_mutex_lock(&condition_mutex);
    struct condition *found =
        handle > 0 && handle <= condition_count ? conditions[handle - 1] : NULL;
    pthread_mutex_unlock(&condition_mutex);
    return found;
}

cudaError_t CUDARTAPI cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                       cudaGraph_t graph, unsigned value,
                                                       unsigned flags)
{
    RETURN_IF_FAULTY();
    const struct graph *its = cudart_graph(graph);
    if (handle == NULL || its == NULL || flags & ~(unsigned)cudaGraphCondAssignDefault)
        return cudart_done(cudaErrorInvalidValue);
    struct condition *new = calloc(1, sizeof *new);
    pthread_mutex_lock(&condition_mutex);
    bool has_room = new != NULL &&condition_count < MOST_CONDITIONS;
    if (has_room) {
        new->graph = its->id;
        new->first = value;
        new->has_first = flags &cudaGraphCondAssignDefault;
        conditions[condition_count++] = new;
        *handle = condition_count;
    }
    pthread_mutex_unlock(&condition_mutex);
    if (!has_room) free(new);
    return cudart_done(has_room ? cudaSuccess : cudaErrorMemoryAllocation);
}

int cudart_set_condition(uint64_t handle, unsigned value)
{
    struct condition *condition = condition_of(handle);
    if (condition == NULL) return cudaErrorInvalidValue;
    condition->value = value;
    return cudaSuccess;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

void cudart_free_conditional(struct conditional *node)
{
    for (unsigned i = 0; i < node->size; i++)
        if (node->bodies[i] != NULL) cudart_free_graph(node->bodies[i]);
    free(node);
}

static struct conditional *node_new(cudaGraphConditionalHandle handle,
                                    enum cudaGraphConditionalNodeType type, unsigned size)
{
    struct conditional *node = calloc(1, sizeof *node + size * sizeof *node->bodies);
    if (node == NULL) return NULL;
    node->handle = handle;
    node->type = type;
    node->size = size;
    return node;
}

cudaError_t cudart_clone_conditional(struct conditional **copy, const struct conditional *node)
{
    cudaError_t error = cudaSuccess;
    *copy = node_new(node->handle, node->type, node->size);
    if (*copy == NULL) return cudaErrorMemoryAllocation;
    for (unsigned i = 0; i < node->size && error == cudaSuccess; i++)
        error = node->bodies[i] != NULL ? cudart_clone_graph(&(*copy)->bodies[i], node->bodies[i])
                                        : cudart_new_graph(&(*copy)->bodies[i]);
    if (error != cudaSuccess) cudart_free_conditional(*copy);
    return error;
}

void cudart_own_bodies(const struct conditional *node, const struct graph *graph)
{
    for (unsigned i = 0; i < node->size; i++) {
        node->bodies[i]->is_child = node->bodies[i]->is_body = true;
        node->bodies[i]->parent = graph;
    }
}

/* Of child graphs, the nodes decide. */
static bool may_be_in_body(const struct work *work)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeConditional: return true;
    case cudaGraphNodeTypeGraph: break;
    default: return false;
    }
    for (const struct node *node = work->child->first; node != NULL; node = node->next)
        if (!may_be_in_body(&node->work)) return false;
    return true;
}

bool cudart_graph_may_have(const struct graph *graph, const struct work *work)
{
    while (graph != NULL && !graph->is_body) graph = graph->parent;
    if (graph == NULL || may_be_in_body(work)) return true;
    cudart_print("the body of a conditional node may have kernels, copies, fills, empty nodes, "
                 "child graphs and conditional nodes only: put host functions, events and "
                 "allocations into the graph before or after that node");
    return false;
}

/* A condition serves the graph that it was made for, and the graphs that belong to its nodes. */
static bool is_for(const struct condition *condition, const struct graph *graph)
{
    while (graph != NULL && graph->id != condition->graph) graph = graph->parent;
    if (graph == NULL)
        cudart_print("the handle of a conditional node was made for another graph: give "
                     "cudaGraphConditionalHandleCreate the graph of the node");
    return graph != NULL;
}

static bool is_size_right(enum cudaGraphConditionalNodeType type, unsigned size)
{
    enum { MOST_BODIES = 1 << 16 };
    switch (type) {
    case cudaGraphCondTypeIf: return size == 1 || size == 2;
    case cudaGraphCondTypeWhile: return size == 1;
    case cudaGraphCondTypeSwitch: return size >= 1 && size <= MOST_BODIES;
    default: return false;
    }
}

/* The bodies are empty, and the program fills them. */
cudaError_t cudart_add_conditional(cudaGraphNode_t *node, struct graph *graph,
                                   struct node *const *needs, size_t count,
                                   struct cudaConditionalNodeParams *params)
{
    struct condition *condition = condition_of(params->handle);
    if (condition == NULL || condition->has_node || !is_size_right(params->type, params->size) ||
        !is_for(condition, graph))
        return cudaErrorInvalidValue;
    struct work work = {.type = cudaGraphNodeTypeConditional, .device = cudart_device()->number};
    work.conditional = node_new(params->handle, params->type, params->size);
    if (work.conditional == NULL) return cudaErrorMemoryAllocation;
    cudaError_t error = cudart_add_node(graph, &work, needs, count, (struct node **)node);
    free(work.conditional); /* the node has a copy */
    if (error != cudaSuccess) return error;
    condition->has_node = true;
    params->phGraph_out = (cudaGraph_t *)((struct node *)*node)->work.conditional->bodies;
    return cudaSuccess;
}

/* ---- launches -------------------------------------------------------------------------------- */

void cudart_begin_conditions(const struct graph *graph)
{
    for (const struct node *node = graph->first; node != NULL; node = node->next) {
        const struct conditional *conditional = node->work.conditional;
        if (node->work.type == cudaGraphNodeTypeGraph) cudart_begin_conditions(node->work.child);
        if (node->work.type != cudaGraphNodeTypeConditional) continue;
        struct condition *condition = condition_of(conditional->handle);
        if (condition->has_first) condition->value = condition->first;
        for (unsigned i = 0; i < conditional->size; i++)
            cudart_begin_conditions(conditional->bodies[i]);
    }
}

struct graph *cudart_next_body(const struct conditional *node, bool is_first)
{
    unsigned value = condition_of(node->handle)->value;
    switch (node->type) {
    case cudaGraphCondTypeWhile: return value != 0 ? node->bodies[0] : NULL;
    case cudaGraphCondTypeIf: value = value != 0 ? 0 : 1; break;
    default: break;
    }
    return is_first && value < node->size ? node->bodies[value] : NULL;
}
