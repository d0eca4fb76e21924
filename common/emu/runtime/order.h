/*
 * order.h — the order of a program's operations, for racecheck (watch/stream_ops.h): what
 * streams, events, graphs and waiting calls put in order. While racecheck is off, each function
 * only reads one pointer.
 *
 * The emulator carries operations out at once. The order here is the one that CUDA guarantees.
 */
#ifndef CUDART_ORDER_H
#define CUDART_ORDER_H

#include "graph.h"
#include "object.h"
#include "work.h"

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

#endif
