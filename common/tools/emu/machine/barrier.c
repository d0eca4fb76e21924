/* barrier.c — barriers of a block, mbarriers, and waiting for the end of a phase. */
#include "async.h"
#include "events.h"

/* ---- the named barriers of a block (PTX ISA, "bar", "barrier") ------------------------------- */

/* Writes the result of a bar.red: the predicates of all threads combined. */
static void tell_result(struct warp *w, const struct fragment *f, const struct barrier *barrier)
{
    const struct insn *i = &w->block->launch->kernel->code[f->pc];
    uint32_t *d = i->d == NO_SLOT ? NULL : frame_slot(w, f, i->d);
    bool holds = i->barrier.result == BARRIER_AND ? barrier->true_count == barrier->arrived
                                                  : barrier->true_count > 0;
    if (i->barrier.result == BARRIER_COUNT) {
        for (int l = 0; l < WARP; l++)
            if (f->mask >> l & 1) d[l] = barrier->true_count;
    } else if (i->barrier.result != BARRIER_NOTHING) {
        *d = (*d & ~f->mask) | (holds ? f->mask : 0);
    }
}

void barrier_release(struct block *block, unsigned number)
{
    if (announces(block, ANNOUNCE_ORDER)) event_barrier_release(block, number);
    for (unsigned i = 0; i < block->warp_count; i++)
        for (unsigned k = 0; k < block->warps[i].fragment_count; k++) {
            struct fragment *f = &block->warps[i].fragments[k];
            if (f->state != FRAGMENT_AT_BARRIER || f->barrier != number) continue;
            tell_result(&block->warps[i], f, &block->barriers[number]);
            f->state = FRAGMENT_READY;
            f->pc++;
        }
    block->barriers[number] = (struct barrier){0};
    block->epoch++;
    block->passed = true;
}

/* Does a fragment name the same number of threads as those that already wait? A fault if not. A GPU
 * counts whole warps. An H200 reports "illegal instruction". */
static bool agrees(struct warp *w, int lane, const struct insn *i, unsigned number, unsigned asked)
{
    const struct barrier *barrier = &w->block->barriers[number];
    if (!barrier->expected || (asked + WARP - 1) / WARP == (barrier->asked + WARP - 1) / WARP)
        return true;
    fault_arguments(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
                    "barrier %u is waited for by %u threads here and %u elsewhere", number, asked,
                    barrier->asked);
    return false;
}

void barrier_arrive(struct warp *w, struct fragment *f, const struct insn *i, bool waits)
{
    struct block *block = w->block;
    int lane = __builtin_ctz(f->mask);
    uint32_t number = ((const uint32_t *)slot_at(w, i->barrier.number))[lane];
    slot named = i->barrier.threads;
    uint32_t threads = named == NO_SLOT ? 0 : ((const uint32_t *)slot_at(w, named))[lane];
    if (number >= MAX_BARRIERS) {
        fault_arguments(w, i, lane, EMU_LAUNCH_FAILURE, "barrier %u does not exist: a block has %d",
                        number, MAX_BARRIERS);
        return;
    }
    if (threads % WARP) { /* a fault on an H200, too */
        fault_arguments(w, i, lane, EMU_ILLEGAL_INSTRUCTION,
                        "barrier %u waits for %u threads, which is not a multiple of %d", number,
                        threads, WARP);
        return;
    }
    unsigned asked = threads ? threads : block->threads;
    if (!agrees(w, lane, i, number, asked)) return;
    if (announces(w->block, ANNOUNCE_ARGUMENTS)) event_barrier_arguments(w, f, i, number, threads);
    struct barrier *barrier = &block->barriers[number];
    unsigned expected = asked < block->threads ? asked : block->threads;
    block->used_barriers = true;
    barrier->asked = asked;
    barrier->expected = expected;
    barrier->arrived += (unsigned)__builtin_popcount(f->mask);
    if (i->barrier.result != BARRIER_NOTHING) {
        uint32_t p = *(const uint32_t *)slot_at(w, i->barrier.predicate) ^
                     (i->barrier.negated ? ALL_LANES : 0);
        barrier->true_count += (unsigned)__builtin_popcount(p & f->mask);
    }
    if (waits) {
        f->state = FRAGMENT_AT_BARRIER;
        f->barrier = number;
    } else {
        if (announces(block, ANNOUNCE_ORDER)) event_barrier_arrive(w, i, f->mask, number);
        f->pc++;
    }
    if (barrier->arrived >= expected) barrier_release(block, number);
}

/* ---- mbarriers ------------------------------------------------------------------------------- */

