/*
 * select_pipeline.cuh — the kernel for large n: one block on each multiprocessor that stays to the
 * end.
 *
 * Same as step 12's scan_pipeline except: each element is looked at once. The warps' roles:
 *   load   (1 warp)    draws tickets and begins to copy tiles, and flags, into free stages;
 *   pick   (16 warps)  finds the kept elements of a segment each, and puts them together in place,
 *                      at the segment's begin;
 *   tell   (1 warp)    scans the counts of the segments, and publishes their sum, the tile's count;
 *   look   (1 warp)    finds how many are kept before each tile;
 *   store  (8 warps)   store the segments' kept elements, when all this is known.
 * With flags, 14 warps pick and 10 store.
 * What it fixes: to vote on each row, after counting it, took the schedulers longer than the memory
 * took for the row. To pick takes a dozen instructions for 32 elements.
 * What is still bad: if few elements are kept, the L2 cache is busier than the memory
 * (profiles/h200/limits.csv).
 */
#ifndef STEP13_SELECT_PIPELINE_CUH
#define STEP13_SELECT_PIPELINE_CUH

#include "parts/keep.cuh"
#include "parts/segment.cuh"
#include "parts/ring.cuh"
#include "steps/12-pipeline/parts/prefix.cuh"

enum { TELL_WARP = PICK_AND_STORE_WARPS, LOOK_WARP, LOAD_WARP, PIPELINE_WARPS };
#define PIPELINE_THREADS (PIPELINE_WARPS * LANES)

/* The bytes that bulk copies take of `count` elements: multiples of 16. */
template <typename T> static __device__ unsigned whole_bytes(unsigned count)
{
    return count * (unsigned)sizeof(T) / 16 * 16;
}

/* Stores the elements that are left, fewer than 16 bytes. What lies beyond is never read. */
template <typename T> static __device__ void store_rest(T *to, const T *from, unsigned count)
{
    unsigned i = whole_bytes<T>(count) / sizeof(T) + threadIdx.x % LANES;
    if (i < count) to[i] = from[i];
}

/* Begins to copy the others, a segment a lane. */
template <typename T>
static __device__ void load_segments(T *to, const T *from, unsigned count, unsigned segment,
                                     barrier *full)
{
    unsigned lane = threadIdx.x % LANES, bytes = whole_bytes<T>(count), mine = segment * sizeof(T);
    if (lane * mine >= bytes) return;
    unsigned left = bytes - lane * mine;
    bulk_load((char *)to + lane * mine, (const char *)from + lane * mine, left < mine ? left : mine,
              full);
}

/* Begins to copy tile t to a stage. */
template <typename T, typename Keep>
static __device__ void load_tile(stage_of<T, Keep> &to, const T *in, size_t n, unsigned t,
                                 const Keep &keep, barrier *full)
{
    const bool FLAGS = stage_of<T, Keep>::FLAGS > 0;
    const uint8_t *flags = flags_of<Keep>::array(keep);
    size_t begin = (size_t)t * TILE_OF<T, Keep>;
    unsigned count = left_of(begin, n, TILE_OF<T, Keep>), bytes = whole_bytes<T>(count);

    store_rest(to.elements(), in + begin, count);
    if (FLAGS) {
        store_rest(to.flags(), flags + begin, count);
        bytes += whole_bytes<uint8_t>(count);
    }
    if (threadIdx.x % LANES == 0)
        barrier_arrive_expect(full, bytes);
    else
        barrier_arrive(full);
    __syncwarp(); // no bytes may arrive before they are expected
    load_segments(to.elements(), in + begin, count, SEGMENT_OF<T>, full);
    if (FLAGS) load_segments(to.flags(), flags + begin, count, SEGMENT_OF<T>, full);
}

/* Lane 0 begins to draw the next ticket of this scan, and does not wait for it: the warp waits
 * where it uses *tile. With `if (lane == 0) atomicAdd(…, 1)` it would wait at once: ptxas then adds
 * once for all lanes that are there, and hands out the result. It does not do so if lanes may add
 * different numbers. All lanes are here, because joining two values of *tile is a use, too. */
