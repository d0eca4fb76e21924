/*
 * many_reference.c — the whole scan of step 17 on the CPU, in the kernels' tree (part.h). Each
 * function does what its namesake does in part.cuh or in step 16's segment.cuh, with an array of
 * LANES for what is a variable of each lane there.
 */
#include "many_reference.h"

#include <stdlib.h>
#include <string.h>

typedef union many_state State;

#define LANES     32
#define MOST_ROWS 8

/* The state of element i. */
static State enter(enum many_op op, const void *in, const void *in2, size_t i)
{
    State s = {.i64 = 0};
    size_t size = many_element_bytes(op);
    memcpy(&s, (const char *)in + i * size, size);
    if (op == MANY_AFFINE_F32) s.affine.b = ((const float *)in2)[i];
    return s;
}

/* Writes the result of element i. */
static void leave(enum many_op op, void *out, size_t i, State s)
{
    size_t size = many_element_bytes(op);
    const void *from = op == MANY_AFFINE_F32 ? (const void *)&s.affine.b : &s;
    memcpy((char *)out + i * size, from, size);
}

/* How a segment is divided: into vectors of `vector` elements, and into rows of LANES vectors. */
struct division {
    int vector, rows;
};

static struct division division_of(enum many_op op)
{
    int vector = 16 / (int)many_element_bytes(op);
    return (struct division){vector, MANY_SEGMENT / LANES / vector};
}

/* Inclusive, in place. */
static void warp_scan(enum many_op op, State x[LANES])
{
    for (int d = 1; d < LANES; d *= 2) {
        State left[LANES];
        memcpy(left, x, sizeof left);
        for (int l = d; l < LANES; l++) x[l] = many_combine(op, left[l - d], left[l]);
    }
}

/* A balanced tree over a power of two of states, which are overwritten. */
static State tree(enum many_op op, State *x, int count)
{
    for (int d = 1; d < count; d *= 2)
        for (int i = 0; i < count; i += 2 * d) x[i] = many_combine(op, x[i], x[i + d]);
    return x[0];
}

static State segment_sum(enum many_op op, const State x[MANY_SEGMENT])
{
    struct division d = division_of(op);
    State rows[MOST_ROWS], lanes[LANES];
    for (int r = 0; r < d.rows; r++) {
        for (int l = 0; l < LANES; l++, x += d.vector) {
            lanes[l] = x[0];
            for (int k = 1; k < d.vector; k++) lanes[l] = many_combine(op, lanes[l], x[k]);
        }
        rows[r] = tree(op, lanes, LANES);
    }
    return tree(op, rows, d.rows);
}

static State reduce_tile(enum many_op op, const State x[MANY_TILE])
{
    State sums[LANES];
    for (int s = 0; s < LANES; s++)
        sums[s] = s < MANY_SEGMENTS ? segment_sum(op, x + s * MANY_SEGMENT) : many_identity(op);
    return tree(op, sums, LANES);
}

/* Scans some states in place, exclusively, as a block of `threads` does. Returns the combination of
 * all. */
static State block_scan(enum many_op op, State *x, size_t count, size_t threads)
{
    State lanes[MANY_SUM_THREADS], warps[LANES];
    for (size_t i = 0; i < threads; i++) lanes[i] = i < count ? x[i] : many_identity(op);
    for (size_t w = 0; w < LANES; w++) {
        warps[w] = many_identity(op);
        if (w >= threads / LANES) continue;
        warp_scan(op, lanes + w * LANES);
        warps[w] = lanes[w * LANES + LANES - 1];
    }
    warp_scan(op, warps);
    for (size_t i = 0; i < count; i++) {
        size_t w = i / LANES, l = i % LANES;
        State left = l ? lanes[i - 1] : many_identity(op);
        x[i] = w == 0 ? left : l == 0 ? warps[w - 1] : many_combine(op, warps[w - 1], left);
    }
    return warps[threads / LANES - 1];
}

/* Scans the sums of a node's tiles in place, exclusively. Returns the node's sum. */
static State scan_tile_sums(enum many_op op, State *sums, size_t tiles, size_t node_tiles)
{
    size_t width = node_tiles < MANY_SUM_THREADS ? node_tiles : MANY_SUM_THREADS;
    size_t threads = width < LANES ? LANES : width;
    State carry = many_identity(op);
    for (size_t first = 0; first < tiles; first += threads) {
        size_t count = tiles - first < threads ? tiles - first : threads;
        State total = block_scan(op, sums + first, count, threads);
        for (size_t i = first; i < first + count; i++) sums[i] = many_combine(op, carry, sums[i]);
        carry = many_combine(op, carry, total);
    }
    return carry;
}

