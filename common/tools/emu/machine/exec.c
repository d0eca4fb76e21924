/* exec.c — the interpreter: the loop over a warp's instructions, and its clocks. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "async.h"
#include "events.h"
#include "schedule.h"
#include <time.h>

/* ---- clocks ---------------------------------------------------------------------------------- */

/* What is made from the seed, for different uses of it. */
enum clock_use { USE_TIME = 1, USE_ORDER, USE_FIRST, USE_MULTIPROCESSOR };

static uint64_t chance(const struct emu *emu, uint64_t use, uint64_t number)
{
    return random_mixed(emu->clock_seed ^ random_mixed(use + (number << 8)));
}

/* With a seed, instructions that the device has executed, and leaps; otherwise the warp's. The sum
 * may have passed 0 on its way. */
static uint64_t device_time(const struct warp *w) { return w->earlier + w->clock - w->fuel; }

uint64_t clocks_warp(const struct warp *w)
{
    const struct emu *emu = w->block->launch->emu;
    enum { BITS = 40 }; /* as if the GPU had run for some minutes */
    if (!emu->clock_seed) return device_time(w);
    uint64_t begin = chance(emu, USE_MULTIPROCESSOR, clocks_smid(w->block)) >> (64 - BITS);
    return begin + device_time(w);
}

uint64_t clocks_global(const struct warp *w)
{
    const struct emu *emu = w->block->launch->emu;
    const uint64_t second = 1000000000, year = 365 * 24 * 3600 * second;
    if (emu->clock_seed) return 50 * year + chance(emu, USE_TIME, 0) % year + device_time(w);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * second + (uint64_t)now.tv_nsec;
}

void clocks_wait(struct warp *w, const struct insn *i)
{
    enum { PART = 32, FARTHEST = 48 }; /* 2^48 cycles are a day: a loop that asks for more hangs */
    struct emu *emu = w->block->launch->emu;
    if (i->clock.which == CLOCK_GLOBAL && !emu->clock_seed) return; /* the host's time */
    uint64_t now = w->clock - w->fuel;
    bool again = w->waited == i && now - w->waited_at == i->clock.loop;
    w->waited = i;
    w->waited_at = now;
    if (!again) w->waits_since = device_time(w);
    uint64_t waited = device_time(w) - w->waits_since;
    uint64_t leap = waited >> FARTHEST ? 0 : waited / PART;
    if (leap == 1 && waited - PART < i->clock.loop) warp_yield(w);
    w->earlier += leap;
    if (emu->clock_seed) emu->executed += leap;
}

