/* collective.c — what the lanes of a warp and the blocks of a cluster do together. */
#include "ops.h"
#include "common/tools/emu/machine/async.h"
#include "common/tools/emu/machine/events.h"

/* ---- lanes of a warp (PTX ISA, "shfl.sync", "vote.sync", "match.sync", "redux.sync") --------- */

static uint32_t *lanes_32(const struct warp *w, slot s) { return slot_at(w, s); }

static uint64_t value_of(const struct warp *w, const struct insn *i, int lane)
{
    return i->lane_bytes == 8 ? ((const uint64_t *)slot_at(w, i->a))[lane]
                              : lanes_32(w, i->a)[lane];
}

/* A number from 0 to 31 for each lane, in bytes, which CPUs process 16 at a time. */
typedef uint8_t lane_numbers[WARP];

/* The lanes whose byte is 1. The product has bits 0 of eight bytes side by side in its highest
 * byte. */
static uint32_t lanes_of(const lane_numbers flag)
{
    enum { BYTES = sizeof(uint64_t) };
    uint32_t lanes = 0;
    for (int k = 0; k < WARP / BYTES; k++) {
        uint64_t eight;
        memcpy(&eight, flag + k * BYTES, BYTES);
        lanes |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << k * BYTES;
    }
    return lanes;
}

/* Finds the lane that each lane reads, itself if the other one is outside of its segment. Returns
 * the lanes whose other one is inside. Bits 8–12 of c are a mask: lanes that agree in these bits of
 * their number form a segment. Bits 0–4 are the last lane of a segment, counted within it (the
 * first lane for .up). With width 32, c = 31 (0 for .up). */
static uint32_t find_sources(enum shuffle kind, const uint32_t *b, const uint32_t *c,
                             lane_numbers source)
{
    lane_numbers delta, segment, last, inside;
    for (int l = 0; l < WARP; l++) delta[l] = b[l] & 31;
    for (int l = 0; l < WARP; l++) segment[l] = c[l] >> 8 & 31;
    for (int l = 0; l < WARP; l++)
        last[l] = (uint8_t)((l & segment[l]) | ((uint8_t)c[l] & 31 & ~segment[l]));
#define EACH_LANE(other, is_inside)                                                                \
    for (int l = 0; l < WARP; l++) {                                                               \
        uint8_t from = (uint8_t)(other);                                                           \
        inside[l] = is_inside;                                                                     \
        source[l] = is_inside ? from : (uint8_t)l;                                                 \
    }
    switch (kind) {
    case SHUFFLE_UP: EACH_LANE(l - delta[l], (int8_t)from >= (int8_t)last[l]); break;
    case SHUFFLE_DOWN: EACH_LANE(l + delta[l], from <= last[l]); break;
    case SHUFFLE_BUTTERFLY: EACH_LANE(l ^ delta[l], from <= last[l]); break;
    case SHUFFLE_INDEX:
        EACH_LANE((l & segment[l]) | (delta[l] & ~segment[l]), from <= last[l]);
        break;
    }
#undef EACH_LANE
    return lanes_of(inside);
}

void op_shuffle(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t *d = lanes_32(w, i->d), value[WARP];
    lane_numbers source;
    uint32_t inside = mask & find_sources((enum shuffle)i->warp.shuffle, lanes_32(w, i->b),
                                          lanes_32(w, i->c), source);
    memcpy(value, lanes_32(w, i->a), sizeof value);
    if (mask == ALL_LANES)
        for (int lane = 0; lane < WARP; lane++) d[lane] = value[source[lane]];
    else
        for (int lane = 0; lane < WARP; lane++)
            if (mask >> lane & 1) d[lane] = value[source[lane]];
    set_predicate(w, i->warp.predicate, mask, inside);
    if (!announces(w->block, ANNOUNCE_ARGUMENTS)) return;
    event_exchange(w, i, &(struct exchange){mask, source, value, d});
}

/* d[lane] = value for the lanes of a mask. */
static void set_lanes(uint32_t *d, uint32_t mask, uint32_t value)
{
    if (mask == ALL_LANES)
        for (int lane = 0; lane < WARP; lane++) d[lane] = value;
    else
        for (; mask; mask &= mask - 1) d[__builtin_ctz(mask)] = value;
}

/* Announces a vote, in which these lanes have said yes, with its result. */
static void announce_vote(struct warp *w, const struct insn *i, uint32_t mask, uint32_t yes,
                          uint32_t result)
{
    uint32_t given[WARP], received[WARP];
    for (int lane = 0; lane < WARP; lane++) {
        given[lane] = yes >> lane & 1;
        received[lane] = result;
    }
    event_exchange(w, i, &(struct exchange){mask, NULL, given, received});
}

