/*
 * cudart_graph.h — graphs: work, and what each piece of it must wait for.
 *
 * A program makes one by hand (cudart_graph_node.c) or captures what it puts into streams
 * (cudart_capture.c). Instantiating copies it and sorts the copy (cudart_graph_exec.c); a launch
 * carries out the nodes in that order, one after the other.
 */
#ifndef CUDART_GRAPH_H
#define CUDART_GRAPH_H

#include "cudart_object.h"
#include "cudart_work.h"

struct node {
    struct graph *graph;
    struct work work;
    struct node_list needs;      /* the nodes that must have ended before */
    struct node_list dependents; /* those that need this one */
    const struct node *source;   /* of a node in a copy: the one it was copied from */
    unsigned long long capture;  /* that has made it, 0: none */
    bool disabled;               /* of an executable graph: left out (cudaGraphNodeSetEnabled) */
    size_t waits;                /* while sorting: how many of `needs` have not come yet */
    size_t number;               /* larger than that of `previous` */
    struct node *next, *previous;
};

struct graph {
    struct node *first, *last; /* in the order in which they were made, or are carried out */
    size_t count;
    struct address_table copies; /* of a copy: its nodes, by the nodes that they were copied from */
    struct address_table users;  /* struct user_reference, by objects (cudart_user_object.c) */
    bool is_child;               /* belongs to a node */
};

/* An executable graph: a sorted copy. */
struct executable {
    struct graph *graph;
    unsigned long long flags;
};

/* ---- graphs (cudart_graph.c) ----------------------------------------------------------------- */

cudaError_t cudart_new_graph(struct graph **);
void cudart_free_graph(struct graph *);
/* A copy, whose nodes know where they come from. */
cudaError_t cudart_clone_graph(struct graph **copy, const struct graph *);
/* The graph of a handle; NULL if it is none. */
struct graph *cudart_graph(cudaGraph_t);
/* The copy of a node, in this graph or in those of its child nodes; NULL: none. */
struct node *cudart_find_copy(const struct graph *, const struct node *source);
/* Adds a copy of the work, which waits for `needs`. */
cudaError_t cudart_add_node(struct graph *, const struct work *, struct node *const *needs,
                            size_t count, struct node **node);
void cudart_drop_node(struct node *);
/* Lets a node wait for another of its graph, or no longer: false if it did not. */
cudaError_t cudart_connect(struct node *before, struct node *after);
bool cudart_disconnect(struct node *before, struct node *after);
/* (cudart_graph_sort.c) Puts the nodes of this graph and of its child graphs into an order in which each comes after
 * those that it needs. cudaErrorInvalidValue: they need each other in a circle. */
cudaError_t cudart_sort_graph(struct graph *);

/* ---- executable graphs (cudart_graph_exec.c) ------------------------------------------------- */

cudaError_t cudart_instantiate(struct executable **, const struct graph *,
                               unsigned long long flags);
/* The executable graph of a handle; NULL if it is none. */
struct executable *cudart_executable(cudaGraphExec_t);
/* Carries out a graph that has been sorted. */
cudaError_t cudart_run_graph(const struct graph *, cudaStream_t);

/* ---- parameters as the program writes them, and as work (cudart_graph_node.c) ---------------- */

cudaError_t cudart_kernel_from(struct work *, const struct cudaKernelNodeParams *);
cudaError_t cudart_copy_from(struct work *, const struct cudaMemcpy3DParms *);
cudaError_t cudart_fill_from(struct work *, const struct cudaMemsetParams *);
cudaError_t cudart_host_from(struct work *, const struct cudaHostNodeParams *);
cudaError_t cudart_child_from(struct work *, cudaGraph_t);
cudaError_t cudart_event_from(struct work *, enum cudaGraphNodeType, cudaEvent_t);
cudaError_t cudart_work_from(struct work *, const struct cudaGraphNodeParams *);
/* Gives a node other work of the same type; `error` is what making the work gave. */
cudaError_t cudart_set_work(struct node *, const struct work *, cudaError_t error);

/* Takes the references that a graph holds, of user objects (cudart_user_object.c). */
void cudart_copy_users(struct graph *to, const struct graph *from);
void cudart_drop_users(struct graph *);

/* ---- memory of graphs (cudart_graph_memory.c) ------------------------------------------------ */

/* One reference to it, which the work holds that it is made for. NULL: there is no memory. */
struct graph_memory *cudart_graph_memory_new(size_t bytes);
struct graph_memory *cudart_graph_memory_at(const void *address);
void *cudart_graph_memory_address(const struct graph_memory *);
size_t cudart_graph_memory_bytes(const struct graph_memory *);
void cudart_graph_memory_share(struct graph_memory *);
void cudart_graph_memory_drop(struct graph_memory *);
/* What an allocation node and a free node do, and cudaFree outside of graphs. */
cudaError_t cudart_graph_memory_take(struct graph_memory *);
cudaError_t cudart_graph_memory_give(struct graph_memory *);

#endif