static unsigned common_divisor(unsigned a, unsigned b)
{
    while (b) {
        unsigned rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* first + index * step, where step has no divisor in common with the number of multiprocessors:
 * blocks that follow each other are on as many of them as there are. */
unsigned clocks_smid(const struct block *block)
{
    const struct launch *launch = block->launch;
    const struct emu *emu = launch->emu;
    unsigned sms = (unsigned)emu->gpu->sms;
    if (!emu->clock_seed) return (unsigned)(block->index % sms);
    unsigned first = (unsigned)(chance(emu, USE_FIRST, launch->id) % sms),
             step = 1 + (unsigned)(chance(emu, USE_ORDER, launch->id) % sms);
    while (common_divisor(step, sms) != 1) step++;
    return (unsigned)((first + block->index % sms * step) % sms);
}

/* ---- the loop over instructions -------------------------------------------------------------- */

/* The lanes of a fragment that the instruction's guard lets through. */
static inline uint32_t guarded(const struct warp *w, const struct insn *i, uint32_t mask)
{
    if (i->guard & SLOT_CONSTANT) return mask; /* there is no guard: see decode_body() */
    return mask & (*(const uint32_t *)slot_at(w, i->guard) ^ i->guard_flip);
}

/* Lanes in `taken` jump to the target; the others go on. */
static void branch(struct warp *w, struct fragment *f, const struct insn *i, uint32_t taken)
{
    if (!taken) {
        f->pc++;
    } else if (taken == f->mask) {
        f->pc = i->target;
    } else {
        fragment_split(w, f, taken, i->target);
        f->pc++;
    }
}

/* Each lane jumps to the target with its index. An index beyond the table is undefined in PTX, and
 * a fault here. */
static void branch_by_table(struct warp *w, struct fragment *f, const struct insn *i,
                            uint32_t active)
{
    const uint32_t *index = slot_at(w, i->table.index);
    uint32_t staying = f->mask & ~active; /* held back by the guard */
    while (active) {
        int first = __builtin_ctz(active);
        uint32_t same = 0;
        if (index[first] >= i->table.count) {
            fault(w, i, first, EMU_ILLEGAL_INSTRUCTION, "a branch with index %u into a table of %u",
                  index[first], i->table.count);
            return;
        }
        for (int l = first; l < WARP; l++)
            same |= (uint32_t)(active >> l & 1 && index[l] == index[first]) << l;
        active &= ~same;
        if (!active && !staying) {
            f->pc = i->table.targets[index[first]];
            return;
        }
        fragment_split(w, f, same, i->table.targets[index[first]]);
    }
    f->pc++;
}

static inline void leave(struct warp *w, struct fragment *f, uint32_t lanes)
{
    w->live &= ~lanes;
    w->exited |= lanes;
    f->mask &= ~lanes;
    if (f->mask)
        f->pc++;
    else
        fragment_remove(w, f);
}

/* Lanes that the guard holds back skip the barrier. */
static void barrier(struct warp *w, struct fragment *f, const struct insn *i, uint32_t arriving)
{
    uint32_t here = f->pc;
    if (arriving != f->mask) {
        struct fragment *rest = f;
        f = fragment_split(w, rest, arriving, here);
        rest->pc++;
    }
    barrier_arrive(w, f, i, i->control == CONTROL_BARRIER);
}

/* Is each lane in its own member mask? If a lane of a __syncwarp is not, it is a fault, as on an
 * H200. */
static bool names_itself(struct warp *w, const struct insn *i, uint32_t active)
{
    const uint32_t *members = slot_at(w, i->warp.members);
    for (uint32_t left = active; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (members[l] >> l & 1) continue;
        fault_arguments(w, i, l, EMU_ILLEGAL_INSTRUCTION,
                        "lane %d is not in its own member mask 0x%08x", l, members[l]);
        return false;
    }
    return true;
}

/* A warp-wide instruction. Returns the lanes that go on; the others wait for lanes of their member
 * masks. */
static uint32_t run_warp_wide(struct warp *w, struct fragment *f, const struct insn *i,
                              uint32_t active)
{
    if (announces(w->block, ANNOUNCE_ARGUMENTS)) event_member_masks(w, i, active);
    /* The common case: all lanes have the same mask, and all are here. */
    if (i->warp.members >> 30 == BANK_CONSTANTS && active == f->mask &&
        (*(const uint32_t *)slot_at(w, i->warp.members) & w->live) == active) {
        i->fn(w, i, active);
        f->pc++;
        return active;
    }
    if (i->control == CONTROL_WARP_SYNC && !names_itself(w, i, active)) return 0;
    uint32_t complete = member_mask_complete(w, f, active);
    if (complete)
        member_mask_run(w, f, i, complete);
    else
        f->state = FRAGMENT_WAITING_FOR_LANES;
    return complete;
}

/* The fragment's registers become those that instructions work on. */
static void enter_frame(struct warp *w, const struct fragment *f)
{
    w->frame = f->frame;
    w->bank[BANK_REGISTERS] = f->frame->registers;
}

/* Calls a function or returns from it. True: the fragment is still the warp's only one, and goes
 * on. */
static bool change_frame(struct warp *w, struct fragment *f, const struct insn *i, uint32_t active)
{
    if (i->control == CONTROL_CALL)
        frame_call(w, f, i, active);
    else
        frame_return(w, f, active);
    const struct launch *launch = w->block->launch;
    if (w->fragment_count > 1 || launch->error || launch->random) return false;
    enter_frame(w, f);
    return true;
}

static __attribute__((noinline)) void announce_step(struct warp *w, struct fragment *f)
{
    struct stepper *stepper = w->block->launch->stepper;
    if (w->block->undefined) event_follow(w, f);
    if (!stepper) return;
    if (!stepper->left || stepper->marks[f->pc]) event_step(w, f);
    stepper->left--;
}

/* Runs one fragment until it reaches the place of another one (limit), splits, waits or ends, or
 * until the fuel is used up. Compiled three times: without counting, with it, and `stepped`, where
 * each instruction is announced and it counts if the warp does. */
static inline __attribute__((always_inline)) void run_fragment(struct warp *w, struct fragment *f,
                                                               uint32_t limit, bool counting,
                                                               bool stepped)
{
    const struct insn *code = w->block->launch->kernel->code;
    for (;;) {
        /* The common part: operations, one after the other. */
        uint32_t pc = f->pc, mask = f->mask, active;
        const struct insn *i = &code[pc];
        for (;;) {
            if (stepped) {
                f->pc = pc;
                announce_step(w, f);
            }
            active = guarded(w, i, mask);
            if (counting) {
                w->counts[pc].executed++;
                w->counts[pc].lanes += lanes_in(active);
            }
            w->fuel--;
            if (i->control != CONTROL_NONE) break;
            if (active) i->fn(w, i, active);
            i++, pc++;
            if (!w->fuel || pc >= limit) {
                f->pc = pc;
                return;
            }
        }
        f->pc = pc;
        unsigned fragments = w->fragment_count;
        switch ((enum control)i->control) {
        case CONTROL_BRANCH: branch(w, f, i, active); break;
        case CONTROL_CALL:
        case CONTROL_RETURN:
            if (!active)
                f->pc++;
            else if (!change_frame(w, f, i, active))
                return;
            break;
        case CONTROL_TABLE: branch_by_table(w, f, i, active); break;
        case CONTROL_EXIT:
            if (active == mask) {
                leave(w, f, active);
                return;
            }
            if (active)
                leave(w, f, active);
            else
                f->pc++;
            break;
        case CONTROL_BARRIER:
        case CONTROL_ARRIVE:
            if (active) {
                barrier(w, f, i, active);
                return;
            }
            f->pc++;
            break;
        case CONTROL_MEMBER_MASK:
        case CONTROL_WARP_SYNC:
            if (!active) {
                f->pc++;
                break;
            }
            uint32_t done = run_warp_wide(w, f, i, active);
            if (counting && done != active) { /* the others are counted when they go on */
                w->counts[pc].executed -= !done;
                w->counts[pc].lanes -= (unsigned)__builtin_popcount(active & ~done);
            }
            if (!done) return;
            break;
        case CONTROL_WAIT_CLUSTER:
        case CONTROL_WAIT_MBARRIER:
            if (active) {
                phase_wait_begin(w, f, i, active);
                return;
            }
            f->pc++;
            break;
        case CONTROL_SPIN: /* it waits for other threads: the slice ends */
            f->pc++;
            warp_spins(w);
            w->fair = true;
            return;
        case CONTROL_NONE: break;
        }
        if (!w->fuel || f->pc >= limit || w->fragment_count != fragments) return;
    }
}

static void run_counting(struct warp *w, struct fragment *f, uint32_t limit)
{
    run_fragment(w, f, limit, true, false);
}
static void run_plain(struct warp *w, struct fragment *f, uint32_t limit)
{
    run_fragment(w, f, limit, false, false);
}
static void run_stepped(struct warp *w, struct fragment *f, uint32_t limit)
{
    run_fragment(w, f, limit, w->counts != NULL, true);
}

void warp_grant(struct warp *w, uint64_t instructions)
{
    warp_pause(w);
    w->slice = instructions;
}

enum warp_stop warp_run(struct warp *w)
{
    warp_pause(w); /* left when it last stopped */
    while (w->fragment_count) {
        uint32_t limit;
        bool others;
        if (w->block->launch->error) return WARP_FAULT;
        if (!w->fuel && !w->slice) return WARP_SLICE_OVER; /* the next fragment is chosen then */
        struct fragment *f = fragment_next(w, &limit, &others);
        if (!f) return WARP_WAITS;
        if (announces(w->block, ANNOUNCE_TURNS)) event_turn_lanes(w);
        if (!w->fuel) {
            w->fuel = others && w->slice > PATIENCE ? PATIENCE : w->slice;
            w->slice -= w->fuel;
            w->clock += w->fuel;
        }
        if (w->block->launch->random) random_split(w, f);
        f->turn = ++w->turns;
        enter_frame(w, f);
        if (w->block->launch->stepper || w->block->undefined)
            run_stepped(w, f, limit);
        else if (w->counts)
            run_counting(w, f, limit);
        else
            run_plain(w, f, limit);
        if (others && !w->fuel) w->fair = true;
    }
    return w->block->launch->error ? WARP_FAULT : WARP_DONE;
}
