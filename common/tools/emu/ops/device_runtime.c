/* device_runtime.c — the CUDA runtime in kernels: functions by name, queries, launches. */
#include "device_runtime.h"
#include "common/tools/emu/machine/events.h"

/* The kernel at an address of code; NULL: no kernel, or a fault. The family is locked. */
static struct emu_kernel *runtime_kernel_at(struct warp *, const struct insn *, int lane,
                                            uint64_t address);

/* A lane's call has failed: keeps the thread's last error. */
static void runtime_fail(struct warp *, const struct insn *, int lane, int error);

/* ---- what kernels ask of the CUDA runtime: errors, attributes, limits, occupancy ------------- */

/* Writes a result of some bytes to the address in the lane's argument 0, which may be NULL. Returns
 * what the call returns. */
static int give(struct warp *w, const struct insn *i, int lane, int error, const void *value,
                size_t bytes)
{
    uint64_t to = builtin_argument(w, i, lane, 0, 8);
    if (error || !to) return error ? error : EMU_INVALID_VALUE;
    return runtime_write(w, i, lane, to, value, bytes) ? EMU_OK : RUNTIME_ANSWERED;
}

static const struct emu *emu_of(const struct warp *w) { return w->block->launch->emu; }

/* ---- errors ---------------------------------------------------------------------------------- */

static int last_error(struct warp *w, const struct insn *i, int lane, bool forgets)
{
    struct thread_runtime *thread = w->block->runtime ? runtime_of(w, lane) : NULL;
    int error = thread ? thread->error : EMU_OK;
    if (thread && forgets) thread->error = EMU_OK;
    builtin_set_result(w, i, lane, &error, sizeof error);
    return RUNTIME_ANSWERED;
}

/* Calls of which only the table at the end of this file knows. */
#define OWN_CALL(name) CALL_OF_LANES(static, name, false)

/* cudaGetLastError(), cudaPeekAtLastError(): of this thread, in this grid */
OWN_CALL(runtime_get_error) { return last_error(w, i, lane, true); }
OWN_CALL(runtime_peek_error) { return last_error(w, i, lane, false); }

/* Copies a text to device memory. Returns its address; 0: there is no room for it. */
static emu_addr place_text(struct warp *w, const char *text)
{
    struct emu *emu = w->block->launch->emu;
    struct descendants *family = emu->descendants;
    size_t bytes = strlen(text) + 1;
    emu_addr address = family->memory + family->texts;
    void *there = memory_view(&emu->memory, address, bytes);
    if (!there || family->texts + bytes > CHILDREN_TEXTS) return 0;
    memcpy(there, text, bytes);
    event_host_write(emu, address, bytes);
    family->texts += bytes;
    return address;
}

enum { NAME, SENTENCE };

static int error_text(struct warp *w, const struct insn *i, int lane, int which)
{
    const struct emu_host_side *side = &emu_of(w)->host_side;
    struct descendants *family = descendants_of(w);
    const char *(*text_of)(int) = which == NAME ? side->error_name : side->error_text;
    enum { KNOWN = sizeof family->text[0] / sizeof family->text[0][0] };
    uint64_t error = builtin_argument(w, i, lane, 0, 4);
    emu_addr *text = &family->text[which][error < KNOWN ? error : KNOWN - 1];
    pthread_mutex_lock(&family->lock);
    if (!*text && text_of) *text = place_text(w, text_of((int)error));
    pthread_mutex_unlock(&family->lock);
    builtin_set_result(w, i, lane, text, sizeof *text);
    return RUNTIME_ANSWERED;
}

/* cudaGetErrorName(error), cudaGetErrorString(error) */
OWN_CALL(runtime_error_name) { return error_text(w, i, lane, NAME); }
OWN_CALL(runtime_error_text) { return error_text(w, i, lane, SENTENCE); }

/* ---- the device ------------------------------------------------------------------------------ */

/* cudaDeviceGetAttribute(&value, attribute, device) */
OWN_CALL(runtime_attribute)
{
    const struct emu_host_side *side = &emu_of(w)->host_side;
    int value = 0, error = EMU_INVALID_VALUE;
    if (side->attribute)
        error = side->attribute((int)builtin_argument(w, i, lane, 1, 4),
                                (int)builtin_argument(w, i, lane, 2, 4), &value);
    return give(w, i, lane, error, &value, sizeof value);
}

