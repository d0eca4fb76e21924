/*
 * operations_ops_door.c — the door: the function that every access of a warp to shared, global or
 * local memory passes, except for valid runs: these have a faster door of their own (enter_run() in
 * ops_memory.h).
 *
 * It turns generic addresses into addresses of a space, checks bounds and alignment, announces the
 * access, and finds the bytes in host memory. An access whose lanes address several ranges passes
 * the door once for each range.
 */
#include "common/emu/machine/access_error.h"
#include "common/emu/machine/device.h"
#include "common/emu/machine/stray.h"
#include "common/emu/machine/events.h"
#include "common/emu/machine/local.h"
#include "common/emu/machine/shared.h"
#include "ops_access.h"

/* Are all 32 addresses inside [base, base + bytes - size]? */
static inline bool all_inside(const struct access *access, uint64_t base, uint64_t bytes)
{
    if (bytes < access->checked) return false;
    uint64_t span = bytes - access->checked, outside = 0;
    for (int l = 0; l < WARP; l++) outside |= (uint64_t)(access->address[l] - base > span);
    return !outside;
}

/* Keeps those lanes of the access that satisfy a condition on their address, a. */
#define KEEP_LANES(access, condition)                                                              \
    do {                                                                                           \
        uint32_t kept = 0;                                                                         \
        for (int l = 0; l < WARP; l++) {                                                           \
            uint64_t a = (access)->address[l];                                                     \
            kept |= (uint32_t)(condition) << l;                                                    \
        }                                                                                          \
        (access)->mask &= kept;                                                                    \
        uint64_t first = (access)->address[__builtin_ctz((access)->mask)];                         \
        for (int l = 0; l < WARP; l++)                                                             \
            if (!((access)->mask >> l & 1)) (access)->address[l] = first;                          \
    } while (0)

static uint64_t window_base(enum ptx_space space)
{
    return space == PTX_SHARED  ? SHARED_WINDOW
           : space == PTX_LOCAL ? LOCAL_WINDOW
           : space == PTX_PARAM ? PARAM_WINDOW
                                : 0;
}

/* Finds the range of global memory of the access. */
static __attribute__((noinline)) bool find_range(struct warp *w, const struct insn *i,
                                                 struct access *access)
{
    int lane = __builtin_ctz(access->mask);
    uint64_t address = access->address[lane];
    struct range range;
    bool lenient = w->block->launch->lenient;
    if (device_range(w->block->launch->emu, address, &range) &&
        access->checked <= range.bytes - (address - range.base)) {
        bool all = all_inside(access, range.base, range.bytes);
        if (!all && lenient) return stray_enter_global(w, i, access);
        w->near = range;
        if (range.delta == 0) w->block->looked_at_host = true;
        if (range.is_heap) w->near.bytes = 0; /* another thread may free it at any time */
        if (!all) KEEP_LANES(access, a - range.base <= range.bytes - access->checked);
        return true;
    }
    if (lenient && stray_enter_global(w, i, access)) return true;
    access_outside_global(w, i, access);
    return false;
}

/* Gives a generic access the space of its first lane's address. Keeps only the lanes in this space,
 * and makes their addresses those of the space. */
static inline void resolve(const struct warp *w, struct access *access)
{
    enum ptx_space space = space_of(access->address[__builtin_ctz(access->mask)]);
    access->space = space;
    if (space != PTX_GLOBAL || !all_inside(access, w->near.base, w->near.bytes))
        KEEP_LANES(access, space_of(a) == space);
    uint64_t base = window_base(space);
    for (int l = 0; l < WARP; l++) access->address[l] -= base;
}

static inline bool is_misaligned(const struct access *access)
{
    uint64_t misaligned = 0;
    for (int l = 0; l < WARP; l++) misaligned |= access->address[l] & (access->bytes - 1);
    return misaligned;
}

static inline void announce(struct warp *w, const struct insn *i, const struct access *access)
{
    if ((w->counts || announces(w->block, ANNOUNCE_ACCESSES)) &&
        access->host != (uint64_t)(uintptr_t)w->block->nowhere)
        event_access(w, i, access);
}

/* `own`: .shared::cta, by which a thread cannot reach other blocks. */
static inline bool enter_shared(struct warp *w, const struct insn *i, struct access *access,
                                bool own)
{
    bool is_alone = w->block->launch->cluster_size == 1;
    struct block *owner = is_alone ? w->block : shared_enter(w, i, access, own);
    if (!owner) return false;
    access->owner = owner;
    access->host = (uint64_t)(uintptr_t)owner->shared;
    if (!all_inside(access, 0, owner->shared_bytes) &&
        !(w->block->launch->lenient && stray_enter_shared(w, i, access, owner))) {
        access_outside(w, i, access, owner->shared_bytes);
        return false;
    }
    announce(w, i, access);
    return true;
}

/* An element or a vector of more than one word is not contiguous: see machine/local.h. */
static inline bool enter_local(struct warp *w, const struct insn *i, struct access *access)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    size_t bytes = kernel->stack_bytes;
    if (access->operation == OPERATION_ATOMIC) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, bytes)) {
        access_outside(w, i, access, bytes);
        return false;
    }
    if (w->counts) event_private_access(w, i, access);
    access->host = (uint64_t)(uintptr_t)w->local;
    for (int l = 0; l < WARP; l++) access->address[l] = local_place(access->address[l], l);
    return true;
}

static inline bool enter_param(struct warp *w, const struct insn *i, struct access *access)
{
    const struct launch *launch = w->block->launch;
    if (access_writes(access)) {
        access_not_allowed(w, i, access);
        return false;
    }
    if (!all_inside(access, 0, launch->kernel->param_bytes)) {
        access_outside(w, i, access, launch->kernel->param_bytes);
        return false;
    }
    access->host = (uint64_t)(uintptr_t)launch->params;
    return true;
}

/* Accesses to constant memory go here too, but are not checked. */
static inline bool enter_global(struct warp *w, const struct insn *i, struct access *access)
{
    /* Nearly always it is the range of this warp's last access. */
    if (!all_inside(access, w->near.base, w->near.bytes) && !find_range(w, i, access)) return false;
    access->owner = w->block;
    access->host = (uint64_t)w->near.delta;
    if (access->space != PTX_CONST)
        announce(w, i, access);
    else if (w->counts)
        event_private_access(w, i, access);
    return true;
}

static inline bool enter(struct warp *w, const struct insn *i, struct access *access, bool own)
{
    switch (access->space) {
    case PTX_SHARED: return enter_shared(w, i, access, own);
    case PTX_LOCAL: return enter_local(w, i, access);
    case PTX_PARAM: return enter_param(w, i, access);
    default: return enter_global(w, i, access);
    }
}

/* See access.h. */
uint32_t access_door(struct warp *w, const struct insn *i, struct access *access)
{
    bool own = access->space == PTX_SHARED;
    access->outside = 0;
    if (access->space == PTX_SHARED_CLUSTER) access->space = PTX_SHARED;
    if (access->space == PTX_GENERIC) resolve(w, access);
    if (is_misaligned(access)) {
        access_misaligned(w, i, access);
        return 0;
    }
    return enter(w, i, access, own) ? access->mask : 0;
}
