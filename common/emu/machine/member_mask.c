/*
 * "… will cause executing thread to wait until all non-exited threads corresponding to membermask
 * have executed shfl.sync with the same qualifiers and same membermask value" (PTX ISA). So lanes
 * at one instruction with different masks form different groups. Lanes of one mask may be at
 * different instructions, for example if both arms of an `if` call a function that reduces over the
 * warp. Their operands are in different registers, and are first copied together.
 */
#include "member_mask.h"
#include "fragment.h"
#include "frame.h"
#include "common/emu/ptx/warp_ops.h"
#include <string.h>

static const struct insn *insn_at(const struct warp *w, const struct fragment *f)
{
    return &w->block->launch->kernel->code[f->pc];
}

uint32_t member_mask_active(const struct warp *w, const struct fragment *f)
{
    const struct insn *i = insn_at(w, f);
    return f->mask & (*(const uint32_t *)frame_slot(w, f, i->guard) ^ i->guard_flip);
}

uint32_t member_mask_of(const struct warp *w, const struct fragment *f, int lane)
{
    return ((const uint32_t *)frame_slot(w, f, insn_at(w, f)->warp.members))[lane];
}

/* The lanes of `lanes` with this member mask. */
static uint32_t naming(const uint32_t *members, uint32_t mask, uint32_t lanes)
{
    uint32_t gap = 0, same = 0;
    for (int l = 0; l < WARP; l++) gap |= members[l] ^ mask;
    if (!gap) return lanes; /* nearly always all lanes have it */
    for (int l = 0; l < WARP; l++) same |= (uint32_t)(members[l] == mask) << l;
    return same & lanes;
}

uint32_t member_mask_complete(const struct warp *w, const struct fragment *f, uint32_t active)
{
    const uint32_t *members = frame_slot(w, f, insn_at(w, f)->warp.members);
    /* Lanes that the guard holds back count as arrived: nvcc predicates only uniform code. */
    uint32_t held = f->mask & ~active, complete = 0;
    while (active) {
        uint32_t mask = members[__builtin_ctz(active)], group = naming(members, mask, active);
        if (!(mask & w->live & ~(group | held))) complete |= group;
        active &= ~group;
    }
    return complete;
}

void member_mask_run(struct warp *w, struct fragment *f, const struct insn *i, uint32_t lanes)
{
    const uint32_t *members = slot_at(w, i->warp.members);
    uint32_t left = lanes;
    while (left) {
        uint32_t group = naming(members, members[__builtin_ctz(left)], left);
        i->fn(w, i, group);
        left &= ~group;
    }
    if (lanes == member_mask_active(w, f)) {
        f->pc++;
    } else {
        fragment_split(w, f, lanes, f->pc + 1);
        f->state = FRAGMENT_WAITING_FOR_LANES;
    }
}

/* ---- at different places --------------------------------------------------------------------- */

/* The lanes of one fragment that have the mask in question. */
struct party {
    struct fragment *fragment;
    const struct insn *insn;
    uint32_t lanes;
};

/* Are two instructions the same operation? All forms of __syncwarp are. Those of tensor cores are
 * .aligned, and so at one place only. */
static bool is_same(const struct insn *a, const struct insn *b)
{
    const struct ptx_instruction *x = a->source, *y = b->source;
    if (a->control != b->control || a->family == FAMILY_MATRIX) return false;
    if (a->control == CONTROL_WARP_SYNC) return true;
    if (x->word_count != y->word_count) return false;
    for (unsigned k = 0; k < x->word_count; k++)
        if (strcmp(x->words[k], y->words[k])) return false;
    return true;
}

/* All waiting lanes with this mask at the same operation as `like`. */
static unsigned find_parties(struct warp *w, const struct insn *like, uint32_t mask,
                             struct party *parties)
{
    unsigned count = 0;
    for (unsigned k = 0; k < w->fragment_count; k++) {
        struct fragment *f = &w->fragments[k];
        if (f->state != FRAGMENT_WAITING_FOR_LANES || !is_same(insn_at(w, f), like)) continue;
        const struct insn *i = insn_at(w, f);
        uint32_t lanes = naming(frame_slot(w, f, i->warp.members), mask, member_mask_active(w, f));
        if (lanes) parties[count++] = (struct party){f, i, lanes};
    }
    return count;
}

/* Registers that hold the operands of all parties, and then the results. */
struct scratch {
    _Alignas(SLOT_ALIGNMENT) uint64_t a[WARP];
    _Alignas(SLOT_ALIGNMENT) uint32_t b[WARP], c[WARP], d[WARP];
    uint32_t predicate;
};

static bool has_predicate_result(const struct insn *i)
{
    return i->fn == op_vote && i->warp.vote != VOTE_BALLOT;
}

