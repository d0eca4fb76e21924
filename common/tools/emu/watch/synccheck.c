/* synccheck.c — what synccheck says of barriers and member masks. */
#include "check.h"
#include "common/tools/emu/machine/events.h"
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

/* ---- undefined values ------------------------------------------------------------------------ */

/* A lane that takes the value of a lane that does not take part in the shuffle gets an undefined
 * one. In `if (lane < 8) v += __shfl_down_sync(0xff, v, 4);` lanes 4 to 7 do, and it does no harm
 * as long as only lane 0 uses its sum. So the value is followed through registers. It is an error
 * if it is stored or is a part of an address, and a warning where it decides a branch or is not
 * followed: in local memory, where nvcc -G keeps variables, calls, votes and tensor cores. */

/* Where an undefined value comes from. */
struct undefined_origin {
    const struct insn *shuffle;
    uint8_t lane, from;
    bool has_exited;
};
struct undefined {
    uint64_t block;  /* of the grid: its memory serves one after another */
    bool is_doubted; /* there was a warning */
    size_t count;
    struct undefined_register {
        const struct frame *frame;
        unsigned index;
        uint32_t lanes;
        struct undefined_origin by[WARP];
    } * all;
};

void sync_forget(struct block *block)
{
    if (block->undefined) free(block->undefined->all);
    free(block->undefined);
    block->undefined = NULL;
}

/* The lanes in which an operand is undefined; by[lane]: where its value comes from. */
static uint32_t undefined_in(const struct undefined *u, const struct frame *frame,
                             const struct ptx_operand *operand, struct undefined_origin *by)
{
    uint32_t lanes = 0;
    for (size_t k = 0; k < u->count && operand->kind == PTX_REGISTER; k++) {
        if (u->all[k].frame != frame || u->all[k].index != operand->index) continue;
        lanes = u->all[k].lanes;
        for (uint32_t left = lanes; left; left &= left - 1)
            by[__builtin_ctz(left)] = u->all[k].by[__builtin_ctz(left)];
    }
    if (operand->kind == PTX_ADDRESS) lanes = undefined_in(u, frame, operand->base, by);
    for (unsigned k = 0; operand->kind == PTX_VECTOR && k < operand->count; k++)
        lanes |= undefined_in(u, frame, operand->items[k], by);
    return operand->other ? lanes | undefined_in(u, frame, operand->other, by) : lanes;
}

/* These lanes of an operand are written; in some, the value is undefined. */
static void set_undefined(struct undefined *u, const struct frame *frame,
                          const struct ptx_operand *operand, uint32_t written, uint32_t undefined,
                          const struct undefined_origin *by)
{
    size_t at = 0;
    for (unsigned k = 0; operand->kind == PTX_VECTOR && k < operand->count; k++)
        set_undefined(u, frame, operand->items[k], written, undefined, by);
    if (operand->other) set_undefined(u, frame, operand->other, written, undefined, by);
    if (operand->kind != PTX_REGISTER) return;
    while (at < u->count && (u->all[at].frame != frame || u->all[at].index != operand->index)) at++;
    if (at == u->count) {
        if (!undefined) return;
        u->all = grown(u->all, u->count, sizeof *u->all);
        u->all[u->count++] = (struct undefined_register){.frame = frame, .index = operand->index};
    }
    u->all[at].lanes = (u->all[at].lanes & ~written) | undefined;
    for (uint32_t left = undefined; left; left &= left - 1)
        u->all[at].by[__builtin_ctz(left)] = by[__builtin_ctz(left)];
    if (!u->all[at].lanes) u->all[at] = u->all[--u->count];
}

static void report_undefined(struct warp *w, const struct undefined_origin *by,
                             enum emu_severity severity, const struct insn *use, const char *how)
{
    char where[CHECK_TEXT];
    struct check_place place = check_place(w, use, by->lane);
    check_describe_insn(w->block->launch->kernel, use, where, sizeof where);
    report(w, by->shuffle, by->lane, severity, SYNC_UNDEFINED_SHUFFLE, &place,
           "    Lane %d takes the value of lane %d, which %s,\n    and %s, at %s", by->lane,
           by->from, by->has_exited ? "has exited" : "does not take part", how, where);
}

static const struct fragment *fragment_with(const struct warp *w, int lane)
{
    unsigned k = 0;
    while (!(w->fragments[k].mask >> lane & 1)) k++;
    return &w->fragments[k];
}

/* Lanes of one shuffle may be at different instructions. */
static const struct insn *insn_of(const struct warp *w, int lane)
{
    return &w->block->launch->kernel->code[fragment_with(w, lane)->pc];
}

/* What is followed in the block; NULL: nothing. */
static struct undefined *followed(struct block *block)
{
    const struct undefined *u = block->undefined;
    if (u && (!u->count || u->block != block->index)) sync_forget(block);
    return block->undefined;
}

