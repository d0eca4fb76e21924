/* operations_builtin.c — __assertfail, malloc and free in kernels. */
#include "builtin.h"
#include "common/emu/machine/area.h"
#include "common/emu/machine/device.h"
#include "common/emu/machine/local.h"
#include "common/emu/machine/shared.h"
#include "common/emu/machine/events.h"
#include <inttypes.h>
#include <string.h>

enum { STRING_BYTES = 1024 };

uint64_t builtin_argument(const struct warp *w, const struct insn *i, int lane, unsigned index,
                          size_t bytes)
{
    uint64_t value = 0;
    if (index >= i->call->arguments || i->call->argument_size[index] < bytes) return 0;
    area_read(w->frame, lane, i->call->argument_offset[index], &value, bytes);
    return value;
}

void builtin_set_result(struct warp *w, const struct insn *i, int lane, const void *value,
                        size_t bytes)
{
    if (i->call->result_size >= bytes)
        area_write(w->frame, lane, i->call->result_offset, value, bytes);
}

/* The address of `bytes` bytes at an offset of a space of `size` bytes; NULL if they do not lie
 * inside. */
static const void *inside(const uint8_t *space, size_t size, uint64_t offset, size_t bytes)
{
    return bytes <= size && offset <= size - bytes ? space + offset : NULL;
}

static const void *view_shared(const struct warp *w, uint64_t address, size_t bytes)
{
    const struct cluster *cluster = w->block->cluster;
    uint64_t rank = address >> RANK_SHIFT;
    if (rank >= cluster->size || cluster->blocks[rank]->ended) return NULL;
    const struct block *owner = cluster->blocks[rank];
    return inside(owner->shared, owner->shared_bytes, shared_offset(address), bytes);
}

static bool read_local(const struct warp *w, int lane, uint64_t offset, void *to, size_t bytes)
{
    if (!inside(w->local, w->block->launch->kernel->stack_bytes, offset, bytes)) return false;
    for (size_t k = 0; k < bytes; k++) ((uint8_t *)to)[k] = *local_byte(w, offset + k, lane);
    return true;
}

/* NULL: the address is not in these spaces, or the bytes may not be read. */
static const void *view(const struct warp *w, uint64_t address, size_t bytes)
{
    const struct launch *launch = w->block->launch;
    struct range range;
    if (address - SHARED_WINDOW < WINDOW_BYTES)
        return view_shared(w, address - SHARED_WINDOW, bytes);
    if (address - PARAM_WINDOW < WINDOW_BYTES)
        return inside(launch->params, launch->kernel->param_bytes, address - PARAM_WINDOW, bytes);
    if (!device_range(launch->emu, address, &range) || bytes > range.bytes - (address - range.base))
        return NULL;
    return (const void *)(uintptr_t)(address + (uint64_t)range.delta);
}

bool builtin_read(const struct warp *w, int lane, uint64_t address, void *to, size_t bytes)
{
    if (address - LOCAL_WINDOW < WINDOW_BYTES)
        return read_local(w, lane, address - LOCAL_WINDOW, to, bytes);
    const void *from = view(w, address, bytes);
    if (from) memcpy(to, from, bytes);
    return from;
}

/* Reads a string from device memory; cuts it at STRING_BYTES and at the end of the memory. */
static void read_string(const struct warp *w, int lane, uint64_t address, char *text)
{
    size_t length = 0;
    while (length < STRING_BYTES - 1 && builtin_read(w, lane, address + length, text + length, 1) &&
           text[length])
        length++;
    text[length] = '\0';
}

/* __assertfail(condition, file, line, function, character size) */
static void builtin_assert(struct warp *w, const struct insn *i, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    char condition[STRING_BYTES], file[STRING_BYTES], function[STRING_BYTES];
    read_string(w, lane, builtin_argument(w, i, lane, 0, 8), condition);
    read_string(w, lane, builtin_argument(w, i, lane, 1, 8), file);
    read_string(w, lane, builtin_argument(w, i, lane, 3, 8), function);
    struct emu_dim size = w->block->launch->block, id = w->block->id;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned thread = w->index * WARP + (unsigned)__builtin_ctz(left);
        fprintf(stderr,
                "%s:%" PRIu64
                ": %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file, builtin_argument(w, i, lane, 2, 4), function, id.x, id.y, id.z,
                thread % size.x, thread / size.x % size.y, thread / size.x / size.y, condition);
    }
    fault(w, i, lane, EMU_ASSERT, "assertion `%.100s` failed", condition);
}

uint64_t builtin_allocate(struct warp *w, uint64_t bytes)
{
    struct emu *emu = w->block->launch->emu;
    uint64_t address = heap_alloc(&emu->heap, bytes);
    struct range range;
    if (address && bytes && device_range(emu, address, &range))
        memset((void *)(uintptr_t)(address + (uint64_t)range.delta), FRESH_BYTE(emu), bytes);
    if (address) event_renew(emu, address, bytes);
    if (address) w->block->changed = true;
    return address;
}

/* malloc(bytes): returns 0 if the heap is exhausted */
void builtin_malloc(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = builtin_allocate(w, builtin_argument(w, i, lane, 0, 8));
        builtin_set_result(w, i, lane, &address, sizeof address);
    }
}

void builtin_free(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct emu *emu = w->block->launch->emu;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = builtin_argument(w, i, lane, 0, 8), bytes;
        if (!address) continue;
        const char *wrong = heap_free(&emu->heap, address, &bytes);
        if (wrong) {
            fault(w, i, lane, EMU_LAUNCH_FAILURE, "free of 0x%llx, %s", (unsigned long long)address,
                  wrong);
            return;
        }
        if (bytes) event_drop(emu, address, bytes);
        w->block->changed = true;
    }
}

void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t)
{
    if (!strcmp(name, "vprintf")) return builtin_printf;
    if (!strcmp(name, "__assertfail")) return builtin_assert;
    if (!strcmp(name, "malloc")) return builtin_malloc;
    if (!strcmp(name, "free")) return builtin_free;
    return NULL;
}
