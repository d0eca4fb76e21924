/*
 * wave.cuh — the kernels for few elements, for short rows, and for longer ones.
 *
 * scan_wave has a block for each tile, all of them at once.
 * Same as step 12's scan_wave except for what pipeline.cuh names. The sum of a segment is the last
 * result of its scan, so nothing is combined for the sum alone. A window has 32 tiles, a lane for
 * each, and a warp for each window; the windows are combined one after the other.
 * What is still bad: the direction, the kind of heads, and whether the scan is inclusive are
 * variables here. One kernel serves for all, but each row takes more instructions than step 12's,
 * which a block of 32 warps feels.
 */
#ifndef STEP16_WAVE_CUH
#define STEP16_WAVE_CUH

#include "steps/12-pipeline/parts/barrier.cuh"
#include "steps/16-operators/segment.cuh"
#include "span.cuh"

#define WAVE_THREADS (WAVE_COARSE * LANES)

/* ---- fetch ----------------------------------------------------------------------------------- */

/* All arrays of a tile. */
template <typename Op> static __device__ void fetch_ahead(const job<Op> &j, struct span s)
{
    size_t count = s.to;
    fetch_ahead(j.in + s.at, count * sizeof(typename Op::In));
    if (bytes_of<typename Op::In2>::value > 0)
        fetch_ahead((const char *)j.in2 + s.at * bytes_of<typename Op::In2>::value,
                    count * bytes_of<typename Op::In2>::value);
    if (j.kind == KEYS) fetch_ahead((const int32_t *)j.heads + s.at, count * sizeof(int32_t));
    if (j.kind == BYTES) fetch_ahead((const uint8_t *)j.heads + s.at, count);
    if (j.kind == BITS) fetch_ahead((const uint32_t *)j.heads + s.at / 32, count / 8);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* H of V neighbours from element i on, which are all there; in a reverse scan of those from i + 1
 * on. H(0) and H(n) are for the caller. */
template <enum heads KIND, int V, typename Op>
static __device__ unsigned vector_bits(const job<Op> &j, size_t i)
{
    unsigned bits = 0;
    if (KIND == BITS) {
        const uint32_t *words = (const uint32_t *)j.heads;
        bits = words[i / 32] >> i % 32 & bits_below(V);
        if (!j.reverse) return bits;
        unsigned beside = i + V < j.n ? words[(i + V) / 32] >> (i + V) % 32 & 1 : 0;
        return bits >> 1 | beside << (V - 1);
    }
    if (KIND == BYTES) {
        const uint8_t *flags = (const uint8_t *)j.heads;
        uint8_t flag[V];
        take<uint8_t, V>(flag, flags + i);
#pragma unroll
        for (int k = 0; k < V; k++) bits |= (flag[k] != 0) << k;
        if (!j.reverse) return bits;
        return bits >> 1 | (unsigned)(i + V < j.n && flags[i + V] != 0) << (V - 1);
    }
    // Keys: each is compared with its neighbour.
    const int32_t *keys = (const int32_t *)j.heads;
    int32_t key[V], beside = 0;
    if (j.reverse ? i + V < j.n : i > 0) beside = keys[j.reverse ? i + V : i - 1];
    take<int32_t, V>(key, keys + i);
#pragma unroll
    for (int k = 0; k + 1 < V; k++) bits |= (key[k] != key[k + 1]) << k;
    return j.reverse ? bits | (key[V - 1] != beside) << (V - 1) : bits << 1 | (key[0] != beside);
}

template <enum heads KIND, int R, int V, typename Op>
static __device__ unsigned array_heads(const job<Op> &j, struct span s, int segment)
{
    unsigned heads = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        unsigned bits = vector_bits<KIND, V>(j, s.at + place_of<R, V>(j.reverse, segment, r));
        heads |= in_order<V>(j.reverse, bits) << (r * V);
    }
    return heads;
}

/* H of a vector in memory, where not all is there, or not aligned; and of long rows. */
template <int V, typename Op>
static __device__ unsigned single_bits(const job<Op> &j, struct span s, unsigned first_head, int at)
{
    unsigned bits = 0;
    if (j.kind == ROWS) return one_head<V>(first_head, at + j.reverse);
#pragma unroll 1
    for (int k = 0; k < V; k++) {
        size_t asked = s.at + at + k + j.reverse;
        if (asked > 0 && asked < j.n) bits |= is_head(j.kind, j.heads, asked) << k;
    }
    return bits;
}

