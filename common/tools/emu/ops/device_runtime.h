/* device_runtime.h — functions of the CUDA runtime in kernels: what the files of this room share.
 *
 * nvcc makes of cudaMalloc in a kernel a call of __cudaCDP2Malloc, a function that NVIDIA's
 * libcudadevrt.a defines, as machine code. The emulator supplies these functions itself:
 * device_runtime.c launches, errors, attributes and limits; device_runtime_memory.c streams,
 * events, allocations, copies and fills. What arguments they accept was read off the PTX that
 * libcudadevrt.a also has. */
#ifndef EMU_RUNTIME_INSIDE_H
#define EMU_RUNTIME_INSIDE_H

#include "common/tools/emu/machine/schedule.h"
#include "ops.h"

typedef void runtime_function(struct warp *, const struct insn *, uint32_t mask);

/* Streams and events (device_runtime_memory.c). */
runtime_function runtime_stream_create, runtime_stream_wait, runtime_event_create,
    runtime_event_record, runtime_destroy_stream, runtime_destroy_event;
/* Memory (device_runtime_memory.c). */
runtime_function runtime_malloc, runtime_free, runtime_copy, runtime_copy_2d, runtime_copy_3d,
    runtime_fill, runtime_fill_2d, runtime_fill_3d;

/* ---- calls ----------------------------------------------------------------------------------- */

static inline struct descendants *descendants_of(const struct warp *w)
{
    return w->block->launch->emu->descendants;
}

/* What calls leave behind for a lane's thread; for its block, with lane WARP. (device_runtime.c) */
struct thread_runtime *runtime_of(const struct warp *, int lane);
/* A call, carried out for one lane after the other, up to a fault. Its body returns an error or
 * EMU_OK, the call's result; RUNTIME_ANSWERED: it has set the result itself, or there was a fault.
 * FAMILY_CALL holds the family's lock. */
enum { RUNTIME_ANSWERED = -1 };
#define RUNTIME_CALL(name) CALL_OF_LANES(, name, false)
#define FAMILY_CALL(name)  CALL_OF_LANES(, name, true)
#define CALL_OF_LANES(linkage, name, locks)                                                        \
    static int name##_lane(struct warp *, const struct insn *, int lane);                          \
    linkage void name(struct warp *w, const struct insn *i, uint32_t mask)                         \
    {                                                                                              \
        runtime_each_lane(w, i, mask, locks, name##_lane);                                         \
    }                                                                                              \
    static int name##_lane(struct warp *w, const struct insn *i, int lane)
void runtime_each_lane(struct warp *, const struct insn *, uint32_t mask, bool locks,
                       int (*call)(struct warp *, const struct insn *, int lane));
/* Part of a lane's argument that is a struct. */
uint64_t runtime_part(const struct warp *, const struct insn *, int lane, unsigned index,
                      size_t offset, size_t bytes);
/* Writes a result to a lane's generic address. False: a fault. */
bool runtime_write(struct warp *, const struct insn *, int lane, uint64_t address, const void *from,
                   size_t bytes);

/* ---- streams --------------------------------------------------------------------------------- */

/* A stream: where its last work is kept. */
struct runtime_stream {
    bool is_valid, is_tail, is_free; /* fire and forget: no work comes after another */
    struct child **last;
};
/* The stream of a handle. The family is locked. */
struct runtime_stream runtime_stream_of(struct warp *, const struct insn *, int lane,
                                        uint64_t handle);
/* Puts work into it. */
void runtime_submit(struct warp *, int lane, struct child *, const struct runtime_stream *);

#endif
