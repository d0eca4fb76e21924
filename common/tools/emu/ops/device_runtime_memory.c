/* device_runtime_memory.c — the CUDA runtime in kernels: memory, streams and events. */
#include "device_runtime.h"

/* ---- cudaMalloc and cudaFree ----------------------------------------------------------------- */

/* CUDA's headers call these cudaMemcpyDeviceToDevice and cudaMemcpyDefault. */
enum { DEVICE_TO_DEVICE = 3, ANY_DIRECTION = 4 };
enum { INVALID_PITCH = 12 };

/* ---- allocations ----------------------------------------------------------------------------- */

/* cudaMalloc(&pointer, bytes) */
RUNTIME_CALL(runtime_malloc)
{
    uint64_t to = builtin_argument(w, i, lane, 0, 8), bytes = builtin_argument(w, i, lane, 1, 8);
    if (!to || !bytes) return EMU_INVALID_VALUE;
    uint64_t address = builtin_allocate(w, bytes);
    if (!address) return EMU_OUT_OF_MEMORY;
    return runtime_write(w, i, lane, to, &address, sizeof address) ? EMU_OK : RUNTIME_ANSWERED;
}

/* cudaFree(pointer) */
RUNTIME_CALL(runtime_free)
{
    bool is_free = builtin_release(w, i, lane, builtin_argument(w, i, lane, 0, 8));
    return is_free ? EMU_OK : RUNTIME_ANSWERED;
}

/* ---- copies and fills ------------------------------------------------------------------------ */

/* A copy or fill, as a call in a kernel describes it. */
struct transfer {
    enum child_kind kind;
    int direction; /* of a copy */
    uint64_t to, from, stream;
    struct emu_rows rows;
    uint8_t value;
};

static bool is_global(uint64_t address)
{
    return address - SHARED_WINDOW >= WINDOW_BYTES && address - LOCAL_WINDOW >= WINDOW_BYTES &&
           address - PARAM_WINDOW >= WINDOW_BYTES;
}

static bool is_pitched_wrong(const struct emu_rows *r, bool copies)
{
    bool has_rows = r->rows > 1 || r->slices > 1;
    return has_rows && (r->to_row < r->bytes || (copies && r->from_row < r->bytes));
}

/* The tests have the order of NVIDIA's functions, which decides which of two errors is returned. */
static int check(const struct transfer *t)
{
    bool copies = t->kind == CHILD_COPY;
    if (copies && t->direction != DEVICE_TO_DEVICE && t->direction != ANY_DIRECTION)
        return EMU_INVALID_COPY_KIND;
    if (!t->to || (copies && !t->from)) return EMU_INVALID_VALUE;
    if (is_pitched_wrong(&t->rows, copies)) return copies ? INVALID_PITCH : EMU_INVALID_VALUE;
    return is_global(t->to) && (!copies || is_global(t->from)) ? EMU_OK : EMU_INVALID_VALUE;
}

static int transfer(struct warp *w, const struct insn *i, int lane, const struct transfer *t)
{
    if (!t->rows.bytes || !t->rows.rows || !t->rows.slices) return EMU_OK;
    struct runtime_stream stream = runtime_stream_of(w, i, lane, t->stream);
    int error = stream.is_valid ? check(t) : EMU_INVALID_VALUE;
    struct child *child = error ? NULL : child_new(w, t->kind, &error);
    if (!child) return error;
    child->to = t->to;
    child->from = t->from;
    child->rows = t->rows;
    child->value = t->value;
    runtime_submit(w, lane, child, &stream);
    return EMU_OK;
}

#define ARGUMENT(n, bytes) builtin_argument(w, i, lane, n, bytes)

/* A call that makes this transfer. */
#define TRANSFERS(name, ...)                                                                       \
    FAMILY_CALL(name) { return transfer(w, i, lane, &(struct transfer){__VA_ARGS__}); }

