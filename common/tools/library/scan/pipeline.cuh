/*
 * pipeline.cuh — the kernel for large n, on Hopper and later.
 *
 * Same as step 12's pipeline except: a tile comes from up to three arrays; sums keep the order of
 * the elements; heads end sequences; a reverse scan mirrors the array (shape.h); and a segment of
 * a text is scanned in words (text.cuh). The roles are step 12's: load (1 warp), sum (4
 * warps), look (1 warp), scan (8 warps).
 */
#ifndef STEP16_PIPELINE_CUH
#define STEP16_PIPELINE_CUH

#include "near.cuh"
#include "steps/16-operators/prefix.cuh"
#include "ring.cuh"
#include "text.cuh"

#define SCAN_WARPS SEGMENTS /* a segment each */
#define SUM_WARPS  4
enum { LOOK_WARP = SCAN_WARPS + SUM_WARPS, LOAD_WARP, PIPELINE_WARPS };
#define PIPELINE_THREADS (PIPELINE_WARPS * LANES)

/* ---- load ------------------------------------------------------------------------------------ */

/* Heads of long rows have no array. They are for the kernel of BITS, which then reads none. */
template <enum heads HEADS, typename Op> static __device__ bool has_array(const job<Op> &j)
{
    return HEADS_READ(HEADS) && !(HEADS == BITS && j.kind == ROWS);
}

/* The bytes that a bulk copy takes of `count` elements: multiples of 16. */
template <typename T> static __device__ unsigned whole_bytes(unsigned count)
{
    return count * (unsigned)sizeof(T) / 16 * 16;
}

/* Begins to copy `count` elements, in parts of `part` elements, a lane each. The last ones, fewer
 * than 16 bytes, have been stored by store_rest. */
template <typename T>
static __device__ void load_array(T *to, const T *from, unsigned count, unsigned part, barrier *b)
{
    unsigned lane = threadIdx.x % LANES, bytes = whole_bytes<T>(count), mine = part * sizeof(T);
    if (lane >= SEGMENTS || lane * mine >= bytes) return;
    unsigned left = bytes - lane * mine;
    bulk_load((char *)to + lane * mine, (const char *)from + lane * mine, left < mine ? left : mine,
              b);
}

static __device__ void load_array(no_input *, const no_input *, unsigned, unsigned, barrier *) {}

template <typename T> static __device__ void store_rest(T *to, const T *from, unsigned count)
{
    unsigned i = whole_bytes<T>(count) / sizeof(T) + threadIdx.x % LANES;
    if (i < count) to[i] = from[i];
}

static __device__ void store_rest(no_input *, const no_input *, unsigned) {}

/* The neighbours of the tile's heads that H(i) needs: keys before it, or in a reverse scan what
 * comes behind it. Returns where the 16 bytes lie, NULL if the array ends there or they are not
 * all there. */
template <bool REVERSE, enum heads HEADS, typename T>
static __device__ const T *halo_of(const T *heads, size_t at, unsigned count, size_t all)
{
    if (!REVERSE && (HEADS != KEYS || at == 0)) return NULL;
    if (!REVERSE) return heads + at - HALO / sizeof(T);
    return at + count + HALO / sizeof(T) <= all ? heads + at + count : NULL;
}

