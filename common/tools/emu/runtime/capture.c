/* capture.c — capturing the work of streams as a graph. */
#include "graph.h"

/* ---- capturing: work that is submitted to a stream becomes nodes of a graph ------------------ */

/* A capture begins in one stream, its origin. Each piece of work becomes a node that depends on the
 * stream's `tail`, which is the set of its latest nodes. Recording an event copies the tail into
 * the event. Another stream that waits for the event joins the capture and adds the event's tail to
 * its own. Before the capture ends, the origin must have joined all other tails in the same way. */

struct captures cudart_captures = {.next_id = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};
_Thread_local enum cudaStreamCaptureMode cudart_capture_mode = cudaStreamCaptureModeGlobal;

/* The active capture in which a stream or event takes part, or NULL. The mutex is held. */
static struct capture *cudart_capture_of(const struct object *object)
{
    if (object == NULL || object->capture == 0) return NULL;
    return address_table_find(&cudart_captures.by_id, object->capture);
}

/* Makes a stream take part in a capture, with an empty tail. The mutex is held. */
static void cudart_join_capture(struct object *stream, struct capture *capture)
{
    stream->capture = capture->id;
    cudart_clear(&stream->tail);
    if (!(stream->flags & cudaStreamNonBlocking)) capture->has_blocking = true;
}

/* ---- what it forbids ------------------------------------------------------------------------- */

static bool forbids(const struct capture *capture)
{
    bool is_own = pthread_equal(capture->thread, pthread_self());
    switch (cudart_capture_mode) {
    case cudaStreamCaptureModeGlobal:
        return (is_own && capture->mode != cudaStreamCaptureModeRelaxed) ||
               capture->mode == cudaStreamCaptureModeGlobal;
    case cudaStreamCaptureModeThreadLocal:
        return is_own && capture->mode != cudaStreamCaptureModeRelaxed;
    default: return false;
    }
}

