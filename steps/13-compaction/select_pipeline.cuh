/*
 * select_pipeline.cuh — the kernel for large n: one block on each multiprocessor that stays to the
 * end.
 *
 * Same as step 12's scan_pipeline except: the sum warps count the elements that are kept. The scan
 * warps vote, and store only kept elements. There are 16 of them in place of 8, because a row takes
 * more instructions here: with 8 warps, the votes take longer than the memory accesses. A segment
 * without kept elements takes no votes. The load and look warps do the same as in step 12. A tile
 * is STAGE_BYTES of elements.
 * What is still bad: if few elements are kept, the schedulers and the L2 cache are busier than the
 * memory (profiles/h200/limits.csv).
 */
#ifndef STEP13_SELECT_PIPELINE_CUH
#define STEP13_SELECT_PIPELINE_CUH

#include "parts/keep.cuh"
#include "parts/segment.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"
#include "steps/12-pipeline/parts/ring.cuh"

#define SEGMENTS    16
#define COUNT_WARPS 4
#define STAGE_BYTES (32 << 10)
enum { LOOK_WARP = SEGMENTS + COUNT_WARPS, LOAD_WARP, PIPELINE_WARPS };
#define PIPELINE_THREADS (PIPELINE_WARPS * LANES)

/* Elements of a tile, of a segment, and of a lane. */
template <typename T> constexpr unsigned TILE_OF = STAGE_BYTES / sizeof(T);
template <typename T> constexpr unsigned SEGMENT_OF = TILE_OF<T> / SEGMENTS;
template <typename T> constexpr unsigned ITEMS_OF = SEGMENT_OF<T> / LANES;

/* Up to this many kept elements of a segment are put together in shared memory, and then stored in
 * whole sectors. If there are more, each row has enough of them to be stored by itself. */
template <typename T> constexpr unsigned FEW_OF = SEGMENT_OF<T> / 2;

/* What the warps share: as step 12's ring, with counts in place of sums. */
template <typename T> struct selection {
    T data[STAGES][TILE_OF<T>];
    barrier full[STAGES];  // the tile is there, and slot.drawn
    barrier empty[STAGES]; // all warps that read the tile have done so
    struct slot {
        barrier ready;             // prefix and before are there
        struct ticket drawn;       // which tile it is; NO_TILE: there are no more
        uint64_t prefix;           // elements that are kept before the tile
        unsigned counts[SEGMENTS]; // of the tile's segments
        unsigned before[SEGMENTS]; // in the segments before, within the tile
    } slot[SLOTS];
    T few[SEGMENTS][FEW_OF<T>]; // what a scan warp keeps of a segment, if it is not more
};

/* Begins to copy tile t to a stage. Lanes copy a segment each. The last elements, less than 16
 * bytes, are stored; what lies beyond n is never read. */
template <typename T>
static __device__ void load_tile(T *to, const T *in, size_t n, unsigned t, barrier *full)
{
    const unsigned SIXTEEN = 16 / sizeof(T);
    size_t begin = (size_t)t * TILE_OF<T>;
    unsigned count = left_of(begin, n, TILE_OF<T>), lane = threadIdx.x % LANES;
    unsigned whole = count / SIXTEEN * SIXTEEN, start = lane * SEGMENT_OF<T>;

    if (whole + lane < count) to[whole + lane] = in[begin + whole + lane];
    if (lane == 0)
        barrier_arrive_expect(full, whole * sizeof(T));
    else
        barrier_arrive(full);
    __syncwarp(); // no bytes may arrive before they are expected
    if (lane < SEGMENTS && start < whole) {
        unsigned part = whole - start < SEGMENT_OF<T> ? whole - start : SEGMENT_OF<T>;
        bulk_load(to + start, in + begin + start, part * sizeof(T), full);
    }
}