/* Begins to copy tile t to a stage. */
template <bool REVERSE, enum heads HEADS, typename Op>
static __device__ void load_tile(unsigned char *stage, const job<Op> &j, unsigned t, barrier *full)
{
    typedef stage_of<Op, HEADS> Stage;
    typedef typename Stage::Head Head;
    const unsigned ELEMENTS = Stage::ELEMENTS, PER = HEADS_PER(HEADS);
    size_t begin = begin_of<MANY_ROWS>(REVERSE, j, t);
    unsigned count = j.n - begin < ELEMENTS ? (unsigned)(j.n - begin) : ELEMENTS;
    unsigned lane = threadIdx.x % LANES;
    auto *in = (typename Op::In *)stage;
    auto *in2 = (typename Op::In2 *)(stage + Stage::IN2);
    auto *heads = (Head *)(stage + Stage::OF_HEADS), *halo = (Head *)(stage + Stage::OF_HALO);
    const Head *heads_from = (const Head *)j.heads + begin / PER, *halo_from = NULL;
    unsigned bytes = whole_bytes<typename Op::In>(count), head_count = (count + PER - 1) / PER;

    store_rest(in, j.in + begin, count);
    store_rest(in2, j.in2 + begin, count);
    if (bytes_of<typename Op::In2>::value > 0) bytes += whole_bytes<typename Op::In2>(count);
    if (has_array<HEADS>(j)) {
        size_t all = (j.n + PER - 1) / PER;
        store_rest(heads, heads_from, head_count);
        bytes += whole_bytes<Head>(head_count);
        halo_from = halo_of<REVERSE, HEADS>((const Head *)j.heads, begin / PER, head_count, all);
        if (halo_from)
            bytes += HALO;
        else if (REVERSE && lane == 0 && begin / PER + head_count < all)
            halo[0] = heads_from[head_count]; // too few are left for a copy of 16 bytes
    }
    if (lane == 0)
        barrier_arrive_expect(full, bytes);
    else
        barrier_arrive(full);
    __syncwarp(); // no bytes may arrive before they are expected
    load_array(in, j.in + begin, count, ELEMENTS / SEGMENTS, full);
    load_array(in2, j.in2 + begin, count, ELEMENTS / SEGMENTS, full);
    if (has_array<HEADS>(j)) {
        load_array(heads, heads_from, head_count, ELEMENTS / PER / SEGMENTS, full);
        if (lane == 0 && halo_from) bulk_load(halo, halo_from, HALO, full);
    }
}

/* A ticket is drawn only when there is a stage for its tile. The first one has been drawn. */
template <bool REVERSE, enum heads HEADS, typename Op>
static __device__ void load_role(ring_of<Op, HEADS> &ring, const job<Op> &j, struct ticket t)
{
    struct place<ring_of<Op, HEADS>::STAGES> p = {
        0, 0, 1, 0
    }; // parity 1: stages are empty
    int lane = threadIdx.x % LANES;

    while (t.tile < j.tiles) {
        auto &slot = ring.slot[p.slot];
        if (lane == 0) {
            slot.drawn = t;
            if (HEADS == BITS && j.kind == ROWS)
                slot.first_head = head_from(begin_of<MANY_ROWS>(REVERSE, j, t.tile), j.row);
        }
        load_tile<REVERSE, HEADS>(ring.data[p.stage], j, t.tile, &ring.full[p.stage]);
        step_on(&p);
        barrier_wait(&ring.empty[p.stage], p.stage_parity);
        if (lane == 0) t = draw_ticket(j.workspace);
        t.tile = __shfl_sync(ALL_LANES, t.tile, 0);
    }
    if (lane == 0) {
        ring.slot[p.slot].drawn = {NO_TILE, t.epoch};
        // Every block draws until it gets a ticket without a tile.
        end_if_last(j.workspace, t, j.tiles + gridDim.x);
    }
    barrier_arrive(&ring.full[p.stage]);
}

/* ---- from a stage to registers --------------------------------------------------------------- */

/* H of the V elements from `at` on in memory, as bits. H(0) and H(n) are for the caller. */
template <bool REVERSE, enum heads HEADS, typename Op, int V>
static __device__ unsigned staged_bits(const unsigned char *stage, int at)
{
    typedef stage_of<Op, HEADS> Stage;
    auto *heads = (const typename Stage::Head *)(stage + Stage::OF_HEADS);
    auto *halo = (const typename Stage::Head *)(stage + Stage::OF_HALO);
    unsigned bits = 0;

    if (HEADS == BITS) {
        // The word behind the last one is the first of the halo, which follows.
        unsigned word = heads[at / 32] >> at % 32;
        if (REVERSE) word = __funnelshift_r(heads[at / 32], heads[at / 32 + 1], at % 32 + 1);
        if (REVERSE && at % 32 == 31) word = heads[at / 32 + 1];
        return word & bits_below(V);
    }
    if (HEADS == BYTES) {
#pragma unroll
        for (int k = 0; k < V; k++) bits |= (heads[at + k + REVERSE] != 0) << k;
        return bits;
    }
    // Keys: each is compared with its neighbour, which may be the last one of the halo.
    typename Stage::Head key[V];
    take<typename Stage::Head, V>(key, heads + at);
    auto beside = REVERSE ? heads[at + V] : at > 0 ? heads[at - 1] : halo[HALO / sizeof(*halo) - 1];
#pragma unroll
    for (int k = 0; k < V; k++) {
        auto other = REVERSE ? (k < V - 1 ? key[k + 1] : beside) : (k > 0 ? key[k - 1] : beside);
        bits |= (key[k] != other) << k;
    }
    return bits;
}

