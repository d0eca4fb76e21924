/* streams.c — streams and events that kernels make. They belong to the grid that has made them. */
#include "device_runtime.h"
#include <stdlib.h>
#include <string.h>

/* CUDA's headers call these NULL, cudaStreamPerThread, cudaStreamTailLaunch and
 * cudaStreamFireAndForget. */
enum { BLOCKS_OWN = 0, PER_THREAD = 2, TAIL = 3, FIRE_AND_FORGET = 4 };
/* In CUDA's headers: cudaStreamNonBlocking, cudaEventBlockingSync and cudaEventDisableTiming. */
enum { NON_BLOCKING = 1, BLOCKING_SYNC = 1, WITHOUT_TIMING = 2 };

/* A handle contains the number of the launch whose grid made the stream or event. */
enum { LAUNCH_AT = 32, FIRST_HANDLE = 16 };

static uint64_t handle_of(const struct launch *launch, size_t index)
{
    return ((uint64_t)launch->id + 1) << LAUNCH_AT | (index + FIRST_HANDLE);
}

/* NULL: this grid has no such stream or event. */
static struct child_queue *queue_of(const struct warp *w, uint64_t handle, bool is_event)
{
    const struct launch *launch = w->block->launch;
    struct children *children = launch->children;
    size_t index = (uint32_t)handle - (size_t)FIRST_HANDLE;
    if (index >= children->queue_count || handle != handle_of(launch, index)) return NULL;
    struct child_queue *queue = &children->queues[index];
    return queue->is_event == is_event && !queue->is_destroyed ? queue : NULL;
}

struct runtime_stream runtime_stream_of(struct warp *w, const struct insn *i, int lane,
                                        uint64_t handle)
{
    struct runtime_stream stream = {.is_valid = true};
    const struct callee *callee = i->call->callee;
    struct thread_runtime *own;
    if (handle == BLOCKS_OWN && callee && strstr(callee->function->name, "_ptsz"))
        handle = PER_THREAD;
    switch (handle) {
    case TAIL:
        stream.is_tail = true;
        stream.last = &w->block->launch->children->tail;
        break;
    case FIRE_AND_FORGET: stream.is_free = true; break;
    case BLOCKS_OWN:
    case PER_THREAD:
        own = runtime_of(w, handle == PER_THREAD ? lane : WARP);
        stream.is_valid = own;
        if (own) stream.last = &own->last;
        break;
    default: {
        struct child_queue *queue = queue_of(w, handle, false);
        stream.is_valid = queue;
        if (queue) stream.last = &queue->last;
    }
    }
    return stream;
}

void runtime_submit(struct warp *w, int lane, struct child *child,
                    const struct runtime_stream *stream)
{
    child->is_tail = stream->is_tail;
    child_submit(w, lane, child, stream->last);
}

/* ---- making and destroying ------------------------------------------------------------------- */

/* Makes a stream or an event. Returns its handle; 0: out of memory. */
static uint64_t make(const struct warp *w, bool is_event)
{
    enum { FIRST_ROOM = 16 };
    struct children *children = w->block->launch->children;
    if (children->queue_count == children->queue_room) {
        size_t room = children->queue_room ? 2 * children->queue_room : FIRST_ROOM;
        struct child_queue *grown = realloc(children->queues, room * sizeof *grown);
        if (!grown) return 0;
        children->queues = grown;
        children->queue_room = room;
    }
    children->queues[children->queue_count] = (struct child_queue){.is_event = is_event};
    return handle_of(w->block->launch, children->queue_count++);
}

/* Does an H200 accept the flags? Streams need none; events must be without timing. */
static bool are_flags_right(uint64_t flags, bool is_event)
{
    return is_event ? (flags & ~BLOCKING_SYNC) == WITHOUT_TIMING : (flags & ~NON_BLOCKING) == 0;
}