/* ---- the 64 bits ----------------------------------------------------------------------------- */

/* From bit 0: the arrivals that the phase lacks; the arrivals of a whole phase; the expected bytes,
 * plus BYTES_ZERO because they may come before they are expected; the parity of the phase; and a
 * mark that distinguishes an mbarrier from other memory. */
enum { COUNT_BITS = 20, BYTES_BITS = 21, MOST_ARRIVALS = (1 << COUNT_BITS) - 1 };
#define BYTES_ZERO (INT64_C(1) << (BYTES_BITS - 1))
#define MARK       UINT64_C(2) /* poison and zeros have a different value here */

struct mbarrier_state {
    uint32_t pending, arrivals;
    int64_t bytes;
    bool parity, is_valid;
};

static uint64_t field(uint64_t bits, unsigned first, unsigned count)
{
    return bits >> first & ((UINT64_C(1) << count) - 1);
}

static struct mbarrier_state unpack(uint64_t bits)
{
    return (struct mbarrier_state){
        .pending = (uint32_t)field(bits, 0, COUNT_BITS),
        .arrivals = (uint32_t)field(bits, COUNT_BITS, COUNT_BITS),
        .bytes = (int64_t)field(bits, 2 * COUNT_BITS, BYTES_BITS) - BYTES_ZERO,
        .parity = field(bits, 2 * COUNT_BITS + BYTES_BITS, 1),
        .is_valid = bits >> 62 == MARK,
    };
}

static uint64_t pack(struct mbarrier_state s)
{
    return s.pending | (uint64_t)s.arrivals << COUNT_BITS |
           (uint64_t)(s.bytes + BYTES_ZERO) << 2 * COUNT_BITS |
           (uint64_t)s.parity << (2 * COUNT_BITS + BYTES_BITS) | MARK << 62;
}

/* ---- one mbarrier ---------------------------------------------------------------------------- */

static struct mbarrier_state read_state(const struct shared_place *place)
{
    uint64_t bits;
    memcpy(&bits, place->owner->shared + place->offset, sizeof bits);
    return unpack(bits);
}

/* Writes a state back. If the phase lacks nothing, it is complete, and the next one begins. */
static void write_state(const struct shared_place *place, struct mbarrier_state s)
{
    if (!s.pending && !s.bytes) {
        s.parity = !s.parity;
        s.pending = s.arrivals;
        if (announces(place->owner, ANNOUNCE_ORDER)) event_mbarrier_over(place);
    }
    uint64_t bits = pack(s);
    memcpy(place->owner->shared + place->offset, &bits, sizeof bits);
    place->owner->passed = true;
}

bool mbarrier_check(struct warp *w, const struct insn *i, int lane,
                    const struct shared_place *place)
{
    if (read_state(place).is_valid) return true;
    fault(
        w, i, lane, EMU_LAUNCH_FAILURE,
        "shared address 0x%x holds no mbarrier: it was never initialised (or is not yet: a barrier "
        "of the block is needed behind the init), or was invalidated",
        place->offset);
    return false;
}

void mbarrier_complete_bytes(struct warp *w, const struct insn *i, int lane,
                             const struct shared_place *place, uint64_t bytes)
{
    if (!mbarrier_check(w, i, lane, place)) return;
    struct mbarrier_state s = read_state(place);
    s.bytes -= (int64_t)bytes;
    if (s.bytes <= -BYTES_ZERO)
        fault(
            w, i, lane, EMU_LAUNCH_FAILURE,
            "the mbarrier at shared address 0x%x gets more than %lld bytes beyond those it expects",
            place->offset, (long long)BYTES_ZERO - 1);
    else
        write_state(place, s);
}

static bool expect_bytes(struct warp *w, const struct insn *i, int lane,
                         const struct shared_place *place, uint64_t bytes)
{
    struct mbarrier_state s = read_state(place);
    s.bytes += (int64_t)bytes;
    if (s.bytes >= BYTES_ZERO) {
        fault(w, i, lane, EMU_LAUNCH_FAILURE,
              "the mbarrier at shared address 0x%x is to expect %lld bytes; at most %lld can be",
              place->offset, (long long)s.bytes, (long long)BYTES_ZERO - 1);
        return false;
    }
    /* This completes a phase only if the bytes have already come. */
    write_state(place, s);
    return true;
}

