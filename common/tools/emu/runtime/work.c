/* work.c — carries out work: by its kind, fills, calls of libraries. */
#include "graph.h"

static cudaError_t cudart_run_fill(const struct cudaMemsetParams *);

/* ---- carries out work, and copies it --------------------------------------------------------- */

static cudaError_t carry_out(const struct work *, cudaStream_t);

/* Carries out a graph that has been sorted. */
static cudaError_t run_graph(struct graph *graph, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    cudart_order_graph(graph);
    for (struct node *node = graph->first; node != NULL && error == cudaSuccess;
         node = node->next) {
        cudart_order_node(graph, node, stream);
        if (!node->disabled && !cudart_is_faulty()) error = carry_out(&node->work, stream);
        cudart_order_node_end(node);
    }
    cudart_order_graph_end(graph);
    return error;
}

/* Has a loop reached the limit in seconds? Its kernels see to that themselves, if it has any. */
static void end_loop_in_time(void)
{
    int error = emu_together_check(emu_runtime());
    if (error == EMU_OK || cudart_is_faulty()) return;
    cudart_print(emu_message(emu_runtime()));
    cudart_check_failure();
    cudart_set_fault((cudaError_t)error);
}

/* The value of its condition decides, before each body, which one is carried out. The bodies count
 * as one for the limits of kernels. */
static cudaError_t run_conditional(const struct conditional *conditional, cudaStream_t stream)
{
    cudaError_t error = cudaSuccess;
    struct graph *body;
    cudart_order_condition(conditional->handle);
    emu_together_begin(emu_runtime());
    for (bool is_first = true; error == cudaSuccess && !cudart_is_faulty() &&
                               (body = cudart_next_body(conditional, is_first)) != NULL;
         is_first = false) {
        error = run_graph(body, stream);
        end_loop_in_time();
    }
    emu_together_end(emu_runtime());
    return error;
}

static cudaError_t carry_out_here(const struct work *work, cudaStream_t stream)
{
    switch (work->type) {
    case cudaGraphNodeTypeKernel: return cudart_run_kernel(&work->kernel, stream);
    case cudaGraphNodeTypeMemcpy: return cudart_run_copy(&work->copy);
    case cudaGraphNodeTypeMemset: return cudart_run_fill(&work->fill);
    case cudaGraphNodeTypeHost: cudart_run_host(&work->host); return cudaSuccess;
    case cudaGraphNodeTypeEventRecord: cudart_record_event(work->event); return cudaSuccess;
    case cudaGraphNodeTypeGraph: return run_graph(work->child, stream);
    case cudaGraphNodeTypeConditional: return run_conditional(work->conditional, stream);
    case cudaGraphNodeTypeMemAlloc:
        cudart_order_graph_memory(work->memory);
        return cudart_graph_memory_take(work->memory);
    case cudaGraphNodeTypeMemFree:
        cudart_order_graph_memory(work->memory);
        return cudart_graph_memory_give(work->memory);
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeWaitEvent: return cudaSuccess; /* the event's work is done */
    default: return cudaErrorNotSupported;
    }
}

/* Carries out work on its device. */
static cudaError_t carry_out(const struct work *work, cudaStream_t stream)
{
    int was = cudart_use_device(work->device);
    bool may_overtake = work->type == cudaGraphNodeTypeMemcpy ||
                        work->type == cudaGraphNodeTypeMemset ||
                        work->type == cudaGraphNodeTypeHost;
    if (may_overtake)
        cudart_go_on_for(stream, true);
    else
        cudart_go_on(true);
    cudart_work_begins(work->device);
    cudaError_t error = carry_out_here(work, stream);
    cudart_work_ends(work->device);
    cudart_use_device(was);
    return error;
}

static cudaError_t submit(cudaStream_t stream, struct work *work)
{
    bool captured;
    if (!cudart_is_stream(stream)) return cudaErrorInvalidResourceHandle;
    cudaError_t error = cudart_capture(stream, work, &captured);
    if (error != cudaSuccess || captured) return error;
    cudart_order_begin(stream, work);
    error = carry_out(work, stream);
    cudart_order_end(stream, work);
    return error;
}

