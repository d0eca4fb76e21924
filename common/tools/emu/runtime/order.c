/* order.c — the order of a program's operations, for racecheck. */
#include "graph.h"
#include "common/tools/emu/watch/race.h"

static struct stream_ops *all;
static atomic_uint threads; /* host threads that have begun operations */
static _Thread_local stream_op current;
static _Thread_local bool has_children; /* the current kernel has launched others: see below */

struct stream_ops *cudart_order_open(void)
{
    if (all == NULL) all = stream_ops_open();
    return all;
}

bool cudart_order_is_off(void) { return all == NULL || stream_ops_off(all); }

uint64_t cudart_order_current(void) { return current; }

/* ---- beginning ------------------------------------------------------------------------------- */

static enum stream_op_kind kind_of(enum cudaGraphNodeType type)
{
    switch (type) {
    case cudaGraphNodeTypeKernel: return STREAM_OP_KERNEL;
    case cudaGraphNodeTypeMemcpy: return STREAM_OP_COPY;
    case cudaGraphNodeTypeMemset: return STREAM_OP_FILL;
    case cudaGraphNodeTypeHost: return STREAM_OP_HOST;
    case cudaGraphNodeTypeMemAlloc: return STREAM_OP_ALLOC;
    case cudaGraphNodeTypeMemFree: return STREAM_OP_FREE;
    case cudaGraphNodeTypeConditional: return STREAM_OP_CONDITION;
    default: return STREAM_OP_MARK;
    }
}

static void count_thread(void)
{
    static _Thread_local bool is_counted;
    if (!is_counted) threads++;
    is_counted = true;
}

static stream_op begin(struct stream_op_info *info, const stream_op *needs, size_t count)
{
    count_thread();
    if (info->kind != STREAM_OP_MARK) cudart_place(&info->place);
    return stream_op_begin(all, info, needs, count);
}

/* Begins an operation in a stream, which also comes after `other`. `early`: it may begin before the
 * kernel before it has ended. */
static stream_op begin_early(cudaStream_t stream, enum stream_op_kind kind, const char *library,
                             stream_op other, bool early)
{
    struct object *object = cudart_stream_object(stream);
    struct stream_op_info info = {.kind = kind,
                                  .library = library,
                                  .stream_kind = object == NULL ? STREAM_LEGACY
                                                 : object->flags & cudaStreamNonBlocking
                                                     ? STREAM_ALONE
                                                     : STREAM_BLOCKING,
                                  .device = cudart_stream_device(stream),
                                  .stream = cudart_stream_id(stream)};
    stream_op last = early ? stream_op_last_kernel(all, &info) : 0;
    if (last != 0) info.early = 1;
    stream_op needs[] = {last != 0 ? last : object != NULL ? object->last : 0, other};
    stream_op op = begin(&info, needs, 2);
    if (object != NULL) object->last = op;
    return op;
}

static stream_op begin_in_stream(cudaStream_t stream, enum stream_op_kind kind, const char *library,
                                 stream_op other)
{
    return begin_early(stream, kind, library, other, false);
}

void cudart_order_begin(cudaStream_t stream, const struct work *work)
{
    bool is_early = work->type == cudaGraphNodeTypeKernel && work->kernel.early;
    if (all != NULL) current = begin_early(stream, kind_of(work->type), NULL, 0, is_early);
}

void cudart_order_library(cudaStream_t stream, const char *name)
{
    if (all != NULL) current = begin_in_stream(stream, STREAM_OP_LIBRARY, name, 0);
}

void cudart_order_end(cudaStream_t stream, const struct work *work)
{
    if (all != NULL && (work->type == cudaGraphNodeTypeGraph || has_children))
        begin_in_stream(stream, STREAM_OP_MARK, NULL, current);
    has_children = false;
}

void cudart_order_children(uint64_t last)
{
    if (all == NULL || last == 0 || last == current) return;
    current = last;
    has_children = true;
}

