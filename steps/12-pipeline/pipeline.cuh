/*
 * pipeline.cuh — the kernel for large n: one block on each multiprocessor that stays to the end.
 *
 * Its warps have four roles, and hand tiles to each other through a ring in shared memory:
 *   load  (1 warp)   draws tickets and begins to copy tiles into free stages;
 *   sum   (4 warps)  add up each tile as soon as it is there, and publish its sum;
 *   look  (1 warp)   finds each tile's prefix from the sums that all blocks have published;
 *   scan  (8 warps)  scan the tile once more from shared memory, with its prefix, and store it.
 * The sums run ahead of the scans by some tiles, so those that a tile's prefix needs have been
 * published when it is to be scanned. The scan warps wait only for the look warp to add them up.
 *
 * Every lane arrives at a barrier for itself, when it has done what the barrier stands for. One
 * lane for its warp would do, behind a __syncwarp(), and is no faster; but compute-sanitizer's
 * racecheck loses the thread there (notes/checks.md).
 */
#ifndef STEP12_PIPELINE_CUH
#define STEP12_PIPELINE_CUH

#include "parts/barrier.cuh"
#include "parts/segment.cuh"
#include "parts/prefix.cuh"

#define SCAN_WARPS TILE_SEGMENTS /* a segment each */
#define SUM_WARPS  4
enum { LOOK_WARP = SCAN_WARPS + SUM_WARPS, LOAD_WARP, PIPELINE_WARPS };
#define PIPELINE_THREADS (PIPELINE_WARPS * LANES)

/* The ring: a tile takes the next stage, and with it the next slot. A stage is given back as soon
 * as its elements are in registers; what is said about the tile stays in its slot for longer, so
 * there are twice as many slots. */
#define STAGES 6 /* of 32 KiB for sums as wide as elements: 192 of an H200's 227 KiB */
#define SLOTS  (2 * STAGES)

template <typename In, typename Sum> struct ring_of {
    In data[STAGES][TILE(sizeof(Sum))];

    barrier full[STAGES];  // the tile has arrived, and slot.drawn is written
    barrier empty[STAGES]; // all readers of the tile have read it
    struct slot {
        barrier ready;                       // prefix and before are written
        struct ticket drawn;                 // the tile; NO_TILE: there are no more
        typename carry_of<Sum>::type prefix; // the sum of all tiles before
        Sum sums[TILE_SEGMENTS];             // of the tile's segments
        Sum before[TILE_SEGMENTS];           // of the segments before, within the tile
    } slot[SLOTS];
};

#define NO_TILE 0xffffffffu

/* The place of a warp in the ring. The parity says which phase of a barrier it waits for
 * (barrier.cuh). */
struct place {
    int stage, slot;
    unsigned stage_parity, slot_parity;
};

static __device__ void step_on(struct place *p)
{
    if (++p->stage == STAGES) p->stage = 0, p->stage_parity ^= 1;
    if (++p->slot == SLOTS) p->slot = 0, p->slot_parity ^= 1;
}

/* experiments/timeline.cu defines this macro, and records when a role reaches a step of its
 * work. */
#ifndef MOMENT
#define MOMENT(tile, what)
#endif

/* One segment of a tile, from shared memory. */
template <typename In, int V>
static __device__ void read_segment(vector<In, V> (&x)[TILE_ROWS], const In *tile, int segment)
{
    const vector<In, V> *row = (const vector<In, V> *)tile + segment * TILE_ROWS * LANES;
#pragma unroll
    for (int r = 0; r < TILE_ROWS; r++) x[r] = row[r * LANES + threadIdx.x % LANES];
}

/* Begins to copy tile t to a stage. Elements at n and beyond become 0. Each lane copies a segment,
 * because the unit that copies works at several copies at a time. The last elements, fewer than 16
 * bytes, and the zeros are stored by the lanes. */
