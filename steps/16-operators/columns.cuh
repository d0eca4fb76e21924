/*
 * columns.cuh — the kernel for columns: the array is many rows of few elements, and each column is
 * a sequence.
 *
 * Memory is read row by row, as it lies. A warp takes up to 32 neighbouring columns, a lane each. If
 * there are fewer, it takes several rows at a time: lane l has row l / columns and column
 * l % columns. A segment is COLUMN_ROWS such accesses, a tile the segments of all warps of a block,
 * one below the other. A strip is what lies below each other of the same 32 columns. Each tile
 * publishes a sum for each of its columns.
 *
 * The prefix: the tiles of a strip are divided into windows of COLUMN_WINDOW tiles. The last tile of
 * a window publishes the sum of the window as well. A lane combines, for its column and in order,
 * the sums of whole windows, and then the sums of the tiles before in its own window.
 */
#ifndef STEP16_COLUMNS_CUH
#define STEP16_COLUMNS_CUH

#include "parts/arrays.cuh"

#define COLUMN_ROWS    16 /* accesses of a lane */
#define COLUMN_WARPS   8
#define COLUMN_WINDOW  32
#define COLUMN_THREADS (COLUMN_WARPS * LANES)
#define COLUMN_LOOK    8 /* states that a lane loads at a time */
/* From this many strips on, blocks begin side by side, so that they read neighbouring memory. With
 * fewer, they go through one strip after the other, and keep what they have of its prefixes. */
#define SIDE_BY_SIDE   32

/* How rows * columns elements are divided. */
struct column_shape {
    size_t rows, columns;
    unsigned width;      // columns of a strip, at most LANES
    unsigned at_a_time;  // rows of an access
    size_t strips, tiles; // tiles of a strip
};

static __host__ __device__ inline struct column_shape column_shape_of(size_t n, size_t columns)
{
    struct column_shape s;
    s.columns = columns;
    s.rows = n / columns;
    s.width = (unsigned)(columns < LANES ? columns : LANES);
    s.at_a_time = LANES / s.width;
    size_t rows = (size_t)s.at_a_time * COLUMN_ROWS * COLUMN_WARPS;
    s.strips = (columns + LANES - 1) / LANES;
    s.tiles = (s.rows + rows - 1) / rows;
    return s;
}

/* A state for each lane of each tile, and for each lane of each window. */
static __host__ __device__ inline size_t column_states(struct column_shape s)
{
    return s.strips * (s.tiles + s.tiles / COLUMN_WINDOW) * LANES;
}

/* Combines `sum` with `count` states that lie `LANES` apart, in order. Loads COLUMN_LOOK of them at
 * a time. */
template <typename Op>
static __device__ typename Op::State
combine_states(const Op &op, typename Op::State sum, const published<typename Op::State> *states,
               size_t count, unsigned epoch)
{
    for (size_t i = 0; i < count; i += COLUMN_LOOK) {
        published<typename Op::State> found[COLUMN_LOOK];
#pragma unroll
        for (int k = 0; k < COLUMN_LOOK; k++)
            if (i + k < count) load_words(found[k].word, states[(i + k) * LANES].word);
#pragma unroll
        for (int k = 0; k < COLUMN_LOOK; k++)
            if (i + k < count) {
                while (!is_of(found[k], epoch))
                    load_words(found[k].word, states[(i + k) * LANES].word);
                sum = op.combine(sum, sum_in(found[k]).value);
            }
    }
    return sum;
}

/* Where a block stands: what it has combined of whole windows of a strip. */
template <typename State> struct column_progress {
    State sum;
    size_t strip, windows;
};

/* The sum of all tiles before this one in its strip, for the lane's column. Publishes the sum of the
 * window if the tile is its last: `own` is that of the tile. */
template <typename Op>
static __device__ typename Op::State
column_prefix(const job<Op> &j, struct column_shape s, size_t strip, size_t tile, unsigned epoch,
              typename Op::State own, struct column_progress<typename Op::State> *p)
{
    typedef typename Op::State State;
    published<State> *tiles = published_of<State>(j.workspace) + threadIdx.x % LANES;
    published<State> *windows = tiles + s.strips * s.tiles * LANES;
    size_t window = tile / COLUMN_WINDOW, in_window = tile % COLUMN_WINDOW;
    tiles += (strip * s.tiles + window * COLUMN_WINDOW) * LANES;
    windows += strip * (s.tiles / COLUMN_WINDOW) * LANES;

    auto within = combine_states(j.op, j.op.identity(), tiles, in_window, epoch);
    if (in_window == COLUMN_WINDOW - 1)
        publish(&windows[window * LANES], epoch, {j.op.combine(within, own), false});
    if (p->strip != strip) *p = {j.initial, strip, 0};
    p->sum = combine_states(j.op, p->sum, windows + p->windows * LANES, window - p->windows, epoch);
    p->windows = window;
    __syncwarp(); // lanes may have waited for different times
    return j.op.combine(p->sum, within);
}

