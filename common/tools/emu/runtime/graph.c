/* graph.c — graphs as a data structure: nodes and edges, copies, order, text. */
#include "graph.h"

/* ---- lists of nodes -------------------------------------------------------------------------- */

enum { SHORT = 16, FIRST_ROOM = 4 };

static void set_place(struct node_list *list, size_t index)
{
    address_table_set(&list->places, (uint64_t)list->node[index], (void *)(index + 1));
}

/* The index of a node; list->count if the list does not have it. */
static size_t find(const struct node_list *list, const struct node *node)
{
    size_t i = 0;
    if (list->places.count > 0) {
        uintptr_t place = (uintptr_t)address_table_find(&list->places, (uint64_t)node);
        return place > 0 ? place - 1 : list->count;
    }
    while (i < list->count && list->node[i] != node) i++;
    return i;
}

/* A list that is long has a table of its nodes' places. */
void cudart_append(struct node_list *list, struct node *node)
{
    if (cudart_contains(list, node)) return;
    if (list->count == list->room) {
        list->room = list->room == 0 ? FIRST_ROOM : 2 * list->room;
        list->node = allocated(realloc(list->node, list->room * sizeof *list->node));
    }
    list->node[list->count++] = node;
    if (list->count <= SHORT && list->places.count == 0) return;
    for (size_t i = list->places.count; i < list->count; i++) set_place(list, i);
}

bool cudart_contains(const struct node_list *list, const struct node *node)
{
    return find(list, node) < list->count;
}

/* Removes a node, and moves the last node to its place; false if the list does not have it. */
static bool cudart_remove(struct node_list *list, const struct node *node)
{
    size_t place = find(list, node);
    if (place == list->count) return false;
    struct node *last = list->node[--list->count];
    list->node[place] = last;
    if (list->places.count == 0) return true;
    address_table_remove(&list->places, (uint64_t)node); /* makes room for set_place */
    if (last != node) set_place(list, place);
    return true;
}

void cudart_clear(struct node_list *list)
{
    address_table_close(&list->places);
    list->count = 0;
}

void cudart_empty(struct node_list *list)
{
    cudart_clear(list);
    free(list->node);
    *list = (struct node_list){0};
}

/* ---- sorts a graph's nodes into the order of execution --------------------------------------- */

#define IN_ORDER SIZE_MAX /* instead of the needs of a node that are in the order */

/* Depth-first: before each node, in the order of making, those that it needs. Writes the nodes into
 * `sorted`; `stack` has room for all. False: dependencies form a circle. */
static bool order(const struct graph *graph, struct node **stack, struct node **sorted)
{
    size_t count = 0, depth = 0;
    for (struct node *node = graph->first; node != NULL; node = node->next) node->waits = 0;
    for (struct node *first = graph->first; first != NULL; first = first->next) {
        if (first->waits != IN_ORDER) stack[depth++] = first;
        while (depth > 0) {
            struct node *node = stack[depth - 1];
            while (node->waits < node->needs.count &&
                   node->needs.node[node->waits]->waits == IN_ORDER)
                node->waits++;
            if (node->waits == node->needs.count) {
                sorted[count++] = node;
                node->waits = IN_ORDER;
                depth--;
            } else if (depth == graph->count) {
                return false;
            } else {
                stack[depth++] = node->needs.node[node->waits];
            }
        }
    }
    return true;
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
    struct node **memory = allocated(malloc(2 * graph->count * sizeof *memory));
    struct node **sorted = memory + graph->count;
    bool is_sorted = order(graph, memory, sorted);
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

/* ---- graphs as a data structure: their nodes and edges, and copying them --------------------- */

static struct handles graphs = NO_HANDLES;

/* ---- making and freeing ---------------------------------------------------------------------- */

struct graph *cudart_new_graph(void)
{
    static _Atomic uint64_t made;
    struct graph *graph = allocated(calloc(1, sizeof *graph));
    graph->id = ++made;
    cudart_handles_set(&graphs, graph, graph);
    return graph;
}

struct graph *cudart_graph(cudaGraph_t handle)
{
    return cudart_handles_find(&graphs, handle);
}

static void free_node(struct node *node)
{
    cudart_free_work(&node->work);
    cudart_empty(&node->needs);
    cudart_empty(&node->dependents);
    cudart_empty(&node->early);
    free(node);
}

void cudart_free_graph(struct graph *graph)
{
    cudart_handles_take(&graphs, graph);
    for (struct node *node = graph->first, *next; node != NULL; node = next) {
        next = node->next;
        free_node(node);
    }
    address_table_close(&graph->copies);
    cudart_drop_users(graph);
    free(graph);
}

/* ---- nodes and edges ------------------------------------------------------------------------- */

void cudart_connect(struct node *before, struct node *after)
{
    cudart_append(&after->needs, before);
    cudart_append(&before->dependents, after);
}

bool cudart_disconnect(struct node *before, struct node *after)
{
    if (!cudart_remove(&after->needs, before)) return false;
    cudart_remove(&before->dependents, after);
    cudart_remove(&after->early, before);
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
    for (size_t i = 0; i < count; i++) {
        if (needs[i] == NULL || needs[i]->graph != node->graph ||
            cudart_contains(&node->needs, needs[i]))
            return cudaErrorInvalidValue;
        cudart_connect(needs[i], node);
    }
    return cudaSuccess;
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
    struct node *node = allocated(calloc(1, sizeof *node));
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
    address_table_set(&copy->copies, (uint64_t)source, node);
    return cudaSuccess;
}

static void copy_needs(struct graph *copy, const struct node *source)
{
    struct node *node = find_copy(copy, source);
    for (size_t i = 0; i < source->needs.count; i++)
        cudart_connect(find_copy(copy, source->needs.node[i]), node);
    for (size_t i = 0; i < source->early.count; i++)
        cudart_append(&node->early, find_copy(copy, source->early.node[i]));
}

/* Copies all nodes before the edges, so that both ends of each edge have a copy. */
static cudaError_t copy_nodes(struct graph *copy, const struct graph *graph)
{
    cudaError_t error = cudaSuccess;
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess; node = node->next)
        error = copy_node(copy, node);
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess; node = node->next)
        copy_needs(copy, node);
    return error;
}

cudaError_t cudart_clone_graph(struct graph **copy, const struct graph *graph)
{
    *copy = cudart_new_graph();
    cudaError_t error = copy_nodes(*copy, graph);
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

/* ---- prints a graph as text for Graphviz (dot -Tsvg) ----------------------------------------- */

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

WORK_OF(RUNTIME, cudaGraphDebugDotPrint, (cudaGraph_t handle, const char *path, unsigned flags),
        (handle, path, flags))
{
    (void)flags; /* the level of detail */
    const struct graph *graph = cudart_graph(handle);
    FILE *out = graph != NULL && path != NULL ? fopen(path, "w") : NULL;
    if (out == NULL) return cudaErrorInvalidValue;
    fputs("digraph {\n  node [shape=box];\n", out);
    print(out, graph);
    fputs("}\n", out);
    return fclose(out) == 0 ? cudaSuccess : cudaErrorOperatingSystem;
}