template <typename In, typename Sum>
static __device__ void load_tile(In *to, const In *in, size_t n, unsigned t, barrier *full)
{
    const unsigned PART = TILE(sizeof(Sum)) / TILE_SEGMENTS, SIXTEEN = 16 / sizeof(In);
    size_t begin = (size_t)t * TILE(sizeof(Sum));
    unsigned count = n - begin < TILE(sizeof(Sum)) ? (unsigned)(n - begin) : TILE(sizeof(Sum));
    unsigned whole = count / SIXTEEN * SIXTEEN, lane = threadIdx.x % LANES;

    for (unsigned i = whole + lane; i < TILE(sizeof(Sum)); i += LANES)
        to[i] = i < count ? in[begin + i] : (In)0;
    if (lane == 0)
        barrier_arrive_expect(full, whole * sizeof(In));
    else
        barrier_arrive(full);
    __syncwarp(); // no bytes may arrive before they are expected
    if (lane < TILE_SEGMENTS && lane * PART < whole) {
        unsigned part = whole - lane * PART < PART ? whole - lane * PART : PART;
        bulk_load(to + lane * PART, in + begin + lane * PART, part * sizeof(In), full);
    }
}

/* A ticket is drawn only when there is a stage for its tile. All later tiles wait for the sum of
 * that tile, and would wait for the stage as well. The first ticket has been drawn already. */
template <typename In, typename Sum>
static __device__ void load_role(ring_of<In, Sum> &ring, struct ticket t, const In *in, size_t n,
                                 unsigned tiles, struct workspace *w)
{
    struct place p = {0, 0, 1, 0}; // parity 1: at first, stages are empty
    int lane = threadIdx.x % LANES;

    while (t.tile < tiles) {
        MOMENT(t.tile, COPY);
        if (lane == 0) ring.slot[p.slot].drawn = t;
        load_tile<In, Sum>(ring.data[p.stage], in, n, t.tile, &ring.full[p.stage]);
        step_on(&p);
        barrier_wait(&ring.empty[p.stage], p.stage_parity);
        if (lane == 0) t = draw_ticket(w);
        t.tile = __shfl_sync(ALL_LANES, t.tile, 0);
    }
    if (lane == 0) {
        ring.slot[p.slot].drawn = {NO_TILE, t.epoch};
        // Every block draws until it gets a ticket without a tile.
        end_if_last(w, t, tiles + gridDim.x);
    }
    barrier_arrive(&ring.full[p.stage]);
}

template <typename In, typename Sum>
static __device__ void sum_role(ring_of<In, Sum> &ring, state<Sum> *states)
{
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES - SCAN_WARPS;

    for (struct place p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;
        MOMENT(t.tile, SUM);

#pragma unroll
        for (int i = 0; i < TILE_SEGMENTS / SUM_WARPS; i++) {
            vector_of<In, Sum> x[TILE_ROWS];
            read_segment(x, ring.data[p.stage], warp + i * SUM_WARPS);
            Sum sum = segment_sum<Sum>(x);
            if (lane == 0) slot.sums[warp + i * SUM_WARPS] = sum;
        }
        barrier_arrive(&ring.empty[p.stage]);

        // Barrier 1 is for the sum warps only. All of them have to write their segments' sums
        // before the first of them reads the sums.
        asm volatile("barrier.sync 1, %0;" ::"n"(SUM_WARPS * LANES) : "memory");
        if (warp != 0) continue;
        Sum all = warp_scan(lane < TILE_SEGMENTS ? slot.sums[lane] : (Sum)0);
        if (lane == TILE_SEGMENTS - 1) write_state(&states[t.tile], t.epoch, all);
        MOMENT(t.tile, PUBLISHED);
        Sum before = __shfl_up_sync(ALL_LANES, all, 1);
        if (lane < TILE_SEGMENTS) slot.before[lane] = lane == 0 ? 0 : before;
        barrier_arrive(&slot.ready);
    }
}

/* What the look warp is at: the tile whose prefix is to be found, and its place. */
template <typename Sum> struct search {
    struct place p;
    struct ticket t;
    struct progress<Sum> progress;
};

/* The ticket of the tile at p, which has arrived. */
template <typename In, typename Sum>
static __device__ struct ticket take_ticket(ring_of<In, Sum> &ring, struct place p)
{
    struct ticket t = ring.slot[p.slot].drawn;
    if (t.tile == NO_TILE) return t;
    barrier_arrive(&ring.empty[p.stage]); // it reads no element, but must keep up
    return t;
}

/* Finds the prefix of one tile, whose states are being loaded to `now`. Before it waits for them it
 * begins to load those of the next tile, if that one has arrived: so the latencies overlap. Returns
 * false if there is no next tile. */
