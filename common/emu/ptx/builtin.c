#include "builtin.h"
#include "emu/machine/device.h"
#include "emu/check/watch.h"
#include <inttypes.h>
#include <string.h>

enum { LINE_BYTES = 4096, STRING_BYTES = 1024, SPEC_BYTES = 64 };

static uint64_t argument(const struct warp *w, const struct insn *i, int lane, unsigned index,
                         size_t bytes)
{
    uint64_t value = 0;
    if (index >= i->call->arguments || i->call->argument_size[index] < bytes) return 0;
    memcpy(&value,
           w->frame->area + (size_t)lane * w->frame->area_bytes + i->call->argument_offset[index],
           bytes);
    return value;
}

static void set_result(struct warp *w, const struct insn *i, int lane, const void *value,
                       size_t bytes)
{
    if (i->call->result_size >= bytes)
        memcpy(w->frame->area + (size_t)lane * w->frame->area_bytes + i->call->result_offset, value,
               bytes);
}

/* The host's view of `bytes` at a generic address: of global memory, or of a lane's local memory.
 * NULL: none. */
static const void *view(const struct warp *w, int lane, uint64_t address, size_t bytes)
{
    const struct launch *launch = w->block->launch;
    size_t stack = launch->kernel->stack_bytes;
    if (address - LOCAL_WINDOW < WINDOW_BYTES) {
        uint64_t offset = address - LOCAL_WINDOW;
        return offset + bytes <= stack ? w->local + (size_t)lane * stack + offset : NULL;
    }
    struct range range;
    if (!device_range(launch->emu, address, &range) || bytes > range.bytes - (address - range.base))
        return NULL;
    return (const void *)(uintptr_t)(address + (uint64_t)range.delta);
}

/* A string in device memory, cut at STRING_BYTES. */
static void read_string(const struct warp *w, int lane, uint64_t address, char *text)
{
    size_t length = 0;
    const char *byte;
    while (length < STRING_BYTES - 1 && (byte = view(w, lane, address + length, 1)) && *byte)
        text[length++] = *byte;
    text[length] = '\0';
}

/* The next `bytes` of vprintf's arguments, which lie one behind the other, aligned. */
static uint64_t next_argument(const struct warp *w, int lane, uint64_t *at, size_t bytes)
{
    *at = (*at + bytes - 1) / bytes * bytes;
    const void *from = view(w, lane, *at, bytes);
    uint64_t bits = 0;
    if (from) memcpy(&bits, from, bytes);
    *at += bytes;
    return bits;
}

/* Puts the conversion that begins at `c` into spec, with the argument in place of a width '*'.
 * Returns its length in the format; 0: it is none, or too long. */
static size_t read_conversion(const struct warp *w, int lane, const char *c, char *spec,
                              uint64_t *at, uint32_t *arguments)
{
    size_t length = strspn(c + 1, "-+ #0123456789.*lhzjt") + 2, used = 0;
    if (length >= SPEC_BYTES / 2 || !c[length - 1]) return 0;
    for (size_t k = 0; k < length; k++) {
        if (c[k] != '*') {
            spec[used++] = c[k];
            continue;
        }
        if (used + 12 + length - k >= SPEC_BYTES) return 0;
        used += (size_t)snprintf(spec + used, SPEC_BYTES - used, "%d",
                                 (int)next_argument(w, lane, at, 4));
        ++*arguments;
    }
    spec[used] = '\0';
    return length;
}

/* One conversion, "%-8.3lld" in spec, of the argument at *at; moves on by its size. */
static int print_one(const struct warp *w, int lane, char *out, size_t room, const char *spec,
                     uint64_t *at)
{
    char conversion = spec[strlen(spec) - 1], text[STRING_BYTES];
    bool wide = strstr(spec, "ll") || strchr(spec, 'l') || strchr(spec, 'z') || strchr(spec, 'j') ||
                conversion == 'p' || conversion == 's' || strchr("fFeEgGaA", conversion);
    uint64_t bits = next_argument(w, lane, at, wide ? 8 : 4);
    if (strchr("fFeEgGaA", conversion)) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return snprintf(out, room, spec, value);
    }
    if (conversion == 's') {
        read_string(w, lane, bits, text);
        return snprintf(out, room, spec, text);
    }
    if (conversion == 'p') return snprintf(out, room, spec, (void *)(uintptr_t)bits);
    return wide ? snprintf(out, room, spec, bits) : snprintf(out, room, spec, (uint32_t)bits);
}