/* One segment of a tile. Returns its heads. Elements at n and beyond become the identity. */
template <bool REVERSE, enum heads HEADS, typename Op, int R, int V>
static __device__ unsigned read_segment(const job<Op> &j, typename Op::State (&x)[R][V],
                                        const unsigned char *stage, unsigned first_head, unsigned t,
                                        int segment)
{
    auto *in = (const typename Op::In *)stage;
    auto *in2 = (const typename Op::In2 *)(stage + stage_of<Op, HEADS>::IN2);
    size_t begin = begin_of<MANY_ROWS>(REVERSE, j, t);
    unsigned heads = 0;

#pragma unroll
    for (int r = 0; r < R; r++) {
        int at = vector_at<R, V>(REVERSE, segment, r);
        typename Op::In a[V];
        typename Op::In2 b[V];
        take(a, in + at);
        take(b, in2 + at);
#pragma unroll
        for (int k = 0; k < V; k++)
            x[r][k] = state_of(j.op, mirrored(REVERSE, a, k), mirrored(REVERSE, b, k),
                               begin + at + in_memory<V>(REVERSE, k));
        if (HEADS_READ(HEADS)) {
            unsigned bits = has_array<HEADS>(j) ? staged_bits<REVERSE, HEADS, Op, V>(stage, at)
                                                : one_head<V>(first_head, at + REVERSE);
            heads |= in_order<V>(REVERSE, bits) << (r * V);
        }
    }
    // The first element of the scan, and what lies outside of the array, are in the first or last
    // tile.
    if (t == 0 || begin + stage_of<Op, HEADS>::ELEMENTS > j.n)
        heads = at_edges(REVERSE, j, x, heads, begin, segment);
    return heads;
}

/* ---- the other roles ------------------------------------------------------------------------- */

template <bool REVERSE, enum heads HEADS, typename Op>
static __device__ void sum_role(ring_of<Op, HEADS> &ring, const job<Op> &j)
{
    typedef typename Op::State State;
    const int V = LANE_TAKES(WIDEST<Op>);
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES - SCAN_WARPS;
    published<State> *states = published_of<State>(j.workspace);

    for (struct place<ring_of<Op, HEADS>::STAGES> p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

#pragma unroll 1
        for (int i = 0; i < SEGMENTS / SUM_WARPS; i++) {
            int segment = warp + i * SUM_WARPS;
            State sum;
            bool head = false;
            if constexpr (HEADS == NO_HEADS && IS_TEXT<Op>) {
                size_t begin = begin_of<MANY_ROWS>(REVERSE, j, t.tile);
                sum = text_sum<REVERSE, MANY_ROWS>(j, ring.data[p.stage], begin, segment);
            } else {
                State x[MANY_ROWS][V];
                unsigned heads = read_segment<REVERSE, HEADS>(j, x, ring.data[p.stage],
                                                              slot.first_head, t.tile, segment);
                head = HEADS != NO_HEADS && drop_before_last_head(j.op, x, heads);
                sum = segment_sum(j.op, x);
            }
            if (lane == 0) slot.sums[segment] = sum, slot.heads[segment] = head;
        }
        barrier_arrive(&ring.empty[p.stage]);

        // Barrier 1 is for the sum warps only. All of them have to write their segments' sums
        // before the first of them reads the sums.
        asm volatile("barrier.sync 1, %0;" ::"n"(SUM_WARPS * LANES) : "memory");
        if (warp != 0) continue;
        bool mine = lane < SEGMENTS;
        unsigned lanes = HEADS == NO_HEADS ? 0 : __ballot_sync(ALL_LANES, mine && slot.heads[lane]);
        State all = warp_scan(j.op, mine ? slot.sums[lane] : j.op.identity(), reach_of(lanes));
        if (lane == SEGMENTS - 1) publish(&states[t.tile], t.epoch, {all, lanes != 0});
        State before = from_left(all, 1);
        if (mine) slot.before[lane] = lane == 0 ? j.op.identity() : before;
        if (HEADS != NO_HEADS) {
            unsigned open = __ballot_sync(ALL_LANES, (lanes & bits_below(lane)) == 0);
            if (lane == 0) slot.open = open;
        }
        barrier_arrive(&slot.ready);
    }
}

