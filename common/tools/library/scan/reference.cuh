/*
 * reference.cuh — the scan on the CPU: the combinations of the kernels, in their order, so that
 * every bit of the result is the same (if the operator's functions are: expf and logf of the GPU
 * are others than those of the CPU).
 *
 * Each function does what its namesake does in the kernels, with an array of LANES for what is a
 * variable of each lane there. A reverse scan takes position q of the scan from the mirrored place
 * in memory.
 */
#ifndef STEP16_REFERENCE_CUH
#define STEP16_REFERENCE_CUH

#include "columns.cuh"

#include <vector>

template <typename Op> struct reference {
    typedef typename Op::State State;
    typedef headed<State> Headed;
    enum { V = LANE_TAKES(WIDEST<Op>) };

    const job<Op> &j;
    struct tiling tiling;
    int rows;      // of a segment
    size_t window; // tiles
    size_t tile;   // places in a tile: for as many elements as its segments have

    // H(i) of states.cuh.
    bool starts(size_t i) const
    {
        if (i == 0 || i == j.n) return true;
        return j.kind == ROWS ? i % j.row == 0 : is_head(j.kind, j.heads, i);
    }

    // The element in place q; n if the place is empty.
    size_t place(size_t q) const
    {
        size_t t = q / tile, p = q % tile;
        size_t begin = (j.reverse ? tiling.tiles - 1 - t : t) * tiling.tile;
        size_t i = begin / LINE_TAKES(WIDEST<Op>) * LINE_TAKES(WIDEST<Op>) +
                   (j.reverse ? tile - 1 - p : p);
        return i < begin || i >= begin + tiling.tile ? j.n : i;
    }

    State element(size_t q) const
    {
        size_t i = place(q);
        return i < j.n ? element_at(j, i, j.in2) : j.op.identity();
    }
    bool head(size_t q) const
    {
        size_t i = place(q);
        return j.kind != NO_HEADS && i < j.n && starts(i + j.reverse);
    }

    Headed join(Headed left, Headed right) const
    {
        if (right.head) return right;
        return {j.op.combine(left.value, right.value), left.head};
    }

    // A balanced tree over neighbours.
    State tree(std::vector<State> x) const
    {
        for (size_t d = 1; d < x.size(); d *= 2)
            for (size_t i = 0; i < x.size(); i += 2 * d) x[i] = j.op.combine(x[i], x[i + d]);
        return x[0];
    }

    // The sweeps of warp_scan. The reach of lane l is reach[l].
    void sweeps(std::vector<State> &x, const std::vector<int> &reach) const
    {
        for (int d = 1; d < LANES; d *= 2) {
            std::vector<State> left = x;
            for (int l = d; l < LANES; l++)
                if (d <= reach[l]) x[l] = j.op.combine(left[l - d], x[l]);
        }
    }

    static std::vector<int> reaches(const std::vector<bool> &has_head)
    {
        std::vector<int> reach(LANES);
        for (int l = 0; l < LANES; l++) reach[l] = l == 0 || has_head[l] ? 0 : reach[l - 1] + 1;
        return reach;
    }

    Headed segment_sum(size_t begin) const
    {
        size_t length = (size_t)rows * LANES * V, last = 0;
        bool any = false;
        for (size_t i = 0; i < length; i++)
            if (head(begin + i)) last = i, any = true;
        std::vector<State> row;
        for (int r = 0; r < rows; r++) {
            std::vector<State> lane;
            for (int l = 0; l < LANES; l++)
                for (int k = 0; k < V; k++) {
                    size_t i = ((size_t)r * LANES + l) * V + k;
                    State x = i < last ? j.op.identity() : element(begin + i);
                    if (k == 0)
                        lane.push_back(x);
                    else
                        lane.back() = j.op.combine(lane.back(), x);
                }
            row.push_back(tree(lane));
        }
        return {tree(row), any};
    }

    // Returns the sum. If `base` is NULL, it does nothing else.
    Headed segment_scan(size_t begin, const State *base) const
    {
        State y = j.op.identity();
        Headed rows_before = {j.op.identity(), false};
        for (int r = 0; r < rows; r++, begin += LANES * V) {
            std::vector<State> total(LANES);
            std::vector<std::vector<State>> x(LANES, std::vector<State>(V));
            std::vector<bool> has(LANES);
            for (int l = 0; l < LANES; l++) {
                for (int k = 0; k < V; k++) {
                    size_t q = begin + l * V + k;
                    x[l][k] = element(q);
                    if (k > 0 && !head(q)) x[l][k] = j.op.combine(x[l][k - 1], x[l][k]);
                    has[l] = has[l] || head(q);
                }
                total[l] = x[l][V - 1];
            }
            sweeps(total, reaches(has));
            bool cut = false; // by a head in a lane before
            for (int l = 0; l < LANES; l++) {
                Headed before = rows_before;
                if (l > 0 && (r == 0 || cut))
                    before = {total[l - 1], before.head || cut};
                else if (l > 0)
                    before.value = j.op.combine(before.value, total[l - 1]);
                if (base && !before.head && !cut) before.value = j.op.combine(*base, before.value);
                bool closed = false;
                for (int k = 0; k < V; k++) {
                    size_t q = begin + l * V + k;
                    bool here = head(q);
                    y = k == 0   ? before.value
                        : closed ? x[l][k - 1]
                                 : j.op.combine(before.value, x[l][k - 1]);
                    if (here) y = j.op.identity();
                    closed = closed || here;
                    if (j.inclusive || !base)
                        y = closed ? x[l][k] : j.op.combine(before.value, x[l][k]);
                    if (!base) continue;
                    if (j.kind != NO_HEADS) y = j.op.combine(j.initial, y);
                    if (place(q) < j.n) j.out[place(q)] = j.op.leave(y, element(q));
                }
                cut = cut || has[l];
            }
            bool any = cut;
            State last = total[LANES - 1];
            rows_before = {r == 0 || any ? last : j.op.combine(rows_before.value, last),
                           rows_before.head || any};
        }
        return {y, rows_before.head};
    }

    // The sum of the window's tiles first to before `end`.
    Headed window_sum(const std::vector<Headed> &tiles, size_t first, size_t end) const
    {
        const size_t EACH = window / LANES;
        std::vector<Headed> lane(LANES, Headed{j.op.identity(), false});
        int last = -1;
        for (int l = 0; l < LANES; l++)
            for (size_t i = 0; i < EACH && first + l * EACH + i < end; i++) {
                Headed next = tiles[first + l * EACH + i];
                lane[l] = i == 0 ? next : join(lane[l], {next.value, next.head});
                if (i > 0) lane[l].head = lane[l].head || tiles[first + l * EACH + i - 1].head;
                if (next.head) last = l;
            }
        std::vector<State> x;
        for (int l = 0; l < LANES; l++) x.push_back(l < last ? j.op.identity() : lane[l].value);
        return {tree(x), last >= 0};
    }

    void run()
    {
        tiling = tiling_of(j.n, j.kind == ROWS ? j.row : 0, WIDEST<Op>);
        rows = tiling.rows, window = tiling.kind == MANY_TILES ? WINDOW : LANES;
        size_t segment = rows * ROW(WIDEST<Op>);
        tile = segment * tiling.segments;
        std::vector<Headed> tiles;
        Headed windows = {j.kind == NO_HEADS ? j.initial : j.op.identity(), false};

        for (size_t t = 0; t < tiling.tiles; t++) {
            std::vector<State> sum(LANES, j.op.identity());
            std::vector<bool> has(LANES);
            for (int s = 0; s < tiling.segments; s++) {
                size_t begin = t * tile + s * segment;
                Headed found =
                    tiling.kind == MANY_TILES ? segment_sum(begin) : segment_scan(begin, NULL);
                sum[s] = found.value, has[s] = found.head;
            }
            sweeps(sum, reaches(has));

            size_t own = t / window * window;
            if (t == own && t > 0) windows = join(windows, window_sum(tiles, own - window, own));
            Headed prefix = t == own ? windows : join(windows, window_sum(tiles, own, t));
            bool open = true;
            for (int s = 0; s < tiling.segments; s++) {
                State base = s == 0 ? prefix.value
                             : open ? j.op.combine(prefix.value, sum[s - 1])
                                    : sum[s - 1];
                segment_scan(t * tile + s * segment, &base);
                open = open && !has[s];
            }
            bool any = false;
            for (int s = 0; s < tiling.segments; s++) any = any || has[s];
            tiles.push_back({sum[tiling.segments - 1], any});
        }
    }
};