/* vprintf(format, arguments): each lane prints a text of its own, lowest lane first. It returns the
 * number of arguments, unlike the host's (CUDA C++ Programming Guide, "Formatted Output"). */
static void builtin_printf(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        char format[STRING_BYTES], line[LINE_BYTES];
        size_t used = 0;
        uint32_t arguments = 0;
        uint64_t at = argument(w, i, lane, 1, 8);
        read_string(w, lane, argument(w, i, lane, 0, 8), format);
        for (const char *c = format; *c && used < sizeof line - 1;) {
            char spec[SPEC_BYTES];
            size_t length = 0;
            if (*c == '%' && c[1] != '%')
                length = read_conversion(w, lane, c, spec, &at, &arguments);
            if (!length) {
                line[used++] = *c;
                c += *c == '%' && c[1] == '%' ? 2 : 1;
                continue;
            }
            int printed = print_one(w, lane, line + used, sizeof line - used, spec, &at);
            arguments++;
            used += printed > 0 ? (size_t)printed : 0;
            if (used >= sizeof line) used = sizeof line - 1;
            c += length;
        }
        fwrite(line, 1, used, stdout);
        set_result(w, i, lane, &arguments, sizeof arguments);
    }
}

/* __assertfail(condition, file, line, function, character size) */
static void builtin_assert(struct warp *w, const struct insn *i, uint32_t mask)
{
    int lane = __builtin_ctz(mask);
    char condition[STRING_BYTES], file[STRING_BYTES], function[STRING_BYTES];
    read_string(w, lane, argument(w, i, lane, 0, 8), condition);
    read_string(w, lane, argument(w, i, lane, 1, 8), file);
    read_string(w, lane, argument(w, i, lane, 3, 8), function);
    struct emu_dim size = w->block->launch->block, id = w->block->id;
    for (uint32_t left = mask; left; left &= left - 1) {
        unsigned thread = w->index * WARP + (unsigned)__builtin_ctz(left);
        fprintf(stderr,
                "%s:%" PRIu64
                ": %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file, argument(w, i, lane, 2, 4), function, id.x, id.y, id.z, thread % size.x,
                thread / size.x % size.y, thread / size.x / size.y, condition);
    }
    fault(w, i, lane, EMU_ASSERT, "assertion `%.100s` failed", condition);
}

/* malloc(bytes): 0 where the heap is exhausted */
void builtin_malloc(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { POISON = 0xCD };
    struct emu *emu = w->block->launch->emu;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t bytes = argument(w, i, lane, 0, 8), address = heap_alloc(&emu->heap, bytes);
        struct range range;
        if (address && bytes && device_range(emu, address, &range))
            memset((void *)(uintptr_t)(address + (uint64_t)range.delta), POISON, bytes);
        if (address) watch_alloc(emu, address, bytes);
        set_result(w, i, lane, &address, sizeof address);
    }
    w->block->changed = true;
}

void builtin_free(struct warp *w, const struct insn *i, uint32_t mask)
{
    struct emu *emu = w->block->launch->emu;
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = argument(w, i, lane, 0, 8), bytes;
        if (!address) continue;
        const char *wrong = heap_free(&emu->heap, address, &bytes);
        if (wrong) {
            fault(w, i, lane, EMU_LAUNCH_FAILURE, "free of 0x%llx, %s", (unsigned long long)address,
                  wrong);
            return;
        }
        if (bytes) watch_free(emu, address, bytes);
    }
    w->block->changed = true;
}

void (*builtin_find(const char *name))(struct warp *, const struct insn *, uint32_t)
{
    if (!strcmp(name, "vprintf")) return builtin_printf;
    if (!strcmp(name, "__assertfail")) return builtin_assert;
    if (!strcmp(name, "malloc")) return builtin_malloc;
    if (!strcmp(name, "free")) return builtin_free;
    return NULL;
}
