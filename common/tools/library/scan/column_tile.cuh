/*
 * column_tile.cuh — tiles of columns: their shape, what a block shares of them, and their way from
 * device memory to registers. columns.cuh says what strips, segments and windows are.
 */
#ifndef STEP16_COLUMN_TILE_CUH
#define STEP16_COLUMN_TILE_CUH

#include "arrays.cuh"

#include <cuda_pipeline.h>

#define COLUMN_WARPS   8 /* that scan */
#define LOOK_WARPS     2
#define SCAN_THREADS   (COLUMN_WARPS * LANES)
#define COLUMN_THREADS (SCAN_THREADS + LOOK_WARPS * LANES)
#define COLUMN_BLOCKS  2 /* at least, on a multiprocessor */
#define COLUMN_STAGES  3
#define COLUMN_WINDOW  16
#define TILES_EACH     (COLUMN_WINDOW / LOOK_WARPS) /* of a window: those of one look warp */
/* How many sums a lane of a look warp loads at a time, and the states of how many accesses a lane
 * of a scan warp works on at a time. Their latencies overlap. */
#define LOOK_BATCH(State) (32 / (int)sizeof(State))
#define CHUNK(State)      (32 / (int)sizeof(State))
#define COPIES            8 /* that a lane begins one after the other, without a condition */
/* Blocks begin side by side in all strips, so that they read neighbouring memory. Of this many
 * strips a block keeps what it has of their prefixes, for its next tile there. */
#define STRIPS_KEPT(State) (128 / (int)sizeof(State))

/* Accesses of a lane: 128 bytes of elements or states, so that six tiles fit into the shared memory
 * of an H200's multiprocessor. */
#define COLUMN_ACCESSES(bytes) (128 / (int)(bytes))
template <typename Op>
constexpr int COLUMN_BYTES = larger(sizeof(typename Op::State),
                                    sizeof(typename Op::In) + bytes_of<typename Op::In2>::value);

/* How rows * columns elements are divided. */
struct column_shape {
    size_t rows, columns;
    unsigned width;       // columns of a strip, at most LANES
    unsigned at_a_time;   // rows of an access
    size_t strips, tiles; // tiles of a strip
};

static __host__ __device__ inline struct column_shape column_shape_of(size_t n, size_t columns,
                                                                      size_t bytes)
{
    struct column_shape s;
    s.columns = columns;
    s.rows = n / columns;
    s.width = (unsigned)(columns < LANES ? columns : LANES);
    s.at_a_time = LANES / s.width;
    size_t rows = (size_t)s.at_a_time * COLUMN_ACCESSES(bytes) * COLUMN_WARPS;
    s.strips = columns / LANES + (columns % LANES > 0);
    s.tiles = s.rows / rows + (s.rows % rows > 0);
    return s;
}

/* A state for each lane of each tile, and for each lane of each window. */
static __host__ __device__ inline size_t column_states(struct column_shape s)
{
    return s.strips * (s.tiles + s.tiles / COLUMN_WINDOW) * LANES;
}

/* ---- what a block shares --------------------------------------------------------------------- */

/* Elements of a tile. Each thread reads only what it has copied itself. */
template <typename T, int A> struct staged {
    T x[A][SCAN_THREADS];
};
template <int A> struct staged<no_input, A> {
};

template <typename Op> struct column_shared {
    typedef typename Op::State State;
    enum { ACCESSES = COLUMN_ACCESSES(COLUMN_BYTES<Op>) };
    // Twice: while one of them is read in a round, the other is written for the next round.
    struct round {
        struct ticket drawn; // by a scan warp
        State sum[LANES];    // of a tile that is published
        State prefix[LANES]; // of the same tile
    } rounds[2];
    // What the first look warp has combined of a strip's whole windows.
    struct {
        State sum[LANES];
        unsigned strip, windows; // windows 0: of no strip
    } kept[STRIPS_KEPT(State)];
    State parts[COLUMN_WARPS][LANES]; // sums of a tile's segments
    // Of the look warps: sums of tiles, and sums of windows.
    State tiles[LOOK_WARPS][LANES], windows[LOOK_WARPS * LOOK_BATCH(State)][LANES];
    struct stage {
        staged<typename Op::In, ACCESSES> in;
        staged<typename Op::In2, ACCESSES> in2;
    } stages[COLUMN_STAGES]; // one if there is no room for more
};

/* A scan of columns. */
template <typename Op> struct column_job {
    job<Op> all;
    struct column_shape shape;
    bool ahead; // is there shared memory for COLUMN_STAGES tiles? Otherwise for one
};

/* ---- tiles ----------------------------------------------------------------------------------- */

/* A lane's part of a tile. */
struct lane_part {
    size_t first, step; // the first element in memory, and from one access to the next
    size_t index, rows; // the same in the lane's column
    int count;          // accesses with an element
    unsigned row;       // of the lane, in an access
};