/* cudaDeviceGetLimit(&value, limit) */
OWN_CALL(runtime_limit)
{
    const struct emu_host_side *side = &emu_of(w)->host_side;
    int limit = (int)builtin_argument(w, i, lane, 1, 4);
    size_t value = 0;
    int error = side->limit ? side->limit(emu_of(w)->number, limit, &value) : EMU_INVALID_VALUE;
    return give(w, i, lane, error, &value, sizeof value);
}

/* cudaGetDevice(&device), cudaGetDeviceCount(&count) */
#define NUMBER(name, number)                                                                       \
    OWN_CALL(name) { return give(w, i, lane, EMU_OK, &(int){(int)(number)}, sizeof(int)); }
NUMBER(runtime_device, emu_of(w)->number)
NUMBER(runtime_device_count, emu_of(w)->host_side.devices)
/* cudaRuntimeGetVersion(&version): the number that libcudadevrt returns in CUDA 13 */
NUMBER(runtime_version, 6000)
/* cudaDeviceGetCacheConfig(&choice), cudaDeviceGetSharedMemConfig(&choice): today's GPUs have
 * no such choice */
NUMBER(runtime_no_choice, 0)

/* ---- kernels --------------------------------------------------------------------------------- */

/* Those fields at the beginning of a cudaFuncAttributes that kernels get. */
struct kernel_attributes {
    uint64_t shared_bytes, constant_bytes, local_bytes;
    int max_threads, registers, ptx_version, binary_version;
};

static struct emu_kernel *kernel_of(struct warp *w, const struct insn *i, int lane)
{
    pthread_mutex_lock(&descendants_of(w)->lock);
    struct emu_kernel *kernel = runtime_kernel_at(w, i, lane, builtin_argument(w, i, lane, 1, 8));
    pthread_mutex_unlock(&descendants_of(w)->lock);
    return kernel;
}

/* cudaFuncGetAttributes(&attributes, kernel) */
OWN_CALL(runtime_kernel_attributes)
{
    const struct emu_gpu *gpu = emu_of(w)->gpu;
    const struct emu_kernel *kernel = kernel_of(w, i, lane);
    struct kernel_attributes attributes = {.ptx_version = 10 * gpu->major + gpu->minor,
                                           .binary_version = 10 * gpu->major + gpu->minor};
    if (kernel) {
        attributes.shared_bytes = kernel->info.shared_bytes;
        attributes.constant_bytes = kernel->info.constant_bytes;
        attributes.local_bytes = kernel->info.local_bytes;
        attributes.max_threads = (int)kernel->info.max_threads;
        attributes.registers = (int)kernel->info.registers;
    }
    return give(w, i, lane, kernel ? EMU_OK : EMU_INVALID_VALUE, &attributes, sizeof attributes);
}

/* cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic shared bytes) */
OWN_CALL(runtime_occupancy)
{
    const struct emu_host_side *side = &emu_of(w)->host_side;
    const struct emu_kernel *kernel = kernel_of(w, i, lane);
    int blocks = 0, error = EMU_INVALID_VALUE;
    if (kernel && side->occupancy)
        error = side->occupancy(emu_of(w)->gpu, kernel, (int)builtin_argument(w, i, lane, 2, 4),
                                builtin_argument(w, i, lane, 3, 8), &blocks);
    return give(w, i, lane, error, &blocks, sizeof blocks);
}

/* cudaGraphSetConditional(handle, value) */
OWN_CALL(runtime_set_condition)
{
    const struct emu_host_side *side = &emu_of(w)->host_side;
    uint64_t handle = builtin_argument(w, i, lane, 0, 8);
    unsigned value = (unsigned)builtin_argument(w, i, lane, 1, 4);
    if (announces(w->block, ANNOUNCE_ORDER)) event_condition(w, i, lane, handle, value);
    if (!side->set_condition || side->set_condition(handle, value))
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "0x%llx is no handle of cudaGraphConditionalHandleCreate",
              (unsigned long long)handle);
    return RUNTIME_ANSWERED;
}

