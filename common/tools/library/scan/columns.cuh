/*
 * columns.cuh — the kernel for columns: the array is many rows, and each column is a sequence.
 *
 * Memory is read row by row, as it lies. A warp takes up to 32 neighbouring columns, one per lane.
 * If there are fewer, it takes several rows at a time: lane l has row l / columns and column
 * l % columns. A warp takes a segment by ACCESSES such accesses. A tile consists of the segments of
 * all scan warps of a block, one below the other. A strip is 32 neighbouring columns, from the
 * first row to the last. Each tile publishes a sum for each of its columns.
 *
 * The prefix: the tiles of a strip are divided into windows of COLUMN_WINDOW tiles. The last tile
 * of each window publishes the sum of the window as well. So a tile combines, for each column and
 * in order, the sums of whole windows, and then those of the tiles before it in its own window.
 *
 * A block has three tiles at a time in shared memory: `third`, `next` and `now`. The elements of
 * `third` are being copied. The elements of `next` have arrived, and its sums are being published.
 * The sums of `now` have been published, and the look warps find its prefixes. Then the results of
 * `now` are stored. With one tile at a time, all blocks would load, wait and store at the same
 * time.
 * What is still bad: with fewer than 32 columns an access has several rows, and each is scanned
 * over the lanes, twice; two columns are scanned by pairs.cuh. With more strips than STRIPS_KEPT a
 * block has to combine all windows of a strip again. A round takes the time of finding a prefix, so
 * smaller tiles make it slower.
 */
#ifndef STEP16_COLUMNS_CUH
#define STEP16_COLUMNS_CUH

#include "column_tile.cuh"

/* Barriers of a part of the block: one of the scan warps, one of the look warps. */
#define SCAN_BARRIER 1
#define LOOK_BARRIER 2

/* ---- the scan warps -------------------------------------------------------------------------- */

/* Sums up a tile that has arrived, and publishes its sums. Returns the sum of the segments before
 * the warp's own. NARROW: there are several rows in an access. */
template <bool NARROW, typename Op>
static __device__ typename Op::State sum_tile(const column_job<Op> &c, struct column_tile tile,
                                              int stage, struct column_shared<Op> &shared,
                                              typename Op::State (&sums)[LANES])
{
    typedef typename Op::State State;
    const job<Op> &j = c.all;
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    struct lane_part p = part_of(c, tile);
    const int N = CHUNK(State);
    State x[N], sum = j.op.identity(), before = sum;

#pragma unroll 1
    for (int first = 0; first < column_shared<Op>::ACCESSES; first += N) {
        take_chunk(j.op, p, first, shared.stages[stage], x);
        if (NARROW) scan_accesses(j.op, c.shape, p.row, x);
#pragma unroll
        for (int i = 0; i < N; i++) sum = j.op.combine(sum, x[i]);
    }
    if (NARROW) sum = sum_of_access(c.shape, sum); // the last row has the sums of the accesses
    shared.parts[warp][lane] = sum;
    // No warp may read the segments' sums before all are there.
    asm volatile("barrier.sync %0, %1;" ::"n"(SCAN_BARRIER), "n"(SCAN_THREADS) : "memory");
    sum = before;
    for (unsigned w = 0; w < COLUMN_WARPS; w++) {
        if (w == warp) before = sum;
        sum = j.op.combine(sum, shared.parts[w][lane]);
    }
    if (warp == 0) {
        size_t at = tile.strip * c.shape.tiles + tile.tile;
        publish(&published_of<State>(j.workspace)[at * LANES + lane], tile.epoch, {sum, false});
        sums[lane] = sum;
    }
    return before;
}

/* Stores the results of a tile; `sum` is what lies before the warp's segment. */
template <bool NARROW, typename Op>
static __device__ void store_tile(const column_job<Op> &c, struct column_tile tile, int stage,
                                  const struct column_shared<Op> &shared, typename Op::State sum)
{
    const job<Op> &j = c.all;
    struct lane_part p = part_of(c, tile);
    const int N = CHUNK(typename Op::State);
    auto at = growing(j.out + p.first);
    size_t step = stride_of(j.out, p.step);

#pragma unroll 1
    for (int first = 0; first < column_shared<Op>::ACCESSES; first += N) {
        typename Op::State own[N], x[N];
        typename Op::Out y[N];
        take_chunk(j.op, p, first, shared.stages[stage], own);
        memcpy(x, own, sizeof x);
        if (NARROW) scan_accesses(j.op, c.shape, p.row, x);
#pragma unroll
        for (int i = 0; i < N; i++) {
            auto with = j.op.combine(sum, x[i]), before = sum;
            if (NARROW && !j.inclusive) {
                auto above = from_left(x[i], c.shape.width);
                if (p.row > 0) before = j.op.combine(sum, above);
            }
            y[i] = j.op.leave(j.inclusive ? with : before, own[i]);
            sum = NARROW ? j.op.combine(sum, sum_of_access(c.shape, x[i])) : with;
        }
        if (first + N <= p.count) {
#pragma unroll
            for (int i = 0; i < N; i++, at += step) put_one(at, y[i]);
        } else {
#pragma unroll
            for (int i = 0; i < N; i++, at += step)
                if (first + i < p.count) put_one(at, y[i]);
        }
    }
}