static bool arrive(struct warp *w, const struct insn *i, int lane, const struct shared_place *place,
                   uint32_t arrivals, enum arrival how)
{
    struct mbarrier_state s = read_state(place);
    if (arrivals > s.pending || !arrivals) {
        fault(w, i, lane, EMU_LAUNCH_FAILURE,
              "%u arrivals at the mbarrier at shared address 0x%x, whose phase lacks %u of %u",
              arrivals, place->offset, s.pending, s.arrivals);
        return false;
    }
    s.pending -= arrivals;
    if (how & ARRIVAL_DROP) s.arrivals -= arrivals;
    if (how & ARRIVAL_NO_COMPLETE && !s.pending && !s.bytes) {
        fault(w, i, lane, EMU_LAUNCH_FAILURE,
              "an arrival with .noComplete completes the phase of the mbarrier at shared address "
              "0x%x",
              place->offset);
        return false;
    }
    write_state(place, s);
    return true;
}

void mbarrier_arrive_at(struct warp *w, const struct insn *i, int lane,
                        const struct shared_place *place, unsigned arrivals)
{
    if (mbarrier_check(w, i, lane, place)) arrive(w, i, lane, place, arrivals, ARRIVAL);
}

void mbarrier_expect_arrival(struct warp *w, const struct insn *i, int lane,
                             const struct shared_place *place)
{
    if (!mbarrier_check(w, i, lane, place)) return;
    struct mbarrier_state s = read_state(place);
    if (s.pending == MOST_ARRIVALS)
        fault(w, i, lane, EMU_LAUNCH_FAILURE, "more than %d arrivals at an mbarrier",
              MOST_ARRIVALS);
    s.pending++;
    write_state(place, s);
}

/* ---- operations ------------------------------------------------------------------------------ */

/* The lanes with the same address as the first one. */
static uint32_t lanes_at_same(const struct warp *w, const struct insn *i, uint32_t lanes)
{
    uint64_t first = address_of(w, &i->address, __builtin_ctz(lanes));
    uint32_t same = 0;
    for (; lanes; lanes &= lanes - 1)
        if (address_of(w, &i->address, __builtin_ctz(lanes)) == first) same |= lanes & -lanes;
    return same;
}

static bool find(struct warp *w, const struct insn *i, int lane, struct shared_place *place)
{
    return shared_find(w, i, lane, i->address.space, address_of(w, &i->address, lane),
                       sizeof(uint64_t), sizeof(uint64_t), place);
}

static uint32_t operand(const struct warp *w, slot s, int lane, uint32_t otherwise)
{
    return s == NO_SLOT ? otherwise : ((const uint32_t *)slot_at(w, s))[lane];
}

static bool operate(struct warp *w, const struct insn *i, int lane,
                    const struct shared_place *place)
{
    uint32_t count = operand(w, i->mbarrier.arrivals, lane, 1);
    bool makes = i->mbarrier.operation == MBARRIER_INIT || i->mbarrier.operation == MBARRIER_INVAL;
    if (announces(w->block, ANNOUNCE_ORDER))
        event_mbarrier_use(w, i, lane, place, makes ? OPERATION_STORE : OPERATION_ATOMIC);
    if (i->mbarrier.operation == MBARRIER_INIT) {
        if (!count || count > MOST_ARRIVALS) {
            fault(w, i, lane, EMU_LAUNCH_FAILURE, "an mbarrier for %u arrivals; 1 to %d can be",
                  count, MOST_ARRIVALS);
            return false;
        }
        write_state(place, (struct mbarrier_state){.pending = count, .arrivals = count});
        if (announces(place->owner, ANNOUNCE_ORDER)) event_mbarrier_init(place);
        return true;
    }
    if (!mbarrier_check(w, i, lane, place)) return false;
    if (i->mbarrier.operation == MBARRIER_INVAL) {
        memset(place->owner->shared + place->offset, 0, sizeof(uint64_t));
        return true;
    }
    if (i->mbarrier.operation == MBARRIER_COMPLETE) {
        mbarrier_complete_bytes(w, i, lane, place, operand(w, i->mbarrier.bytes, lane, 0));
        return !w->block->launch->error;
    }
    if (i->mbarrier.bytes != NO_SLOT &&
        !expect_bytes(w, i, lane, place, operand(w, i->mbarrier.bytes, lane, 0)))
        return false;
    return i->mbarrier.operation == MBARRIER_EXPECT ||
           arrive(w, i, lane, place, count, (enum arrival)i->mbarrier.arrival);
}

/* Announces the arrival of the first unannounced lane. Lanes that arrive at the same place are
 * announced together with it, unless the phase could end before the last of them. Returns the lanes
 * that are still unannounced. */
