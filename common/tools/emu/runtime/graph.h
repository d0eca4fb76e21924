/* graph.h — work for a device, and its order: streams, captures, graphs. */
#ifndef EMU_GRAPH_H
#define EMU_GRAPH_H

#include "cudart.h"

/* ---- one piece of work for a device, which a stream carries out or a graph's node holds ------ */

/* A runtime function describes its work as a struct work and calls cudart_submit(). That carries
 * out the work at once or, while the stream is being captured, adds it to the graph. */

struct graph;
struct graph_memory;
struct conditional;

/* A kernel's launch. */
struct kernel_work {
    const void *host; /* the stub, or a cudaKernel_t */
    dim3 grid, block;
    size_t shared;
    void **args;
    bool cooperative;
    int priority;
    dim3 cluster; /* x = 0: as the kernel was compiled */
    bool early;   /* it may begin before the kernel before it in its stream has ended */
};

struct work {
    enum cudaGraphNodeType type;
    int device; /* number of the device that runs it */
    union {
        struct kernel_work kernel;
        struct cudaMemcpy3DParms copy;
        struct cudaMemsetParams fill;
        struct cudaHostNodeParams host;
        cudaEvent_t event;               /* to record, or to wait for */
        struct graph *child;             /* owned by the node */
        struct conditional *conditional; /* so is this one (graph_exec.c) */
        struct graph_memory *memory;     /* to allocate or free (graph_exec.c) */
        void *address;                   /* to free; not memory of a graph */
    };
};

/* Submits work to a stream. Errors are kept for cudaGetLastError. */
cudaError_t cudart_submit(cudaStream_t, struct work *);

/* Check and carry out each type of work (cuda_launch.c, copy.c, work.c). */
cudaError_t cudart_check_kernel(const struct kernel_work *, struct function **);
cudaError_t cudart_run_kernel(const struct kernel_work *, cudaStream_t);
cudaError_t cudart_check_copy(const struct cudaMemcpy3DParms *);
cudaError_t cudart_run_copy(const struct cudaMemcpy3DParms *);
cudaError_t cudart_check_fill(const struct cudaMemsetParams *);
void cudart_run_host(const struct cudaHostNodeParams *);
void cudart_record_event(cudaEvent_t);

cudaError_t cudart_fill(struct cudaMemsetParams, struct when);

/* The description of a one-dimensional copy. */
struct cudaMemcpy3DParms cudart_plain_copy(void *to, const void *from, size_t bytes,
                                           enum cudaMemcpyKind);

/* Makes a copy of work for a graph's node, with its own arguments, child graph and reference to
 * memory. */
cudaError_t cudart_copy_work(struct work *to, const struct work *from);
void cudart_free_work(struct work *);

/* ---- graphs: pieces of work, and the dependencies between them ------------------------------- */

/* A program makes a graph node by node (graph_nodes.c) or captures the work of streams
 * (capture.c). Instantiating copies the graph and sorts the copy (graph_exec.c). A launch
 * carries out the nodes in that order, one after the other. */

struct node {
    struct graph *graph;
    struct work work;
    struct node_list needs;      /* the nodes that must end before this one begins */
    struct node_list dependents; /* those that need this one */
    struct node_list early;      /* of `needs`, those before whose end this one may begin */
    const struct node *source;   /* in a copy of a graph: the original node */
    unsigned long long capture;  /* the capture that has made it; 0: none */
    bool disabled;               /* in an executable graph: skipped (cudaGraphNodeSetEnabled) */
    size_t waits;                /* while sorting: the first of `needs` that is not in the order */
    size_t number;               /* increases along the list */
    uint64_t last;               /* its operation, in the last launch (order.c) */
    struct node *next, *previous;
};

