/* device_runtime.c — what kernels ask of the CUDA runtime: errors, attributes, limits, occupancy.
 * */
#include "device_runtime.h"
#include "common/emu/machine/events.h"
#include <string.h>

/* Writes a result of some bytes to the address in the lane's argument 0, which may be NULL. False:
 * a fault. */
static bool give(struct warp *w, const struct insn *i, int lane, int error, const void *value,
                 size_t bytes)
{
    uint64_t to = builtin_argument(w, i, lane, 0, 8);
    if (!error && !to) error = EMU_INVALID_VALUE;
    if (!error && !runtime_write(w, i, lane, to, value, bytes)) return false;
    runtime_answer(w, i, lane, error);
    return true;
}

static const struct emu *emu_of(const struct warp *w) { return w->block->launch->emu; }

/* ---- errors ---------------------------------------------------------------------------------- */

static void last_error(struct warp *w, const struct insn *i, uint32_t mask, bool forgets)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask), error = EMU_OK;
        struct thread_runtime *thread = w->block->runtime ? runtime_of(w, lane) : NULL;
        if (thread) error = thread->error;
        if (thread && forgets) thread->error = EMU_OK;
        builtin_set_result(w, i, lane, &error, sizeof error);
    }
}

/* cudaGetLastError(), cudaPeekAtLastError(): of this thread, in this grid */
void runtime_get_error(struct warp *w, const struct insn *i, uint32_t mask)
{
    last_error(w, i, mask, true);
}
void runtime_peek_error(struct warp *w, const struct insn *i, uint32_t mask)
{
    last_error(w, i, mask, false);
}

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

static void error_text(struct warp *w, const struct insn *i, uint32_t mask, int which)
{
    const struct emu_host_side *host = &emu_of(w)->host_side;
    struct descendants *family = descendants_of(w);
    const char *(*text_of)(int) = which == NAME ? host->error_name : host->error_text;
    enum { KNOWN = sizeof family->text[0] / sizeof family->text[0][0] };
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t error = builtin_argument(w, i, lane, 0, 4);
        emu_addr *text = &family->text[which][error < KNOWN ? error : KNOWN - 1];
        pthread_mutex_lock(&family->lock);
        if (!*text && text_of) *text = place_text(w, text_of((int)error));
        pthread_mutex_unlock(&family->lock);
        builtin_set_result(w, i, lane, text, sizeof *text);
    }
}

/* cudaGetErrorName(error), cudaGetErrorString(error) */
void runtime_error_name(struct warp *w, const struct insn *i, uint32_t mask)
{
    error_text(w, i, mask, NAME);
}
void runtime_error_text(struct warp *w, const struct insn *i, uint32_t mask)
{
    error_text(w, i, mask, SENTENCE);
}

/* ---- the device ------------------------------------------------------------------------------ */

/* cudaDeviceGetAttribute(&value, attribute, device) */
void runtime_attribute(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct emu_host_side *host = &emu_of(w)->host_side;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask), value = 0;
        int error = host->attribute
                        ? host->attribute((int)builtin_argument(w, i, lane, 1, 4),
                                          (int)builtin_argument(w, i, lane, 2, 4), &value)
                        : EMU_INVALID_VALUE;
        if (!give(w, i, lane, error, &value, sizeof value)) return;
    }
}

/* cudaDeviceGetLimit(&value, limit) */
void runtime_limit(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct emu_host_side *host = &emu_of(w)->host_side;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        size_t value = 0;
        int error = host->limit ? host->limit(emu_of(w)->number,
                                              (int)builtin_argument(w, i, lane, 1, 4), &value)
                                : EMU_INVALID_VALUE;
        if (!give(w, i, lane, error, &value, sizeof value)) return;
    }
}

static void give_number(struct warp *w, const struct insn *i, uint32_t mask, int number)
{
    for (; mask; mask &= mask - 1)
        if (!give(w, i, __builtin_ctz(mask), EMU_OK, &number, sizeof number)) return;
}

/* cudaGetDevice(&device) */
void runtime_device(struct warp *w, const struct insn *i, uint32_t mask)
{
    give_number(w, i, mask, (int)emu_of(w)->number);
}

/* cudaGetDeviceCount(&count) */
void runtime_device_count(struct warp *w, const struct insn *i, uint32_t mask)
{
    give_number(w, i, mask, (int)emu_of(w)->host_side.devices);
}

/* cudaRuntimeGetVersion(&version): the number that libcudadevrt returns in CUDA 13 */
void runtime_version(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { VERSION = 6000 };
    give_number(w, i, mask, VERSION);
}

/* cudaDeviceGetCacheConfig(&choice), cudaDeviceGetSharedMemConfig(&choice): today's GPUs have
 * no such choice */
void runtime_no_choice(struct warp *w, const struct insn *i, uint32_t mask)
{
    give_number(w, i, mask, 0);
}

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
void runtime_kernel_attributes(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct emu_gpu *gpu = emu_of(w)->gpu;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
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
        if (!give(w, i, lane, kernel ? EMU_OK : EMU_INVALID_VALUE, &attributes, sizeof attributes))
            return;
    }
}

/* cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, dynamic shared bytes) */
void runtime_occupancy(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct emu_host_side *host = &emu_of(w)->host_side;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask), blocks = 0;
        const struct emu_kernel *kernel = kernel_of(w, i, lane);
        int error =
            kernel && host->occupancy
                ? host->occupancy(emu_of(w)->gpu, kernel, (int)builtin_argument(w, i, lane, 2, 4),
                                  builtin_argument(w, i, lane, 3, 8), &blocks)
                : EMU_INVALID_VALUE;
        if (!give(w, i, lane, error, &blocks, sizeof blocks)) return;
    }
}

/* cudaGraphSetConditional(handle, value) */
void runtime_set_condition(struct warp *w, const struct insn *i, uint32_t mask)
{
    const struct emu_host_side *host = &emu_of(w)->host_side;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t handle = builtin_argument(w, i, lane, 0, 8);
        unsigned value = (unsigned)builtin_argument(w, i, lane, 1, 4);
        if (announces(w->block, ANNOUNCE_ORDER)) event_condition(w, i, lane, handle, value);
        if (host->set_condition && !host->set_condition(handle, value)) continue;
        fault(w, i, lane, EMU_ILLEGAL_ADDRESS,
              "0x%llx is no handle of cudaGraphConditionalHandleCreate",
              (unsigned long long)handle);
        return;
    }
}