/* The heads of a segment. */
template <int R, int V, typename Op>
static __device__ unsigned heads_of(const job<Op> &j, struct span s, unsigned first_head,
                                    int segment, bool whole)
{
    unsigned heads = 0;
    if (whole && j.kind == KEYS) return array_heads<KEYS, R, V>(j, s, segment);
    if (whole && j.kind == BYTES) return array_heads<BYTES, R, V>(j, s, segment);
    if (whole && j.kind == BITS) return array_heads<BITS, R, V>(j, s, segment);
#pragma unroll 1
    for (int r = 0; r < R; r++) {
        unsigned bits = single_bits<V>(j, s, first_head, place_of<R, V>(j.reverse, segment, r));
        heads |= in_order<V>(j.reverse, bits) << (r * V);
    }
    return heads;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

/* The sum of the tiles of a window that are before `tile`, in every lane of a warp. Waits for sums
 * that are not published yet. */
template <typename Op>
static __device__ headed<typename Op::State>
wave_window(const Op &op, const published<typename Op::State> *states, unsigned window,
            struct ticket t)
{
    unsigned tile = window * LANES + threadIdx.x % LANES;
    published<typename Op::State> found;
    headed<typename Op::State> sum = {op.identity(), false};
    if (tile < t.tile) {
        do load_words(found.word, states[tile].word);
        while (!is_of(found, t.epoch));
        sum = sum_in(found);
    }
    __syncwarp(); // lanes leave the loop at different times
    return warp_sum_headed(op, sum);
}

/* Needs a block for each tile, with a warp for each of its segments. */
template <bool HEADED, typename Op>
static __global__ void __launch_bounds__(WAVE_THREADS, 1)
    scan_wave(const __grid_constant__ job<Op> j)
{
    typedef typename Op::State State;
    const int R = WAVE_ROWS, V = LANE_TAKES(WIDEST<Op>);
    __shared__ struct ticket drawn;
    __shared__ unsigned first_head;
    __shared__ headed<State> sums[WAVE_COARSE], parts[WAVE_COARSE];
    __shared__ headed<State> windows[WAVE_TILES / LANES];
    int segment = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    published<State> *states = published_of<State>(j.workspace);

    // Draw a ticket. Meanwhile another warp begins to prefetch. A single tile needs no ticket.
    struct ticket t = {0, 0};
    unsigned first = 0; // the tile's first head, if these are rows: long ones
    if (j.tiles > 1) {
        if (threadIdx.x == 0) {
            drawn = draw_ticket(j.workspace);
            if (HEADED)
                first_head = j.kind == ROWS ? head_from(span_of(j, drawn.tile).at, j.row) : 0;
        }
        if (threadIdx.x == LANES && j.aligned) fetch_ahead(j, span_of(j, blockIdx.x));
        __syncthreads(); // no thread may read the ticket before it is drawn
        t = drawn;
        if (HEADED) first = first_head;
        if (threadIdx.x == 0) end_if_last(j.workspace, t, j.tiles);
    }

    // Fetch and scan a segment. Its last lane has its sum.
    struct span s = span_of(j, t.tile);
    bool inside = is_inside<R, V>(j.reverse, s, segment), whole = inside && j.aligned;
    fetched<Op, R, V> f;
    State own[R][V], x[R][V];
    rows_before<State, R> before;
    fetch_segment(j, f, s, segment, whole);
    unsigned heads = 0;
    if (HEADED) heads = heads_of<R, V>(j, s, first, segment, whole);
    heads = enter_segment<HEADED>(j, f, own, heads, s, segment, inside);
    memcpy(x, own, sizeof x);
    segment_scan<HEADED>(j.op, x, heads, before);
    auto sum = last_of<HEADED>(j.op, x, heads, before);
    if (lane == LANES - 1) sums[segment] = sum;
    __syncthreads(); // no warp may read the segments' sums before all are there

    // The first warp publishes the tile's sum. The next ones look at a window each.
    if (segment == 0) {
        auto tile = segments_scan<HEADED>(j.op, sums, parts);
        if (j.tiles > 1 && lane == 0) publish(&states[t.tile], t.epoch, tile);
    }
    unsigned window = segment - 1;
    if (segment > 0 && window * LANES < t.tile) {
        auto found = wave_window(j.op, states, window, t);
        if (lane == 0) windows[window] = found;
    }
    __syncthreads(); // no warp may read what is before its segment before it is there
    headed<State> prefix = {HEADED ? j.op.identity() : j.initial, false};
    for (unsigned w = 0; w * LANES < t.tile; w++) prefix = join(j.op, prefix, windows[w]);
    State base = base_of(j.op, segment, parts[segment], prefix.value);
    store_places<HEADED>(j, s, segment, own, x, heads, before, base, whole);
}

/* ---- scan_rows ------------------------------------------------------------------------------- */

/*
 * The kernel for short rows of an array. A tile has whole rows, so it needs nothing of
 * other tiles.
 *
 * Same as wave.cuh except: no ticket, no states, no prefix, and heads that follow from the place.
 * What is left is a copy with a scan between the load and the store.
 * What is still bad: all warps of a block wait for the last of them before any of them stores, and
 * longer rows have larger blocks.
 */

#define ROWS_THREADS (APART_MOST * LANES)

/* The heads of a segment. */
template <bool SHORT, int R, int V>
static __device__ unsigned heads_of_rows(bool reverse, struct row_heads rows, int segment)
{
    unsigned heads = 0;
#pragma unroll
    for (int r = 0; r < R; r++) {
        unsigned bits = row_bits<SHORT, V>(rows, place_of<R, V>(reverse, segment, r) + reverse);
        heads |= in_order<V>(reverse, bits) << (r * V);
    }
    return heads;
}

/* Needs a block for each tile, with a warp for each of its segments. */
template <typename Op>
static __global__ void __launch_bounds__(ROWS_THREADS, 1)
    scan_rows(const __grid_constant__ job<Op> j)
{
    typedef typename Op::State State;
    const int R = APART_ROWS, V = LANE_TAKES(WIDEST<Op>);
    __shared__ headed<State> sums[APART_MOST], parts[APART_MOST];
    int segment = threadIdx.x / LANES;
    struct span s = span_of(j, blockIdx.x);
    bool inside = is_inside<R, V>(j.reverse, s, segment), whole = inside && j.aligned;
    struct row_heads rows = j.rows;
    fetched<Op, R, V> f;
    State own[R][V], x[R][V];
    rows_before<State, R> before;

    fetch_segment(j, f, s, segment, whole);
    rows.first = s.from;
    bool is_short = rows.length < V || rows.length == 1;
    unsigned heads = is_short ? heads_of_rows<true, R, V>(j.reverse, rows, segment)
                              : heads_of_rows<false, R, V>(j.reverse, rows, segment);
    heads = enter_segment<true>(j, f, own, heads, s, segment, inside);
    memcpy(x, own, sizeof x);
    segment_scan<true>(j.op, x, heads, before);
    auto sum = last_of<true>(j.op, x, heads, before);
    if (threadIdx.x % LANES == LANES - 1) sums[segment] = sum;
    __syncthreads(); // no warp may read the segments' sums before all are there
    if (segment == 0) segments_scan<true>(j.op, sums, parts);
    __syncthreads(); // no warp may read what is before its segment before it is there
    State base = base_of(j.op, segment, parts[segment], j.op.identity());
    store_places<true>(j, s, segment, own, x, heads, before, base, whole);
}

/* ---- scan_long_rows -------------------------------------------------------------------------- */

/*
 * The kernel for rows that a few blocks can hold. Each of them scans a part of the row.
 *
 * Same as scan_rows except: the blocks of a row are a cluster, and read each other's sums from
 * shared memory, so that no workspace is needed. Before Hopper there are no clusters: one block
 * scans the parts of its row one after the other, and combines in the same order.
 * What is still bad: all blocks of a row load, then all wait, then all store.
 */

/* Rows of a segment, and blocks of a multiprocessor at least: as many elements as possible are in
 * registers at a time. */
template <typename Op> constexpr int LONG_ROWS = sizeof(typename Op::State) == 4 ? 8 : 4;
template <typename Op>
constexpr int LONG_BLOCKS = sizeof(typename Op::State) == 4                         ? 4
                            : sizeof(typename Op::State) > sizeof(typename Op::Out) ? 1
                                                                                    : 2;
#define LONG_THREADS(R) (MANY_ROWS * SEGMENTS / (R)*LANES)

/* Part p of a row, in the order of the scan, of `parts` parts. */
template <typename Op>
static __device__ struct span part_of_row(const job<Op> &j, size_t row, unsigned p, unsigned parts)
{
    struct span s;
    size_t rows = j.n / j.row, first = (j.reverse ? parts - 1 - p : p) * j.tile;
    size_t begin = (j.reverse ? rows - 1 - row : row) * j.row + first, left = j.row - first;
    s.from = (int)(begin % LINE_TAKES(WIDEST<Op>));
    s.at = begin - s.from;
    s.to = s.from + (int)(left < j.tile ? left : j.tile);
    s.first = -1; // no heads: a row is one sequence
    return s;
}

/* Needs a block for each part of a row, in clusters of `parts` blocks; before Hopper, a block for
 * each row. */
template <typename Op>
static __global__ void __launch_bounds__(LONG_THREADS(LONG_ROWS<Op>), LONG_BLOCKS<Op>)
    scan_long_rows(const __grid_constant__ job<Op> j, unsigned parts)
{
    typedef typename Op::State State;
    const int R = LONG_ROWS<Op>, V = LANE_TAKES(WIDEST<Op>);
#if __CUDA_ARCH__ >= 900
    auto cluster = cooperative_groups::this_cluster();
    unsigned row = blockIdx.x / parts, first = blockIdx.x % parts, end = first + 1;
#else
    unsigned row = blockIdx.x, first = 0, end = parts;
#endif
    __shared__ headed<State> sums[APART_MOST], within[APART_MOST];
    __shared__ State total, others[PARTS_MOST]; // of this block, of those before it
    int segment = threadIdx.x / LANES;
    State prefix = j.initial;

    for (unsigned p = first; p < end; p++) {
        struct span s = part_of_row(j, row, p, parts);
        bool inside = is_inside<R, V>(j.reverse, s, segment), whole = inside && j.aligned;
        fetched<Op, R, V> f;
        State own[R][V], x[R][V];
        rows_before<State, R> before;

        fetch_segment(j, f, s, segment, whole);
        unsigned heads = enter_segment<false>(j, f, own, 0, s, segment, inside);
        memcpy(x, own, sizeof x);
        segment_scan<false>(j.op, x, heads, before);
        auto sum = last_of<false>(j.op, x, heads, before);
        if (threadIdx.x % LANES == LANES - 1) sums[segment] = sum;
        __syncthreads(); // no warp may read the segments' sums before all are there
        if (segment == 0) {
            auto all = segments_scan<false>(j.op, sums, within);
            if (threadIdx.x == 0) total = all.value;
        }
#if __CUDA_ARCH__ >= 900
        cluster.sync(); // no thread may read a block's sum before it is there
        if (threadIdx.x < p) others[threadIdx.x] = *cluster.map_shared_rank(&total, threadIdx.x);
        cluster.barrier_arrive(); // this thread has read the sum of another block

        __syncthreads(); // no warp may read what is before its segment before it is there
        for (unsigned b = 0; b < p; b++) prefix = j.op.combine(prefix, others[b]);
#else
        __syncthreads(); // no warp may read what is before its segment before it is there
        if (p > 0) prefix = j.op.combine(prefix, others[0]);
#endif
        State base = base_of(j.op, segment, within[segment], prefix);
        store_places<false>(j, s, segment, own, x, heads, before, base, whole);
#if __CUDA_ARCH__ < 900
        __syncthreads(); // no warp may write the sums of the next part before these are read
        if (threadIdx.x == 0) others[0] = total;
#endif
    }
#if __CUDA_ARCH__ >= 900
    cluster.barrier_wait(); // no block may end while another one reads its sum
#endif
}

#endif
