/*
 * reference_tree.h — the tree of additions, once for each type: reference.c includes this file with
 * Sum and OF(name) defined. Each function does what its namesake does in the kernels (segment.cuh,
 * prefix.cuh), with an array of LANES for what is a variable of each lane there.
 */

/* Balanced, as in the kernels, where all lanes get the result of lane 0. */
static Carry OF(warp_sum)(const Carry lane[LANES])
{
    Carry x[LANES];
    memcpy(x, lane, sizeof x);
    for (int d = 1; d < LANES; d *= 2)
        for (int l = 0; l < LANES; l += 2 * d) x[l] += x[l + d];
    return x[0];
}

static void OF(warp_scan)(Sum x[LANES])
{
    for (int d = 1; d < LANES; d *= 2) {
        Sum left[LANES];
        memcpy(left, x, sizeof left);
        for (int l = d; l < LANES; l++) x[l] += left[l - d];
    }
}

static Sum OF(segment_sum)(const Sum *x, int rows)
{
    Sum lane[LANES] = {0};
    for (int r = 0; r < rows; r++)
        for (int l = 0; l < LANES; l++, x += V) {
            Sum row = x[0];
            for (int k = 1; k < V; k++) row += x[k];
            lane[l] += row;
        }
    for (int d = 1; d < LANES; d *= 2) /* a warp_sum of sums, not of carries */
        for (int l = 0; l < LANES; l += 2 * d) lane[l] += lane[l + d];
    return lane[0];
}

/* Scans the segment x, and adds `base` to each sum. Returns the sum of the segment's rows. */
static Sum OF(segment_scan)(Sum *y, const Sum *x, int rows, bool inclusive, Sum base)
{
    Sum rows_before = 0;
    for (int r = 0; r < rows; r++, x += LANES * V, y += LANES * V) {
        Sum scan[LANES][V], total[LANES];
        for (int l = 0; l < LANES; l++) {
            scan[l][0] = x[l * V];
            for (int k = 1; k < V; k++) scan[l][k] = scan[l][k - 1] + x[l * V + k];
            total[l] = scan[l][V - 1];
        }
        OF(warp_scan)(total);
        for (int l = 0; l < LANES; l++) {
            Sum before = l == 0 ? rows_before : rows_before + total[l - 1];
            for (int k = 0; k < V; k++) {
                Sum within = inclusive ? before + scan[l][k]
                             : k > 0   ? before + scan[l][k - 1]
                                       : before;
                y[l * V + k] = base + within;
            }
        }
        rows_before += total[LANES - 1];
    }
    return rows_before;
}

/* The segment that begins at this index. Elements at n and beyond count as 0. */
static void OF(fetch)(Sum *x, const Sum *in, size_t begin, size_t length, size_t n)
{
    size_t count = begin >= n ? 0 : n - begin < length ? n - begin : length;
    if (count) memcpy(x, in + begin, count * sizeof(Sum));
    memset(x + count, 0, (length - count) * sizeof(Sum));
}

/* Scans one tile after another. Thread i of the threads that find the prefixes holds the sum of the
 * tiles i, i + lookers, i + 2 lookers, … before this one. */
void OF(reference)(Sum *out, const Sum *in, size_t n, bool inclusive, enum kernel kernel)
{
    struct division d = division_of(n, sizeof(Sum), kernel);
    size_t length = (size_t)d.rows * ROW(sizeof(Sum)), tile = d.segments * length;
    int lookers = lookers_of(d, kernel);
    Carry held[MOST_LOOKERS] = {0};
    Sum x[MOST_ROWS * ROW(sizeof(Sum))], y[MOST_ROWS * ROW(sizeof(Sum))];

    for (size_t begin = 0, t = 0; begin < n; begin += tile, t++) {
        Sum sums[LANES] = {0};
        for (int s = 0; s < d.segments; s++) {
            OF(fetch)(x, in, begin + s * length, length, n);
            sums[s] = kernel == KERNEL_ONCHIP ? OF(segment_scan)(y, x, d.rows, inclusive, 0)
                                              : OF(segment_sum)(x, d.rows);
        }
        OF(warp_scan)(sums);

        Carry warps[LANES] = {0};
        for (int i = 0; i < lookers; i += LANES) warps[i / LANES] = OF(warp_sum)(held + i);
        Carry prefix = OF(warp_sum)(warps);
        for (int s = 0; s < d.segments && begin + s * length < n; s++) {
            size_t at = begin + s * length, count = n - at < length ? n - at : length;
            OF(fetch)(x, in, at, length, n);
            OF(segment_scan)(y, x, d.rows, inclusive, (Sum)(prefix + (s == 0 ? 0 : sums[s - 1])));
            memcpy(out + at, y, count * sizeof(Sum));
        }
        held[t % lookers] += sums[d.segments - 1];
    }
}
