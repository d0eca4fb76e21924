/* judge.c — compares the results of a part with those of a loop over all elements. */
#include "request.h"
#include "parts/shape.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define U_FLOAT  0x1p-24 /* unit roundoffs */
#define U_DOUBLE 0x1p-53

enum element many_element(enum many_op op)
{
    static const enum element of[MANY_OPS] = {[MANY_SUM_F32] = ELEMENT_F32,
                                              [MANY_SUM_F64] = ELEMENT_F64,
                                              [MANY_SUM_I32] = ELEMENT_I32,
                                              [MANY_SUM_I64] = ELEMENT_I64,
                                              [MANY_AFFINE_F32] = ELEMENT_F32};
    return of[op];
}

/* ---- the loop -------------------------------------------------------------------------------- */

struct reference reference_begin(void)
{
    return (struct reference){.whole = true, .least = INFINITY, .run = 1, .product = 1};
}

static double larger(double a, double b) { return a > b ? a : b; }

static double smaller(double a, double b) { return a < b ? a : b; }

/* The sum has twice the digits of a double, since what rounding loses is added up, too (Knuth's
 * TwoSum). */
static void add(struct reference *r, double x)
{
    double sum = r->sum + x, part = sum - r->sum;
    r->lost += (r->sum - (sum - part)) + (x - part);
    r->sum = sum;
}

static void take_real(struct reference *r, double x, double exact_most)
{
    double size = fabs(x);
    if (!(size <= DBL_MAX)) {
        r->special += x;
        r->whole = false;
        return;
    }
    add(r, x);
    r->magnitude += size;
    r->low = smaller(r->low, r->sum);
    r->high = larger(r->high, r->sum);
    r->whole = r->whole && size <= exact_most && x == (double)(int64_t)x;
    if (size > 0 && size < r->least) r->least = size;
}

static void take_affine(struct reference *r, double a, double b)
{
    double size = fabs(a), added = fabs(b);
    if (!(size <= FLT_MAX && added <= FLT_MAX) && !r->infinite) {
        r->infinite = true;
        r->infinite_at = r->count;
    }
    r->run = size > 0 ? larger(1, r->run * size) : r->run;
    r->product = larger(r->product, r->run);
    r->addends += added;
    r->error = size * ((1 + U_FLOAT) * r->error + U_FLOAT * r->magnitude);
    r->sum = a * r->sum + b;
    r->magnitude = size * r->magnitude + added;
    r->high = larger(r->high, r->magnitude);
}

/* Element i of some. */
static void take(struct reference *r, enum many_op op, const void *in, const void *in2, size_t i)
{
    switch (op) {
    case MANY_SUM_I32: r->integer += (uint64_t)(int64_t)((const int32_t *)in)[i]; break;
    case MANY_SUM_I64: r->integer += ((const uint64_t *)in)[i]; break;
    case MANY_SUM_F32: take_real(r, (double)((const float *)in)[i], 0x1p24); break;
    case MANY_SUM_F64: take_real(r, ((const double *)in)[i], 0x1p53); break;
    default: take_affine(r, (double)((const float *)in)[i], (double)((const float *)in2)[i]);
    }
    r->count++;
}

void reference_pass(struct reference *r, enum many_op op, const void *in, const void *in2,
                    size_t count)
{
    struct reference at = *r; /* in registers */
    for (size_t i = 0; i < count; i++) take(&at, op, in, in2, i);
    *r = at;
}

void reference_join(struct reference *r, const struct reference *next)
{
    r->count += next->count;
    r->integer += next->integer;
    r->low = smaller(r->low, r->sum + next->low);
    r->high = larger(r->high, r->sum + next->high);
    add(r, next->sum);
    r->lost += next->lost;
    r->special += next->special;
    r->magnitude += next->magnitude;
    r->least = smaller(r->least, next->least);
    r->whole = r->whole && next->whole;
}