void cudart_order_wait_children(uint64_t last)
{
    if (all != NULL && last != 0) stream_op_wait(all, last);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Does the order of operations apply to memory at this address? The host reads and writes pageable
 * memory only within the call. */
static bool is_observed(const void *address)
{
    return cudart_owner(address) != NULL || cudart_is_reachable(address, 1);
}

void cudart_order_access(const void *address, const struct emu_rows *rows, bool writes)
{
    if (all == NULL || !is_observed(address)) return;
    stream_op_access(all, emu_runtime(), current, (uint64_t)address, rows, writes);
    cudart_check_print();
}

static void access_bytes(const void *address, size_t bytes, bool writes)
{
    cudart_order_access(address, &(struct emu_rows){.bytes = bytes, .rows = 1, .slices = 1},
                        writes);
}

void cudart_order_alloc(cudaStream_t stream, const void *address, size_t bytes)
{
    if (all == NULL || address == NULL) return;
    current = begin_in_stream(stream, STREAM_OP_ALLOC, NULL, 0);
    access_bytes(address, bytes, true);
}

void cudart_order_free(cudaStream_t stream, const void *address)
{
    struct runtime_allocation allocation;
    if (all == NULL || !cudart_recall(address, &allocation)) return;
    current = begin_in_stream(stream, STREAM_OP_FREE, NULL, 0);
    access_bytes(address, allocation.bytes, true);
}

void cudart_order_free_now(const void *address)
{
    struct stream_op_info info = {
        .kind = STREAM_OP_FREE, .stream_kind = STREAM_ALONE, .device = cudart_device()->number};
    struct runtime_allocation allocation;
    const struct graph_memory *memory = cudart_graph_memory_at(address);
    if (all == NULL) return;
    if (memory != NULL)
        allocation.bytes = cudart_graph_memory_bytes(memory);
    else if (!cudart_recall(address, &allocation) || allocation.pool == NULL)
        return;
    current = begin(&info, NULL, 0);
    access_bytes(address, allocation.bytes, true);
    stream_op_wait(all, current);
}

void cudart_order_graph_memory(const struct graph_memory *memory)
{
    if (all != NULL)
        access_bytes(cudart_graph_memory_address(memory), cudart_graph_memory_bytes(memory), true);
}

void cudart_order_return(const void *to, const void *from, bool now)
{
    if (all == NULL) return;
    const struct device *target = cudart_owner(to), *source = cudart_owner(from);
    bool is_over = now ? target == NULL || target != source
                       : target == NULL && (source == NULL || !is_observed(to));
    if (is_over) stream_op_wait(all, current);
}

void cudart_order_peers(const void *to, const void *from)
{
    if (all == NULL) return;
    const struct device *target = cudart_owner(to), *source = cudart_owner(from);
    if (target == NULL || source == NULL || target == source) return;
    stream_ops_wait_device(all, target->number);
    stream_ops_wait_device(all, source->number);
    stream_ops_wait_device(all, cudart_device()->number);
}

/* ---- events, waiting ------------------------------------------------------------------------- */

void cudart_order_record(struct object *event, cudaStream_t stream)
{
    if (all != NULL) event->last = begin_in_stream(stream, STREAM_OP_MARK, NULL, 0);
}

void cudart_order_wait_event(cudaStream_t stream, const struct object *event)
{
    if (all != NULL) begin_in_stream(stream, STREAM_OP_MARK, NULL, event->last);
}

void cudart_order_wait_stream(cudaStream_t stream)
{
    if (all != NULL) stream_op_wait(all, begin_in_stream(stream, STREAM_OP_MARK, NULL, 0));
}

void cudart_order_wait_host(const struct object *event)
{
    if (all != NULL) stream_op_wait(all, event->last);
}

void cudart_order_wait_device(void)
{
    if (all != NULL) stream_ops_wait_device(all, cudart_device()->number);
}

/* ---- graphs ---------------------------------------------------------------------------------- */

static stream_op mark(const stream_op *needs, size_t count)
{
    struct stream_op_info info = {.stream_kind = STREAM_ALONE, .device = cudart_device()->number};
    return begin(&info, needs, count);
}

void cudart_order_graph(struct graph *graph)
{
    stream_op needs[] = {current, graph->ended};
    if (all != NULL) current = graph->begun = mark(needs, 2);
}

/* What the node comes after, beyond the nodes that it needs: the graph's begin, and an event. */
static size_t other_needs(const struct graph *graph, const struct node *node, stream_op needs[2])
{
    const struct object *event =
        node->work.type == cudaGraphNodeTypeWaitEvent ? cudart_find(node->work.event, EVENT) : NULL;
    needs[0] = graph->begun;
    needs[1] = event != NULL ? event->last : 0;
    return 2;
}

void cudart_order_node(const struct graph *graph, struct node *node, cudaStream_t stream)
{
    if (all == NULL) return;
    enum { OTHERS = 2 };
    stream_op *needs = allocated(malloc((node->needs.count + OTHERS) * sizeof *needs));
    struct stream_op_info info = {.kind =
                                      node->disabled ? STREAM_OP_MARK : kind_of(node->work.type),
                                  .stream_kind = STREAM_ALONE,
                                  .device = node->work.device,
                                  .stream = cudart_stream_id(stream),
                                  .in_graph = true};
    size_t count = 0;
    for (; count < node->early.count; count++) needs[count] = node->early.node[count]->last;
    info.early = count;
    for (size_t i = 0; i < node->needs.count; i++)
        if (!cudart_contains(&node->early, node->needs.node[i]))
            needs[count++] = node->needs.node[i]->last;
    count += other_needs(graph, node, needs + count);
    current = node->last = begin(&info, needs, count);
    free(needs);
    struct object *event = node->work.type == cudaGraphNodeTypeEventRecord && !node->disabled
                               ? cudart_find(node->work.event, EVENT)
                               : NULL;
    if (event != NULL) event->last = current;
}

void cudart_order_condition(cudaGraphConditionalHandle condition)
{
    const struct emu_rows word = {.bytes = STREAM_CONDITION_BYTES, .rows = 1, .slices = 1};
    if (all == NULL) return;
    stream_op_access(all, emu_runtime(), current,
                     STREAM_CONDITIONS + STREAM_CONDITION_BYTES * condition, &word, false);
    cudart_check_print();
}

void cudart_order_node_end(struct node *node) { node->last = current; }

void cudart_order_graph_end(struct graph *graph)
{
    if (all == NULL) return;
    graph->ended = graph->begun;
    for (const struct node *node = graph->first; node != NULL; node = node->next) {
        stream_op needs[] = {graph->ended, node->last};
        if (node->dependents.count == 0) graph->ended = mark(needs, 2);
    }
    current = graph->ended;
}

/* ---- host functions -------------------------------------------------------------------------- */

/* Host memory that devices can access, as it was before a host function. */
struct copy_of_host {
    const char *address;
    size_t bytes;
    char *copy;
    struct copy_of_host *next;
};

enum { MOST_COPIED = 64 << 20, MOST_CHANGES = 256, WORD = 4 };

struct host_copies {
    struct copy_of_host *first;
    size_t bytes;
};

static void copy_host(const struct runtime_allocation *allocation, void *context)
{
    struct host_copies *copies = context;
    if (allocation->bytes > MOST_COPIED - copies->bytes) return;
    struct copy_of_host *new = allocated(malloc(sizeof *new));
    char *bytes = allocated(malloc(allocation->bytes));
    memcpy(bytes, allocation->address, allocation->bytes);
    *new = (struct copy_of_host){allocation->address, allocation->bytes, bytes, copies->first};
    copies->first = new;
    copies->bytes += allocation->bytes;
}

/* The words of which a byte has changed, one run after the other. */
static void note_changes(const struct copy_of_host *copy)
{
    size_t words = copy->bytes / WORD, changes = 0;
    for (size_t at = 0, end; at < words && changes < MOST_CHANGES; at = end) {
        for (end = at;
             end < words && memcmp(copy->address + end * WORD, copy->copy + end * WORD, WORD) != 0;)
            end++;
        if (end > at) access_bytes(copy->address + at * WORD, (end - at) * WORD, true);
        if (end > at) changes++;
        if (end == at) end++;
    }
}

/* Other host threads may write to the memory at the same time. So this is done for programs in
 * which one host thread makes all calls.
 *
 * The function may tell a thread of the host that the work before it has ended. So it counts as a
 * wait of the host. */
void cudart_order_host(const struct cudaHostNodeParams *call)
{
    struct host_copies copies = {0};
    if (all != NULL && threads == 1) cudart_each_host(copy_host, &copies);
    call->fn(call->userData);
    for (struct copy_of_host *copy = copies.first, *next; copy != NULL; copy = next) {
        next = copy->next;
        note_changes(copy);
        free(copy->copy);
        free(copy);
    }
    if (all != NULL) stream_op_wait(all, current);
}