static __device__ void draw_ahead(struct workspace *w, uint64_t *tile)
{
    asm volatile("{\n\t.reg .pred first;\n\t.reg .u32 lane;\n\t.reg .u64 one;\n\t"
                 "mov.u32 lane, %%laneid;\n\t"
                 "setp.eq.u32 first, %2, 0;\n\t"
                 "add.u32 lane, lane, 1;\n\t"
                 "cvt.u64.u32 one, lane;\n\t"
                 "@first atom.relaxed.gpu.global.add.u64 %0, [%1], one;\n\t}"
                 : "+l"(*tile)
                 : "l"(__cvta_generic_to_global(&w->ticket)), "r"(threadIdx.x % LANES)
                 : "memory");
}

/* As step 12's load_role, except: if less than a quarter of a tile was kept, the next ticket is
 * drawn before there is a stage for its tile. Stages then become free so fast that drawing would be
 * the longest part of loading. If more is kept, drawing ahead loses more than it gains, because all
 * later tiles wait for the count of one that waits for a stage. */
template <typename T, typename Keep>
static __device__ void load_role(selection<T, Keep> &ring, struct ticket t, const T *in, size_t n,
                                 unsigned tiles, const Keep &keep, struct workspace *w)
{
    typename selection<T, Keep>::place p = {0, 1}; // parity 1: at first, stages are empty
    int lane = threadIdx.x % LANES;
    bool ahead = true;
    uint64_t next = 0;

    while (t.tile < tiles) {
        if (lane == 0) ring.slot[p.stage].drawn = t;
        load_tile(ring.stage[p.stage], in, n, t.tile, keep, &ring.full[p.stage]);
        ring.step_on(&p);
        if (ahead) draw_ahead(w, &next);
        barrier_wait(&ring.empty[p.stage], p.parity);
        if (!ahead) draw_ahead(w, &next);
        ahead = ring.slot[p.stage].kept < TILE_OF<T, Keep> / 4;
        t.tile = __shfl_sync(ALL_LANES, (unsigned)next, 0);
    }
    if (lane == 0) {
        ring.slot[p.stage].drawn = {NO_TILE, t.epoch};
        // Every block draws until it gets a ticket without a tile.
        end_if_last(w, t, tiles + gridDim.x);
    }
    barrier_arrive(&ring.full[p.stage]);
}

