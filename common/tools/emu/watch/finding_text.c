/* finding_text.c — findings as sentences: their first lines, faults, invalid accesses. */
#include "check.h"
#include "common/tools/emu/machine/events.h"
#include <inttypes.h>

/* ---- the first lines of a finding, made from its fields: see check.h ------------------------- */

/* "kernel(int *) in file.cu:12 (PTX line 97)" */
static void describe_where(const struct emu_finding *f, const struct emu_place *place, char *text,
                           size_t size)
{
    char name[300], source[500];
    kernel_whole_name(f->kernel, name, sizeof name);
    describe_source(place->file, place->line, place->ptx_line, source, sizeof source);
    snprintf(text, size, "%s in %s", name, source);
}

static void describe_hazard(const struct emu_finding *f, char *text, size_t size)
{
    char here[820], there[820];
    describe_where(f, &f->place, here, sizeof here);
    describe_where(f, &f->other, there, sizeof there);
    snprintf(text, size, "Error: Race reported between %s at %s\n    and %s at %s", f->other.access,
             there, f->place.access, here);
}

void finding_head(const struct emu_finding *f, char *text, size_t size)
{
    char where[820], thread[80];
    if (f->tool == EMU_CHECK_RACE) {
        describe_hazard(f, text, size);
        return;
    }
    snprintf(text, size, "%s", f->title);
    if (!f->place.is_known) return;
    const struct check_place place = {.block = f->place.block, .thread = f->place.thread};
    describe_where(f, &f->place, where, sizeof where);
    check_describe_thread(&place, thread, sizeof thread);
    device_append(text, size, "\n    at %s\n    by %s", where, thread);
}

/* ---- a launch's first fault as a finding ----------------------------------------------------- */

/* A fault is a finding whichever checkers are on: the launch did not reach its end, so the rest of
 * it was not checked. Nothing is reported if no checker is on, or if the launch was interrupted. */

/* A fault about which no checker reports more. */
static void report_other(struct launch *launch, const struct fault_event *f)
{
    bool waits = f->error == EMU_LAUNCH_FAILURE || f->error == EMU_LAUNCH_TIMEOUT;
    enum emu_check tool =
        waits && !(launch->checks & EMU_CHECK_MEMORY) ? EMU_CHECK_SYNC : EMU_CHECK_MEMORY;
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = tool,
                                        .kind = "fault",
                                        .title = f->what,
                                        .place = check_place(f->warp, f->insn, f->lane),
                                        .per_thread = true});
}

static void report_nowhere(struct launch *launch, const struct fault_event *f)
{
    check_report(
        launch->emu, launch,
        &(struct check_report){.tool = EMU_CHECK_SYNC, .kind = "endless", .title = f->what});
}

void event_fault(struct launch *launch, const struct fault_event *f)
{
    static const enum sync_kind kinds[] = {
        [FAULT_ARGUMENTS] = SYNC_INVALID_ARGUMENTS,
        [FAULT_DIVERGENT_IN_WARP] = SYNC_DIVERGENT_IN_WARP,
        [FAULT_DIVERGENT_IN_BLOCK] = SYNC_DIVERGENT_IN_BLOCK,
        [FAULT_ENDLESS] = SYNC_ENDLESS,
    };
    bool is_other = f->kind == FAULT_OTHER ||
                    (f->kind == FAULT_ARGUMENTS && !(launch->checks & EMU_CHECK_SYNC));
    if (!launch->checks || f->error == EMU_INTERRUPTED) return;
    if (!f->warp)
        report_nowhere(launch, f);
    else if (is_other)
        report_other(launch, f);
    else
        sync_report_stuck(f->warp, f->insn, f->lane, kinds[f->kind], f->what, f->picture);
}

/* ---- memcheck's findings of invalid accesses, one for each lane ------------------------------ */

