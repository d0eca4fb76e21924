/* names.c — the functions of the CUDA runtime that kernels may call, by name; and what all of them
 * do with their arguments and results. */
#include "device_runtime.h"
#include "common/emu/machine/events.h"
#include "common/emu/machine/local.h"
#include "common/emu/machine/area.h"
#include "common/emu/machine/shared.h"
#include <stdlib.h>
#include <string.h>

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
    if (!block->runtime) block->runtime = calloc(block->threads + 1, sizeof *block->runtime);
    if (!block->runtime) return NULL;
    return &block->runtime[lane == WARP ? block->threads : w->index * WARP + (unsigned)lane];
}

void runtime_fail(struct warp *w, const struct insn *i, int lane, int error)
{
    struct thread_runtime *thread = runtime_of(w, lane);
    if (thread) thread->error = error;
    event_runtime_error(w, i, lane, error);
}

void runtime_answer(struct warp *w, const struct insn *i, int lane, int error)
{
    if (error) runtime_fail(w, i, lane, error);
    builtin_set_result(w, i, lane, &error, sizeof error);
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
