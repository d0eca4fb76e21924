/*
 * columns.cuh — the kernel for columns: the array is many rows of few elements, and each column is
 * a sequence.
 *
 * Memory is read row by row, as it lies. A warp takes up to 32 neighbouring columns, a lane each. If
 * there are fewer, it takes several rows at a time: lane l has row l / columns and column
 * l % columns. A segment is what a warp takes by `accesses` such accesses, a tile the segments of
 * all warps of a block, one below the other. A strip is what lies below each other of the same 32
 * columns. Each tile publishes a sum for each of its columns.
 *
 * The prefix: the tiles of a strip are divided into windows of COLUMN_WINDOW tiles. The last tile of
 * a window publishes the sum of the window as well. So a tile combines, for each column and in
 * order, the sums of whole windows, and then those of the tiles before it in its own window.
 */
#ifndef STEP16_COLUMNS_CUH
#define STEP16_COLUMNS_CUH

#include "parts/arrays.cuh"

#define COLUMN_WARPS   8
#define COLUMN_THREADS (COLUMN_WARPS * LANES)
#define COLUMN_BLOCKS  4 /* at least, on a multiprocessor: while one waits, the others work */
#define COLUMN_WINDOW  32
#define COLUMN_BATCH   (2 * COLUMN_WARPS) /* windows that are loaded at a time */
/* From this many strips on, blocks begin side by side, so that they read neighbouring memory. With
 * fewer, they go through one strip after the other, and keep what they have of its prefixes. */
#define SIDE_BY_SIDE   32

/* Accesses of a lane: 128 bytes of states, so that they fit into registers. */
#define COLUMN_ACCESSES(state_bytes) (128 / (int)(state_bytes))

/* How rows * columns elements are divided. */
struct column_shape {
    size_t rows, columns;
    unsigned width;       // columns of a strip, at most LANES
    unsigned at_a_time;   // rows of an access
    size_t strips, tiles; // tiles of a strip
};

static __host__ __device__ inline struct column_shape column_shape_of(size_t n, size_t columns,
                                                                      size_t state_bytes)
{
    struct column_shape s;
    s.columns = columns;
    s.rows = n / columns;
    s.width = (unsigned)(columns < LANES ? columns : LANES);
    s.at_a_time = LANES / s.width;
    size_t rows = (size_t)s.at_a_time * COLUMN_ACCESSES(state_bytes) * COLUMN_WARPS;
    s.strips = (columns + LANES - 1) / LANES;
    s.tiles = (s.rows + rows - 1) / rows;
    return s;
}

/* A state for each lane of each tile, and for each lane of each window. */
static __host__ __device__ inline size_t column_states(struct column_shape s)
{
    return s.strips * (s.tiles + s.tiles / COLUMN_WINDOW) * LANES;
}

/* Waits for the sum that another block publishes. */
template <typename State>
static __device__ State wait_for(const published<State> *state, unsigned epoch)
{
    published<State> found;
    do load_words(found.word, state->word);
    while (!is_of(found, epoch));
    return sum_in(found).value;
}

/* A lane's part of a tile. */
struct lane_part {
    size_t first, step; // the first element in memory, and from one access to the next
    int count;          // accesses with an element
    unsigned row;       // of the lane, in an access
};

/* The step may go backwards: it wraps. */
static __device__ struct lane_part part_of(struct column_shape s, bool reverse, size_t strip,
                                           size_t tile, int accesses)
{
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    struct lane_part p;
    size_t column = strip * LANES + lane % s.width;
    p.row = lane / s.width;
    size_t row = (tile * COLUMN_WARPS + warp) * accesses * s.at_a_time + p.row;
    p.first = (reverse ? s.rows - 1 - row : row) * s.columns + column;
    p.step = (reverse ? -(size_t)1 : 1) * s.at_a_time * s.columns;
    p.count = 0;
    if (row < s.rows && column < s.columns && p.row < s.at_a_time) {
        size_t left = (s.rows - row + s.at_a_time - 1) / s.at_a_time;
        p.count = left < (size_t)accesses ? (int)left : accesses;
    }
    return p;
}