cudaError_t cudart_check_unsafe(void)
{
    if (cudart_captures.count == 0) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    for (struct capture *c = cudart_captures.first; c != NULL; c = c->next)
        if (forbids(c)) {
            c->is_invalid = true;
            error = cudaErrorStreamCaptureUnsupported;
        }
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

/* For work in the legacy default stream, which waits for all streams that are not non-blocking:
 * invalidates the captures of these streams and returns the error. The mutex is held. */
static cudaError_t cudart_check_legacy(void)
{
    cudaError_t error = cudaSuccess;
    for (struct capture *c = cudart_captures.first; c != NULL; c = c->next)
        if (c->has_blocking) {
            c->is_invalid = true;
            error = cudaErrorStreamCaptureImplicit;
        }
    return error;
}

cudaError_t cudart_check_wait(cudaStream_t stream)
{
    if (cudart_captures.count == 0) return cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    cudaError_t error = cudart_is_legacy(stream) ? cudart_check_legacy() : cudaSuccess;
    struct capture *capture = cudart_capture_of(cudart_stream_object(stream));
    if (capture != NULL) {
        capture->is_invalid = true;
        error = cudaErrorStreamCaptureUnsupported;
    }
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error != cudaSuccess ? error : cudart_check_unsafe();
}

cudaError_t cudart_check_event_wait(const struct object *event)
{
    if (cudart_captures.count == 0) return cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct capture *capture = cudart_capture_of(event);
    if (capture != NULL) capture->is_invalid = true;
    pthread_mutex_unlock(&cudart_captures.mutex);
    return capture != NULL ? cudaErrorCapturedEvent : cudart_check_unsafe();
}

/* ---- work, events ---------------------------------------------------------------------------- */

/* Adds a node behind the stream's tail. The node becomes the new tail. As a node of a graph, a fill
 * is checked when it is made: its memory has to be there. */
static cudaError_t add(struct capture *capture, struct object *stream, const struct work *work)
{
    struct node *node;
    bool fills = work->type == cudaGraphNodeTypeMemset;
    cudaError_t error = fills ? cudart_check_fill(&work->fill) : cudaSuccess;
    if (error == cudaSuccess)
        error = cudart_add_node(capture->graph, work, stream->tail.node, stream->tail.count, &node);
    if (error == cudaSuccess) {
        node->capture = capture->id;
        if (work->type == cudaGraphNodeTypeKernel && work->kernel.early && node->needs.count == 1)
            cudart_append(&node->early, node->needs.node[0]);
        cudart_clear(&stream->tail);
        cudart_append(&stream->tail, node);
    }
    if (error != cudaSuccess) capture->is_invalid = true;
    return error;
}

cudaError_t cudart_capture(cudaStream_t handle, const struct work *work, bool *captured)
{
    *captured = false;
    if (cudart_captures.count == 0) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct object *stream = cudart_stream_object(handle);
    struct capture *capture = cudart_capture_of(stream);
    if (stream == NULL) {
        error = cudart_check_legacy();
    } else if (capture != NULL) {
        error =
            capture->is_invalid ? cudaErrorStreamCaptureInvalidated : add(capture, stream, work);
        *captured = true;
    }
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

/* Adds the nodes of another tail that a tail does not have yet. */
static void join(struct node_list *tail, const struct node_list *other)
{
    for (size_t i = 0; i < other->count; i++) cudart_append(tail, other->node[i]);
}

cudaError_t cudart_capture_record(struct object *event, cudaStream_t handle, bool *captured)
{
    *captured = false;
    if (cudart_captures.count == 0) {
        event->capture = 0;
        return cudaSuccess;
    }
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct object *stream = cudart_stream_object(handle);
    struct capture *capture = cudart_capture_of(stream);
    event->capture = 0;
    if (stream == NULL) error = cudart_check_legacy();
    if (capture != NULL) {
        *captured = true;
        event->capture = capture->id;
        cudart_clear(&event->tail);
        if (capture->is_invalid)
            error = cudaErrorStreamCaptureInvalidated;
        else
            join(&event->tail, &stream->tail);
    }
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

/* Lets a stream wait for an event. `its` is the stream's capture, `own` the event's; NULL: none. */
static cudaError_t join_captures(struct object *stream, struct capture *its,
                                 const struct object *event, struct capture *own)
{
    if (its == NULL && own == NULL) return cudaSuccess;
    if ((its != NULL && its->is_invalid) || (own != NULL && own->is_invalid))
        return cudaErrorStreamCaptureInvalidated;
    cudaError_t error = cudaSuccess;
    if (stream == NULL) /* the legacy default stream cannot be captured */
        error = cudaErrorStreamCaptureImplicit;
    else if (its != NULL && own == NULL) /* the event is outside of the capture */
        error = cudaErrorStreamCaptureIsolation;
    else if (its != NULL && its != own)
        error = cudaErrorStreamCaptureMerge;
    if (error != cudaSuccess) {
        if (its != NULL) its->is_invalid = true;
        if (own != NULL) own->is_invalid = true;
        return error;
    }
    if (its == NULL) cudart_join_capture(stream, own);
    join(&stream->tail, &event->tail);
    return cudaSuccess;
}

cudaError_t cudart_capture_wait(cudaStream_t handle, struct object *event, bool *captured)
{
    *captured = false;
    if (cudart_captures.count == 0) return cudaSuccess;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct object *stream = cudart_stream_object(handle);
    struct capture *its = cudart_capture_of(stream), *own = cudart_capture_of(event);
    *captured = its != NULL || own != NULL;
    cudaError_t error = join_captures(stream, its, event, own);
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

/* ---- begin ----------------------------------------------------------------------------------- */

/* Adds a capture to the active ones. */
static void add_capture(struct capture *capture)
{
    address_table_set(&cudart_captures.by_id, capture->id, capture);
    capture->next = cudart_captures.first;
    if (capture->next != NULL) capture->next->previous = capture;
    cudart_captures.first = capture;
    cudart_captures.count++;
}

static void begin(struct object *stream, struct graph *graph, bool is_own,
                  struct node *const *needs, size_t count, enum cudaStreamCaptureMode mode)
{
    struct capture *capture = allocated(calloc(1, sizeof *capture));
    *capture = (struct capture){.id = cudart_captures.next_id++,
                                .graph = graph,
                                .is_own = is_own,
                                .mode = mode,
                                .thread = pthread_self(),
                                .origin = stream};
    add_capture(capture);
    cudart_join_capture(stream, capture);
    for (size_t i = 0; i < count; i++) cudart_append(&stream->tail, needs[i]);
}

/* Can a capture begin in this stream? */
static cudaError_t check_begin(cudaStream_t handle, enum cudaStreamCaptureMode mode)
{
    if (!cudart_is_stream(handle)) return cudaErrorInvalidResourceHandle;
    if ((unsigned)mode > cudaStreamCaptureModeRelaxed) return cudaErrorInvalidValue;
    if (cudart_is_legacy(handle)) return cudaErrorStreamCaptureUnsupported;
    return cudart_capture_of(cudart_stream_object(handle)) != NULL ? cudaErrorIllegalState
                                                                   : cudaSuccess;
}

WORK_OF(RUNTIME, cudaStreamBeginCapture, (cudaStream_t handle, enum cudaStreamCaptureMode mode),
        (handle, mode))
{
    pthread_mutex_lock(&cudart_captures.mutex);
    cudaError_t error = check_begin(handle, mode);
    if (error == cudaSuccess)
        begin(cudart_stream_object(handle), cudart_new_graph(), true, NULL, 0, mode);
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

WORK_OF(RUNTIME_PTSZ, cudaStreamBeginCaptureToGraph, (cudaStream_t handle, cudaGraph_t graph,
        const cudaGraphNode_t *needs, const cudaGraphEdgeData *data, size_t count,
        enum cudaStreamCaptureMode mode), (handle, graph, needs, data, count, mode))
{
    (void)data;
    if (cudart_graph(graph) == NULL || (count > 0 && needs == NULL)) return cudaErrorInvalidValue;
    pthread_mutex_lock(&cudart_captures.mutex);
    cudaError_t error = check_begin(handle, mode);
    if (error == cudaSuccess)
        begin(cudart_stream_object(handle), cudart_graph(graph), false,
              (struct node *const *)needs, count, mode);
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

/* ---- end ------------------------------------------------------------------------------------- */

/* Does the capture have a node on which neither another node nor the origin's tail depends? */
static bool is_unjoined(const struct capture *capture)
{
    for (const struct node *node = capture->graph->first; node != NULL; node = node->next)
        if (node->capture == capture->id && node->dependents.count == 0 &&
            !cudart_contains(&capture->origin->tail, node))
            return true;
    return false;
}

static void leave(struct object *object, const struct capture *capture)
{
    if (object->capture == capture->id) object->capture = 0;
}

/* Removes a capture from the active ones. Other streams and events that took part keep its number,
 * which then belongs to no capture. */
static void remove_capture(struct capture *capture)
{
    leave(capture->origin, capture);
    leave(cudart_per_thread_stream(), capture);
    address_table_remove(&cudart_captures.by_id, capture->id);
    if (capture->next != NULL) capture->next->previous = capture->previous;
    if (capture->previous != NULL)
        capture->previous->next = capture->next;
    else
        cudart_captures.first = capture->next;
    cudart_captures.count--;
}

/* Ends the capture, and frees its graph unless it is wanted. */
static void end(struct capture *capture, bool is_wanted)
{
    remove_capture(capture);
    if (!is_wanted && capture->is_own) cudart_free_graph(capture->graph);
    free(capture);
}

static cudaError_t end_in(struct object *stream, struct graph **graph)
{
    struct capture *capture = cudart_capture_of(stream);
    if (capture == NULL) return cudaErrorIllegalState;
    if (capture->origin != stream) {
        capture->is_invalid = true;
        return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(capture->thread, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    cudaError_t error = capture->is_invalid    ? cudaErrorStreamCaptureInvalidated
                        : is_unjoined(capture) ? cudaErrorStreamCaptureUnjoined
                                               : cudaSuccess;
    if (error == cudaSuccess) *graph = capture->graph;
    end(capture, error == cudaSuccess);
    return error;
}

WORK_OF(RUNTIME_PTSZ, cudaStreamEndCapture, (cudaStream_t handle, cudaGraph_t *graph),
        (handle, graph))
{
    struct graph *captured = NULL;
    if (graph != NULL) *graph = NULL;
    if (!cudart_is_stream(handle)) return cudaErrorInvalidResourceHandle;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct object *stream = cudart_stream_object(handle);
    const struct capture *capture = stream != NULL ? cudart_capture_of(stream) : NULL;
    bool may_drop = capture != NULL && !capture->is_own; /* the program has the graph */
    cudaError_t error =
        graph != NULL || may_drop ? end_in(stream, &captured) : cudaErrorInvalidValue;
    pthread_mutex_unlock(&cudart_captures.mutex);
    if (graph != NULL) *graph = (cudaGraph_t)captured;
    return error;
}

void cudart_capture_forget(struct object *stream)
{
    pthread_mutex_lock(&cudart_captures.mutex);
    struct capture *capture = cudart_capture_of(stream);
    if (capture != NULL && capture->origin == stream) end(capture, false);
    pthread_mutex_unlock(&cudart_captures.mutex);
}

/* ---- asking ---------------------------------------------------------------------------------- */

bool cudart_is_capturing(cudaStream_t stream)
{
    if (cudart_captures.count == 0) return false;
    return LOCKED(cudart_captures.mutex, cudart_capture_of(cudart_stream_object(stream)) != NULL);
}

WORK_OF(RUNTIME_PTSZ, cudaStreamGetCaptureInfo, (cudaStream_t handle,
        enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
        const cudaGraphNode_t **needs, const cudaGraphEdgeData **data, size_t *count),
        (handle, status, id, graph, needs, data, count))
{
    if (status == NULL) return cudaErrorInvalidValue;
    if (!cudart_is_stream(handle)) return cudaErrorInvalidResourceHandle;
    pthread_mutex_lock(&cudart_captures.mutex);
    const struct object *stream = cudart_stream_object(handle);
    const struct capture *capture = cudart_capture_of(stream);
    *status = capture == NULL       ? cudaStreamCaptureStatusNone
              : capture->is_invalid ? cudaStreamCaptureStatusInvalidated
                                    : cudaStreamCaptureStatusActive;
    cudaError_t error = stream == NULL ? cudart_check_legacy() : cudaSuccess;
    if (capture != NULL) {
        if (id != NULL) *id = capture->id;
        if (graph != NULL) *graph = (cudaGraph_t)capture->graph;
        if (needs != NULL) *needs = (const cudaGraphNode_t *)stream->tail.node;
        if (data != NULL) *data = NULL; /* edges have no data here */
        if (count != NULL) *count = stream->tail.count;
    }
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

RUNTIME_ANYWHERE_PTSZ(cudaStreamIsCapturing, (cudaStream_t stream,
                      enum cudaStreamCaptureStatus *status),
                      cudaStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL))

WORK_OF(RUNTIME_PTSZ, cudaStreamUpdateCaptureDependencies, (cudaStream_t handle,
        cudaGraphNode_t *needs, const cudaGraphEdgeData *data, size_t count, unsigned flags),
        (handle, needs, data, count, flags))
{
    (void)data;
    if (flags > cudaStreamSetCaptureDependencies || (count > 0 && needs == NULL))
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&cudart_captures.mutex);
    struct object *stream = cudart_stream_object(handle);
    cudaError_t error = cudart_capture_of(stream) != NULL ? cudaSuccess : cudaErrorIllegalState;
    if (error == cudaSuccess && flags == cudaStreamSetCaptureDependencies)
        cudart_clear(&stream->tail);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        cudart_append(&stream->tail, (struct node *)needs[i]);
    pthread_mutex_unlock(&cudart_captures.mutex);
    return error;
}

WORK_OF(RUNTIME_ANYWHERE, cudaThreadExchangeStreamCaptureMode, (enum cudaStreamCaptureMode *mode),
        (mode))
{
    if (mode == NULL || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    enum cudaStreamCaptureMode was = cudart_capture_mode;
    cudart_capture_mode = *mode;
    *mode = was;
    return cudaSuccess;
}

/* With -default-stream per-thread, NULL is the thread's own stream, which can be captured. From
 * then on NULL means that stream for all calls of the thread. */
RUNTIME_ANYWHERE(cudaStreamBeginCapture_ptsz, (cudaStream_t stream,
                 enum cudaStreamCaptureMode mode),
                 (cudart_default_is_per_thread = true, cudaStreamBeginCapture(stream, mode)))