static uint32_t announce_arrivals(struct warp *w, const struct insn *i, uint32_t unannounced,
                                  const struct shared_place *place)
{
    uint32_t same = lanes_at_same(w, i, unannounced), first = unannounced & -unannounced;
    bool all = i->mbarrier.arrivals == NO_SLOT &&
               (unsigned)__builtin_popcount(same) <= read_state(place).pending;
    event_mbarrier_arrive(w, i, all ? same : first, place, i->order & ORDER_RELEASE);
    return unannounced & ~(all ? same : first);
}

void op_mbarrier(struct warp *w, const struct insn *i, uint32_t mask)
{
    bool is_announced =
        announces(w->block, ANNOUNCE_ORDER) && i->mbarrier.operation == MBARRIER_ARRIVE;
    uint32_t unannounced = is_announced ? mask : 0;
    for (uint32_t left = mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        struct shared_place place;
        uint64_t before;
        if (!find(w, i, lane, &place)) return;
        if (unannounced & left & -left) unannounced = announce_arrivals(w, i, unannounced, &place);
        memcpy(&before, place.owner->shared + place.offset, sizeof before);
        if (!operate(w, i, lane, &place)) return;
        if (i->d != NO_SLOT) ((uint64_t *)slot_at(w, i->d))[lane] = before;
    }
}

void op_mbarrier_pending(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t bits = ((const uint64_t *)slot_at(w, i->a))[lane];
        ((uint32_t *)slot_at(w, i->d))[lane] = unpack(bits).pending;
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool phase_is_over(const struct warp *w, const struct insn *i, int lane,
                          const struct shared_place *place)
{
    const void *phase = slot_at(w, i->mbarrier.phase);
    bool parity = i->mbarrier.is_parity ? ((const uint32_t *)phase)[lane] & 1
                                        : unpack(((const uint64_t *)phase)[lane]).parity;
    return read_state(place).parity != parity;
}

/* For mbarrier.try_wait: the lanes whose phase is over; and writes the result for all lanes. */
static uint32_t mbarrier_wait_over(struct warp *w, const struct insn *i, uint32_t lanes)
{
    uint32_t over = 0;
    for (; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctz(lanes);
        struct shared_place place;
        if (!find(w, i, lane, &place) || !mbarrier_check(w, i, lane, &place)) return over;
        /* Copies are carried out as late as possible: when a thread needs them. */
        if (!phase_is_over(w, i, lane, &place)) async_carry_out(&place);
        if (!phase_is_over(w, i, lane, &place)) continue;
        over |= UINT32_C(1) << lane;
    }
    return over;
}

static void mbarrier_wait_result(struct warp *w, const struct insn *i, uint32_t lanes,
                                 uint32_t over)
{
    uint32_t *d = slot_at(w, i->d);
    *d = (*d & ~lanes) | over;
    while (over && announces(w->block, ANNOUNCE_ORDER)) {
        struct shared_place place;
        uint32_t same = lanes_at_same(w, i, over);
        if (!find(w, i, __builtin_ctz(over), &place)) return;
        for (uint32_t left = same; left; left &= left - 1)
            event_mbarrier_use(w, i, __builtin_ctz(left), &place, OPERATION_LOAD);
        event_mbarrier_wait(w, i, same, &place, i->mbarrier.is_parity);
        over &= ~same;
    }
}

/* test_wait does not wait. But a thread that polls with it may poll again at once, so others run
 * first. */
void op_mbarrier_test(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t over = mbarrier_wait_over(w, i, mask);
    mbarrier_wait_result(w, i, mask, over);
    if (!over) warp_spins(w);
}

/* ---- deadlocks ------------------------------------------------------------------------------- */

/* Notes which mbarrier a cluster waits for; and ends the launch with a message about it. */
static void mbarrier_remember(struct warp *w, const struct insn *i, int lane)
{
    struct shared_place place;
    if (!find(w, i, lane, &place)) return;
    w->block->cluster->waits_for =
        (struct cluster_wait){.warp = w, .insn = i, .lane = lane, .offset = place.offset};
}

static void mbarrier_report(struct cluster *cluster, int error, const char *what)
{
    const struct cluster_wait *wait = &cluster->waits_for;
    struct shared_place place = {wait->warp->block, wait->offset};
    struct mbarrier_state s = read_state(&place);
    char bytes[60] = "";
    if (s.bytes) snprintf(bytes, sizeof bytes, " and %lld bytes", (long long)s.bytes);
    fault(wait->warp, wait->insn, wait->lane, error,
          "%s, here for the mbarrier at shared address 0x%x, whose phase lacks %u of %u arrivals%s",
          what, wait->offset, s.pending, s.arrivals, bytes);
}

/* ---- waiting for a phase --------------------------------------------------------------------- */

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