/* A predicate for all and for any, and the lanes that say yes for a ballot. */
static uint32_t vote_result(const struct insn *i, uint32_t mask, uint32_t yes)
{
    switch ((enum vote)i->warp.vote) {
    case VOTE_ALL: return yes == mask;
    case VOTE_ANY: return yes != 0;
    case VOTE_UNIFORM: return yes == mask || !yes;
    case VOTE_BALLOT: break;
    }
    return yes;
}

void op_vote(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t yes = (lanes_32(w, i->a)[0] ^ (i->warp.negated ? ALL_LANES : 0)) & mask;
    uint32_t result = vote_result(i, mask, yes);
    if (announces(w->block, ANNOUNCE_ARGUMENTS)) announce_vote(w, i, mask, yes, result);
    if ((enum vote)i->warp.vote != VOTE_BALLOT) {
        set_predicate(w, i->d, mask, result ? ALL_LANES : 0);
        return;
    }
    set_lanes(lanes_32(w, i->d), mask, result);
}

/* The lanes whose source has this value. */
static uint32_t lanes_with(const struct warp *w, const struct insn *i, uint64_t value)
{
    lane_numbers equal;
    if (i->lane_bytes == 8) {
        const uint64_t *a = slot_at(w, i->a);
        for (int l = 0; l < WARP; l++) equal[l] = a[l] == value;
    } else {
        const uint32_t *a = lanes_32(w, i->a), low = (uint32_t)value;
        for (int l = 0; l < WARP; l++) equal[l] = a[l] == low;
    }
    return lanes_of(equal);
}

void op_match_any(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t result[WARP] = {0}, *d = lanes_32(w, i->d), same;
    if (announces(w->block, ANNOUNCE_ORDER)) event_match(w, mask);
    for (uint32_t left = mask; left; left &= ~same) {
        same = lanes_with(w, i, value_of(w, i, __builtin_ctz(left))) & mask;
        set_lanes(result, same, same);
    }
    for (int lane = 0; lane < WARP; lane++)
        if (mask >> lane & 1) d[lane] = result[lane];
}

void op_match_all(struct warp *w, const struct insn *i, uint32_t mask)
{
    bool all = !(mask & ~lanes_with(w, i, value_of(w, i, __builtin_ctz(mask))));
    set_lanes(lanes_32(w, i->d), mask, all ? mask : 0);
    set_predicate(w, i->warp.predicate, mask, all ? ALL_LANES : 0);
}

void op_reduce(struct warp *w, const struct insn *i, uint32_t mask)
{
    const uint32_t *a = lanes_32(w, i->a);
    uint32_t sum = a[__builtin_ctz(mask)];
    for (uint32_t left = mask & (mask - 1); left; left &= left - 1) {
        uint32_t x = a[__builtin_ctz(left)];
        bool less = i->is_signed ? (int32_t)x < (int32_t)sum : x < sum;
        switch ((enum reduction)i->warp.reduction) {
        case REDUCE_ADD: sum += x; break;
        case REDUCE_MIN: sum = less ? x : sum; break;
        case REDUCE_MAX: sum = less ? sum : x; break;
        case REDUCE_AND: sum &= x; break;
        case REDUCE_OR: sum |= x; break;
        case REDUCE_XOR: sum ^= x; break;
        }
    }
    set_lanes(lanes_32(w, i->d), mask, sum);
}

void op_elect(struct warp *w, const struct insn *i, uint32_t mask)
{
    uint32_t leader = (uint32_t)__builtin_ctz(mask);
    set_lanes(lanes_32(w, i->d), mask, leader);
    set_predicate(w, i->warp.predicate, mask, UINT32_C(1) << leader);
}

/* trap and brkpt. Without a debugger, an H200 reports both in this way. */
void op_trap(struct warp *w, const struct insn *i, uint32_t mask)
{
    fault(w, i, __builtin_ctz(mask), EMU_LAUNCH_FAILURE, "the kernel stopped itself with a %s",
          i->source->words[0]);
}

/* Other blocks may run on other host threads, and other processes may share the memory. */
void op_fence(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (!(i->order & ORDER_BLOCK)) atomic_thread_fence(memory_order_seq_cst);
    if (!announces(w->block, ANNOUNCE_ORDER)) return;
    enum fence scope = i->order & ORDER_BLOCK ? SCOPE_BLOCK : SCOPE_DEVICE;
    if (!(i->order & ORDER_RELEASE)) event_reader_fence(w, i, mask, scope);
    if (!(i->order & ORDER_ACQUIRE)) event_fence(w, i, mask, scope);
}

void op_proxy_fence(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (!announces(w->block, ANNOUNCE_ORDER)) return;
    if (i->address.space != PTX_GLOBAL) event_fence(w, i, mask, FOR_COPIES);
    if (i->address.space != PTX_SHARED) event_fence(w, i, mask, FOR_GLOBAL_COPIES);
}