/* A word of an argument that is a struct. */
#define WORD(n, k) runtime_part(w, i, lane, n, 8 * (k), 8)

/* clang-format off */
/* cudaMemcpyAsync(to, from, bytes, direction, stream) */
TRANSFERS(runtime_copy, .kind = CHILD_COPY, .to = ARGUMENT(0, 8), .from = ARGUMENT(1, 8),
          .rows = {.bytes = ARGUMENT(2, 8), .rows = 1, .slices = 1},
          .direction = (int)ARGUMENT(3, 4), .stream = ARGUMENT(4, 8))
/* cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, direction, stream) */
TRANSFERS(runtime_copy_2d, .kind = CHILD_COPY, .to = ARGUMENT(0, 8), .from = ARGUMENT(2, 8),
          .rows = {.bytes = ARGUMENT(4, 8), .rows = ARGUMENT(5, 8), .slices = 1,
                   .to_row = ARGUMENT(1, 8), .from_row = ARGUMENT(3, 8)},
          .direction = (int)ARGUMENT(6, 4), .stream = ARGUMENT(7, 8))
/* cudaMemsetAsync(to, value, bytes, stream) */
TRANSFERS(runtime_fill, .kind = CHILD_FILL, .to = ARGUMENT(0, 8), .value = (uint8_t)ARGUMENT(1, 4),
          .rows = {.bytes = ARGUMENT(2, 8), .rows = 1, .slices = 1}, .stream = ARGUMENT(3, 8))
/* cudaMemset2DAsync(to, pitch, value, width, height, stream) */
TRANSFERS(runtime_fill_2d, .kind = CHILD_FILL, .to = ARGUMENT(0, 8),
          .value = (uint8_t)ARGUMENT(2, 4),
          .rows = {.bytes = ARGUMENT(3, 8), .rows = ARGUMENT(4, 8), .slices = 1,
                   .to_row = ARGUMENT(1, 8)},
          .stream = ARGUMENT(5, 8))
/* cudaMemset3DAsync(pitched pointer, value, extent, stream) */
TRANSFERS(runtime_fill_3d, .kind = CHILD_FILL, .to = WORD(0, 0), .value = (uint8_t)ARGUMENT(1, 4),
          .rows = {.bytes = WORD(2, 0), .rows = WORD(2, 1), .slices = WORD(2, 2),
                   .to_row = WORD(0, 1), .to_slice = WORD(0, 1) * WORD(0, 3)},
          .stream = ARGUMENT(3, 8))
/* clang-format on */

/* A cudaMemcpy3DParms as words of 8 bytes: where each field begins. */
enum { SOURCE_ARRAY, SOURCE_AT, SOURCE = 4, ARRAY = 8, AT, TO = 12, EXTENT = 16, DIRECTION = 19 };
enum { PARMS_WORDS = 20 };

/* The address in the memory of a cudaPitchedPtr at which a copy begins, given a cudaPos. */
static uint64_t corner(const uint64_t *pitched, const uint64_t *at)
{
    return pitched[0] + at[0] + at[1] * pitched[1] + at[2] * pitched[1] * pitched[3];
}

/* cudaMemcpy3DAsync(&parms, stream) */
FAMILY_CALL(runtime_copy_3d)
{
    uint64_t p[PARMS_WORDS] = {0};
    if (!builtin_read(w, lane, ARGUMENT(0, 8), p, sizeof p - 4) || p[SOURCE_ARRAY] || p[ARRAY])
        return EMU_INVALID_VALUE;
    const uint64_t *extent = p + EXTENT, *to = p + TO, *from = p + SOURCE;
    return transfer(w, i, lane,
                    &(struct transfer){.kind = CHILD_COPY,
                                       .to = corner(to, p + AT),
                                       .from = corner(from, p + SOURCE_AT),
                                       .rows = {.bytes = extent[0],
                                                .rows = extent[1],
                                                .slices = extent[2],
                                                .to_row = to[1],
                                                .to_slice = to[1] * to[3],
                                                .from_row = from[1],
                                                .from_slice = from[1] * from[3]},
                                       .direction = (int)p[DIRECTION],
                                       .stream = ARGUMENT(1, 8)});
}