struct column_tile {
    unsigned strip, tile, epoch;
};

/* The step may go backwards: it wraps. */
template <typename Op>
static __device__ struct lane_part part_of(const column_job<Op> &c, struct column_tile t)
{
    const int ACCESSES = column_shared<Op>::ACCESSES;
    struct column_shape s = c.shape;
    unsigned warp = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    struct lane_part p;
    size_t column = (size_t)t.strip * LANES + lane % s.width;
    p.row = lane / s.width;
    size_t row = ((size_t)t.tile * COLUMN_WARPS + warp) * ACCESSES * s.at_a_time + p.row;
    p.index = c.all.reverse ? s.rows - 1 - row : row;
    p.rows = (c.all.reverse ? -(size_t)1 : 1) * s.at_a_time;
    p.first = p.index * s.columns + column;
    p.step = p.rows * s.columns;
    p.count = 0;
    if (row < s.rows && column < s.columns && p.row < s.at_a_time) {
        size_t left = s.rows - row, all = (size_t)ACCESSES * s.at_a_time;
        p.count = left >= all ? ACCESSES : ((int)left + (int)s.at_a_time - 1) / (int)s.at_a_time;
    }
    return p;
}

static __device__ struct column_tile tile_of(struct column_shape s, struct ticket t)
{
    unsigned strips = (unsigned)s.strips;
    return {t.tile % strips, t.tile / strips, t.epoch};
}

/* Begins to copy one element. An asynchronous copy takes 4, 8 or 16 bytes whose address is a
 * multiple of this. Other elements are copied at once. */
template <typename T> static __device__ void copy_element(T *to, const T *from)
{
    if constexpr (alignof(T) == sizeof(T) && sizeof(T) >= 4)
        __pipeline_memcpy_async(to, from, sizeof(T));
    else
        *to = *from;
}

/* Begins to copy a lane's elements. */
template <typename T, int A>
static __device__ void begin_copy(staged<T, A> &to, const T *from, struct lane_part p)
{
    const char *at = (const char *)(from + p.first); // to add is faster than to multiply
    size_t step = p.step * sizeof(T);
    int i = 0;
    for (; i + COPIES <= p.count; i += COPIES)
#pragma unroll
        for (int k = 0; k < COPIES; k++, at += step)
            copy_element(&to.x[i + k][threadIdx.x], (const T *)at);
#pragma unroll 1
    for (; i < p.count; i++, at += step) copy_element(&to.x[i][threadIdx.x], (const T *)at);
}

template <int A>
static __device__ void begin_copy(staged<no_input, A> &, const no_input *, struct lane_part)
{
}

template <typename Op>
static __device__ void begin_load(const column_job<Op> &c, struct column_tile tile, int stage,
                                  struct column_shared<Op> &shared)
{
    struct lane_part p = part_of(c, tile);
    begin_copy(shared.stages[stage].in, c.all.in, p);
    begin_copy(shared.stages[stage].in2, c.all.in2, p);
}

template <typename T, int A> static __device__ T arrived(const staged<T, A> &from, int i)
{
    return from.x[i][threadIdx.x];
}

template <int A> static __device__ no_input arrived(const staged<no_input, A> &, int) { return {}; }

template <typename Op>
static __device__ typename Op::State arrived_state(const Op &op, struct lane_part p, int i,
                                                   const typename column_shared<Op>::stage &stage)
{
    return state_of(op, arrived(stage.in, i), arrived(stage.in2, i), p.index + i * p.rows);
}

/* The states of a lane's elements, N from access `first` on. */
template <typename Op, int N>
static __device__ void take_chunk(const Op &op, struct lane_part p, int first,
                                  const typename column_shared<Op>::stage &stage,
                                  typename Op::State (&x)[N])
{
    if (first + N <= p.count) {
#pragma unroll
        for (int i = 0; i < N; i++) x[i] = arrived_state(op, p, first + i, stage);
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        x[i] = op.identity();
        if (first + i < p.count) x[i] = arrived_state(op, p, first + i, stage);
    }
}

/* Scans each access over the lanes of the same column: they lie `width` apart. */
template <typename Op, int N>
static __device__ void scan_accesses(const Op &op, struct column_shape s, unsigned row,
                                     typename Op::State (&x)[N])
{
    for (unsigned d = 1; d < s.at_a_time; d *= 2)
#pragma unroll
        for (int i = 0; i < N; i++) {
            auto above = from_left(x[i], d * s.width);
            if (d <= row) x[i] = op.combine(above, x[i]);
        }
}

/* The sum of an access, from its scan: that of the last row, in every lane. */
template <typename State> static __device__ State sum_of_access(struct column_shape s, State x)
{
    return from_lane(x, (s.at_a_time - 1) * s.width + threadIdx.x % LANES % s.width);
}

#endif