/* ---- launches of grids by threads of a grid -------------------------------------------------- */

/* nvcc turns kernel<<<grid, block, shared, stream>>>(…) into two calls: cudaGetParameterBufferV2
 * returns memory into which the thread then stores the parameters, and cudaLaunchDeviceV2 launches.
 * If the first returns NULL, the thread does not make the second. */

static struct emu_kernel *runtime_kernel_at(struct warp *w, const struct insn *i, int lane,
                                            uint64_t address)
{
    struct emu *emu = w->block->launch->emu;
    struct emu_module *module = w->block->launch->kernel->module;
    uint64_t index = (address - CODE_WINDOW) / FUNCTION_BYTES;
    if (index >= module->text.function_count || (address - CODE_WINDOW) % FUNCTION_BYTES)
        return NULL;
    const struct ptx_function *function = &module->text.functions[index];
    struct emu_kernel *kernel = NULL;
    if (!function->is_entry || !function->has_body) return NULL;
    if (module_kernel(emu, module, function, &kernel))
        fault(w, i, lane, EMU_ILLEGAL_INSTRUCTION, "%s", emu->message);
    return kernel;
}

static struct emu_dim dim_of(const struct warp *w, const struct insn *i, int lane, unsigned index)
{
    return (struct emu_dim){(unsigned)runtime_part(w, i, lane, index, 0, 4),
                            (unsigned)runtime_part(w, i, lane, index, 4, 4),
                            (unsigned)runtime_part(w, i, lane, index, 8, 4)};
}

/* ---- the buffer for parameters --------------------------------------------------------------- */

/* The error of a launch with this shape; EMU_OK: it can be made. */
static int check(const struct warp *w, const struct emu_kernel *kernel,
                 const struct emu_shape *shape)
{
    struct emu *emu = w->block->launch->emu;
    size_t fixed = kernel->info.shared_bytes, dynamic = shape->dynamic_shared,
           usual = emu->gpu->shared_per_block;
    size_t allowed = kernel->most_dynamic_shared ? kernel->most_dynamic_shared
                     : fixed < usual             ? usual - fixed
                                                 : 0;
    int error =
        launch_check(emu, kernel, shape, dynamic ? kernel->dynamic_shared_offset + dynamic : fixed);
    if (error == EMU_INVALID_VALUE || dynamic > allowed) return EMU_INVALID_CONFIGURATION;
    return error;
}

/* Makes a launch, without its parameters. 0: *error is set, or there was a fault. */
static emu_addr get_buffer(struct warp *w, const struct insn *i, int lane, int *error)
{
    struct launch *launch = w->block->launch;
    struct emu_kernel *kernel = runtime_kernel_at(w, i, lane, builtin_argument(w, i, lane, 0, 8));
    const struct emu_shape shape = {.grid = dim_of(w, i, lane, 1),
                                    .block = dim_of(w, i, lane, 2),
                                    .dynamic_shared = builtin_argument(w, i, lane, 3, 4)};
    *error = kernel ? check(w, kernel, &shape) : EMU_INVALID_VALUE;
    struct child *child = *error ? NULL : child_new(w, CHILD_GRID, error);
    if (!child) return 0;
    child->kernel = kernel;
    child->shape = shape;
    child->params = allocated(calloc(1, kernel->param_bytes + 1));
    child->buffer = child_buffer(descendants_of(w), kernel->param_bytes);
    child->next = launch->children->buffers;
    launch->children->buffers = child;
    if (!child->buffer) *error = EMU_LAUNCH_OUT_OF_RESOURCES;
    return child->buffer;
}

/* cudaGetParameterBufferV2(kernel, grid, block, shared) */
OWN_CALL(runtime_get_buffer)
{
    int error;
    pthread_mutex_lock(&descendants_of(w)->lock);
    emu_addr buffer = get_buffer(w, i, lane, &error);
    pthread_mutex_unlock(&descendants_of(w)->lock);
    if (error && !w->block->launch->error) runtime_fail(w, i, lane, error);
    builtin_set_result(w, i, lane, &buffer, sizeof buffer);
    return RUNTIME_ANSWERED;
}

/* ---- the launch ------------------------------------------------------------------------------ */