/* On a device with a fault, submitting fails. Until the program knows of the fault, launches
 * succeed and do nothing. */
cudaError_t cudart_submit(cudaStream_t stream, struct work *work)
{
    if (cudart_in_host_function()) return cudart_done(cudaErrorNotPermitted);
    cudart_bind_context();
    bool may_pass = work->type == cudaGraphNodeTypeKernel && !cudart_device()->fault_known;
    if (!may_pass) RETURN_IF_FAULTY();
    work->device = cudart_stream_device(stream);
    cudart_work_begins(work->device);
    cudaError_t error = submit(stream, work);
    cudart_work_ends(work->device);
    return cudart_done(error);
}

/* ---- host functions -------------------------------------------------------------------------- */

/* CUDA does not allow host functions to call the runtime: the driver waits for the thread that runs
 * them. */
static _Thread_local bool in_host_function;

bool cudart_in_host_function(void) { return in_host_function; }

void cudart_run_host(const struct cudaHostNodeParams *call)
{
    bool was = in_host_function;
    in_host_function = true;
    cudart_order_host(call);
    in_host_function = was;
}

/* ---- copies of work -------------------------------------------------------------------------- */

static size_t aligned(size_t bytes)
{
    return (bytes + _Alignof(max_align_t) - 1) / _Alignof(max_align_t) * _Alignof(max_align_t);
}

/* Copies a kernel's arguments into one piece of memory: an array of pointers, and the values behind
 * it. */
static cudaError_t copy_arguments(struct kernel_work *to, const struct kernel_work *from)
{
    struct function *function;
    cudaError_t error = cudart_function(from->host, &function);
    if (error != cudaSuccess) return error;
    const struct emu_kernel_info *info = emu_kernel_info(function->kernel);
    size_t bytes = 0, pointers = aligned(info->params * sizeof(void *));
    for (unsigned i = 0; i < info->params; i++) bytes += aligned(info->param_size[i]);
    if (info->params == 0) {
        to->args = NULL;
        return cudaSuccess;
    }
    if (from->args == NULL) return cudaErrorInvalidValue;
    to->args = allocated(malloc(pointers + bytes));
    char *place = (char *)to->args + pointers;
    for (unsigned i = 0; i < info->params; i++) {
        to->args[i] = memcpy(place, from->args[i], info->param_size[i]);
        place += aligned(info->param_size[i]);
    }
    return cudaSuccess;
}

cudaError_t cudart_copy_work(struct work *to, const struct work *from)
{
    *to = *from;
    int was = cudart_use_device(from->device);
    cudart_work_begins(from->device);
    cudaError_t error = cudaSuccess;
    if (from->type == cudaGraphNodeTypeKernel)
        error = copy_arguments(&to->kernel, &from->kernel);
    else if (from->type == cudaGraphNodeTypeGraph)
        error = cudart_clone_graph(&to->child, from->child);
    else if (from->type == cudaGraphNodeTypeConditional)
        error = cudart_clone_conditional(&to->conditional, from->conditional);
    else if (from->type == cudaGraphNodeTypeMemAlloc || from->type == cudaGraphNodeTypeMemFree)
        cudart_graph_memory_share(from->memory);
    cudart_work_ends(from->device);
    cudart_use_device(was);
    if (error != cudaSuccess) *to = (struct work){.type = cudaGraphNodeTypeEmpty};
    return error;
}

void cudart_free_work(struct work *work)
{
    if (work->type == cudaGraphNodeTypeKernel)
        free(work->kernel.args);
    else if (work->type == cudaGraphNodeTypeGraph)
        cudart_free_graph(work->child);
    else if (work->type == cudaGraphNodeTypeConditional)
        cudart_free_conditional(work->conditional);
    else if (work->type == cudaGraphNodeTypeMemAlloc || work->type == cudaGraphNodeTypeMemFree)
        cudart_graph_memory_drop(work->memory);
    *work = (struct work){.type = cudaGraphNodeTypeEmpty};
}

