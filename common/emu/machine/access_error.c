#include "access_error.h"
#include "stray.h"
#include "events.h"

/* Behind the description of an access that emu --lenient lets pass. */
#define HINT "; a GPU may let this pass, and so does emu --lenient"

static const char *operation_name(const struct access *access)
{
    static const char *const names[] = {"a load", "a store", "an atomic operation"};
    return names[access->operation];
}

/* Announces an invalid access. Returns its first invalid lane. */
static int announce(struct warp *w, const struct insn *i, const struct bad_access *bad)
{
    event_bad_access(w, i, bad);
    return __builtin_ctz(bad->lanes);
}

static uint32_t misaligned_lanes(const struct access *access)
{
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++)
        lanes |= (uint32_t)((access->address[l] & (access->bytes - 1)) != 0) << l;
    return lanes & access->mask;
}

void access_misaligned(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_MISALIGNED,
                                              .lanes = misaligned_lanes(access)});
    fault_found(w, i, first, EMU_MISALIGNED_ADDRESS,
                "%s address 0x%llx is not a multiple of the %u bytes accessed",
                ptx_space_name(access->space), (unsigned long long)access->address[first],
                access->bytes);
}

static bool is_outside_global(const struct emu *emu, const struct access *access, int lane)
{
    uint64_t address = access->address[lane];
    struct range range;
    return !device_range(emu, address, &range) ||
           access->checked > range.bytes - (address - range.base);
}

static uint32_t lanes_outside_global(const struct emu *emu, const struct access *access)
{
    uint32_t lanes = 0;
    for (uint32_t left = access->mask; left; left &= left - 1)
        if (is_outside_global(emu, access, __builtin_ctz(left))) lanes |= left & -left;
    return lanes;
}

void access_outside_global(struct warp *w, const struct insn *i, const struct access *access)
{
    const struct emu *emu = w->block->launch->emu;
    char nearest[200];
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_OUTSIDE_GLOBAL,
                                              .lanes = lanes_outside_global(emu, access)});
    struct range range;
    device_describe_address(emu, access->address[first], nearest, sizeof nearest);
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at global address 0x%llx is out of bounds (%s%s)",
                operation_name(access), access->bytes, (unsigned long long)access->address[first],
                nearest, stray_passes(emu, access->address[first], &range) ? HINT : "");
}

static uint32_t lanes_outside(const struct access *access, uint64_t size)
{
    uint32_t lanes = 0;
    for (int l = 0; l < WARP; l++)
        lanes |= (uint32_t)(size < access->checked || access->address[l] > size - access->checked)
                 << l;
    return lanes & access->mask;
}

void access_outside(struct warp *w, const struct insn *i, const struct access *access,
                    uint64_t size)
{
    enum ptx_space space = access->space;
    const char *owner = space == PTX_SHARED  ? "of shared memory a block"
                        : space == PTX_LOCAL ? "of local memory a thread"
                                             : "of parameters of the kernel";
    int first = announce(w, i,
                         &(struct bad_access){.access = access,
                                              .wrong = ACCESS_OUTSIDE,
                                              .lanes = lanes_outside(access, size),
                                              .size = size,
                                              .of_what = owner});
    bool passes =
        space == PTX_SHARED && access->address[first] + access->checked <= stray_shared_bytes(size);
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at %s address 0x%llx is out of bounds (%llu bytes %s%s)",
                operation_name(access), access->bytes, ptx_space_name(access->space),
                (unsigned long long)access->address[first], (unsigned long long)size, owner,
                passes ? HINT : "");
}

void access_not_allowed(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = announce(
        w, i,
        &(struct bad_access){.access = access, .wrong = ACCESS_NOT_ALLOWED, .lanes = access->mask});
    if (access->space == PTX_LOCAL)
        fault_found(w, i, first, EMU_INVALID_ADDRESS_SPACE, "an atomic operation on local memory");
    else
        fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                    "%s at 0x%llx of the kernel's parameters, which can only be read",
                    operation_name(access), (unsigned long long)access->address[first]);
}
