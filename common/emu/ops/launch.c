/*
 * launch.c — launches of grids by threads of a grid.
 *
 * nvcc turns kernel<<<grid, block, shared, stream>>>(…) into two calls: cudaGetParameterBufferV2
 * returns memory into which the thread then stores the parameters, and cudaLaunchDeviceV2 launches.
 * If the first returns NULL, the thread does not make the second.
 */
#include "device_runtime.h"
#include "common/emu/ptx/kernel_name.h"
#include <stdlib.h>
#include <string.h>

struct emu_kernel *runtime_kernel_at(struct warp *w, const struct insn *i, int lane,
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
    child->params = calloc(1, kernel->param_bytes + 1);
    child->buffer = child->params ? child_buffer(descendants_of(w), kernel->param_bytes) : 0;
    child->next = launch->children->buffers;
    launch->children->buffers = child;
    if (!child->buffer) *error = EMU_LAUNCH_OUT_OF_RESOURCES;
    return child->buffer;
}

/* cudaGetParameterBufferV2(kernel, grid, block, shared) */
void runtime_get_buffer(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask && !w->block->launch->error; mask &= mask - 1) {
        int lane = __builtin_ctz(mask), error;
        pthread_mutex_lock(&descendants_of(w)->lock);
        emu_addr buffer = get_buffer(w, i, lane, &error);
        pthread_mutex_unlock(&descendants_of(w)->lock);
        if (error && !w->block->launch->error) runtime_fail(w, i, lane, error);
        builtin_set_result(w, i, lane, &buffer, sizeof buffer);
    }
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

static int launch(struct warp *w, const struct insn *i, int lane)
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

/* cudaLaunchDeviceV2(buffer, stream) */
void runtime_launch(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask && !w->block->launch->error; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        pthread_mutex_lock(&descendants_of(w)->lock);
        int error = launch(w, i, lane);
        pthread_mutex_unlock(&descendants_of(w)->lock);
        runtime_answer(w, i, lane, error);
    }
}