/* compute-sanitizer's words. */
static const char *memcheck_verb(const struct access *access)
{
    static const char *const verbs[] = {"read", "write", "atomic"};
    return verbs[access->operation];
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
static void report_lane(struct warp *w, const struct insn *i, const struct bad_access *bad,
                        int lane, const char *detail)
{
    static const char *const kinds[] = {[ACCESS_MISALIGNED] = "misaligned",
                                        [ACCESS_OUTSIDE_GLOBAL] = "out-of-bounds",
                                        [ACCESS_OUTSIDE] = "out-of-bounds",
                                        [ACCESS_NOT_ALLOWED] = "not-allowed"};
    struct launch *launch = w->block->launch;
    const struct access *access = bad->access;
    char title[80], lines[2 * CHECK_TEXT];
    /* The whole pointer is wrong, and not a few threads' indices: one finding for all threads. */
    bool is_foreign = bad->wrong == ACCESS_OUTSIDE_GLOBAL && !bad->passes &&
                      device_foreign_address(launch->emu, access->address[lane]);
    snprintf(lines, sizeof lines, "%s", detail);
    check_append_launch(launch, lines, sizeof lines);
    snprintf(title, sizeof title, "Invalid %s %s of size %u bytes", memcheck_space(access->space),
             memcheck_verb(access), access->bytes);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_MEMORY,
                                        .kind = kinds[bad->wrong],
                                        .title = title,
                                        .place = check_place(w, i, lane),
                                        .per_thread = !is_foreign && !bad->passes,
                                        .unit = is_foreign ? "threads" : NULL,
                                        .has_address = true,
                                        .space = access->space,
                                        .address = access->address[lane],
                                        .bytes = access->bytes,
                                        .detail = lines});
}

/* Describes an invalid access to global memory, and the allocations near it. */
static void describe_outside_global(struct emu *emu, uint64_t address, uint64_t bytes, char *text,
                                    size_t size)
{
    char odd[80];
    bool is_odd = device_is_odd_address(address, odd, sizeof odd);
    snprintf(text, size, "    Access to 0x%" PRIx64 " is out of bounds%s%s", address,
             is_odd ? ": " : "", is_odd ? odd : "");
    const char *foreign = device_foreign_address(emu, address);
    if (foreign)
        device_append(text, size, "\n    and is %s", foreign);
    else if (!is_odd)
        alloc_log_append(emu, address, bytes, text, size);
}

static void describe(struct emu *emu, const struct bad_access *bad, uint64_t address, char *text,
                     size_t size)
{
    char before[80];
    switch (bad->wrong) {
    case ACCESS_MISALIGNED:
        snprintf(text, size, "    Access to 0x%" PRIx64 " is misaligned", address);
        return;
    case ACCESS_OUTSIDE_GLOBAL:
        describe_outside_global(emu, address, bad->access->bytes, text, size);
        return;
    case ACCESS_OUTSIDE:
        describe_before(address, bad->access->bytes, before);
        snprintf(text, size,
                 "    Access to 0x%" PRIx64 " is out of bounds\n    of the %" PRIu64 " bytes %s%s",
                 address, bad->size, bad->of_what, before);
        return;
    case ACCESS_NOT_ALLOWED:
        snprintf(text, size, "    %s",
                 bad->access->space == PTX_LOCAL ? "Local memory has no atomic operations"
                                                 : "The kernel's parameters can only be read");
    }
}

void event_bad_access(struct warp *w, const struct insn *i, const struct bad_access *bad)
{
    struct launch *launch = w->block->launch;
    uint32_t lanes = launch->checks & EMU_CHECK_MEMORY ? bad->lanes : 0;
    if (bad->passes) lanes = check_is_first_at(launch, i) ? bad->lanes & -bad->lanes : 0;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        char detail[CHECK_TEXT];
        describe(launch->emu, bad, bad->access->address[lane], detail, sizeof detail);
        if (bad->passes)
            device_append(detail, sizeof detail, "\n    --lenient: the access %s", bad->passes);
        report_lane(w, i, bad, lane, detail);
    }
}

void event_misaligned_matrix(struct warp *w, const struct insn *i,
                             const struct misaligned_matrix *m)
{
    struct launch *launch = w->block->launch;
    char detail[CHECK_TEXT];
    if (!(launch->checks & EMU_CHECK_MEMORY)) return;
    if (m->address % m->for_address)
        snprintf(detail, sizeof detail,
                 "    The matrix at 0x%" PRIx64 " does not begin at a multiple of %u bytes",
                 m->address, m->for_address);
    else
        snprintf(detail, sizeof detail,
                 "    Its rows (columns, if column-major) are %" PRIu64
                 " bytes apart, which is no multiple of %u",
                 m->row_bytes, m->for_rows);
    device_append(detail, sizeof detail,
                  ": the result is undefined, although\n    today's GPUs move the matrix");
    check_append_launch(launch, detail, sizeof detail);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_MEMORY,
                                        .severity = EMU_FINDING_WARNING,
                                        .kind = "misaligned",
                                        .title = "Misaligned matrix",
                                        .place = check_place(w, i, 0),
                                        .unit = "times",
                                        .detail = detail});
}
