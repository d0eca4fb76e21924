/* synccheck.c — what synccheck says of barriers and member masks. */
#include "check.h"
#include <stdarg.h>

/* The titles of the first three are compute-sanitizer's. */
static const struct {
    const char *kind, *title;
} kinds[] = {
    [SYNC_DIVERGENT_IN_WARP] = {"divergent-in-warp",
                                "Barrier error detected. Divergent thread(s) in warp."},
    [SYNC_DIVERGENT_IN_BLOCK] = {"divergent-in-block",
                                 "Barrier error detected. Divergent thread(s) in block."},
    [SYNC_INVALID_ARGUMENTS] = {"invalid-arguments", "Barrier error detected. Invalid arguments."},
    [SYNC_ENDLESS] = {"endless", "Endless wait or loop detected."},
    [SYNC_EXITED_MEMBERS] = {"exited-members", "Member mask with threads that have exited"},
    [SYNC_UNDEFINED_SHUFFLE] = {"undefined-shuffle", "Undefined value from a shuffle"},
    [SYNC_EXITED_WARPS] = {"exited-warps", "Barrier without warps that have exited"},
};

/* Reports a lane. The format and its arguments give the detail, which may have several lines. */
__attribute__((format(printf, 7, 8))) static void
report(struct warp *w, const struct insn *i, int lane, enum emu_severity severity,
       enum sync_kind kind, const struct check_place *other, const char *format, ...)
{
    struct launch *launch = w->block->launch;
    char detail[4 * CHECK_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    check_append_launch(launch, detail, sizeof detail);
    bool as_memory = (launch->checks & (EMU_CHECK_SYNC | EMU_CHECK_MEMORY)) == EMU_CHECK_MEMORY;
    struct check_report r = {.tool = as_memory ? EMU_CHECK_MEMORY : EMU_CHECK_SYNC,
                             .severity = severity,
                             .kind = kinds[kind].kind,
                             .title = kinds[kind].title,
                             .place = check_place(w, i, lane),
                             .unit = "times",
                             .detail = detail};
    if (other) r.other = *other;
    check_report(launch->emu, launch, &r);
}

/* ---- barriers -------------------------------------------------------------------------------- */

/* bar.sync is barrier.sync.aligned: all lanes of a warp must come to the same instruction. */
static bool is_aligned(const struct insn *i)
{
    bool aligned = !strcmp(i->source->words[0], "bar");
    for (unsigned k = 1; k < i->source->word_count; k++)
        aligned = aligned || !strcmp(i->source->words[k], "aligned");
    return aligned;
}

/* May one fragment wait for a barrier at instruction a, and another fragment at instruction b? */
static bool may_meet(const struct emu_kernel *kernel, bool same_warp, const struct insn *a,
                     const struct insn *b)
{
    return same_warp && is_aligned(a) ? a == b : code_is_same(kernel, a, b);
}

/* A fragment that waits for the same barrier at a different place; one of this warp if possible. */
static const struct fragment *find_elsewhere(struct block *block, const struct warp *own,
                                             const struct insn *i, unsigned number,
                                             struct warp **where)
{
    const struct fragment *found = NULL;
    const struct insn *code = block->launch->kernel->code;
    for (unsigned n = 0; n < block->warp_count; n++) {
        struct warp *w = &block->warps[n];
        for (unsigned k = 0; k < w->fragment_count; k++) {
            const struct fragment *f = &w->fragments[k];
            if (f->state != FRAGMENT_AT_BARRIER || f->barrier != number || (found && w != own) ||
                may_meet(block->launch->kernel, w == own, i, &code[f->pc]))
                continue;
            found = f;
            *where = w;
        }
    }
    return found;
}

static void check_place_of_barrier(struct warp *w, const struct fragment *f, const struct insn *i,
                                   unsigned number)
{
    struct warp *other;
    const struct fragment *g = find_elsewhere(w->block, w, i, number, &other);
    if (!g) return;
    char where[CHECK_TEXT], thread[80];
    const struct launch *launch = w->block->launch;
    struct check_place place =
        check_place(other, &launch->kernel->code[g->pc], __builtin_ctz(g->mask));
    check_describe_insn(launch->kernel, place.insn, where, sizeof where);
    check_describe_thread(&place, thread, sizeof thread);
    report(w, i, __builtin_ctz(f->mask), EMU_FINDING_ERROR,
           other == w ? SYNC_DIVERGENT_IN_WARP : SYNC_DIVERGENT_IN_BLOCK, &place,
           "    while others wait at another __syncthreads,\n    at %s\n    by %s\n"
           "    (all threads of a block must come to the same one; today's GPUs only count them)",
           where, thread);
}

void sync_barrier_arguments(struct warp *w, const struct fragment *f, const struct insn *i,
                            unsigned number, unsigned threads)
{
    int lane = __builtin_ctz(f->mask);
    if (threads > w->block->threads)
        report(w, i, lane, EMU_FINDING_ERROR, SYNC_INVALID_ARGUMENTS, NULL,
               "    barrier %u waits for %u threads, and the block has %u", number, threads,
               w->block->threads);
    if (!threads && i->control == CONTROL_BARRIER) check_place_of_barrier(w, f, i, number);
}

void sync_barrier_exited(struct warp *w, const struct insn *i, unsigned waiting, unsigned exited)
{
    report(w, i, __builtin_ctz(w->live), EMU_FINDING_WARNING, SYNC_EXITED_WARPS, NULL,
           "    %u threads wait here, and the others, %u, have exited: PTX lets the barrier go on\n"
           "    without them, but the CUDA guide asks all threads of a block to come to it",
           waiting, exited);
}

void sync_barrier_parted(struct warp *w, const struct insn *i, unsigned waiting, unsigned exited)
{
    if (!check_is_first_at(w->block->launch, i)) return;
    report(w, i, __builtin_ctz(w->live), EMU_FINDING_ERROR, SYNC_DIVERGENT_IN_BLOCK, NULL,
           "    a barrier that not all threads reach: %u wait here, %u %s exited\n"
           "    --lenient: the barrier does not wait for them",
           waiting, exited, exited == 1 ? "has" : "have");
}

/* ---- member masks ---------------------------------------------------------------------------- */

void sync_member_masks(struct warp *w, const struct insn *i, uint32_t lanes)
{
    const uint32_t *members = slot_at(w, i->warp.members);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int l = __builtin_ctz(left), first = __builtin_ctz(lanes);
        if (!(members[l] >> l & 1))
            report(w, i, l, EMU_FINDING_ERROR, SYNC_INVALID_ARGUMENTS, NULL,
                   "    Lane %d is not in its own member mask 0x%08x", l, members[l]);
        else if (members[l] != members[first] &&
                 (members[l] >> first & 1 || members[first] >> l & 1))
            report(w, i, l, EMU_FINDING_ERROR, SYNC_INVALID_ARGUMENTS, NULL,
                   "    Lane %d has the member mask 0x%08x, and lane %d 0x%08x: lanes that name "
                   "each other\n    must name the same lanes",
                   l, members[l], first, members[first]);
    }
    int first = __builtin_ctz(lanes);
    if (members[first] & w->exited && i->family != FAMILY_MATRIX) /* it ends the launch */
        report(w, i, first, EMU_FINDING_WARNING, SYNC_EXITED_MEMBERS, NULL,
               "    The member mask 0x%08x names lanes 0x%08x, which have exited: the\n"
               "    others do not wait for them, and a value taken from one is undefined",
               members[first], members[first] & w->exited);
}

/* The instruction that a lane is at. Lanes of one operation may be at different instructions. */
static const struct insn *insn_of(const struct warp *w, int lane)
{
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].mask >> lane & 1)
            return &w->block->launch->kernel->code[w->fragments[k].pc];
    return NULL;
}

void sync_shuffle_outside(struct warp *w, int lane, int from)
{
    report(w, insn_of(w, lane), lane, EMU_FINDING_WARNING, SYNC_UNDEFINED_SHUFFLE, NULL,
           "    Lane %d takes the value of lane %d, which %s", lane, from,
           w->exited >> from & 1 ? "has exited" : "does not take part");
}

/* ---- faults and deadlocks -------------------------------------------------------------------- */

void sync_report_stuck(struct warp *w, const struct insn *i, int lane, enum sync_kind kind,
                       const char *why, const char *picture)
{
    report(w, i, lane, EMU_FINDING_ERROR, kind, NULL, "    %s%s%s", why, *picture ? "\n" : "",
           picture);
}