/* As step 12's load_role. */
template <typename T>
static __device__ void load_role(selection<T> &ring, struct ticket t, const T *in, size_t n,
                                 unsigned tiles, struct workspace *w)
{
    struct place p = {0, 0, 1, 0}; // parity 1: at first, stages are empty
    int lane = threadIdx.x % LANES;

    while (t.tile < tiles) {
        if (lane == 0) ring.slot[p.slot].drawn = t;
        load_tile(ring.data[p.stage], in, n, t.tile, &ring.full[p.stage]);
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

/* The elements of one segment that are kept, in every lane: each lane counts its own, then the
 * lanes' counts are added by one instruction (Hopper is new enough for it). Whole segments are read
 * in vectors of 16 bytes. */
template <typename T, typename Keep>
static __device__ unsigned count_segment(const T *segment, unsigned left, const Keep &keep)
{
    const unsigned V = 16 / sizeof(T);
    unsigned count = 0, lane = threadIdx.x % LANES;

    if (left == SEGMENT_OF<T>) {
#pragma unroll
        for (unsigned r = 0; r < ITEMS_OF<T> / V; r++) {
            vector<T, V> x = *(const vector<T, V> *)(segment + (r * LANES + lane) * V);
#pragma unroll
            for (unsigned k = 0; k < V; k++) count += keep(x.e[k], 0);
        }
    } else {
        for (unsigned i = lane; i < left; i += LANES) count += keep(segment[i], 0);
    }
    return __reduce_add_sync(ALL_LANES, count);
}

template <typename T, typename Keep>
static __device__ void count_role(selection<T> &ring, size_t n, const Keep &keep,
                                  state<unsigned> *states)
{
    int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES - SEGMENTS;

    for (struct place p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

#pragma unroll
        for (int i = 0; i < SEGMENTS / COUNT_WARPS; i++) {
            int segment = warp + i * COUNT_WARPS;
            size_t begin = (size_t)t.tile * TILE_OF<T> + segment * SEGMENT_OF<T>;
            unsigned count = count_segment(ring.data[p.stage] + segment * SEGMENT_OF<T>,
                                           left_of(begin, n, SEGMENT_OF<T>), keep);
            if (lane == 0) slot.counts[segment] = count;
        }
        barrier_arrive(&ring.empty[p.stage]);

        // Barrier 1 is the count warps' own: the first of them may not read the segments' counts
        // before all are there.
        asm volatile("barrier.sync 1, %0;" ::"n"(COUNT_WARPS * LANES) : "memory");
        if (warp != 0) continue;
        unsigned all = warp_scan<SEGMENTS>(lane < SEGMENTS ? slot.counts[lane] : 0u);
        if (lane == SEGMENTS - 1) write_state(&states[t.tile], t.epoch, all);
        unsigned before = __shfl_up_sync(ALL_LANES, all, 1);
        if (lane < SEGMENTS) slot.before[lane] = lane == 0 ? 0 : before;
        barrier_arrive(&slot.ready);
    }
}

/* As step 12's look_role. */
template <typename T>
static __device__ void look_role(selection<T> &ring, const state<unsigned> *states)
{
    struct progress<unsigned> progress = progress_start<unsigned>();

    for (struct place p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;
        barrier_arrive(&ring.empty[p.stage]); // it reads no element, but must not be overtaken

        uint64_t prefix = prefix_of(states, t.tile, t.epoch, &progress);
        if (threadIdx.x % LANES == 0) slot.prefix = prefix;
        barrier_arrive(&slot.ready);
    }
}

/* Stores `count` elements from out[before] on, lane 0's at the begin of a sector. */
template <typename T>
static __device__ void store_few(T *out, uint64_t before, const T *few, unsigned count)
{
    const unsigned SECTOR = 32 / sizeof(T);
    unsigned head = (unsigned)(before % SECTOR);
    for (unsigned i = threadIdx.x % LANES; i < head + count; i += LANES)
        if (i >= head) out[before - head + i] = few[i - head];
}

template <typename T, typename Keep>
static __device__ void select_role(selection<T> &ring, T *out, uint64_t *kept, size_t n,
                                   unsigned tiles, const Keep &keep)
{
    int segment = threadIdx.x / LANES;

    for (struct place p = {0, 0, 0, 0};; step_on(&p)) {
        auto &slot = ring.slot[p.slot];
        barrier_wait(&ring.full[p.stage], p.stage_parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        // Take the segment, and give the stage back.
        T x[ITEMS_OF<T>];
        unsigned votes[ITEMS_OF<T>];
        size_t begin = (size_t)t.tile * TILE_OF<T> + segment * SEGMENT_OF<T>;
        unsigned left = left_of(begin, n, SEGMENT_OF<T>);
        fetch(x, ring.data[p.stage] + segment * SEGMENT_OF<T>, left);
        barrier_arrive(&ring.empty[p.stage]);

        // Store behind what is kept before the segment.
        barrier_wait(&slot.ready, p.slot_parity);
        uint64_t before = slot.prefix + slot.before[segment];
        unsigned count = slot.counts[segment];
        if (count > 0) vote(votes, x, begin, left, keep);
        if (count > FEW_OF<T>) {
            store_kept(out + before, x, votes);
        } else if (count > 0) {
            store_kept(ring.few[segment], x, votes);
            __syncwarp(); // no lane may read elements before all are there
            store_few(out, before, ring.few[segment], count);
            __syncwarp(); // no lane may write the next segment's before all are read
        }
        if (t.tile == tiles - 1 && threadIdx.x == (SEGMENTS - 1) * LANES)
            *kept = before + count;
    }
}

/* Needs PIPELINE_THREADS threads a block, sizeof(selection<T>) bytes of shared memory, and `in`
 * aligned to 16 bytes. Any number of blocks will do. */
template <typename T, typename Keep>
static __global__ void __launch_bounds__(PIPELINE_THREADS, 1)
    select_pipeline(T *out, uint64_t *kept, const T *in, size_t n, unsigned tiles, Keep keep,
                    struct workspace *w)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    selection<T> &ring = *(selection<T> *)shared;
    int warp = threadIdx.x / LANES;
    struct ticket first = {0, 0};

    // Draw the first ticket while the barriers are made.
    if (warp == LOAD_WARP) {
        if (threadIdx.x % LANES == 0) first = draw_ticket(w);
        first.tile = __shfl_sync(ALL_LANES, first.tile, 0);
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            barrier_init(&ring.full[i], LANES); // of the load warp, beside the bytes
            barrier_init(&ring.empty[i], (SEGMENTS + COUNT_WARPS + 1 /* look */) * LANES);
        }
        for (int i = 0; i < SLOTS; i++)
            barrier_init(&ring.slot[i].ready, 2 * LANES); // a warp of count, and look
        barrier_init_done();
    }
    __syncthreads(); // no thread may use a barrier before it is made

    if (warp < SEGMENTS)
        select_role(ring, out, kept, n, tiles, keep);
    else if (warp < LOOK_WARP)
        count_role(ring, n, keep, states_of<unsigned>(w));
    else if (warp == LOOK_WARP)
        look_role(ring, states_of<unsigned>(w));
    else
        load_role(ring, first, in, n, tiles, w);
#else
    __trap();
#endif
}

#endif
