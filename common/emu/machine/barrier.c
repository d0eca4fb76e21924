#include "events.h"
#include "mbarrier.h"
#include "async.h"
#include <string.h>

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
    event_mbarrier_arrive(w, all ? same : first, place, i->order & ORDER_RELEASE);
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

uint32_t mbarrier_wait_over(struct warp *w, const struct insn *i, uint32_t lanes)
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

void mbarrier_wait_result(struct warp *w, const struct insn *i, uint32_t lanes, uint32_t over)
{
    uint32_t *d = slot_at(w, i->d);
    *d = (*d & ~lanes) | over;
    while (over && announces(w->block, ANNOUNCE_ORDER)) {
        struct shared_place place;
        uint32_t same = lanes_at_same(w, i, over);
        if (!find(w, i, __builtin_ctz(over), &place)) return;
        for (uint32_t left = same; left; left &= left - 1)
            event_mbarrier_use(w, i, __builtin_ctz(left), &place, OPERATION_LOAD);
        event_mbarrier_wait(w, same, &place, i->mbarrier.is_parity);
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

void mbarrier_remember(struct warp *w, const struct insn *i, int lane)
{
    struct shared_place place;
    if (!find(w, i, lane, &place)) return;
    w->block->cluster->waits_for =
        (struct cluster_wait){.warp = w, .insn = i, .lane = lane, .offset = place.offset};
}

void mbarrier_report(struct cluster *cluster, int error, const char *what)
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