template <enum heads HEADS, typename Op>
static __device__ void look_role(ring_of<Op, HEADS> &ring, const job<Op> &j)
{
    typedef typename Op::State State;
    const published<State> *states = published_of<State>(j.workspace);
    struct progress<State> progress = {
        {HEADS == NO_HEADS ? j.initial : j.op.identity(), false}, 0
    };

    for (struct place<ring_of<Op, HEADS>::STAGES> p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;
        barrier_arrive(&ring.empty[p.stage]); // it reads no element, but must keep up
        auto prefix = prefix_of(j.op, states, t.tile, t.epoch, &progress);
        if (threadIdx.x % LANES == 0) slot.prefix = prefix.value;
        barrier_arrive(&slot.ready);
    }
}

template <bool REVERSE, enum heads HEADS, typename Op>
static __device__ void scan_role(ring_of<Op, HEADS> &ring, const job<Op> &j)
{
    typedef typename Op::State State;
    const int V = LANE_TAKES(WIDEST<Op>);
    const bool HEADED = HEADS != NO_HEADS;
    int segment = threadIdx.x / LANES;

    for (struct place<ring_of<Op, HEADS>::STAGES> p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        size_t begin = begin_of<MANY_ROWS>(REVERSE, j, t.tile);
        auto base = [&] {
            barrier_wait(&slot.ready, p.slot_parity);
            if (HEADED && !(slot.open >> segment & 1)) return slot.before[segment];
            return segment == 0 ? slot.prefix : j.op.combine(slot.prefix, slot.before[segment]);
        };
        if constexpr (HEADS == NO_HEADS && IS_TEXT<Op>) {
            struct scanned_text<MANY_ROWS> scanned;
            text_scan<REVERSE>(j, ring.data[p.stage], begin, segment, scanned);
            barrier_arrive(&ring.empty[p.stage]);
            store_text<REVERSE>(j, begin, segment, scanned, base());
        } else {
            State own[MANY_ROWS][V], x[MANY_ROWS][V];
            rows_before<State, MANY_ROWS> before;
            unsigned heads = read_segment<REVERSE, HEADS>(j, own, ring.data[p.stage],
                                                          slot.first_head, t.tile, segment);
            barrier_arrive(&ring.empty[p.stage]);
            memcpy(x, own, sizeof x);
            segment_scan<HEADED>(j.op, x, heads, before);
            store_segment<HEADED>(REVERSE, j, begin, segment, own, x, heads, before, base());
        }
    }
}

/* Needs PIPELINE_THREADS threads per block, sizeof(ring_of<Op, HEADS>) bytes of shared memory, and
 * arrays aligned to 16 bytes. Works with any number of blocks. */
template <bool REVERSE, enum heads HEADS, typename Op>
static __global__ void __launch_bounds__(PIPELINE_THREADS, 1)
    scan_pipeline(const __grid_constant__ job<Op> j)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    typedef ring_of<Op, HEADS> Ring;
    Ring &ring = *(Ring *)shared;
    int warp = threadIdx.x / LANES;
    struct ticket first = {0, 0};

    // Draw the first ticket while the barriers are made.
    if (warp == LOAD_WARP) {
        if (threadIdx.x % LANES == 0) first = draw_ticket(j.workspace);
        first.tile = __shfl_sync(ALL_LANES, first.tile, 0);
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < Ring::STAGES; i++) {
            barrier_init(&ring.full[i], LANES); // lanes of the load warp, besides the bytes
            barrier_init(&ring.empty[i], (SCAN_WARPS + SUM_WARPS + 1 /* look */) * LANES);
        }
        for (int i = 0; i < Ring::SLOTS; i++)
            barrier_init(&ring.slot[i].ready, 2 * LANES); // a sum warp and the look warp
        barrier_init_done();
    }
    __syncthreads(); // no thread may use a barrier before it is made

    if (warp < SCAN_WARPS)
        scan_role<REVERSE>(ring, j);
    else if (warp < LOOK_WARP)
        sum_role<REVERSE>(ring, j);
    else if (warp == LOOK_WARP)
        look_role(ring, j);
    else
        load_role<REVERSE>(ring, j, first);
#else
    __trap();
#endif
}

#endif
