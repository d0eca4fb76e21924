/*
 * columns.cuh — the kernel for columns: the array is many rows, and each column is a sequence.
 *
 * Memory is read row by row, as it lies. A warp takes up to 32 neighbouring columns, a lane each.
 * If there are fewer, it takes several rows at a time: lane l has row l / columns and column
 * l % columns. A segment is what a warp takes by `accesses` such accesses, a tile the segments of
 * all warps of a block, one below the other. A strip is what lies below each other of the same 32
 * columns. Each tile publishes a sum for each of its columns.
 *
 * The prefix: the tiles of a strip are divided into windows of COLUMN_WINDOW tiles. The last tile
 * of a window publishes the sum of the window as well. So a tile combines, for each column and in
 * order, the sums of whole windows, and then those of the tiles before it in its own window.
 */
#ifndef STEP16_COLUMNS_CUH
#define STEP16_COLUMNS_CUH

#include "parts/arrays.cuh"

#define COLUMN_WARPS   8
#define COLUMN_THREADS (COLUMN_WARPS * LANES)
#define COLUMN_BLOCKS  2 /* at least, on a multiprocessor */
#define COLUMN_WINDOW  32
#define COLUMN_BATCH   (2 * COLUMN_WARPS) /* windows that are loaded at a time */
/* From this many strips on, blocks begin side by side, so that they read neighbouring memory. With
 * fewer, they go through one strip after the other, and keep what they have of its prefixes. */
#define SIDE_BY_SIDE 32

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

/* Waits for the sum that another block publishes, and whose words have been loaded once. */
template <typename State>
static __device__ State wait_for(published<State> found, const published<State> *state,
                                 unsigned epoch)
{
    while (!is_of(found, epoch)) load_words(found.word, state->word);
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
template <typename State> static __device__ State sum_of_access(struct column_shape s, State x)
{
    return from_lane(x, (s.at_a_time - 1) * s.width + threadIdx.x % LANES % s.width);
}

/* Begins to load a lane's elements. */
template <typename Op, int A>
static __device__ void load_part(const job<Op> &j, struct lane_part p, typename Op::State (&x)[A])
{
#pragma unroll
    for (int i = 0; i < A; i++)
        x[i] = i < p.count ? element_at(j, p.first + i * p.step, j.in2) : j.op.identity();
}

/* x[i] becomes the scan of access i. Returns the sum of all accesses. NARROW: there are several
 * rows in an access. */
template <bool NARROW, typename Op, int A>
static __device__ typename Op::State sum_part(const Op &op, struct column_shape s,
                                              struct lane_part p, typename Op::State (&x)[A])
{
    auto sum = op.identity();
#pragma unroll
    for (int i = 0; i < A; i++) {
        if (NARROW) x[i] = scan_access(op, s, x[i], p.row);
        sum = op.combine(sum, x[i]);
    }
    return NARROW ? sum_of_access(s, sum) : sum; // the last row has the sums of the accesses
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
            auto own =
                element_at(j, at, j.in2); // most operators do not use it, so it is not loaded
            j.out[at] = j.op.leave(j.inclusive ? with : before, own);
        }
        sum = NARROW ? j.op.combine(sum, sum_of_access(s, x[i])) : with;
    }
}

/* What a block shares. */
template <typename State> struct column_shared {
    struct ticket drawn;
    State sums[COLUMN_WARPS][LANES];  // of the segments
    State parts[COLUMN_WARPS][LANES]; // of the tiles before in the window, by warp
    State windows[COLUMN_BATCH][LANES];
    State prefix[LANES];
};

/* What a block has combined of whole windows of a strip: the first `windows` of them. */
template <typename State> struct column_progress {
    State sum; // in warp 0
    size_t strip, windows;
};

/* A tile of a block. */
template <typename State> struct column_tile {
    struct ticket ticket;
    size_t strip, tile;
    struct lane_part part;
    State x[COLUMN_ACCESSES(sizeof(State))];
    State within, all; // the sum of the warps before this one, and of all
};

/* Begins to load the warp's windows of a batch: those from `first` on and before `end`. */
template <typename State>
static __device__ void load_batch(published<State> (&found)[2], const published<State> *windows,
                                  size_t first, size_t end)
{
#pragma unroll
    for (unsigned i = 0; i < 2; i++) {
        size_t w = first + i * COLUMN_WARPS + threadIdx.x / LANES;
        if (w < end) load_words(found[i].word, windows[w * LANES].word);
    }
}

/* Finds shared.prefix, what lies before the tile in each column. All warps load states, warp 0
 * combines them in order. Publishes the sum of the window if the tile is its last. */
template <typename Op>
static __device__ void find_prefix(const job<Op> &j, struct column_shape s,
                                   const struct column_tile<typename Op::State> &c,
                                   struct column_progress<typename Op::State> *p,
                                   struct column_shared<typename Op::State> &shared)
{
    typedef typename Op::State State;
    size_t tile = c.tile, strip = c.strip;
    unsigned epoch = c.ticket.epoch;
    const unsigned EACH = COLUMN_WINDOW / COLUMN_WARPS; // tiles of a warp
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    published<State> *all = published_of<State>(j.workspace) + lane;
    size_t window = tile / COLUMN_WINDOW, first = window * COLUMN_WINDOW;
    published<State> *tiles = all + (strip * s.tiles + first) * LANES;
    published<State> *windows =
        all + (s.strips * s.tiles + strip * (s.tiles / COLUMN_WINDOW)) * LANES;