/* Takes the launch with that buffer out of its list; NULL: no launch has it. */
static struct child *take(struct children *children, emu_addr buffer)
{
    for (struct child **link = &children->buffers; *link; link = &(*link)->next) {
        struct child *child = *link;
        if (child->buffer != buffer) continue;
        *link = child->next;
        child->next = NULL;
        return child;
    }
    return NULL;
}

/* In the new grid, a pointer to shared or local memory would point to that grid's own. False: a
 * fault. Structs are not checked, because two of their numbers together may look like a pointer. */
static bool check_parameters(struct warp *w, const struct insn *i, int lane,
                             const struct child *child)
{
    const struct emu_kernel_info *info = &child->kernel->info;
    char name[EMU_NAME_SIZE];
    for (unsigned k = 0; k < info->params; k++) {
        uint64_t value;
        if (info->param_size[k] != sizeof value) continue;
        memcpy(&value, child->params + info->param_offset[k], sizeof value);
        bool is_shared = value - SHARED_WINDOW < WINDOW_BYTES;
        if (!is_shared && value - LOCAL_WINDOW >= WINDOW_BYTES) continue;
        kernel_base_name(info->name, name, sizeof name);
        fault(w, i, lane, EMU_INVALID_ADDRESS_SPACE,
              "parameter %u of the launch of kernel %s is a pointer to %s memory of this thread%s, "
              "which the kernel cannot access: copy the data to global memory",
              k + 1, name, is_shared ? "shared" : "local", is_shared ? "'s block" : "");
        return false;
    }
    return true;
}

/* cudaLaunchDeviceV2(buffer, stream) */
CALL_OF_LANES(static, runtime_launch, true)
{
    const struct launch *parent = w->block->launch;
    uint64_t buffer = builtin_argument(w, i, lane, 0, 8);
    struct runtime_stream stream =
        runtime_stream_of(w, i, lane, builtin_argument(w, i, lane, 1, 8));
    struct child *child = buffer ? take(parent->children, buffer) : NULL;
    if (!child) return EMU_INVALID_VALUE;
    builtin_read(w, lane, buffer, child->params, child->kernel->param_bytes);
    int error = EMU_OK;
    if (!stream.is_valid)
        error = EMU_INVALID_VALUE;
    else if (!stream.is_tail && parent->depth >= descendants_of(w)->most_pending)
        error = EMU_TOO_MANY_PENDING;
    if (!error && check_parameters(w, i, lane, child)) {
        runtime_submit(w, lane, child, &stream);
        return EMU_OK;
    }
    free(child->params);
    free(child);
    return error;
}

/* ---- the functions of the CUDA runtime that kernels may call --------------------------------- */

static const struct {
    const char *name; /* after "cuda" */
    runtime_function *function;
} functions[] = {
    {"GetParameterBufferV2", runtime_get_buffer},
    {"LaunchDeviceV2", runtime_launch},
    {"StreamCreateWithFlags", runtime_stream_create},
    {"StreamDestroy", runtime_destroy_stream},
    {"StreamWaitEvent", runtime_stream_wait},
    {"EventCreateWithFlags", runtime_event_create},
    {"EventRecord", runtime_event_record},
    {"EventRecordWithFlags", runtime_event_record},
    {"EventDestroy", runtime_destroy_event},
    {"Malloc", runtime_malloc},
    {"Free", runtime_free},
    {"MemcpyAsync", runtime_copy},
    {"Memcpy2DAsync", runtime_copy_2d},
    {"Memcpy3DAsync", runtime_copy_3d},
    {"MemsetAsync", runtime_fill},
    {"Memset2DAsync", runtime_fill_2d},
    {"Memset3DAsync", runtime_fill_3d},
    {"GraphSetConditional", runtime_set_condition},
    {"GetLastError", runtime_get_error},
    {"PeekAtLastError", runtime_peek_error},
    {"GetErrorName", runtime_error_name},
    {"GetErrorString", runtime_error_text},
    {"DeviceGetAttribute", runtime_attribute},
    {"DeviceGetLimit", runtime_limit},
    {"DeviceGetCacheConfig", runtime_no_choice},
    {"DeviceGetSharedMemConfig", runtime_no_choice},
    {"GetDevice", runtime_device},
    {"GetDeviceCount", runtime_device_count},
    {"RuntimeGetVersion", runtime_version},
    {"FuncGetAttributes", runtime_kernel_attributes},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", runtime_occupancy},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", runtime_occupancy},
};