/* ---- streams and events that kernels make ---------------------------------------------------- */

/* They belong to the grid that has made them. */

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
        stream.last = &runtime_of(w, handle == PER_THREAD ? lane : WARP)->last;
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

/* Makes a stream or an event. Returns its handle. */
static uint64_t make(const struct warp *w, bool is_event)
{
    struct children *children = w->block->launch->children;
    children->queues = grown(children->queues, children->queue_count, sizeof *children->queues);
    children->queues[children->queue_count] = (struct child_queue){.is_event = is_event};
    return handle_of(w->block->launch, children->queue_count++);
}

/* Does an H200 accept the flags? Streams need none; events must be without timing. */
static bool are_flags_right(uint64_t flags, bool is_event)
{
    return is_event ? (flags & ~BLOCKING_SYNC) == WITHOUT_TIMING : (flags & ~NON_BLOCKING) == 0;
}

static int create(struct warp *w, const struct insn *i, int lane, bool is_event)
{
    uint64_t to = ARGUMENT(0, 8);
    if (!to || !are_flags_right(ARGUMENT(1, 4), is_event)) return EMU_INVALID_VALUE;
    uint64_t handle = make(w, is_event);
    return runtime_write(w, i, lane, to, &handle, sizeof handle) ? EMU_OK : RUNTIME_ANSWERED;
}

/* cudaStreamCreateWithFlags(&stream, flags), cudaEventCreateWithFlags(&event, flags) */
FAMILY_CALL(runtime_stream_create) { return create(w, i, lane, false); }
FAMILY_CALL(runtime_event_create) { return create(w, i, lane, true); }

/* Work that has been put into a destroyed stream is carried out all the same. */
static int destroy(struct warp *w, const struct insn *i, int lane, bool is_event)
{
    struct child_queue *queue = queue_of(w, ARGUMENT(0, 8), is_event);
    if (queue) queue->is_destroyed = true;
    return queue ? EMU_OK : EMU_INVALID_VALUE;
}

/* cudaStreamDestroy(stream), cudaEventDestroy(event) */
FAMILY_CALL(runtime_destroy_stream) { return destroy(w, i, lane, false); }
FAMILY_CALL(runtime_destroy_event) { return destroy(w, i, lane, true); }

/* ---- order ----------------------------------------------------------------------------------- */

/* The streams of fire and forget and of tail launches neither record events nor wait for them. */
static bool has_events(const struct runtime_stream *stream)
{
    return stream->is_valid && !stream->is_tail && !stream->is_free;
}

/* cudaEventRecord(event, stream) */
FAMILY_CALL(runtime_event_record)
{
    struct child_queue *event = queue_of(w, ARGUMENT(0, 8), true);
    struct runtime_stream stream = runtime_stream_of(w, i, lane, ARGUMENT(1, 8));
    if (!event || !has_events(&stream)) return EMU_INVALID_VALUE;
    event->last = *stream.last;
    return EMU_OK;
}

/* cudaStreamWaitEvent(stream, event, flags): what follows in the stream comes after the event */
FAMILY_CALL(runtime_stream_wait)
{
    struct runtime_stream stream = runtime_stream_of(w, i, lane, ARGUMENT(0, 8));
    const struct child_queue *event = queue_of(w, ARGUMENT(1, 8), true);
    int error = EMU_OK;
    if (!event || !has_events(&stream)) return EMU_INVALID_VALUE;
    if (!event->last) return EMU_OK;
    struct child *child = child_new(w, CHILD_MARK, &error);
    if (!child) return error;
    child->needs[1] = event->last;
    runtime_submit(w, lane, child, &stream);
    return EMU_OK;
}