/* The sum of the lanes of the same column, before this lane (in `before`) and of all (returned, in
 * every lane): lanes `width` apart, in order. */
template <typename Op>
static __device__ typename Op::State column_sum(const Op &op, typename Op::State x, unsigned width,
                                                unsigned rows, typename Op::State *before)
{
    unsigned lane = threadIdx.x % LANES, row = lane / width;
    for (unsigned d = 1; d < rows; d *= 2) {
        auto above = from_left(x, d * width);
        if (d <= row) x = op.combine(above, x);
    }
    auto above = from_left(x, width);
    *before = row > 0 ? above : op.identity();
    return from_lane(x, (rows - 1) * width + lane % width);
}

/* Needs COLUMN_THREADS threads per block. Works with any number of blocks. */
template <typename Op>
static __global__ void __launch_bounds__(COLUMN_THREADS)
    scan_columns(const __grid_constant__ job<Op> j, struct column_shape s)
{
    typedef typename Op::State State;
    __shared__ struct ticket drawn;
    __shared__ State sums[COLUMN_WARPS][LANES], prefix[LANES];
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES, tickets = j.tiles;
    unsigned used = s.width * s.at_a_time, row_of_lane = lane / s.width;
    struct column_progress<State> progress = {j.initial, 0, 0};

    while (true) {
        if (threadIdx.x == 0) drawn = draw_ticket(j.workspace);
        __syncthreads(); // no thread may read the ticket before it is drawn
        struct ticket t = drawn;
        if (t.tile >= tickets) {
            // Every block draws until it gets a ticket without a tile.
            if (threadIdx.x == 0) end_if_last(j.workspace, t, tickets + gridDim.x);
            return;
        }
        bool beside = s.strips >= SIDE_BY_SIDE;
        size_t tile = beside ? t.tile / s.strips : t.tile % s.tiles;
        size_t strip = beside ? t.tile % s.strips : t.tile / s.tiles;
        size_t column = strip * LANES + lane % s.width;
        size_t first = (tile * COLUMN_WARPS + warp) * COLUMN_ROWS * s.at_a_time + row_of_lane;
        bool in_columns = lane < used && column < s.columns;
        State x[COLUMN_ROWS], own[COLUMN_ROWS];

        // Fetch. The rows of a reverse scan are counted from the last one.
        size_t at[COLUMN_ROWS];
#pragma unroll
        for (int r = 0; r < COLUMN_ROWS; r++) {
            size_t row = first + (size_t)r * s.at_a_time;
            bool there = in_columns && row < s.rows;
            at[r] = there ? (j.reverse ? s.rows - 1 - row : row) * s.columns + column : j.n;
            own[r] = there ? element_at(j, at[r], j.in2) : j.op.identity();
        }

        // Scan the lane's own elements. With several rows at a time, other lanes' elements lie
        // between them, so each access is scanned over the lanes.
        State sum = j.op.identity();
#pragma unroll
        for (int r = 0; r < COLUMN_ROWS; r++) {
            State before = j.op.identity(), row = own[r];
            if (s.at_a_time > 1) row = column_sum(j.op, own[r], s.width, s.at_a_time, &before);
            x[r] = s.at_a_time > 1 ? j.op.combine(sum, before) : sum; // before this element
            sum = j.op.combine(sum, row);
        }
        sums[warp][lane] = sum;
        __syncthreads(); // no warp may read the sums before all are there

        // Warp 0 publishes the sums of the tile and finds the prefixes.
        State within = j.op.identity();
        for (unsigned w = 0; w < warp; w++) within = j.op.combine(within, sums[w][lane]);
        if (warp == 0) {
            State all = sums[0][lane];
            for (int w = 1; w < COLUMN_WARPS; w++) all = j.op.combine(all, sums[w][lane]);
            published<State> *states = published_of<State>(j.workspace);
            publish(&states[(strip * s.tiles + tile) * LANES + lane], t.epoch, {all, false});
            prefix[lane] = column_prefix(j, s, strip, tile, t.epoch, all, &progress);
        }
        __syncthreads(); // no warp may read the prefixes before warp 0 has found them
        State base = j.op.combine(prefix[lane], within);
#pragma unroll
        for (int r = 0; r < COLUMN_ROWS; r++) {
            State before = j.op.combine(base, x[r]);
            if (j.inclusive) before = j.op.combine(before, own[r]);
            if (at[r] < j.n) j.out[at[r]] = j.op.leave(before, own[r]);
        }
    }
}

#endif
