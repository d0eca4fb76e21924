#include "frame.h"
#include "area.h"
#include "fragment.h"
#include "local.h"
#include "common/emu/ptx/kernel_name.h"
#include "common/emu/ptx/warp_ops.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 1024 };

void frame_hold(struct frame *frame) { frame->references++; }

void frame_release_call(struct frame *frame)
{
    while (frame->caller && --frame->references == 0) {
        struct frame *caller = frame->caller, **unused = frame->unused;
        frame->caller = *unused;
        *unused = frame;
        frame = caller;
    }
}

void frame_free_unused(struct warp *w)
{
    for (struct frame *frame = w->unused_frames, *next; frame; frame = next) {
        next = frame->caller;
        free(frame->registers);
        free(frame);
    }
    w->unused_frames = NULL;
}

/* A frame with `bytes` zeros at `registers`: one that a call has left, if it is large enough. NULL:
 * out of memory. */
static struct frame *frame_take(struct warp *w, size_t bytes)
{
    struct frame *frame = w->unused_frames;
    if (frame) w->unused_frames = frame->caller;
    if (frame && frame->capacity >= bytes) {
        memset(frame->registers, 0, bytes);
        return frame;
    }
    if (frame)
        free(frame->registers);
    else
        frame = malloc(sizeof *frame);
    uint8_t *memory = calloc(1, bytes);
    if (!frame || !memory) {
        free(frame);
        free(memory);
        return NULL;
    }
    *frame = (struct frame){.registers = memory, .capacity = bytes, .unused = &w->unused_frames};
    return frame;
}

void *frame_slot(const struct warp *w, const struct fragment *f, slot s)
{
    return s >> 30 == BANK_REGISTERS ? f->frame->registers + s : slot_at(w, s);
}

static void set_lanes(uint8_t *registers, slot s, uint64_t value)
{
    for (int l = 0; s != NO_SLOT && l < WARP; l++)
        ((uint64_t *)(registers + (s & SLOT_OFFSET)))[l] = value;
}

void frame_start(struct warp *w)
{
    set_lanes(w->root.registers, w->block->launch->kernel->stack_top, w->root.local_end);
}

static uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

/* alloca: takes bytes from the top of each lane's stack. A call's local memory begins behind the
 * highest top. */
void op_alloca(struct warp *w, const struct insn *i, uint32_t mask)
{
    enum { FRAME_ALIGNMENT = 16 };
    uint64_t *d = slot_at(w, i->d), *top = slot_at(w, i->alloca.top);
    const uint64_t *bytes = slot_at(w, i->alloca.bytes);
    size_t stack = w->block->launch->kernel->stack_bytes;
    for (; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask);
        uint64_t from = round_up(top[l], (uint64_t)i->alloca.alignment);
        if (from > stack || bytes[l] > stack - from) {
            fault(w, i, l, EMU_ILLEGAL_ADDRESS,
                  "stack overflow: alloca of %llu bytes, where %zu are left",
                  (unsigned long long)bytes[l], from > stack ? 0 : stack - (size_t)from);
            return;
        }
        d[l] = from;
        top[l] = from + bytes[l];
        uint64_t end = round_up(top[l], FRAME_ALIGNMENT);
        if (end > w->frame->local_end) w->frame->local_end = end;
    }
}

/* A new frame for one call. Only the begin of its local memory is set. */
static struct frame *frame_new(struct warp *w, const struct callee *callee, const struct insn *i)
{
    struct frame *caller = w->frame;
    size_t stack = w->block->launch->kernel->stack_bytes;
    const char *problem = caller->depth + 1 >= MAX_DEPTH ? "calls nested too deeply"
                          : caller->local_end + callee->local_bytes > stack ? "stack overflow"
                                                                            : NULL;
    size_t bytes = callee->register_bytes + WARP * callee->area_bytes + 1;
    struct frame *frame = problem ? NULL : frame_take(w, bytes);
    if (!frame) {
        char name[200];
        kernel_base_name(callee->function->name, name, sizeof name);
        int error = problem ? EMU_ILLEGAL_ADDRESS : EMU_LAUNCH_FAILURE; /* as an H200 */
        fault(w, i, -1, error, "%s in a call of %s (depth %u, %zu bytes of stack a thread)",
              problem ? problem : "out of host memory", name, caller->depth + 1, stack);
        return NULL;
    }
    frame->caller = caller;
    frame->callee = callee;
    frame->site = i;
    frame->return_pc = (uint32_t)(i - w->block->launch->kernel->code) + 1;
    frame->depth = caller->depth + 1;
    frame->references = 0;
    frame->area = frame->registers + callee->register_bytes;
    frame->area_bytes = callee->area_bytes;
    frame->local_end = caller->local_end + callee->local_bytes;
    set_lanes(frame->registers, callee->local_base, caller->local_end);
    set_lanes(frame->registers, callee->stack_top, frame->local_end);
    return frame;
}

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