/* ---- fills: rows of elements of 1, 2 or 4 bytes get one value -------------------------------- */

cudaError_t cudart_check_fill(const struct cudaMemsetParams *p)
{
    if (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)
        return cudaErrorInvalidValue;
    if (p->width == 0 || p->height == 0) return cudaSuccess;
    if (p->dst == NULL || (p->height > 1 && p->width * p->elementSize > p->pitch))
        return cudaErrorInvalidValue;
    bool is_there =
        cudart_is_reachable(p->dst, (p->height - 1) * p->pitch + p->width * p->elementSize);
    return is_there ? cudaSuccess : cudaErrorInvalidValue;
}

/* Writes one row; `pattern` is its content, or NULL if all its bytes are p->value. */
static int fill_row(const struct cudaMemsetParams *p, char *to, const char *pattern)
{
    size_t bytes = p->width * p->elementSize;
    const struct device *owner = cudart_owner(to);
    if (owner != NULL && pattern == NULL)
        return emu_fill(owner->emu, (emu_addr)to, (unsigned char)p->value, bytes);
    if (owner != NULL) return emu_write(owner->emu, (emu_addr)to, pattern, bytes);
    if (pattern == NULL)
        memset(to, (int)p->value, bytes);
    else
        memcpy(to, pattern, bytes);
    return cudaSuccess;
}

static cudaError_t cudart_run_fill(const struct cudaMemsetParams *p)
{
    int error = cudart_check_fill(p);
    if (error != cudaSuccess || p->width == 0 || p->height == 0) return (cudaError_t)error;
    size_t bytes = p->width * p->elementSize;
    cudart_order_access(
        p->dst,
        &(struct emu_rows){.bytes = bytes, .rows = p->height, .slices = 1, .from_row = p->pitch},
        true);
    char *pattern = p->elementSize > 1 ? allocated(malloc(bytes)) : NULL;
    for (size_t i = 0; pattern != NULL && i < p->width; i++) /* all are little-endian */
        memcpy(pattern + i * p->elementSize, &p->value, p->elementSize);
    for (size_t row = 0; row < p->height && error == cudaSuccess; row++)
        error = fill_row(p, (char *)p->dst + row * p->pitch, pattern);
    free(pattern);
    return (cudaError_t)error;
}

static struct cudaMemsetParams bytes_2d(void *to, size_t pitch, int value, size_t width,
                                        size_t height)
{
    return (struct cudaMemsetParams){.dst = to,
                                     .pitch = pitch,
                                     .value = (unsigned char)value,
                                     .elementSize = 1,
                                     .width = width,
                                     .height = height};
}

/* ---- at once, and in a stream ---------------------------------------------------------------- */

static cudaError_t fill_now(struct cudaMemsetParams fill)
{
    RETURN_IF_FAULTY();
    cudaError_t error = cudart_check_wait(NULL);
    if (error != cudaSuccess) return cudart_done(error);
    cudart_order_begin(NULL, &(struct work){.type = cudaGraphNodeTypeMemset});
    cudart_work_begins(cudart_device()->number);
    error = cudart_run_fill(&fill);
    cudart_work_ends(cudart_device()->number);
    cudart_order_return(fill.dst, fill.dst, true);
    return cudart_done(error);
}

cudaError_t cudart_fill(struct cudaMemsetParams fill, struct when when)
{
    struct work work = {.type = cudaGraphNodeTypeMemset, .fill = fill};
    return when.now ? fill_now(fill) : cudart_submit(when.stream, &work);
}

NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemset,
                 cudart_fill(bytes_2d(to, bytes, value, bytes, 1), when), void *to, int value,
                 size_t bytes)
NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemset2D,
                 IF(width <= pitch, cudaErrorInvalidValue,
                    cudart_fill(bytes_2d(to, pitch, value, width, height), when)),
                 void *to, size_t pitch, int value, size_t width, size_t height)