template <typename T, typename Keep>
static __device__ void pick_role(selection<T, Keep> &ring, size_t n, const Keep &keep)
{
    typedef stored<T, Keep> Stored;
    int segment = threadIdx.x / LANES;

    for (typename selection<T, Keep>::place p = {0, 0};; ring.step_on(&p)) {
        auto &slot = ring.slot[p.stage];
        barrier_wait(&ring.full[p.stage], p.parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        auto &stage = ring.stage[p.stage];
        size_t begin = (size_t)t.tile * TILE_OF<T, Keep> + segment * SEGMENT_OF<T>;
        unsigned left = left_of(begin, n, SEGMENT_OF<T>);
        picked<T> x;
        load_segment(x, stage.elements() + segment * SEGMENT_OF<T>, left, true);
        __syncwarp(); // no lane may store to the segment before all have loaded theirs
        if constexpr (flags_of<Keep>::ARE_THERE)
            pick_flagged(x, stage.flags() + segment * SEGMENT_OF<T>, left, keep);
        else
            pick(x, begin, left, keep);
        struct places places = find_places(x.kept);
        if (!Stored::AS_IT_IS || places.count < SEGMENT_OF<T>)
            put_together<Stored>(stage.list(segment), x, places, segment * SEGMENT_OF<T>);
        if (threadIdx.x % LANES == 0) slot.counts[segment] = places.count;
        // These stores come before those of the copy that fills the stage next.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        barrier_arrive(&slot.picked);
    }
}

template <typename T, typename Keep>
static __device__ void tell_role(selection<T, Keep> &ring, state<unsigned> *states)
{
    int lane = threadIdx.x % LANES;

    for (typename selection<T, Keep>::place p = {0, 0};; ring.step_on(&p)) {
        auto &slot = ring.slot[p.stage];
        barrier_wait(&ring.full[p.stage], p.parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        barrier_wait(&slot.picked, p.parity);
        unsigned all =
            warp_scan<PICK_WARPS<Keep>>(lane < PICK_WARPS<Keep> ? slot.counts[lane] : 0u);
        if (lane == PICK_WARPS<Keep> - 1) {
            write_state(&states[t.tile], t.epoch, all);
            slot.kept = all;
        }
        unsigned before = __shfl_up_sync(ALL_LANES, all, 1);
        if (lane < PICK_WARPS<Keep>) slot.before[lane] = lane == 0 ? 0 : before;
        barrier_arrive(&slot.ready);
    }
}

template <typename T, typename Keep>
static __device__ void look_role(selection<T, Keep> &ring, const state<unsigned> *states)
{
    struct progress<unsigned> progress = progress_start<unsigned>();

    for (typename selection<T, Keep>::place p = {0, 0};; ring.step_on(&p)) {
        auto &slot = ring.slot[p.stage];
        barrier_wait(&ring.full[p.stage], p.parity);
        struct ticket t = slot.drawn;
        if (t.tile == NO_TILE) return;

        uint64_t prefix = prefix_of(states, t.tile, t.epoch, &progress);
        if (threadIdx.x % LANES == 0) slot.prefix = prefix;
        barrier_arrive(&slot.ready);
    }
}

template <typename T, typename Keep>
static __device__ void store_role(selection<T, Keep> &ring, typename stored<T, Keep>::type *out,
                                  uint64_t *kept, unsigned tiles)
{
    typedef stored<T, Keep> Stored;
    int warp = threadIdx.x / LANES - PICK_WARPS<Keep>;

    for (typename selection<T, Keep>::place p = {0, 0};; ring.step_on(&p)) {
        auto &slot = ring.slot[p.stage];
        barrier_wait(&ring.full[p.stage], p.parity);
        unsigned tile = slot.drawn.tile;
        if (tile == NO_TILE) return;

        // `ready` comes after `picked`, but racecheck does not see that.
        barrier_wait(&slot.picked, p.parity);
        barrier_wait(&slot.ready, p.parity);
#pragma unroll
        for (int segment = warp; segment < PICK_WARPS<Keep>; segment += STORE_WARPS<Keep>)
            store_list<Stored>(out + slot.prefix + slot.before[segment],
                               ring.stage[p.stage].list(segment), slot.counts[segment],
                               (size_t)tile * TILE_OF<T, Keep>, threadIdx.x % LANES, LANES);
        if (tile == tiles - 1 && threadIdx.x == PICK_WARPS<Keep> * LANES)
            *kept = slot.prefix + slot.kept;
        barrier_arrive(&ring.empty[p.stage]);
    }
}

/* Needs PIPELINE_THREADS threads a block, sizeof(selection<T, Keep>) bytes of shared memory, and
 * `in` and flags aligned to 16 bytes. Any number of blocks will do. */
template <typename T, typename Keep>
static __global__ void __launch_bounds__(PIPELINE_THREADS, 1)
    select_pipeline(typename stored<T, Keep>::type *out, uint64_t *kept, const T *in, size_t n,
                    unsigned tiles, Keep keep, struct workspace *w)
{
#if __CUDA_ARCH__ >= 900
    extern __shared__ __align__(128) unsigned char shared[];
    typedef selection<T, Keep> Ring;
    Ring &ring = *(Ring *)shared;
    int warp = threadIdx.x / LANES;
    struct ticket first = {0, 0};

    // Draw the first ticket while the barriers are made.
    if (warp == LOAD_WARP) {
        if (threadIdx.x % LANES == 0) first = draw_ticket(w);
        first.tile = __shfl_sync(ALL_LANES, first.tile, 0);
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < Ring::STAGES; i++) {
            barrier_init(&ring.full[i], LANES); // of the load warp, beside the bytes
            barrier_init(&ring.empty[i], STORE_WARPS<Keep> * LANES);
            barrier_init(&ring.slot[i].picked, PICK_WARPS<Keep> * LANES);
            barrier_init(&ring.slot[i].ready, 2 * LANES); // of tell and look
            ring.slot[i].kept = 0;
        }
        barrier_init_done();
    }
    __syncthreads(); // no thread may use a barrier before it is made

    if (warp < PICK_WARPS<Keep>)
        pick_role(ring, n, keep);
    else if (warp < TELL_WARP)
        store_role(ring, stored<T, Keep>::first(out, keep), kept, tiles);
    else if (warp == TELL_WARP)
        tell_role(ring, states_of<unsigned>(w));
    else if (warp == LOOK_WARP)
        look_role(ring, states_of<unsigned>(w));
    else
        load_role(ring, first, in, n, tiles, keep, w);
#else
    __trap();
#endif
}

#endif