/* What segment_scan leaves to be combined with each element. */
struct rows_before {
    State sum[MOST_ROWS][LANES];
};

static void segment_scan(enum many_op op, State x[MANY_SEGMENT], struct rows_before *before)
{
    struct division d = division_of(op);
    State rows = many_identity(op);
    for (int r = 0; r < d.rows; r++) {
        State total[LANES];
        for (int l = 0; l < LANES; l++, x += d.vector) {
            for (int k = 1; k < d.vector; k++) x[k] = many_combine(op, x[k - 1], x[k]);
            total[l] = x[d.vector - 1];
        }
        warp_scan(op, total);
        for (int l = 0; l < LANES; l++)
            before->sum[r][l] = l == 0   ? rows
                                : r == 0 ? total[l - 1]
                                         : many_combine(op, rows, total[l - 1]);
        rows = r == 0 ? total[LANES - 1] : many_combine(op, rows, total[LANES - 1]);
    }
}

/* The results of a tile. of_node stands before its node, and `within` before it in the node. x is
 * overwritten. */
static void scan_tile(enum many_op op, State y[MANY_TILE], State x[MANY_TILE], State of_node,
                      State within, bool inclusive)
{
    struct division d = division_of(op);
    struct rows_before before[MANY_SEGMENTS];
    State bases[LANES] = {of_node, within};
    for (int l = 2; l < LANES; l++) bases[l] = many_identity(op);
    for (int s = 0; s < MANY_SEGMENTS; s++) {
        segment_scan(op, x + s * MANY_SEGMENT, &before[s]);
        bases[s + 2] =
            many_combine(op, before[s].sum[d.rows - 1][LANES - 1], x[(s + 1) * MANY_SEGMENT - 1]);
    }
    warp_scan(op, bases);
    for (int i = 0; i < (int)MANY_TILE; i++) {
        int s = i / MANY_SEGMENT, v = i % MANY_SEGMENT / d.vector, k = i % d.vector;
        State joined = many_combine(op, bases[s + 1], before[s].sum[v / LANES][v % LANES]);
        y[i] = inclusive ? many_combine(op, joined, x[i])
               : k > 0   ? many_combine(op, joined, x[i - 1])
                         : joined;
    }
}

struct scan {
    enum many_op op;
    const void *in, *in2;
    size_t n;
};

/* The states of a tile. Elements beyond n are the identity. */
static void load_tile(const struct scan *s, State x[MANY_TILE], size_t tile)
{
    for (size_t i = 0; i < MANY_TILE; i++) {
        size_t at = tile * MANY_TILE + i;
        x[i] = at < s->n ? enter(s->op, s->in, s->in2, at) : many_identity(s->op);
    }
}

static void scan_all(const struct scan *s, void *out, State *tile_sums, bool inclusive)
{
    struct many_shape shape = many_shape_of(s->n);
    State x[MANY_TILE], y[MANY_TILE], nodes[MANY_NODES];
    for (size_t t = 0; t < shape.tiles; t++) {
        load_tile(s, x, t);
        tile_sums[t] = reduce_tile(s->op, x);
    }
    for (size_t i = 0; i < shape.nodes; i++) {
        size_t first = i * shape.node_tiles, rest = shape.tiles - first;
        nodes[i] =
            scan_tile_sums(s->op, tile_sums + first,
                           rest < shape.node_tiles ? rest : shape.node_tiles, shape.node_tiles);
    }
    block_scan(s->op, nodes, shape.nodes, MANY_SUM_THREADS);
    for (size_t t = 0; t < shape.tiles; t++) {
        load_tile(s, x, t);
        scan_tile(s->op, y, x, nodes[t / shape.node_tiles], tile_sums[t], inclusive);
        for (size_t i = t * MANY_TILE; i < s->n && i < (t + 1) * MANY_TILE; i++)
            leave(s->op, out, i, y[i % MANY_TILE]);
    }
}

bool many_reference(enum many_op op, void *out, const void *in, const void *in2, size_t n,
                    bool inclusive)
{
    const struct scan s = {op, in, in2, n};
    if (n == 0) return true;
    State *tile_sums = malloc(many_shape_of(n).tiles * sizeof *tile_sums);
    if (!tile_sums) return false;
    scan_all(&s, out, tile_sums, inclusive);
    free(tile_sums);
    return true;
}