/* nvcc of CUDA 12 and later writes __cudaCDP2Malloc. PTX of an older one, or of nvcc
 * -DCUDA_FORCE_CDP1_IF_SUPPORTED, has cudaMalloc. With a default stream per thread, the name of
 * some functions ends with _ptsz. */
runtime_function *runtime_find(const char *name)
{
    static const char *const prefixes[] = {"__cudaCDP2", "cuda"};
    static const char per_thread[] = "_ptsz";
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++) {
        size_t skipped = strlen(prefixes[p]), length = strlen(name);
        if (strncmp(name, prefixes[p], skipped)) continue;
        if (length > strlen(per_thread) && !strcmp(name + length - strlen(per_thread), per_thread))
            length -= strlen(per_thread);
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
            if (strlen(functions[k].name) == length - skipped &&
                !strncmp(functions[k].name, name + skipped, length - skipped))
                return functions[k].function;
        return NULL;
    }
    return NULL;
}

/* ---- arguments and results ------------------------------------------------------------------- */

struct thread_runtime *runtime_of(const struct warp *w, int lane)
{
    struct block *block = w->block;
    if (!block->runtime)
        block->runtime = allocated(calloc(block->threads + 1, sizeof *block->runtime));
    return &block->runtime[lane == WARP ? block->threads : w->index * WARP + (unsigned)lane];
}

static void runtime_fail(struct warp *w, const struct insn *i, int lane, int error)
{
    runtime_of(w, lane)->error = error;
    event_runtime_error(w, i, lane, error);
}

void runtime_each_lane(struct warp *w, const struct insn *i, uint32_t mask, bool locks,
                       int (*call)(struct warp *, const struct insn *, int lane))
{
    for (; mask && !w->block->launch->error; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        if (locks) pthread_mutex_lock(&descendants_of(w)->lock);
        int error = call(w, i, lane);
        if (locks) pthread_mutex_unlock(&descendants_of(w)->lock);
        if (error == RUNTIME_ANSWERED) continue;
        if (error) runtime_fail(w, i, lane, error);
        builtin_set_result(w, i, lane, &error, sizeof error);
    }
}

uint64_t runtime_part(const struct warp *w, const struct insn *i, int lane, unsigned index,
                      size_t offset, size_t bytes)
{
    uint64_t value = 0;
    if (index < i->call->arguments && offset + bytes <= i->call->argument_size[index])
        area_read(w->frame, lane, i->call->argument_offset[index] + offset, &value, bytes);
    return value;
}

/* The host's address of bytes in shared or global memory; NULL: the lane may not write there. */
static uint8_t *place_of(const struct warp *w, uint64_t address, size_t bytes)
{
    const struct block *block = w->block;
    struct range range;
    if (address - SHARED_WINDOW < WINDOW_BYTES) {
        uint64_t offset = shared_offset(address - SHARED_WINDOW);
        return offset + bytes <= block->shared_bytes ? block->shared + offset : NULL;
    }
    if (!device_range(block->launch->emu, address, &range) ||
        bytes > range.bytes - (address - range.base))
        return NULL;
    event_host_write(block->launch->emu, address, bytes);
    return (uint8_t *)(uintptr_t)(address + (uint64_t)range.delta);
}

bool runtime_write(struct warp *w, const struct insn *i, int lane, uint64_t address,
                   const void *from, size_t bytes)
{
    uint64_t offset = address - LOCAL_WINDOW;
    bool is_local = offset < WINDOW_BYTES;
    uint8_t *to = is_local ? NULL : place_of(w, address, bytes);
    if (is_local && offset + bytes <= w->block->launch->kernel->stack_bytes) {
        for (size_t k = 0; k < bytes; k++)
            *local_byte(w, offset + k, lane) = ((const uint8_t *)from)[k];
        return true;
    }
    w->block->changed = true;
    if (to)
        memcpy(to, from, bytes);
    else
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "a function of the CUDA runtime was to write its result to 0x%llx, where it may not",
              (unsigned long long)address);
    return to;
}