void sync_exchange(struct warp *w, const struct exchange *e)
{
    struct undefined_origin by[WARP], all[WARP] = {{0}};
    struct undefined *u = followed(w->block);
    uint32_t undefined = 0;
    if (!e->from || (e->lanes == ALL_LANES && !u)) return;
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint8_t from = e->from[lane];
        uint32_t lanes = ~e->lanes;
        if (lanes >> from & 1)
            all[from] = (struct undefined_origin){insn_of(w, lane), (uint8_t)lane, from,
                                                  w->exited >> from & 1};
        else
            lanes = u ? undefined_in(u, fragment_with(w, from)->frame,
                                     &insn_of(w, from)->source->operands[1], all)
                      : 0;
        undefined |= (lanes >> from & 1) << lane;
        by[lane] = all[from];
    }
    if (!undefined && !u) return;
    if (!u) {
        u = w->block->undefined = allocated(calloc(1, sizeof *u));
        u->block = w->block->index;
        warp_pause(w); /* from here on, each instruction is announced */
    }
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        set_undefined(u, fragment_with(w, lane)->frame, &insn_of(w, lane)->source->operands[0],
                      left & -left, undefined & left & -left, by);
    }
}

/* Does it only compute registers from registers? */
static bool computes(const struct insn *i)
{
    return i->control == CONTROL_NONE && i->family <= FAMILY_ISSPACEP && i->family != FAMILY_CLOCK;
}

/* Does a lane access memory that is not its own? */
static bool is_access(const struct warp *w, const struct insn *i, int lane)
{
    if (i->family != FAMILY_MEMORY) return i->family > FAMILY_MEMORY && i->family <= FAMILY_TEXTURE;
    if (i->address.space == PTX_GENERIC)
        return address_of(w, &i->address, lane) - LOCAL_WINDOW >= WINDOW_BYTES;
    return i->address.space != PTX_LOCAL && i->address.space != PTX_PARAM;
}

/* The lanes in which a predicate, source k of an instruction, holds. */
static uint32_t predicate_of(const struct warp *w, const struct insn *i, unsigned k)
{
    const slot sources[] = {i->a, i->b, i->c};
    return *(const uint32_t *)slot_at(w, sources[k]) ^ -(uint32_t)(i->arithmetic.negated >> k & 1);
}

/* The lanes in which what the instruction reads is undefined. */
static uint32_t undefined_sources(const struct undefined *u, const struct warp *w,
                                  const struct insn *i, uint32_t lanes, struct undefined_origin *by)
{
    const struct ptx_instruction *source = i->source;
    bool has_result = computes(i) || insn_result(i) != NO_SLOT, selects, decides, is_and;
    uint32_t undefined = 0, chosen[] = {lanes, lanes};
    selects = !strcmp(source->words[0], "selp");
    is_and = !strcmp(source->words[0], "and");
    decides = (is_and || !strcmp(source->words[0], "or")) && !strcmp(source->words[1], "pred");
    if (selects) {
        chosen[0] = predicate_of(w, i, 2);
        chosen[1] = ~chosen[0];
    }
    for (unsigned k = has_result; k < source->operand_count; k++) {
        uint32_t here = undefined_in(u, w->frame, &source->operands[k], by);
        undefined |= here & (selects && k < 3 ? chosen[k - 1] : lanes);
        /* false && x is false, true || x is true, whatever x is */
        if (decides) lanes &= here | (predicate_of(w, i, k - 1) ^ (is_and ? 0 : ALL_LANES));
    }
    return undefined & lanes;
}

void event_follow(struct warp *w, const struct fragment *f)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    const struct ptx_instruction *source = i->source;
    struct undefined *u = followed(w->block);
    struct undefined_origin by[WARP];
    if (!u || !source || i->fn == op_shuffle) return; /* sync_exchange() follows it */
    struct ptx_operand guard = {.kind = source->guard < 0 ? PTX_SINK : PTX_REGISTER,
                                .index = (unsigned)source->guard};
    uint32_t lanes = f->mask, unsure = undefined_in(u, f->frame, &guard, by) & lanes;
    if (source->guard >= 0) lanes &= *(const uint32_t *)slot_at(w, i->guard) ^ i->guard_flip;
    uint32_t undefined = undefined_sources(u, w, i, lanes, by);
    if (undefined && is_access(w, i, __builtin_ctz(undefined))) {
        report_undefined(w, &by[__builtin_ctz(undefined)], EMU_FINDING_ERROR, i,
                         "it goes into memory or an address");
        sync_forget(w->block);
        return;
    }
    undefined |= unsure;
    if (undefined && !computes(i) && !u->is_doubted) {
        report_undefined(w, &by[__builtin_ctz(undefined)], EMU_FINDING_WARNING, i,
                         "it decides a branch or is not followed");
        u->is_doubted = true;
    }
    if (computes(i) || insn_result(i) != NO_SLOT)
        set_undefined(u, f->frame, &source->operands[0], lanes | unsure,
                      computes(i) ? undefined : 0, by);
}

/* ---- faults and deadlocks -------------------------------------------------------------------- */

void sync_report_stuck(struct warp *w, const struct insn *i, int lane, enum sync_kind kind,
                       const char *why, const char *picture)
{
    report(w, i, lane, EMU_FINDING_ERROR, kind, NULL, "    %s%s%s", why, *picture ? "\n" : "",
           picture);
}