struct graph {
    struct node *first, *last; /* in the order of making or, when sorted, of execution */
    size_t count;
    struct address_table copies; /* in a copy: its nodes, by their original nodes */
    struct address_table users;  /* struct user_reference, by object (graph_exec.c) */
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

struct graph *cudart_new_graph(void);
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
void cudart_connect(struct node *before, struct node *after);
bool cudart_disconnect(struct node *before, struct node *after);
/* Sorts the nodes of this graph and of its child graphs: each node comes after those on which it
 * depends. cudaErrorInvalidValue: the dependencies form a circle. (graph.c) */
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
/* The body that comes next; NULL: none does. */
struct graph *cudart_next_body(const struct conditional *, bool is_first);

/* ---- executable graphs (graph_exec.c) -------------------------------------------------------- */

cudaError_t cudart_instantiate(struct executable **, const struct graph *,
                               unsigned long long flags);
/* The executable graph of a handle; NULL if the handle is not an executable graph. */
struct executable *cudart_executable(cudaGraphExec_t);

/* ---- references to user objects (graph_exec.c) ----------------------------------------------- */

void cudart_copy_users(struct graph *to, const struct graph *from);
void cudart_drop_users(struct graph *);

/* ---- memory of graphs (graph_exec.c) --------------------------------------------------------- */

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

/* ---- capturing the work of streams as a graph: what streams and events need of it ------------ */

/* While nothing is being captured, each function only reads one number. */

struct capture {
    unsigned long long id;
    struct graph *graph;
    bool is_own; /* the capture has made the graph itself */
    enum cudaStreamCaptureMode mode;
    bool is_invalid;
    bool has_blocking; /* a stream that is not non-blocking takes part */
    pthread_t thread;  /* that began the capture */
    struct object *origin;
    struct capture *next, *previous;
};

/* All active captures. */
struct captures {
    struct capture *first;
    struct address_table by_id;
    atomic_uint count;
    unsigned long long next_id;
    pthread_mutex_t mutex; /* protects all state of captures */
};
extern struct captures cudart_captures;
extern _Thread_local enum cudaStreamCaptureMode cudart_capture_mode;

/* Adds work to the graph if the stream is being captured; sets *captured. */
cudaError_t cudart_capture(cudaStream_t, const struct work *, bool *captured);
/* Do the same for recording an event and for waiting for one. A stream that waits joins the event's
 * capture. */
cudaError_t cudart_capture_record(struct object *event, cudaStream_t, bool *captured);
cudaError_t cudart_capture_wait(cudaStream_t, struct object *event, bool *captured);

bool cudart_is_capturing(cudaStream_t);
/* For calls that may wait for the device: an error if the thread's capture mode forbids them, which
 * also invalidates the captures. RETURN_IF_UNSAFE uses it. */
cudaError_t cudart_check_unsafe(void);
/* For calls that wait for one stream or for an event: an error if it takes part in a capture. */
cudaError_t cudart_check_wait(cudaStream_t);
cudaError_t cudart_check_event_wait(const struct object *event);
/* A stream is destroyed. A capture that began in it ends without a graph. A capture that it has
 * only joined goes on: its work is in the graph, and the end says if that work was not joined. */
void cudart_capture_forget(struct object *stream);

/* ---- the order of operations ----------------------------------------------------------------- */

/* The order of a program's operations, for racecheck (watch/race.h): what streams, events, graphs
 * and waiting calls put in order. While racecheck is off, each function only reads one pointer.
 *
 * The emulator carries operations out at once. The order here is the one that CUDA guarantees. */

/* The operations of this process, made if racecheck is wanted; NULL: it is off. */
struct stream_ops *cudart_order_open(void);
/* See stream_ops_off(). */
bool cudart_order_is_off(void);

/* Work begins in a stream: until the calling thread's next work, accesses belong to it. */
void cudart_order_begin(cudaStream_t, const struct work *);
/* So does a call of a library's function. */
void cudart_order_library(cudaStream_t, const char *name);
/* The current kernel has ended with all that it has launched: what follows comes after `last`
 * (emu_last_operation()). */
void cudart_order_children(uint64_t last);
/* A kernel that was suspended has ended so. From then on all comes after it. */
void cudart_order_wait_children(uint64_t last);
/* The work of a graph has ended: what follows in the stream comes after all of it. */
void cudart_order_end(cudaStream_t, const struct work *);
/* The number of the operation that the calling thread carries out. */
uint64_t cudart_order_current(void);

/* A stream allocates or frees memory, or the host frees memory of a stream or of a graph: whoever
 * uses it must have ended. (cudaFree waits for the device if the memory is of cudaMalloc.) */
void cudart_order_alloc(cudaStream_t, const void *address, size_t bytes);
void cudart_order_free(cudaStream_t, const void *address);
void cudart_order_free_now(const void *address);
/* A node, or a call, allocates or frees memory of a graph. */
void cudart_order_graph_memory(const struct graph_memory *);
/* The current copy or fill accesses rows of memory, of a device or of pinned or managed memory. */
void cudart_order_access(const void *address, const struct emu_rows *, bool writes);

/* The call of the current copy or fill returns: is the work over then? `now`: the call is not an
 * asynchronous one. `from` is `to` for a fill. */
void cudart_order_return(const void *to, const void *from, bool now);
/* A synchronous copy between two devices comes after all their work. */
void cudart_order_peers(const void *to, const void *from);

void cudart_order_record(struct object *event, cudaStream_t);
void cudart_order_wait_event(cudaStream_t, const struct object *event);
/* The host waits. */
void cudart_order_wait_stream(cudaStream_t);
void cudart_order_wait_host(const struct object *event);
void cudart_order_wait_device(void);

/* A graph begins after the current operation, and after its own last launch. */
void cudart_order_graph(struct graph *);
/* A node begins after those that it needs; the graph's nodes have ended. */
void cudart_order_node(const struct graph *, struct node *, cudaStream_t);
void cudart_order_node_end(struct node *);
/* The current node reads a condition, before it carries out a body. */
void cudart_order_condition(cudaGraphConditionalHandle);
void cudart_order_graph_end(struct graph *);

/* Calls a host function, and finds out which pinned memory it changes. */
void cudart_order_host(const struct cudaHostNodeParams *);

/* ---- events that several processes use ------------------------------------------------------- */

/* The suspended kernel of the thread's device has ended. */
void cudart_ipc_kernel_ended(void);

#endif