/* The columns of arrays on the host, as scan_columns scans them: each column by itself. */
template <typename Op> static void column_reference(const job<Op> &j, size_t columns)
{
    typedef typename Op::State State;
    const int ACCESSES = COLUMN_ACCESSES(COLUMN_BYTES<Op>);
    struct column_shape s = column_shape_of(j.n, columns, COLUMN_BYTES<Op>);
    const size_t SEGMENT = (size_t)ACCESSES * s.at_a_time;

    for (size_t c = 0; c < columns; c++) {
        State windows = j.initial, parts[LOOK_WARPS];
        for (size_t tile = 0; tile < s.tiles; tile++) {
            size_t in_window = tile % COLUMN_WINDOW;
            if (in_window == 0)
                for (State &part : parts) part = j.op.identity();
            State within = j.op.identity();
            for (const State &part : parts) within = j.op.combine(within, part);
            State prefix = j.op.combine(windows, within), all = j.op.identity();
            for (size_t warp = 0; warp < COLUMN_WARPS; warp++) {
                // Where the elements lie, and the scans of the accesses.
                std::vector<size_t> at(SEGMENT);
                std::vector<State> x(SEGMENT);
                State sum = j.op.identity(), before = j.op.combine(prefix, all);
                for (size_t i = 0; i < SEGMENT; i++) {
                    size_t row = (tile * COLUMN_WARPS + warp) * SEGMENT + i;
                    at[i] =
                        row >= s.rows ? j.n : (j.reverse ? s.rows - 1 - row : row) * columns + c;
                    x[i] = at[i] < j.n ? element_at(j, at[i], j.in2) : j.op.identity();
                }
                for (size_t from = 0; from < SEGMENT; from += s.at_a_time) {
                    for (size_t d = 1; d < s.at_a_time; d *= 2) {
                        std::vector<State> above = x;
                        for (size_t i = d; i < s.at_a_time; i++)
                            x[from + i] = j.op.combine(above[from + i - d], x[from + i]);
                    }
                    for (size_t i = from; i < from + s.at_a_time; i++) {
                        State y = j.inclusive ? j.op.combine(before, x[i])
                                  : i > from  ? j.op.combine(before, x[i - 1])
                                              : before;
                        if (at[i] < j.n) j.out[at[i]] = j.op.leave(y, element_at(j, at[i], j.in2));
                    }
                    before = j.op.combine(before, x[from + s.at_a_time - 1]);
                    sum = j.op.combine(sum, x[from + s.at_a_time - 1]);
                }
                all = j.op.combine(all, sum);
            }
            if (in_window == COLUMN_WINDOW - 1)
                windows = j.op.combine(windows, j.op.combine(within, all));
            State &part = parts[in_window / TILES_EACH];
            part = j.op.combine(part, all);
        }
    }
}

/* Scans j.n elements of arrays on the host; along the columns if there are any. */
template <typename Op> static void scan_reference(const job<Op> &j, size_t columns)
{
    if (j.n == 0) return;
    if (columns > 0) return column_reference(j, columns);
    reference<Op> r = {j, {}, 0, 0, 0};
    r.run();
}

#endif
