/*
 * stream_capture.c — capturing: work that is submitted to a stream becomes nodes of a graph.
 *
 * A capture begins in one stream, its origin. Each piece of work becomes a node that depends on the
 * stream's `tail`, which is the set of its latest nodes. Recording an event copies the tail into
 * the event. Another stream that waits for the event joins the capture and adds the event's tail to
 * its own. Before the capture ends, the origin must have joined all other tails in the same way.
 */
#include "capture.h"
#include "graph.h"

struct captures cudart_captures = {.next_id = 1, .mutex = PTHREAD_MUTEX_INITIALIZER};
_Thread_local enum cudaStreamCaptureMode cudart_capture_mode = cudaStreamCaptureModeGlobal;

struct capture *cudart_capture_of(const struct object *object)
{
    if (object == NULL || object->capture == 0) return NULL;
    return address_table_find(&cudart_captures.by_id, object->capture);
}

void cudart_join_capture(struct object *stream, struct capture *capture)
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

cudaError_t cudart_check_legacy(void)
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
        cudart_clear(&stream->tail);
        error = cudart_append(&stream->tail, node);
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
static cudaError_t join(struct node_list *tail, const struct node_list *other)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < other->count && error == cudaSuccess; i++)
        error = cudart_append(tail, other->node[i]);
    return error;
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
        error = capture->is_invalid ? cudaErrorStreamCaptureInvalidated
                                    : join(&event->tail, &stream->tail);
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
    return join(&stream->tail, &event->tail);
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