/* Scans an access over the lanes of the same column: they lie `width` apart. */
template <typename Op>
static __device__ typename Op::State scan_access(const Op &op, struct column_shape s,
                                                 typename Op::State x, unsigned row)
{
    for (unsigned d = 1; d < s.at_a_time; d *= 2) {
        auto above = from_left(x, d * s.width);
        if (d <= row) x = op.combine(above, x);
    }
    return x;
}

/* The sum of an access, from its scan: that of the last row, in every lane. */
template <typename State>
static __device__ State sum_of_access(struct column_shape s, State x)
{
    return from_lane(x, (s.at_a_time - 1) * s.width + threadIdx.x % LANES % s.width);
}

/* Loads a lane's elements; x[i] becomes the scan of access i. Returns their sum. NARROW: there are
 * several rows in an access. */
template <bool NARROW, typename Op, int A>
static __device__ typename Op::State load_part(const job<Op> &j, struct column_shape s,
                                               struct lane_part p, typename Op::State (&x)[A])
{
#pragma unroll
    for (int i = 0; i < A; i++)
        x[i] = i < p.count ? element_at(j, p.first + i * p.step, j.in2) : j.op.identity();
    auto sum = j.op.identity();
#pragma unroll
    for (int i = 0; i < A; i++) {
        if (NARROW) x[i] = scan_access(j.op, s, x[i], p.row);
        sum = j.op.combine(sum, NARROW ? sum_of_access(s, x[i]) : x[i]);
    }
    return sum;
}

/* Stores the results of a lane's elements; `sum` is what lies before them. */
template <bool NARROW, typename Op, int A>
static __device__ void store_part(const job<Op> &j, struct column_shape s, struct lane_part p,
                                  typename Op::State (&x)[A], typename Op::State sum)
{
#pragma unroll
    for (int i = 0; i < A; i++) {
        auto with = j.op.combine(sum, x[i]), before = sum;
        if (NARROW) {
            auto above = from_left(x[i], s.width);
            if (p.row > 0) before = j.op.combine(sum, above);
        }
        if (i < p.count) {
            size_t at = p.first + i * p.step;
            auto own = element_at(j, at, j.in2); // most operators do not use it, so it is not loaded
            j.out[at] = j.op.leave(j.inclusive ? with : before, own);
        }
        sum = NARROW ? j.op.combine(sum, sum_of_access(s, x[i])) : with;
    }
}

/* What a block shares. */
template <typename State> struct column_shared {
    struct ticket drawn;
    State sums[COLUMN_WARPS][LANES];     // of the segments
    State parts[COLUMN_WARPS][LANES];    // of the tiles before in the window, by warp
    State windows[COLUMN_BATCH][LANES];
    State prefix[LANES];
};

/* What a block has combined of whole windows of a strip: the first `windows` of them. */
template <typename State> struct column_progress {
    State sum; // in warp 0
    size_t strip, windows;
};

/* Finds shared.prefix, what lies before the tile in each column. All warps load states, warp 0
 * combines them in order. Publishes the sum of the window if the tile is its last: `own` is that of
 * the tile, in warp 0. */
template <typename Op>
static __device__ void find_prefix(const job<Op> &j, struct column_shape s, size_t strip,
                                   size_t tile, unsigned epoch, typename Op::State own,
                                   struct column_progress<typename Op::State> *p,
                                   struct column_shared<typename Op::State> &shared)
{
    typedef typename Op::State State;
    const unsigned EACH = COLUMN_WINDOW / COLUMN_WARPS; // tiles of a warp
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    published<State> *all = published_of<State>(j.workspace) + lane;
    size_t window = tile / COLUMN_WINDOW, first = window * COLUMN_WINDOW;
    published<State> *tiles = all + (strip * s.tiles + first) * LANES;
    published<State> *windows =
        all + (s.strips * s.tiles + strip * (s.tiles / COLUMN_WINDOW)) * LANES;