    // Begin to load all of them, and then wait for each.
    published<State> found[EACH], found_windows[2];
    if (p->strip != strip) *p = {j.initial, strip, 0};
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        if (first + warp * EACH + i < tile)
            load_words(found[i].word, tiles[(warp * EACH + i) * LANES].word);
    load_batch(found_windows, windows, p->windows, window);
    State part = j.op.identity();
#pragma unroll
    for (unsigned i = 0; i < EACH; i++)
        if (first + warp * EACH + i < tile)
            part = j.op.combine(part, wait_for(found[i], &tiles[(warp * EACH + i) * LANES], epoch));
    shared.parts[warp][lane] = part;
    __syncthreads(); // no warp may read the parts before all are there
    State within = j.op.identity();
    if (warp == 0) {
        for (int w = 0; w < COLUMN_WARPS; w++) within = j.op.combine(within, shared.parts[w][lane]);
        if (tile % COLUMN_WINDOW == COLUMN_WINDOW - 1)
            publish(&windows[window * LANES], epoch, {j.op.combine(within, c.all), false});
    }
    while (p->windows < window) {
#pragma unroll
        for (unsigned i = 0; i < 2; i++) {
            size_t w = p->windows + i * COLUMN_WARPS + warp;
            if (w < window)
                shared.windows[i * COLUMN_WARPS + warp][lane] =
                    wait_for(found_windows[i], &windows[w * LANES], epoch);
        }
        __syncthreads(); // no warp may read the windows before all are there
        if (warp == 0)
            for (unsigned i = 0; i < COLUMN_BATCH && p->windows + i < window; i++)
                p->sum = j.op.combine(p->sum, shared.windows[i][lane]);
        p->windows += COLUMN_BATCH;
        load_batch(found_windows, windows, p->windows, window);
        __syncthreads(); // no warp may write the next windows before these are read
    }
    p->windows = window;
    if (warp == 0) shared.prefix[lane] = j.op.combine(p->sum, within);
    __syncthreads(); // no warp may read the prefixes before warp 0 has found them
}

/* Draws a ticket and begins to load its tile. False if the ticket has no tile. */
template <typename Op>
static __device__ bool begin_tile(const job<Op> &j, struct column_shape s,
                                  struct column_tile<typename Op::State> &c,
                                  struct column_shared<typename Op::State> &shared)
{
    const int A = COLUMN_ACCESSES(sizeof(typename Op::State));
    __syncthreads(); // no thread may still read the ticket before
    if (threadIdx.x == 0) shared.drawn = draw_ticket(j.workspace);
    __syncthreads(); // no thread may read the ticket before it is drawn
    struct ticket t = shared.drawn;
    if (t.tile >= j.tiles) return false;
    bool beside = s.strips >= SIDE_BY_SIDE;
    c.ticket = t;
    c.tile = beside ? t.tile / s.strips : t.tile % s.tiles;
    c.strip = beside ? t.tile % s.strips : t.tile / s.tiles;
    c.part = part_of(s, j.reverse, c.strip, c.tile, A);
    load_part(j, c.part, c.x);
    return true;
}

template <bool NARROW, typename Op>
static __device__ void publish_tile(const job<Op> &j, struct column_shape s,
                                    struct column_tile<typename Op::State> &c,
                                    struct column_shared<typename Op::State> &shared)
{
    typedef typename Op::State State;
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    shared.sums[warp][lane] = sum_part<NARROW>(j.op, s, c.part, c.x);
    __syncthreads(); // no warp may read the sums before all are there
    c.within = c.all = j.op.identity();
    for (unsigned w = 0; w < COLUMN_WARPS; w++) {
        if (w == warp) c.within = c.all;
        c.all = j.op.combine(c.all, shared.sums[w][lane]);
    }
    if (warp == 0)
        publish(&published_of<State>(j.workspace)[(c.strip * s.tiles + c.tile) * LANES + lane],
                c.ticket.epoch, {c.all, false});
}

/* All tiles of a block. The sums of a tile are published before the prefix of the tile before it is
 * waited for. So no sum waits for a prefix, and when a prefix is to be found, most of the sums for
 * it have long been published. */
template <bool NARROW, typename Op>
static __device__ void scan_tiles(const job<Op> &j, struct column_shape s,
                                  struct column_shared<typename Op::State> &shared)
{
    struct column_progress<typename Op::State> progress = {
        j.initial, 0, 0
    };
    struct column_tile<typename Op::State> now, next;
    bool another = begin_tile(j, s, now, shared);

    if (another) publish_tile<NARROW>(j, s, now, shared);
    while (another) {
        // A ticket that is drawn before it is needed would let all later tiles wait.
        another = begin_tile(j, s, next, shared);
        if (another) publish_tile<NARROW>(j, s, next, shared);
        find_prefix(j, s, now, &progress, shared);
        store_part<NARROW>(j, s, now.part, now.x,
                           j.op.combine(shared.prefix[threadIdx.x % LANES], now.within));
        now = next;
    }
    // Every block draws until it gets a ticket without a tile.
    if (threadIdx.x == 0) end_if_last(j.workspace, shared.drawn, j.tiles + gridDim.x);
}

/* Needs COLUMN_THREADS threads per block. Works with any number of blocks. */
template <typename Op>
static __global__ void __launch_bounds__(COLUMN_THREADS, COLUMN_BLOCKS)
    scan_columns(const __grid_constant__ job<Op> j, struct column_shape s)
{
    __shared__ struct column_shared<typename Op::State> shared;

    if (s.at_a_time > 1)
        scan_tiles<true>(j, s, shared);
    else
        scan_tiles<false>(j, s, shared);
}

#endif
