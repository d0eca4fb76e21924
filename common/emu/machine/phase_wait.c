#include "phase_wait.h"
#include "fragment.h"
#include "mbarrier.h"

/* On a GPU a try_wait sleeps for up to some milliseconds. A thread that has polled this often,
 * while nothing in the cluster has changed, would have waited for minutes. */
enum { MOST_TIMEOUTS = 1 << 16 };

static bool can_time_out(const struct insn *i) { return i->control == CONTROL_WAIT_MBARRIER; }

/* Carries out the instruction if the fragment's wait is over, or if `end` ends it. */
static void end_if_over(struct warp *w, struct fragment *f, bool end)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    w->frame = f->frame;
    w->bank[BANK_REGISTERS] = f->frame->registers;
    uint32_t over = i->control == CONTROL_WAIT_CLUSTER ? cluster_wait_over(w, i, f->mask)
                                                       : mbarrier_wait_over(w, i, f->mask);
    if (!over && !end) return;
    if (i->control == CONTROL_WAIT_MBARRIER) mbarrier_wait_result(w, i, f->mask, over);
    f->state = FRAGMENT_READY;
    f->pc++;
}

void phase_wait_begin(struct warp *w, struct fragment *f, const struct insn *i, uint32_t lanes)
{
    (void)i;
    if (lanes != f->mask) {
        struct fragment *rest = f;
        f = fragment_split(w, rest, lanes, rest->pc);
        rest->pc++;
    }
    f->state = FRAGMENT_WAITING_FOR_PHASE;
    w->may_wait = true;
    end_if_over(w, f, false);
}

void phase_wait_poll_all(struct warp *w)
{
    w->may_wait = false;
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].state == FRAGMENT_WAITING_FOR_PHASE) {
            end_if_over(w, &w->fragments[k], false);
            w->may_wait = true;
        }
}

/* Has memory changed, or a barrier been passed, since the cluster last came to a standstill? Or
 * does a thread look at the time, so that it may go on by itself? */
static bool something_happens(const struct cluster *cluster)
{
    bool happens = false;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        const struct block *block = cluster->blocks[rank];
        happens = happens || block->changed || block->changed_earlier || block->passed ||
                  block->looked_at_time;
    }
    return happens;
}

bool phase_wait_time_out(struct cluster *cluster)
{
    bool any = false;
    bool too_often =
        something_happens(cluster) ? (cluster->timeouts = 0) : ++cluster->timeouts > MOST_TIMEOUTS;
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        struct block *block = cluster->blocks[rank];
        for (unsigned i = 0; i < block->warp_count; i++) {
            struct warp *w = &block->warps[i];
            for (unsigned k = 0; k < w->fragment_count; k++) {
                struct fragment *f = &w->fragments[k];
                const struct insn *insn = &block->launch->kernel->code[f->pc];
                if (f->state != FRAGMENT_WAITING_FOR_PHASE || !can_time_out(insn)) continue;
                w->bank[BANK_REGISTERS] = f->frame->registers;
                mbarrier_remember(w, insn, __builtin_ctz(f->mask));
                if (too_often) {
                    mbarrier_report(cluster, EMU_LAUNCH_FAILURE, "deadlock: all threads wait");
                    return false;
                }
                end_if_over(w, f, true);
                any = true;
            }
        }
    }
    return any;
}

bool phase_wait_give_up(struct cluster *cluster, int error, const char *why)
{
    if (!cluster->waits_for.warp) return false;
    mbarrier_report(cluster, error, why);
    return true;
}