static void create(struct warp *w, const struct insn *i, uint32_t mask, bool is_event)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask), error = EMU_OK;
        uint64_t to = builtin_argument(w, i, lane, 0, 8), handle = 0;
        uint64_t flags = builtin_argument(w, i, lane, 1, 4);
        if (!to || !are_flags_right(flags, is_event)) error = EMU_INVALID_VALUE;
        pthread_mutex_lock(&descendants_of(w)->lock);
        if (!error && !(handle = make(w, is_event))) error = EMU_OUT_OF_MEMORY;
        pthread_mutex_unlock(&descendants_of(w)->lock);
        if (!error && !runtime_write(w, i, lane, to, &handle, sizeof handle)) return;
        runtime_answer(w, i, lane, error);
    }
}

/* cudaStreamCreateWithFlags(&stream, flags) */
void runtime_stream_create(struct warp *w, const struct insn *i, uint32_t mask)
{
    create(w, i, mask, false);
}

/* cudaEventCreateWithFlags(&event, flags) */
void runtime_event_create(struct warp *w, const struct insn *i, uint32_t mask)
{
    create(w, i, mask, true);
}

/* Work that has been put into a destroyed stream is carried out all the same. */
static void destroy(struct warp *w, const struct insn *i, uint32_t mask, bool is_event)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        pthread_mutex_lock(&descendants_of(w)->lock);
        struct child_queue *queue = queue_of(w, builtin_argument(w, i, lane, 0, 8), is_event);
        if (queue) queue->is_destroyed = true;
        pthread_mutex_unlock(&descendants_of(w)->lock);
        runtime_answer(w, i, lane, queue ? EMU_OK : EMU_INVALID_VALUE);
    }
}

/* cudaStreamDestroy(stream), cudaEventDestroy(event) */
void runtime_destroy_stream(struct warp *w, const struct insn *i, uint32_t mask)
{
    destroy(w, i, mask, false);
}
void runtime_destroy_event(struct warp *w, const struct insn *i, uint32_t mask)
{
    destroy(w, i, mask, true);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The streams of fire and forget and of tail launches neither record events nor wait for them. */
static bool has_events(const struct runtime_stream *stream)
{
    return stream->is_valid && !stream->is_tail && !stream->is_free;
}

/* cudaEventRecord(event, stream) */
void runtime_event_record(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        pthread_mutex_lock(&descendants_of(w)->lock);
        struct child_queue *event = queue_of(w, builtin_argument(w, i, lane, 0, 8), true);
        struct runtime_stream stream =
            runtime_stream_of(w, i, lane, builtin_argument(w, i, lane, 1, 8));
        bool is_right = event && has_events(&stream);
        if (is_right) event->last = *stream.last;
        pthread_mutex_unlock(&descendants_of(w)->lock);
        runtime_answer(w, i, lane, is_right ? EMU_OK : EMU_INVALID_VALUE);
    }
}

/* Lets what follows in the stream come after the event. Returns an error. */
static int wait_for(struct warp *w, const struct insn *i, int lane)
{
    struct runtime_stream stream =
        runtime_stream_of(w, i, lane, builtin_argument(w, i, lane, 0, 8));
    const struct child_queue *event = queue_of(w, builtin_argument(w, i, lane, 1, 8), true);
    int error = EMU_OK;
    if (!event || !has_events(&stream)) return EMU_INVALID_VALUE;
    if (!event->last) return EMU_OK;
    struct child *child = child_new(w, CHILD_MARK, &error);
    if (!child) return error;
    child->needs[1] = event->last;
    runtime_submit(w, lane, child, &stream);
    return EMU_OK;
}

/* cudaStreamWaitEvent(stream, event, flags) */
void runtime_stream_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        pthread_mutex_lock(&descendants_of(w)->lock);
        int error = wait_for(w, i, lane);
        pthread_mutex_unlock(&descendants_of(w)->lock);
        runtime_answer(w, i, lane, error);
    }
}