/* ---- the look warps -------------------------------------------------------------------------- */

/* Begins to load the first `count` sums of `from`, LOOK_BATCH at most. */
template <typename State, int N>
static __device__ void load_sums(published<State> (&found)[N], const published<State> *from,
                                 int count)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count) load_words(found[i].word, from[i * LANES].word);
}

/* Waits for those that are not published yet. */
template <typename State, int N>
static __device__ void await_sums(published<State> (&found)[N], const published<State> *from,
                                  int count, unsigned epoch)
{
    while (true) {
        bool again = false;
#pragma unroll
        for (int i = 0; i < N; i++) again |= i < count && !is_of(found[i], epoch);
        if (!__any_sync(ALL_LANES, again)) return;
        load_sums(found, from, count);
    }
}

static __device__ void look_sync(void)
{
    asm volatile("barrier.sync %0, %1;" ::"n"(LOOK_BARRIER), "n"(LOOK_WARPS * LANES) : "memory");
}

/* Finds r.prefix: what lies before a tile in each column. Publishes the sum of the window if the
 * tile is its last, before waiting for windows: so no window waits for another one. */
template <typename Op>
static __device__ void find_prefix(const column_job<Op> &c, struct column_tile tile,
                                   struct column_shared<Op> &shared,
                                   typename column_shared<Op>::round &r)
{
    typedef typename Op::State State;
    const int BATCH = LOOK_BATCH(State);
    const job<Op> &j = c.all;
    struct column_shape s = c.shape;
    unsigned warp = threadIdx.x / LANES - COLUMN_WARPS, lane = threadIdx.x % LANES;
    unsigned window = tile.tile / COLUMN_WINDOW, in_window = tile.tile % COLUMN_WINDOW;
    published<State> *tiles = published_of<State>(j.workspace) + lane;
    published<State> *windows = tiles + s.strips * s.tiles * LANES;
    tiles += (tile.strip * s.tiles + tile.tile - in_window + warp * TILES_EACH) * LANES;
    windows += tile.strip * (s.tiles / COLUMN_WINDOW) * LANES;
    int mine = (int)in_window - (int)warp * TILES_EACH;
    auto &kept = shared.kept[tile.strip % STRIPS_KEPT(State)];
    unsigned begun = kept.strip == tile.strip ? kept.windows : 0;
    State whole = begun > 0 ? kept.sum[lane] : j.initial; // in the first warp

    // Begin to load windows, and combine tiles meanwhile.
    published<State> found[BATCH], found_windows[BATCH];
    unsigned at = begun + warp * BATCH;
    load_sums(found_windows, windows + (size_t)at * LANES, (int)window - (int)at);
    State sum = j.op.identity(), within = sum;
    for (int first = 0; first < TILES_EACH && first < mine; first += BATCH) {
        int count = min(mine, TILES_EACH) - first;
        load_sums(found, tiles + first * LANES, count);
        await_sums(found, tiles + first * LANES, count, tile.epoch);
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            if (i < count) sum = j.op.combine(sum, sum_in(found[i]).value);
    }
    shared.tiles[warp][lane] = sum;
    look_sync(); // the first warp may not read the sums before all are there
    if (warp == 0) {
        for (int w = 0; w < LOOK_WARPS; w++) within = j.op.combine(within, shared.tiles[w][lane]);
        if (in_window == COLUMN_WINDOW - 1)
            publish(&windows[window * LANES], tile.epoch,
                    {j.op.combine(within, r.sum[lane]), false});
    }
    while (begun < window) {
        at = begun + warp * BATCH;
        await_sums(found_windows, windows + (size_t)at * LANES, (int)window - (int)at, tile.epoch);
#pragma unroll
        for (int i = 0; i < BATCH; i++)
            shared.windows[warp * BATCH + i][lane] = sum_in(found_windows[i]).value;
        look_sync(); // the first warp may not read the windows before all are there
        if (warp == 0)
            for (unsigned i = 0; i < LOOK_WARPS * BATCH && begun + i < window; i++)
                whole = j.op.combine(whole, shared.windows[i][lane]);
        begun += LOOK_WARPS * BATCH;
        at = begun + warp * BATCH;
        load_sums(found_windows, windows + (size_t)at * LANES, (int)window - (int)at);
        look_sync(); // no warp may write the next windows before these are read
    }
    if (warp == 0) {
        r.prefix[lane] = j.op.combine(whole, within);
        kept.sum[lane] = whole;
        if (lane == 0) kept.strip = tile.strip, kept.windows = window;
    }
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* A tile of a block. `is` is false if no tile is left. */
struct maybe_tile {
    bool is;
    struct column_tile at;
};

/* Makes a tile of the ticket that was drawn, and begins to load it. */
template <typename Op>
static __device__ struct maybe_tile begin_tile(const column_job<Op> &c, struct ticket t, int stage,
                                               struct column_shared<Op> &shared)
{
    struct maybe_tile tile = {t.tile < c.all.tiles, tile_of(c.shape, t)};
    if (tile.is && threadIdx.x < SCAN_THREADS) begin_load(c, tile.at, stage, shared);
    return tile;
}

/* All tiles of a block. In each round the look warps find the prefixes of the tile `now`, while the
 * scan warps publish the sums of the tile `next`, whose elements have arrived, and the elements of
 * the tile `third` are on their way. So most sums that a prefix needs have been published a round
 * before. Then the results of `now` are stored, and the loads of another tile begin in its place.
 */
template <bool NARROW, typename Op>
static __device__ void scan_tiles(const column_job<Op> &c, struct column_shared<Op> &shared)
{
    typedef typename Op::State State;
    const job<Op> &j = c.all;
    bool looks = threadIdx.x >= SCAN_THREADS, draws = threadIdx.x == LANES; // in a scan warp
    bool once = gridDim.x == j.tiles; // each block scans one tile
    if (threadIdx.x < STRIPS_KEPT(State))
        shared.kept[threadIdx.x].strip = shared.kept[threadIdx.x].windows = 0;
    State before_now = j.op.identity(), before_next = before_now;
    struct maybe_tile now = {}, next = now, third = now;
    struct ticket t;

    for (int first = 0; first < COLUMN_STAGES - 1; first++) {
        if (first == 0 || (next.is && c.ahead && !once)) {
            if (draws) shared.rounds[!first].drawn = draw_ticket(j.workspace);
            __syncthreads(); // no thread may read the ticket before it is drawn
            t = shared.rounds[!first].drawn;
            (first == 0 ? next : third) = begin_tile(c, t, first, shared);
        }
        __pipeline_commit();
    }
    for (int at = COLUMN_STAGES - 1, round = 0; now.is || next.is || third.is; round ^= 1) {
        auto &r = shared.rounds[round], &other = shared.rounds[!round];
        int stage = c.ahead ? at : 0, stage_next = c.ahead ? (at + 1) % COLUMN_STAGES : 0;
        bool draw = c.ahead ? third.is : now.is && !once;
        struct maybe_tile fourth = {};
        if (!looks) {
            if (draws && draw) other.drawn = draw_ticket(j.workspace);
            __pipeline_wait_prior(1); // the copies of `third` may go on
            if (next.is) before_next = sum_tile<NARROW>(c, next.at, stage_next, shared, other.sum);
        } else if (now.is) {
            find_prefix(c, now.at, shared, r);
        }
        // No thread may read prefix, ticket or sums before they are written. Rounds alternate, so
        // what is read after this barrier is written anew only after that of the next round.
        __syncthreads();
        if (!looks && now.is) {
            State before = r.prefix[threadIdx.x % LANES];
            store_tile<NARROW>(c, now.at, stage, shared, j.op.combine(before, before_now));
        }
        if (draw) {
            t = other.drawn;
            fourth = begin_tile(c, t, stage, shared);
        }
        __pipeline_commit();
        now = next, next = third, third = fourth, before_now = before_next;
        at = (at + 1) % COLUMN_STAGES;
    }
    // Every block draws until it gets a ticket without a tile, unless it draws once.
    unsigned tickets = j.tiles + (once ? 0 : gridDim.x);
    if (threadIdx.x == 0) end_if_last(j.workspace, t, tickets);
}

/* Needs COLUMN_THREADS threads per block, and a column_shared<Op> of shared memory, with one stage
 * if c.ahead is false. Works with any number of blocks. */
template <typename Op>
static __global__ void __launch_bounds__(COLUMN_THREADS, COLUMN_BLOCKS)
    scan_columns(const __grid_constant__ column_job<Op> c)
{
    extern __shared__ __align__(16) unsigned char bytes[];
    struct column_shared<Op> &shared = *(struct column_shared<Op> *)bytes;

    if (c.shape.at_a_time > 1)
        scan_tiles<true>(c, shared);
    else
        scan_tiles<false>(c, shared);
}

#endif