/* A three-dimensional fill is one two-dimensional fill if there are no gaps between its slices;
 * otherwise it is one fill for each slice. */
static cudaError_t fill_3d(struct cudaPitchedPtr area, int value, struct cudaExtent extent,
                           struct when when)
{
    if (extent.width > area.pitch || (extent.depth > 1 && extent.height > area.ysize))
        return cudaErrorInvalidValue;
    bool whole = extent.height == area.ysize;
    size_t rows = whole ? extent.height * extent.depth : extent.height;
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < (whole ? 1 : extent.depth) && error == cudaSuccess; z++) {
        struct cudaMemsetParams fill = bytes_2d((char *)area.ptr + z * area.pitch * area.ysize,
                                                area.pitch, value, extent.width, rows);
        error = cudart_fill(fill, when);
    }
    return error;
}

NOW_OR_IN_STREAM(RUNTIME_ANYWHERE, cudaMemset3D, fill_3d(area, value, extent, when),
                 struct cudaPitchedPtr area, int value, struct cudaExtent extent)

/* ---- work of the libraries that take the place of NVIDIA's (libs/), in a stream -------------- */

/* The emulator that looks memory up: of the device that has it, if this one may access it. */
static struct emu *emu_of(const void *address)
{
    const struct device *owner = cudart_owner(address), *own = cudart_device();
    bool is_open = owner != NULL && (owner == own || own->peer_enabled[owner->number]);
    return is_open ? owner->emu : own->emu;
}

static cudaError_t area_fault(const char *name, const struct emu_area *area)
{
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s %s memory that is not there: %s", name,
             area->writes ? "writes" : "reads", emu_message(emu_of(area->address)));
    cudart_check_library(sentence);
    cudart_set_fault(cudaErrorIllegalAddress);
    return cudaErrorIllegalAddress;
}

/* All reads come before the writes: an area may be read and written, and areas may overlap. */
static cudaError_t open_areas(const char *name, struct emu_area *areas, size_t count)
{
    for (int writes = 0; writes <= 1; writes++)
        for (struct emu_area *a = areas; a < areas + count; a++) {
            if (!(writes ? a->writes : a->reads)) continue;
            a->host =
                emu_view(emu_of(a->address), (emu_addr)a->address, &a->rows, !writes, writes, name);
            if (a->host == NULL) return area_fault(name, a);
            cudart_order_access(a->address, &a->rows, writes);
        }
    cudart_check_print();
    return cudaSuccess;
}

static cudaError_t begin(cudaStream_t stream, const char *name, struct emu_area *areas,
                         size_t count)
{
    RETURN_IF_FAULTY();
    if (!cudart_is_stream(stream)) return cudart_done(cudaErrorInvalidResourceHandle);
    if (cudart_is_capturing(stream)) {
        cudart_not_supported(name, "the emulator's libraries are not captured into graphs; call "
                                   "it outside of the capture");
        return cudart_done(cudaErrorStreamCaptureUnsupported);
    }
    cudart_parent_tell(OUTCOME_RUN);
    int was = cudart_use_device(cudart_stream_device(stream));
    cudart_go_on_for(stream, true);
    cudart_order_library(stream, name);
    cudaError_t error = (cudaError_t)cudart_device()->fault; /* a kernel has ended until now */
    if (error == cudaSuccess) error = open_areas(name, areas, count);
    cudart_use_device(was);
    return error;
}

/* While the library is known, places are those of the program that has called it. */
int emu_library_work(void *stream, const char *name, struct emu_area *areas, size_t count)
{
    cudart_place_library(__builtin_return_address(0));
    cudaError_t error = begin(stream, name, areas, count);
    cudart_place_library(NULL);
    return error;
}

void emu_library_refuse(const char *feature, const char *why)
{
    cudart_place_library(__builtin_return_address(0));
    cudart_not_supported(feature, why);
    cudart_place_library(NULL);
}