int reference_check(const struct reference *r, enum many_op op, struct fault *fault)
{
    struct facts facts = {.magnitude = (long double)r->magnitude};
    if (op != MANY_AFFINE_F32) return facts_check(&facts, many_element(op), fault);
    if (r->infinite)
        return fail(fault, EXIT_USAGE,
                    "a or b of element %zu is not finite; affine needs finite ones.",
                    r->infinite_at);
    /* A result is at most the largest product times the sum of all |b|. */
    if (r->product * (r->addends + 1) < FLT_MAX / 2) return 0;
    return fail(fault, EXIT_USAGE,
                "products of neighbours of a reach %.3g, and |b| sum to %.3g, so results may "
                "leave the range of floats; scale them down.",
                r->product, r->addends);
}

/* ---- comparing ------------------------------------------------------------------------------- */

void judge_begin(struct judge *j, const struct reference *before)
{
    j->at = *before;
    j->done = 0;
    j->element = many_element(j->op);
    j->growth = expm1(j->depth * log1p(element_roundoff(j->element)));
    j->verdict = (struct verdict){.right = true, .exact = true, .least = INFINITY};
}

static void expect_sum(struct judge *j, const void *out, size_t i)
{
    const struct reference *r = &j->at;
    /* A sum of neighbours is the difference of two running sums. */
    bool exact = r->whole && r->high - r->low <= (j->element == ELEMENT_F32 ? 0x1p24 : 0x1p53);
    long double want = (long double)r->sum + (long double)r->lost + (long double)r->special;
    /* The magnitude is a sum of doubles, which may be too small by count u. */
    double more = 1 + (double)r->count * U_DOUBLE;
    double bound = exact ? 0 : j->growth * more * r->magnitude;
    verdict_compare_real(&j->verdict, j->first + j->done, j->element, out, i, want,
                         (long double)bound);
}

static void expect_affine(struct judge *j, const void *out, size_t i)
{
    const struct reference *r = &j->at;
    /* Products that are too small for the type, or for a normal number, differ by less than this
     * from exact ones. */
    double small = U_FLOAT * FLT_MIN * (double)r->count * (1 + r->high);
    /* The loop rounds as the scan does, in a type with a u that is smaller by 2^-29, and also after
     * the addition. */
    double loop = 0x1p-26 * r->error + 4 * U_DOUBLE * r->magnitude;
    double bound = j->growth * (r->magnitude + r->error) + r->error + loop;
    verdict_compare_real(&j->verdict, j->first + j->done, j->element, out, i, (long double)r->sum,
                         (long double)(r->count ? bound + 4 * small : 0));
}

void judge_piece(struct judge *j, const void *out, size_t count)
{
    bool real = element_is_real(j->element);
    for (size_t i = 0; i < count; i++, j->done++) {
        if (j->inclusive) take(&j->at, j->op, j->in, j->in2, j->done);
        if (j->op == MANY_AFFINE_F32)
            expect_affine(j, out, i);
        else if (real)
            expect_sum(j, out, i);
        else
            verdict_compare_integer(&j->verdict, j->first + j->done, j->element, out, i,
                                    j->at.integer);
        if (!j->inclusive) take(&j->at, j->op, j->in, j->in2, j->done);
    }
    j->verdict.checked += count;
    j->verdict.least = j->at.least;
}

/* ---- the reference --------------------------------------------------------------------------- */

/*
 * See request.h. Each function does what its namesake does in part.cuh or in step
 * 16's segment.cuh, with an array of LANES for what is a variable of each lane there.
 */

typedef union many_state State;

#define LANES     32
#define MOST_ROWS 8

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

/* ---- the whole scan -------------------------------------------------------------------------- */

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
        x[i] = at < s->n ? many_enter(s->op, s->in, s->in2, at) : many_identity(s->op);
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
            many_leave(s->op, out, i, y[i % MANY_TILE]);
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
