/*
 * fault_finding.c — a launch's first fault as a finding.
 *
 * A fault is a finding whichever checkers are on: the launch did not reach its end, so the rest of
 * it was not checked. Nothing is reported if no checker is on, or if the launch was interrupted.
 */
#include "check.h"
#include "common/emu/machine/events.h"
#include "sync_check.h"

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