void op_grid_wait(struct warp *w, const struct insn *i, uint32_t mask)
{
    (void)i;
    if (announces(w->block, ANNOUNCE_ORDER)) event_grid_wait(w, mask);
}

/* Called once per member mask, when all its lanes have arrived. */
void op_warp_sync(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (announces(w->block, ANNOUNCE_ORDER)) event_warp_sync(w, i, mask);
}

/* ---- blocks of a cluster: barrier.cluster ---------------------------------------------------- */

/* The address by which racecheck identifies a phase of a cluster's barrier. It is not a device
 * address. */
static uint64_t barrier_word(const struct cluster *cluster, bool parity)
{
    return UINT64_MAX - (2 * cluster->blocks[0]->index + parity);
}

/* The barrier does not wait for threads that have exited. */
static bool all_arrived(const struct cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster->size; rank++)
        for (unsigned i = 0; i < cluster->blocks[rank]->warp_count; i++) {
            const struct warp *w = &cluster->blocks[rank]->warps[i];
            if (w->live & ~w->cluster_arrived) return false;
        }
    return true;
}

static void complete(struct cluster *cluster)
{
    for (unsigned rank = 0; rank < cluster->size; rank++) {
        struct block *block = cluster->blocks[rank];
        for (unsigned i = 0; i < block->warp_count; i++) block->warps[i].cluster_arrived = 0;
        block->epoch++;
        block->passed = true;
    }
    cluster->parity = !cluster->parity;
}

void op_cluster_arrive(struct warp *w, const struct insn *i, uint32_t mask)
{
    if (w->cluster_owes & mask) {
        fault(w, i, __builtin_ctz(w->cluster_owes & mask), EMU_LAUNCH_FAILURE,
              "a second barrier.cluster.arrive without a barrier.cluster.wait between");
        return;
    }
    w->cluster_arrived |= mask;
    w->cluster_owes |= mask;
    const struct cluster *cluster = w->block->cluster;
    if (announces(w->block, ANNOUNCE_ORDER))
        event_cluster_arrive(w, i, mask, barrier_word(cluster, cluster->parity),
                             i->order & ORDER_RELEASE);
}

uint32_t cluster_wait_over(struct warp *w, const struct insn *i, uint32_t lanes)
{
    struct cluster *cluster = w->block->cluster;
    if (lanes & ~w->cluster_owes) {
        fault(w, i, __builtin_ctz(lanes & ~w->cluster_owes), EMU_LAUNCH_FAILURE,
              "a barrier.cluster.wait without a barrier.cluster.arrive before it");
        return 0;
    }
    if (w->cluster_arrived & lanes && all_arrived(cluster)) complete(cluster);
    if (w->cluster_arrived & lanes) return 0;
    w->cluster_owes &= ~lanes;
    /* The parity has changed since: the completed phase has the other one. */
    if (announces(w->block, ANNOUNCE_ORDER))
        event_cluster_wait(w, i, lanes, barrier_word(cluster, !cluster->parity));
    return lanes;
}

void cluster_report(struct warp *w, const struct insn *i, int lane)
{
    const struct cluster *cluster = w->block->cluster;
    unsigned live = 0, arrived = 0;
    for (unsigned rank = 0; rank < cluster->size; rank++)
        for (unsigned k = 0; k < cluster->blocks[rank]->warp_count; k++) {
            const struct warp *other = &cluster->blocks[rank]->warps[k];
            live += (unsigned)__builtin_popcount(other->live);
            arrived += (unsigned)__builtin_popcount(other->live & other->cluster_arrived);
        }
    fault(
        w, i, lane, EMU_LAUNCH_FAILURE,
        "deadlock: %u of the cluster's %u threads have arrived at barrier.cluster, and the others "
        "wait elsewhere",
        arrived, live);
}

/* ---- addresses in each other's shared memory ------------------------------------------------- */

/* d = the address with the same offset in the block of rank b. It is generic if a is generic. */
void op_mapa(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint64_t address = value_of(w, i, lane), window = address & ~(WINDOW_BYTES - 1);
        uint32_t rank = ((const uint32_t *)slot_at(w, i->b))[lane];
        uint64_t mapped = window | shared_window(rank) | shared_offset(address);
        if (i->lane_bytes == 8)
            ((uint64_t *)slot_at(w, i->d))[lane] = mapped;
        else
            ((uint32_t *)slot_at(w, i->d))[lane] = (uint32_t)mapped;
    }
}

void op_getctarank(struct warp *w, const struct insn *i, uint32_t mask)
{
    for (; mask; mask &= mask - 1) {
        int lane = __builtin_ctz(mask);
        uint32_t offset = (uint32_t)value_of(w, i, lane);
        ((uint32_t *)slot_at(w, i->d))[lane] = offset >> RANK_SHIFT;
    }
}