template <typename In, typename Sum>
static __device__ bool look_at(ring_of<In, Sum> &ring, const state<Sum> *states,
                               struct search<Sum> *s, struct window<Sum> &now,
                               struct window<Sum> &next)
{
    auto &slot = ring.slot[s->p.slot];
    unsigned tile = s->t.tile, epoch = s->t.epoch;
    step_on(&s->p);
    barrier *full = &ring.full[s->p.stage];
    bool early = __all_sync(ALL_LANES, barrier_test(full, s->p.stage_parity));

    if (early) {
        s->t = take_ticket(ring, s->p);
        if (s->t.tile != NO_TILE) load_window(next, states, first_from(tile), s->t.tile);
    }
    MOMENT(tile, LOOKING);
    auto prefix = prefix_from(now, states, tile, epoch, &s->progress);
    MOMENT(tile, FOUND);
    if (threadIdx.x % LANES == 0) slot.prefix = prefix;
    barrier_arrive(&slot.ready);

    if (!early) {
        barrier_wait(full, s->p.stage_parity);
        s->t = take_ticket(ring, s->p);
        if (s->t.tile != NO_TILE) load_window(next, states, first_from(tile), s->t.tile);
    }
    return s->t.tile != NO_TILE;
}

/* The two windows take turns: to move a register that is being loaded would be to wait for it. */
template <typename In, typename Sum>
static __device__ void look_role(ring_of<In, Sum> &ring, const state<Sum> *states)
{
    struct search<Sum> s = {{0, 0, 0, 0}, {}, progress_start<Sum>()};
    struct window<Sum> even, odd;

    barrier_wait(&ring.full[s.p.stage], s.p.stage_parity);
    s.t = take_ticket(ring, s.p);
    if (s.t.tile == NO_TILE) return;
    load_window(even, states, s.progress.next, s.t.tile);
    while (look_at(ring, states, &s, even, odd) && look_at(ring, states, &s, odd, even));
}

template <bool INCLUSIVE, typename In, typename Sum>
static __device__ void scan_role(ring_of<In, Sum> &ring, Sum *out, size_t n)
{
    int segment = threadIdx.x / LANES;

    for (struct place p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        MOMENT(t.tile, SCAN);
        vector_of<In, Sum> x[TILE_ROWS];
        vector_of<Sum, Sum> y[TILE_ROWS];
        read_segment(x, ring.data[p.stage], segment);
        barrier_arrive(&ring.empty[p.stage]);
        segment_scan<INCLUSIVE>(x, y);

        MOMENT(t.tile, SCANNED);
        barrier_wait(&slot.ready, p.slot_parity);
        MOMENT(t.tile, STORE);
        size_t begin = ((size_t)t.tile * TILE_SEGMENTS + segment) * TILE_ROWS * ROW(sizeof(Sum));
        store_segment(out, begin, n, (Sum)(slot.prefix + slot.before[segment]), y, true);
        MOMENT(t.tile, STORED);
    }
}

/* Needs PIPELINE_THREADS threads per block, sizeof(ring_of<In, Sum>) bytes of shared memory, and in
 * and out aligned to 16 bytes. Works with any number of blocks. */
template <bool INCLUSIVE, typename In, typename Sum>
static __global__ void __launch_bounds__(PIPELINE_THREADS, 1)
    scan_pipeline(Sum *out, const In *in, size_t n, unsigned tiles, struct workspace *w)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    ring_of<In, Sum> &ring = *(ring_of<In, Sum> *)shared;
    int warp = threadIdx.x / LANES;
    struct ticket first = {0, 0};

    // Draw the first ticket while the barriers are made.
    if (warp == LOAD_WARP) {
        if (threadIdx.x % LANES == 0) first = draw_ticket(w);
        first.tile = __shfl_sync(ALL_LANES, first.tile, 0);
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&ring.full[i], LANES); // lanes of the load warp, besides the bytes
            barrier_init(&ring.empty[i], (SCAN_WARPS + SUM_WARPS + 1 /* look */) * LANES);
        }
        for (int i = 0; i < SLOTS; i++)
            barrier_init(&ring.slot[i].ready, 2 * LANES); // a sum warp and the look warp
        barrier_init_done();
    }
    __syncthreads(); // no thread may use a barrier before it is made

    if (warp < SCAN_WARPS)
        scan_role<INCLUSIVE>(ring, out, n);
    else if (warp < LOOK_WARP)
        sum_role(ring, states_of<Sum>(w));
    else if (warp == LOOK_WARP)
        look_role(ring, states_of<Sum>(w));
    else
        load_role(ring, first, in, n, tiles, w);
#else
    __trap();
#endif
}

#endif