    State part = j.op.identity();
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        if (first + warp * EACH + i < tile)
            part = j.op.combine(part, wait_for(&tiles[(warp * EACH + i) * LANES], epoch));
    shared.parts[warp][lane] = part;
    __syncthreads(); // no warp may read the parts before all are there
    State within = j.op.identity();
    if (warp == 0) {
        for (int w = 0; w < COLUMN_WARPS; w++)
            within = j.op.combine(within, shared.parts[w][lane]);
        if (tile % COLUMN_WINDOW == COLUMN_WINDOW - 1)
            publish(&windows[window * LANES], epoch, {j.op.combine(within, own), false});
    }
    if (p->strip != strip) *p = {j.initial, strip, 0};
    for (; p->windows < window; p->windows += COLUMN_BATCH) {
#pragma unroll
        for (unsigned i = warp; i < COLUMN_BATCH; i += COLUMN_WARPS)
            if (p->windows + i < window)
                shared.windows[i][lane] = wait_for(&windows[(p->windows + i) * LANES], epoch);
        __syncthreads(); // no warp may read the windows before all are there
        if (warp == 0)
            for (unsigned i = 0; i < COLUMN_BATCH && p->windows + i < window; i++)
                p->sum = j.op.combine(p->sum, shared.windows[i][lane]);
        __syncthreads(); // no warp may write the next windows before these are read
    }
    p->windows = window;
    if (warp == 0) shared.prefix[lane] = j.op.combine(p->sum, within);
    __syncthreads(); // no warp may read the prefixes before warp 0 has found them
}

/* One tile. The next ticket is drawn as soon as the sum is published, so its latency passes while
 * the prefix is found. */
template <bool NARROW, typename Op>
static __device__ void scan_tile(const job<Op> &j, struct column_shape s,
                                 struct column_progress<typename Op::State> *progress,
                                 struct column_shared<typename Op::State> &shared)
{
    typedef typename Op::State State;
    const int A = COLUMN_ACCESSES(sizeof(State));
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    struct ticket t = shared.drawn;
    bool beside = s.strips >= SIDE_BY_SIDE;
    size_t tile = beside ? t.tile / s.strips : t.tile % s.tiles;
    size_t strip = beside ? t.tile % s.strips : t.tile / s.tiles;
    struct lane_part p = part_of(s, j.reverse, strip, tile, A);
    State x[A];

    shared.sums[warp][lane] = load_part<NARROW>(j, s, p, x);
    __syncthreads(); // no warp may read the sums before all are there

    State within = j.op.identity(), all = j.op.identity();
    for (unsigned w = 0; w < COLUMN_WARPS; w++) {
        if (w == warp) within = all;
        all = j.op.combine(all, shared.sums[w][lane]);
    }
    if (warp == 0)
        publish(&published_of<State>(j.workspace)[(strip * s.tiles + tile) * LANES + lane], t.epoch,
                {all, false});
    if (threadIdx.x == 0) shared.drawn = draw_ticket(j.workspace);
    find_prefix(j, s, strip, tile, t.epoch, all, progress, shared);
    store_part<NARROW>(j, s, p, x, j.op.combine(shared.prefix[lane], within));
}

/* Needs COLUMN_THREADS threads per block. Works with any number of blocks. */
template <typename Op>
static __global__ void __launch_bounds__(COLUMN_THREADS, COLUMN_BLOCKS)
    scan_columns(const __grid_constant__ job<Op> j, struct column_shape s)
{
    typedef typename Op::State State;
    __shared__ struct column_shared<State> shared;
    struct column_progress<State> progress = {j.initial, 0, 0};

    if (threadIdx.x == 0) shared.drawn = draw_ticket(j.workspace);
    __syncthreads(); // no thread may read the ticket before it is drawn
    while (shared.drawn.tile < j.tiles) {
        if (s.at_a_time > 1)
            scan_tile<true>(j, s, &progress, shared);
        else
            scan_tile<false>(j, s, &progress, shared);
    }
    // Every block draws until it gets a ticket without a tile.
    if (threadIdx.x == 0) end_if_last(j.workspace, shared.drawn, j.tiles + gridDim.x);
}

#endif
