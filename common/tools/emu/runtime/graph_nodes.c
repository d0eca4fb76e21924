/* graph_nodes.c — making graphs, querying their nodes, changing edges. */
#include "graph.h"

/* ---- making graphs, querying their nodes, and changing their edges --------------------------- */

/* Edges have no data here. Edges that allow a kernel to begin before its predecessor has ended
 * (programmatic launches) are ordinary edges, which is one of the allowed orders. */

#define RETURN_UNLESS_GRAPH(handle, graph)                                                         \
    struct graph *graph = cudart_graph(handle);                                                    \
    if (graph == NULL) return cudaErrorInvalidValue

static struct node *node_of(cudaGraphNode_t handle) { return (struct node *)handle; }

RUNTIME(cudaGraphCreate, (cudaGraph_t *handle, unsigned flags),
        IF(flags == 0, cudaErrorInvalidValue, TELL(handle, (cudaGraph_t)cudart_new_graph())))

WORK_OF(RUNTIME, cudaGraphDestroy, (cudaGraph_t handle), (handle))
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (graph->is_child) return cudaErrorInvalidValue; /* it belongs to a node */
    cudart_free_graph(graph);
    return cudaSuccess;
}

RUNTIME(cudaGraphClone, (cudaGraph_t *copy, cudaGraph_t graph),
        IF(copy != NULL && cudart_graph(graph) != NULL, cudaErrorInvalidValue,
           cudart_clone_graph((struct graph **)copy, cudart_graph(graph))))

WORK_OF(RUNTIME, cudaGraphNodeFindInClone, (cudaGraphNode_t *node, cudaGraphNode_t original,
        cudaGraph_t clone), (node, original, clone))
{
    RETURN_UNLESS_GRAPH(clone, graph);
    if (node == NULL || original == NULL) return cudaErrorInvalidValue;
    *node = (cudaGraphNode_t)cudart_find_copy(graph, node_of(original));
    return *node != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

WORK_OF(RUNTIME, cudaGraphDestroyNode, (cudaGraphNode_t node), (node))
{
    if (node == NULL) return cudaErrorInvalidValue;
    enum cudaGraphNodeType type = node_of(node)->work.type;
    if (type == cudaGraphNodeTypeMemAlloc || type == cudaGraphNodeTypeMemFree)
        return cudaErrorNotSupported;
    cudart_drop_node(node_of(node));
    return cudaSuccess;
}

RUNTIME(cudaGraphNodeGetType, (cudaGraphNode_t node, enum cudaGraphNodeType *type),
        IF(node != NULL, cudaErrorInvalidValue, TELL(type, node_of(node)->work.type)))

/* ---- lists that the program asks for --------------------------------------------------------- */

/* All these functions answer alike: without an array they return only the number; the unused part
 * of a longer array is filled with NULL. */
struct answer {
    cudaGraphNode_t *first, *second; /* arrays, or NULL */
    size_t room, count;
};

static void tell(struct answer *answer, struct node *first, struct node *second)
{
    if (answer->count < answer->room) {
        if (answer->first != NULL) answer->first[answer->count] = (cudaGraphNode_t)first;
        if (answer->second != NULL) answer->second[answer->count] = (cudaGraphNode_t)second;
    }
    answer->count++;
}

static cudaError_t end_answer(struct answer *answer, cudaGraphEdgeData *data, size_t *count)
{
    size_t given = answer->count;
    bool asked = answer->first != NULL || answer->second != NULL;
    if (asked && given > answer->room) given = answer->room;
    for (size_t i = given; i < answer->room; i++) {
        if (answer->first != NULL) answer->first[i] = NULL;
        if (answer->second != NULL) answer->second[i] = NULL;
    }
    if (data != NULL && asked) memset(data, 0, given * sizeof *data);
    *count = given;
    return cudaSuccess;
}

static cudaError_t tell_nodes(cudaGraph_t handle, cudaGraphNode_t *nodes, size_t *count, bool roots)
{
    const struct graph *graph = cudart_graph(handle);
    if (graph == NULL || count == NULL) return cudaErrorInvalidValue;
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        if (!roots || node->needs.count == 0) tell(&answer, node, NULL);
    return end_answer(&answer, NULL, count);
}

RUNTIME(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        tell_nodes(graph, nodes, count, false))
RUNTIME(cudaGraphGetRootNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
        tell_nodes(graph, nodes, count, true))

WORK_OF(RUNTIME, cudaGraphGetEdges, (cudaGraph_t handle, cudaGraphNode_t *from, cudaGraphNode_t *to,
        cudaGraphEdgeData *data, size_t *count), (handle, from, to, data, count))
{
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count == NULL || (from == NULL) != (to == NULL)) return cudaErrorInvalidValue;
    struct answer answer = {.first = from, .second = to, .room = from != NULL ? *count : 0};
    for (struct node *node = graph->first; node != NULL; node = node->next)
        for (size_t k = 0; k < node->needs.count; k++) tell(&answer, node->needs.node[k], node);
    return end_answer(&answer, data, count);
}

static cudaError_t tell_list(const struct node_list *list, cudaGraphNode_t *nodes,
                             cudaGraphEdgeData *data, size_t *count)
{
    struct answer answer = {.first = nodes, .room = nodes != NULL ? *count : 0};
    for (size_t k = 0; k < list->count; k++) tell(&answer, list->node[k], NULL);
    return end_answer(&answer, data, count);
}

/* clang-format off */
RUNTIME(cudaGraphNodeGetDependencies, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
        cudaGraphEdgeData *data, size_t *count),
        IF(node != NULL && count != NULL, cudaErrorInvalidValue,
           tell_list(&node_of(node)->needs, nodes, data, count)))
RUNTIME(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t node, cudaGraphNode_t *nodes,
        cudaGraphEdgeData *data, size_t *count),
        IF(node != NULL && count != NULL, cudaErrorInvalidValue,
           tell_list(&node_of(node)->dependents, nodes, data, count)))
/* clang-format on */

/* ---- edges ----------------------------------------------------------------------------------- */

WORK_OF(RUNTIME, cudaGraphAddDependencies, (cudaGraph_t handle, const cudaGraphNode_t *from,
        const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (handle, from, to, data, count))
{
    (void)data;
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct node *before = node_of(from[i]), *after = node_of(to[i]);
        if (before == NULL || after == NULL || before == after || before->graph != graph ||
            after->graph != graph || cudart_contains(&after->needs, before))
            return cudaErrorInvalidValue;
        cudart_connect(before, after);
    }
    return cudaSuccess;
}

WORK_OF(RUNTIME, cudaGraphRemoveDependencies, (cudaGraph_t handle, const cudaGraphNode_t *from,
        const cudaGraphNode_t *to, const cudaGraphEdgeData *data, size_t count),
        (handle, from, to, data, count))
{
    (void)data;
    RETURN_UNLESS_GRAPH(handle, graph);
    if (count > 0 && (from == NULL || to == NULL)) return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (to[i] == NULL || node_of(to[i])->graph != graph ||
            !cudart_disconnect(node_of(from[i]), node_of(to[i])))
            return cudaErrorInvalidValue;
    return cudaSuccess;
}
