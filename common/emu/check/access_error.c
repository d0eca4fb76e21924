/* access_error.c — see access_error.h. Sentences of errors, and memcheck's findings beside them. */
#include "access_error.h"
#include "check.h"
#include "common/emu/machine/device.h"
#include <inttypes.h>
#include <string.h>

static const char *operation_name(const struct access *access)
{
    return !strcmp(access->operation, "ld")   ? "a load"
           : !strcmp(access->operation, "st") ? "a store"
                                              : "an atomic operation";
}

/* compute-sanitizer's words for the same. */
static const char *memcheck_verb(const struct access *access)
{
    return !strcmp(access->operation, "ld")   ? "read"
           : !strcmp(access->operation, "st") ? "write"
                                              : "atomic";
}

static const char *memcheck_space(enum ptx_space space)
{
    switch (space) {
    case PTX_SHARED: return "__shared__";
    case PTX_LOCAL: return "__local__";
    case PTX_CONST: return "__constant__";
    case PTX_PARAM: return "parameter";
    default: return "__global__";
    }
}

/* One finding of memcheck: a lane's access, and what is wrong with it. */
static void report_lane(struct warp *w, const struct insn *i, const struct access *access, int lane,
                        const char *detail)
{
    struct launch *launch = w->block->launch;
    char kind[80], head[CHECK_TEXT], lines[2 * CHECK_TEXT];
    struct check_place place = check_place(w, i, lane);
    snprintf(lines, sizeof lines, "%s", detail);
    device_append_host_place(launch->emu, &launch->host_place, "The kernel was launched at", lines,
                             sizeof lines);
    snprintf(kind, sizeof kind, "Invalid %s %s of size %u bytes", memcheck_space(access->space),
             memcheck_verb(access), access->bytes);
    check_head(launch, &place, kind, head, sizeof head);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_MEMORY,
                                        .kind = kind,
                                        .place = place,
                                        .per_thread = true,
                                        .head = head,
                                        .detail = lines});
}

static bool is_checked(const struct warp *w) { return w->block->launch->checks & EMU_CHECK_MEMORY; }

static bool lane_is_misaligned(const struct access *access, int lane)
{
    return access->mask >> lane & 1 && access->address[lane] & (access->bytes - 1);
}

void access_misaligned(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = 0;
    while (!lane_is_misaligned(access, first)) first++;
    for (int l = first; l < WARP && is_checked(w); l++) {
        char detail[100];
        if (!lane_is_misaligned(access, l)) continue;
        snprintf(detail, sizeof detail, "    Access to 0x%" PRIx64 " is misaligned",
                 access->address[l]);
        report_lane(w, i, access, l, detail);
    }
    fault_found(w, i, first, EMU_MISALIGNED_ADDRESS,
                "%s address 0x%llx is not a multiple of the %u bytes accessed",
                ptx_space_name(access->space), (unsigned long long)access->address[first],
                access->bytes);
}

/* ---- global memory --------------------------------------------------------------------------- */

static bool lane_is_outside_global(const struct warp *w, const struct access *access, int lane)
{
    if (!(access->mask >> lane & 1)) return false;
    uint64_t address = access->address[lane];
    struct range range;
    return !device_range(w->block->launch->emu, address, &range) ||
           access->checked > range.bytes - (address - range.base);
}

void access_outside_global(struct warp *w, const struct insn *i, const struct access *access)
{
    struct launch *launch = w->block->launch;
    char nearest[200], odd[80], detail[CHECK_TEXT];
    int first = 0;
    while (!lane_is_outside_global(w, access, first)) first++;
    for (int l = first; l < WARP && is_checked(w); l++) {
        if (!lane_is_outside_global(w, access, l)) continue;
        bool is_odd = device_is_odd_address(access->address[l], odd, sizeof odd);
        snprintf(detail, sizeof detail, "    Access to 0x%" PRIx64 " is out of bounds%s%s",
                 access->address[l], is_odd ? ": " : "", is_odd ? odd : "");
        if (!is_odd) alloc_log_append(launch->emu, access->address[l], detail, sizeof detail);
        report_lane(w, i, access, l, detail);
    }
    device_describe_address(launch->emu, access->address[first], nearest, sizeof nearest);
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at global address 0x%llx is out of bounds (%s)",
                operation_name(access), access->bytes, (unsigned long long)access->address[first],
                nearest);
}

/* ---- the other spaces ------------------------------------------------------------------------ */

static bool lane_is_outside(const struct access *access, int lane, uint64_t size)
{
    return access->mask >> lane & 1 &&
           (size < access->checked || access->address[lane] > size - access->checked);
}

void access_outside(struct warp *w, const struct insn *i, const struct access *access,
                    uint64_t size)
{
    enum ptx_space space = access->space;
    const char *owner = space == PTX_SHARED  ? "of shared memory a block"
                        : space == PTX_LOCAL ? "of local memory a thread"
                                             : "of parameters of the kernel";
    int first = 0;
    while (!lane_is_outside(access, first, size)) first++;
    for (int l = first; l < WARP && is_checked(w); l++) {
        char detail[200];
        if (!lane_is_outside(access, l, size)) continue;
        snprintf(detail, sizeof detail,
                 "    Access to 0x%" PRIx64 " is out of bounds\n    of the %" PRIu64 " bytes %s",
                 access->address[l], size, owner);
        report_lane(w, i, access, l, detail);
    }
    fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                "%s of %u bytes at %s address 0x%llx is out of bounds (%llu bytes %s)",
                operation_name(access), access->bytes, ptx_space_name(access->space),
                (unsigned long long)access->address[first], (unsigned long long)size, owner);
}

void access_not_allowed(struct warp *w, const struct insn *i, const struct access *access)
{
    int first = __builtin_ctz(access->mask);
    for (int l = first; l < WARP && is_checked(w); l++)
        if (access->mask >> l & 1)
            report_lane(w, i, access, l,
                        access->space == PTX_LOCAL
                            ? "    Local memory has no atomic operations"
                            : "    The kernel's parameters can only be read");
    if (access->space == PTX_LOCAL)
        fault_found(w, i, first, EMU_INVALID_ADDRESS_SPACE, "an atomic operation on local memory");
    else
        fault_found(w, i, first, EMU_ILLEGAL_ADDRESS,
                    "%s at 0x%llx of the kernel's parameters, which can only be read",
                    operation_name(access), (unsigned long long)access->address[first]);
}
