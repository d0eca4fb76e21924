/*
 * graph.h — graphs: pieces of work, and the dependencies between them.
 *
 * A program makes a graph node by node (graph_nodes.c) or captures the work of streams
 * (stream_capture.c). Instantiating copies the graph and sorts the copy (executable.c). A launch
 * carries out the nodes in that order, one after the other.
 */
#ifndef CUDART_GRAPH_H
#define CUDART_GRAPH_H

#include "object.h"
#include "work.h"

struct node {
    struct graph *graph;
    struct work work;
    struct node_list needs;      /* the nodes that must end before this one begins */
    struct node_list dependents; /* those that need this one */
    const struct node *source;   /* in a copy of a graph: the original node */
    unsigned long long capture;  /* the capture that has made it; 0: none */
    bool disabled;               /* in an executable graph: skipped (cudaGraphNodeSetEnabled) */
    size_t waits;                /* while sorting: how many of `needs` are not in the order yet */
    size_t number;               /* increases along the list */
    uint64_t last;               /* its operation, in the last launch (order.c) */
    struct node *next, *previous;
};

struct graph {
    struct node *first, *last; /* in the order of making or, when sorted, of execution */
    size_t count;
    struct address_table copies; /* in a copy: its nodes, by their original nodes */
    struct address_table users;  /* struct user_reference, by object (user_object.c) */
    uint64_t begun, ended;       /* operations at the ends of the last launch (order.c) */
    uint64_t id;                 /* no two graphs of a process have the same */
    bool is_child;               /* belongs to a node or to an executable graph */
    bool is_body;                /* belongs to a conditional node */
    const struct graph *parent;  /* the graph of the node that it belongs to; NULL: none */
};

/* An executable graph: a sorted copy. */
struct executable {
    struct graph *graph;
    unsigned long long flags;
};

/* ---- graphs (graph.c) ------------------------------------------------------------------------ */

cudaError_t cudart_new_graph(struct graph **);
void cudart_free_graph(struct graph *);
/* Makes a copy of a graph; each node of the copy refers to its original. */
cudaError_t cudart_clone_graph(struct graph **copy, const struct graph *);
/* The graph of a handle; NULL if the handle is not a graph. */
struct graph *cudart_graph(cudaGraph_t);
/* The copy of a node in this graph or in its child graphs; NULL: not found. */
struct node *cudart_find_copy(const struct graph *, const struct node *source);
/* Adds a node with a copy of the work, which depends on `needs`. */
cudaError_t cudart_add_node(struct graph *, const struct work *, struct node *const *needs,
                            size_t count, struct node **node);
/* The child graph or the bodies that this work has become parts of the graph. */
void cudart_own(const struct graph *, const struct work *);
void cudart_drop_node(struct node *);
/* Adds or removes the edge between two nodes of a graph. cudart_disconnect returns false if the
 * edge does not exist. */
cudaError_t cudart_connect(struct node *before, struct node *after);
bool cudart_disconnect(struct node *before, struct node *after);
/* Sorts the nodes of this graph and of its child graphs: each node comes after those on which it
 * depends. cudaErrorInvalidValue: the dependencies form a circle. (sort.c) */
cudaError_t cudart_sort_graph(struct graph *);

/* ---- conditional nodes (graph_exec.c) -------------------------------------------------------- */

struct conditional {
    cudaGraphConditionalHandle handle;
    enum cudaGraphConditionalNodeType type;
    unsigned size;
    struct graph *bodies[];
};

cudaError_t cudart_add_conditional(cudaGraphNode_t *, struct graph *, struct node *const *needs,
                                   size_t count, struct cudaConditionalNodeParams *);
cudaError_t cudart_clone_conditional(struct conditional **copy, const struct conditional *);
void cudart_free_conditional(struct conditional *);
/* The bodies of a node become parts of its graph. */
void cudart_own_bodies(const struct conditional *, const struct graph *);
/* May a graph have a node with this work? In a body, and in what belongs to one, only some kinds of
 * nodes may be. Prints why not. */
bool cudart_graph_may_have(const struct graph *, const struct work *);
/* A graph is launched: gives its conditions their first values. */
void cudart_begin_conditions(const struct graph *);
/* The body that comes next; NULL: none does. */
struct graph *cudart_next_body(const struct conditional *, bool is_first);

/* ---- executable graphs (executable.c) -------------------------------------------------------- */

cudaError_t cudart_instantiate(struct executable **, const struct graph *,
                               unsigned long long flags);
/* The executable graph of a handle; NULL if the handle is not an executable graph. */
struct executable *cudart_executable(cudaGraphExec_t);

/* ---- parameters as the program writes them, and as work (graph_nodes.c) ---------------------- */

cudaError_t cudart_kernel_from(struct work *, const struct cudaKernelNodeParams *);
cudaError_t cudart_copy_from(struct work *, const struct cudaMemcpy3DParms *);
cudaError_t cudart_fill_from(struct work *, const struct cudaMemsetParams *);
cudaError_t cudart_host_from(struct work *, const struct cudaHostNodeParams *);
cudaError_t cudart_child_from(struct work *, cudaGraph_t);
cudaError_t cudart_event_from(struct work *, enum cudaGraphNodeType, cudaEvent_t);
cudaError_t cudart_work_from(struct work *, const struct cudaGraphNodeParams *);
/* Gives a node other work of the same type. `error` is the result of making the work; on failure
 * the node does not change. */
cudaError_t cudart_set_work(struct node *, const struct work *, cudaError_t error);

/* Copies and drops a graph's references to user objects (user_object.c). */
void cudart_copy_users(struct graph *to, const struct graph *from);
void cudart_drop_users(struct graph *);

/* ---- memory of graphs (memory.c) ------------------------------------------------------------- */

/* Makes memory with one reference, which belongs to the work that it is made for. NULL: out of
 * memory. */
struct graph_memory *cudart_graph_memory_new(size_t bytes);
struct graph_memory *cudart_graph_memory_at(const void *address);
void *cudart_graph_memory_address(const struct graph_memory *);
size_t cudart_graph_memory_bytes(const struct graph_memory *);
void cudart_graph_memory_share(struct graph_memory *);
void cudart_graph_memory_drop(struct graph_memory *);
/* Carry out an allocation node, a free node, and cudaFree of graph memory outside of graphs. */
cudaError_t cudart_graph_memory_take(struct graph_memory *);
cudaError_t cudart_graph_memory_give(struct graph_memory *);

#endif