/* Passes an argument as a parameter that the function takes the address of. */
static void pass_in_local_memory(const struct warp *w, const struct frame *to, size_t place,
                                 size_t offset, size_t bytes, uint32_t lanes)
{
    size_t local = to->local_end - to->callee->local_bytes + place;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        for (size_t k = 0; k < bytes; k++)
            area_read(w->frame, lane, offset + k, local_byte(w, local + k, lane), 1);
    }
}

/* Passes the arguments. A call by pointer may not fit the function: of each argument, the bytes
 * that both sides have are copied. */
static void pass_arguments(const struct warp *w, struct frame *to, const struct insn *i,
                           uint32_t lanes)
{
    const struct frame *from = w->frame;
    const struct callee *callee = to->callee;
    for (unsigned k = 0; k < i->call->arguments && k < callee->params; k++) {
        unsigned offset = i->call->argument_offset[k];
        size_t bytes = lesser(callee->param_size[k], i->call->argument_size[k]);
        if (callee->param_local && callee->param_local[k] != NOT_LOCAL)
            pass_in_local_memory(w, to, callee->param_local[k], offset, bytes, lanes);
        else
            area_copy(to, callee->param_offset[k], from, offset, bytes, lanes);
    }
}

static void call_one(struct warp *w, struct fragment *f, const struct insn *i,
                     const struct callee *callee, uint32_t lanes)
{
    if (callee->builtin) { /* carried out at once */
        callee->builtin(w, i, lanes);
        return;
    }
    struct frame *frame = frame_new(w, callee, i);
    if (!frame) return;
    pass_arguments(w, frame, i, lanes);
    frame_hold(w->frame); /* the new frame's reference to its caller */
    struct fragment *inside = f;
    if (lanes != f->mask) inside = fragment_split(w, f, lanes, callee->entry);
    frame_hold(frame);
    frame_release(inside->frame);
    inside->frame = frame;
    inside->pc = callee->entry;
}

/* The function at an address, if the kernel's code holds it; else NULL. */
static const struct callee *callee_at(const struct emu_kernel *kernel, uint64_t address)
{
    uint64_t index = (address - CODE_WINDOW) / FUNCTION_BYTES;
    if (index >= kernel->function_count || (address - CODE_WINDOW) % FUNCTION_BYTES) return NULL;
    const struct callee *callee = kernel->callees[index];
    return callee && (callee->function->has_body || callee->builtin) ? callee : NULL;
}

void frame_call(struct warp *w, struct fragment *f, const struct insn *i, uint32_t lanes)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    uint32_t all = f->mask, here = f->pc;
    if (i->call->callee) {
        call_one(w, f, i, i->call->callee, lanes);
        if (i->call->callee->builtin || lanes != all) f->pc = here + 1;
        return;
    }
    const uint64_t *addresses = slot_at(w, i->call->address);
    while (lanes) { /* by pointer: lanes may call different functions */
        int first = __builtin_ctz(lanes);
        uint32_t same = 0;
        const struct callee *callee = callee_at(kernel, addresses[first]);
        if (!callee) {
            fault(w, i, first, EMU_LAUNCH_FAILURE, "a call of 0x%llx, where no function is",
                  (unsigned long long)addresses[first]);
            return;
        }
        for (int l = first; l < WARP; l++)
            same |= (uint32_t)(lanes >> l & 1 && addresses[l] == addresses[first]) << l;
        lanes &= ~same;
        bool last = same == f->mask;
        call_one(w, f, i, callee, same);
        if (last) {
            if (callee->builtin) f->pc = here + 1;
            return;
        }
    }
    f->pc = here + 1;
}

void frame_return(struct warp *w, struct fragment *f, uint32_t lanes)
{
    struct frame *frame = f->frame, *caller = frame->caller;
    const struct call *call = frame->site->call;
    const struct callee *callee = frame->callee;
    if (call->result_size)
        area_copy(caller, call->result_offset, frame, callee->result_offset, callee->result_size,
                  lanes);
    struct fragment *out = f;
    uint32_t here = f->pc, back = frame->return_pc;
    if (lanes != f->mask) {
        out = fragment_split(w, f, lanes, back);
        f->pc = here + 1;
    }
    frame_hold(caller);
    out->frame = caller;
    out->pc = back;
    frame_release(frame);
}