static void copy_lanes(void *to, const void *from, size_t lane_bytes, uint32_t lanes)
{
    for (; lanes; lanes &= lanes - 1) {
        size_t at = (size_t)__builtin_ctz(lanes) * lane_bytes;
        memcpy((char *)to + at, (const char *)from + at, lane_bytes);
    }
}

static void copy_bits(uint32_t *to, uint32_t from, uint32_t lanes)
{
    *to = (*to & ~lanes) | (from & lanes);
}

static void gather(const struct warp *w, const struct party *p, struct scratch *scratch)
{
    const struct insn *i = p->insn;
    if (i->a != NO_SLOT) {
        const void *a = frame_slot(w, p->fragment, i->a);
        if (i->fn == op_vote)
            copy_bits((uint32_t *)scratch->a,
                      *(const uint32_t *)a ^ (i->warp.negated ? ALL_LANES : 0), p->lanes);
        else
            copy_lanes(scratch->a, a, i->lane_bytes, p->lanes);
    }
    if (i->b != NO_SLOT)
        copy_lanes(scratch->b, frame_slot(w, p->fragment, i->b), sizeof(uint32_t), p->lanes);
    if (i->c != NO_SLOT)
        copy_lanes(scratch->c, frame_slot(w, p->fragment, i->c), sizeof(uint32_t), p->lanes);
}

static void scatter(const struct warp *w, const struct party *p, const struct scratch *scratch)
{
    const struct insn *i = p->insn;
    if (i->warp.predicate != NO_SLOT)
        copy_bits(frame_slot(w, p->fragment, i->warp.predicate), scratch->predicate, p->lanes);
    if (i->d == NO_SLOT) return;
    void *d = frame_slot(w, p->fragment, i->d);
    if (has_predicate_result(i))
        copy_bits(d, scratch->d[0], p->lanes);
    else
        copy_lanes(d, scratch->d, sizeof(uint32_t), p->lanes);
}

/* Carries out the first party's instruction once for all parties, on the scratch registers. */
static void run_together(struct warp *w, const struct party *parties, unsigned count)
{
    struct scratch scratch = {.predicate = 0};
    struct insn i = *parties[0].insn;
    uint8_t *registers = w->bank[BANK_REGISTERS];
    uint32_t lanes = 0;
    for (unsigned k = 0; k < count; k++) {
        gather(w, &parties[k], &scratch);
        lanes |= parties[k].lanes;
    }
    i.a = offsetof(struct scratch, a); /* in the bank of registers */
    i.b = offsetof(struct scratch, b);
    i.c = offsetof(struct scratch, c);
    i.d = offsetof(struct scratch, d);
    i.warp.predicate = offsetof(struct scratch, predicate);
    i.warp.negated = false;
    w->bank[BANK_REGISTERS] = (uint8_t *)&scratch;
    i.fn(w, &i, lanes);
    w->bank[BANK_REGISTERS] = registers;
    for (unsigned k = 0; k < count; k++) scatter(w, &parties[k], &scratch);
}

/* Moves the party's lanes on. Lanes of the same fragment with another mask keep waiting. */
static void move_on(struct warp *w, const struct party *p)
{
    struct fragment *f = p->fragment;
    if (w->counts) {
        w->counts[f->pc].executed++;
        w->counts[f->pc].lanes += (unsigned)__builtin_popcount(p->lanes);
    }
    if (p->lanes == member_mask_active(w, f)) {
        f->state = FRAGMENT_READY;
        f->pc++;
    } else {
        fragment_split(w, f, p->lanes, f->pc + 1);
    }
}

/* Tries each mask of the fragment's lanes. */
static bool run_joint_with(struct warp *w, const struct fragment *f)
{
    struct party parties[WARP];
    const struct insn *i = insn_at(w, f);
    for (uint32_t left = member_mask_active(w, f); left;) {
        uint32_t mask = member_mask_of(w, f, __builtin_ctz(left)), here = 0;
        unsigned count = find_parties(w, i, mask, parties);
        for (unsigned k = 0; k < count; k++) here |= parties[k].lanes;
        if (count > 1 && !(mask & w->live & ~here)) {
            run_together(w, parties, count);
            for (unsigned k = 0; k < count; k++) move_on(w, &parties[k]);
            return true;
        }
        left &= ~naming(frame_slot(w, f, i->warp.members), mask, left);
    }
    return false;
}

bool member_mask_run_joint(struct warp *w)
{
    for (unsigned k = 0; k < w->fragment_count; k++)
        if (w->fragments[k].state == FRAGMENT_WAITING_FOR_LANES &&
            run_joint_with(w, &w->fragments[k]))
            return true;
    return false;
}
