#include "verify_bound.h"

#include <math.h>
#include <string.h>

#define GROWTH   1.125         /* growth of the range of sums within it, at most */
#define WARP     32            /* lanes that one tree adds up */
#define DOUBLE_U 0x1p-53       /* the unit roundoff of double */
#define INFLATE  (1 + 0x1p-16) /* more than what the additions of this file round away */

/* Doubles here hold sums of multiples of q up to 2^53 q. Beyond, a sum of 2^12 roundings, which is
 * more than are made here for one, is as wrong as this times the sum of all |x|. */
#define SLACK 0x1p-40

/* The smaller and the larger number. If the first is a NaN, the second is the result. */
static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

/* The largest error of `additions` additions, each of which takes the result of the one before.
 * Their exact results are at most `magnitude`, which includes the errors made before. */
static double errors_of(const struct rounding *r, double additions, double magnitude)
{
    if (magnitude + r->slack <= r->exact || additions == 0) return 0;
    double loss = additions * r->unit;
    return loss < 1 ? loss / (1 - loss) * (magnitude + r->slack) : INFINITY;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static struct rounding rounding_of(double unit, const struct facts *facts)
{
    double most = facts->quantum / unit, magnitude = (double)facts->magnitude;
    bool doubles_hold = magnitude * DOUBLE_U <= facts->quantum;
    return (struct rounding){
        .unit = unit, .exact = most, .slack = doubles_hold ? 0 : SLACK * magnitude};
}

static const struct rounding *rounding_in(const struct bound *b, const struct tree_level *level)
{
    return level->sums == SUMS_CARRY && level->in_double ? &b->doubles : &b->elements;
}

/* Are the sums of this level sums of all elements so far? */
static bool of_all(const struct tree_level *level)
{
    return level->sums == SUMS_CARRY || level->sums == SUMS_ANY_ORDER || level->sums == SUMS_CHAIN;
}

/* Is every sum of this level exact for any signs of the elements? */
static bool is_exact(const struct bound *b, const struct tree_level *level,
                     const struct facts *facts)
{
    const struct rounding *r = rounding_in(b, level);
    double most = (double)(level->length + level->extra) * facts->greatest;
    if (of_all(level)) most = (double)facts->magnitude;
    return most + r->slack <= r->exact;
}

/* Are all sums of this level those of neighbours? */
static bool of_neighbours(const struct tree_level *level)
{
    if (level->sums == SUMS_ANY_ORDER) return level->lanes == 1;
    return level->sums != SUMS_STRIDED && level->sums != SUMS_CARRY;
}

static void begin_segment(struct bound *b, struct bound_level *l, long double sum)
{
    l->start = l->end;
    l->end += l->is.length + (l->ended < l->is.longer ? l->is.extra : 0);
    l->sum_before = sum;
    l->low = l->high = (double)sum;
    l->tally = b->tally;
}

void bound_begin(struct bound *b, const struct tree *tree, const struct facts *facts,
                 enum element element)
{
    memset(b, 0, sizeof *b);
    b->known = tree->count > 0 && element_is_real(element);
    b->depth = tree->depth;
    b->joins = tree->joins;
    b->elements = rounding_of(element_roundoff(element), facts);
    b->doubles = rounding_of(DOUBLE_U, facts);
    bool neighbours = true;
    for (size_t i = 0; i < tree->count && b->known; i++) {
        const struct tree_level *level = &tree->levels[i];
        b->chain |= level->sums == SUMS_CHAIN;
        if (level->sums == SUMS_ANY_ORDER) b->any.lanes = level->lanes;
        if (is_exact(b, level, facts)) continue;
        neighbours &= of_neighbours(level);
        struct bound_level *l = &b->levels[b->count++];
        l->is = *level;
        begin_segment(b, l, 0);
    }
    b->nothing = facts->exact && neighbours;
}

size_t bound_segments(const struct bound *b, const struct facts *facts)
{
    const struct tree_level *level = &b->levels[0].is;
    if (!b->known || b->nothing || !facts->exact || b->count != 1 || level->longer) return 0;
    return level->sums == SUMS_ANY_ORDER ? level->length : 0;
}

/* A warp's sum leaves out up to lanes - 1 segments between others, as in bound_of_tree. */
void bound_know_segments(struct bound *b, const struct facts *facts, double greatest_sum)
{
    double left_out = (b->levels[0].is.lanes - 1) * greatest_sum;
    b->nothing = facts->range + left_out + b->elements.slack <= b->elements.exact;
}

/* ---- sums of ways ---------------------------------------------------------------------------- */

/* sum[i] += sum[j], with the errors of both and the error of this addition. */
static void add_ways(const struct rounding *r, struct ways *w, size_t i, size_t j)
{
    w->sum[i] += w->sum[j];
    w->error[i] += w->error[j];
    w->error[i] += errors_of(r, 1, fabs(w->sum[i]) + w->error[i]);
}

/* The error of the sum of `count` lanes from the first on, a power of two. */
static double error_of_lanes(const struct rounding *r, struct ways *w, size_t first, size_t count,
                             size_t step, bool far)
{
    for (size_t d = 1; d < count; d *= 2) {
        size_t apart = far ? count / 2 / d : d;
        for (size_t i = 0; i + apart < count; i += far ? 1 : 2 * d) {
            if (far && i >= apart) break;
            add_ways(r, w, first + i * step, first + (i + apart) * step);
        }
    }
    return w->error[first];
}

/* The error of the sum of all: of each warp's lanes, then of the warps. */
static double error_of_ways(const struct rounding *r, struct ways *w, const struct tree_level *is)
{
    for (size_t first = 0; first < is->ways; first += WARP)
        error_of_lanes(r, w, first, WARP, 1, is->far);
    return error_of_lanes(r, w, 0, is->ways / WARP, WARP, is->far);
}

static void take_vector(struct bound *b, const struct tree_level *is)
{
    struct ways *w = &b->strided;
    size_t way = b->vectors++ % is->ways;
    w->sum[way] += b->vector.sum;
    w->low[way] = smaller(w->sum[way], w->low[way]);
    w->high[way] = larger(w->sum[way], w->high[way]);
    w->error[way] += errors_of(&b->elements, is->vector - 1, b->vector.magnitude);
    memset(&b->vector, 0, sizeof b->vector);
}

static void take_elements(struct bound *b, const struct tree_level *is, const long double *addends,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double x = (double)addends[i];
        b->vector.sum += x;
        b->vector.magnitude += fabs(x);
        if (++b->vector.filled == is->vector) take_vector(b, is);
    }
}

/* Each way has added up its vectors either from the first to the last or from the last to the
 * first. Its partial sums are no larger than the range of the sums from the first on. */
static double end_strided(struct bound *b, const struct tree_level *is)
{
    struct ways *w = &b->strided;
    double rows = ceil((double)b->vectors / is->ways);
    for (size_t i = 0; i < is->ways; i++)
        w->error[i] += errors_of(&b->elements, rows - 1, w->high[i] - w->low[i] + w->error[i]);
    double error = error_of_ways(&b->elements, w, is);
    memset(w, 0, sizeof *w);
    b->vectors = 0;
    return error;
}

static double end_carry(struct bound *b, const struct bound_level *l, double sum)
{
    struct rounding r = *rounding_in(b, &l->is);
    struct ways *w = &b->carried, added;
    size_t way = l->ended % l->is.ways;
    r.slack += b->tally; /* the segments' sums have these errors already */
    w->sum[way] += sum;
    if (l->ended >= l->is.ways) /* 0 + x is exact */
        w->error[way] += errors_of(&r, 1, fabs(w->sum[way]) + w->error[way]);
    added = *w;
    return error_of_ways(&r, &added, &l->is);
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The error that all sums of a segment may have, taken together, when the segment ends. */
static double errors_of_run(const struct bound *b, const struct bound_level *l, double sum)
{
    double most = l->is.additions == 1 ? fabs(sum) : l->high - l->low;
    return errors_of(&b->elements, l->is.additions, most + b->tally - l->tally);
}

/* The windows that end in the segment began in it or in the one before. */
static void end_window(struct bound *b, struct bound_level *l)
{
    double range = larger(l->high, l->previous.high) - smaller(l->low, l->previous.low);
    double inherited = b->tally - l->previous.tally + b->windows;
    l->windows += errors_of(&b->elements, 1, range + inherited);
    if (l->is.group && b->at % l->is.group == 0) l->windows = 0;
    b->windows = 0;
    for (size_t i = 0; i < b->count; i++) b->windows += b->levels[i].windows;
}

/* The sum of the segment is made from its elements. So it has none of the errors of the earlier
 * levels, whose segments end here, too. */
static void end_segment_of_ways(struct bound *b, struct bound_level *l)
{
    b->tally = l->tally + end_strided(b, &l->is);
    for (struct bound_level *before = b->levels; before < l; before++)
        before->tally = before->previous.tally = b->tally;
}

static void end_segment(struct bound *b, struct bound_level *l, long double running)
{
    double sum = (double)(running - l->sum_before);
    switch (l->is.sums) {
    case SUMS_RUN: b->tally += errors_of_run(b, l, sum); break;
    case SUMS_WINDOW: end_window(b, l); break;
    case SUMS_STRIDED: end_segment_of_ways(b, l); break;
    case SUMS_CARRY: b->carry = end_carry(b, l, sum); break;
    case SUMS_CHAIN:
        sum = fabs((double)running) + b->inherited + b->tally;
        if (l->start > 0) b->tally += errors_of(&b->elements, 1, sum);
        break;
    case SUMS_ANY_ORDER:
        sum = fabs(sum) + b->tally - l->tally;
        b->any.joined += l->start > 0;
        b->any.magnitude += sum;
        b->any.greatest = larger(b->any.greatest, sum);
        break;
    }
    l->previous.low = l->low;
    l->previous.high = l->high;
    l->previous.tally = l->tally;
    l->ended++;
}

/* The number of outputs, at most `most`, that end in the same segments and so share a bound. */
static size_t most_of_stretch(const struct bound *b, size_t most)
{
    size_t left = b->count > 0 ? b->levels[0].end - b->at : most;
    if (most > BOUND_STRETCH) most = BOUND_STRETCH;
    return left < most ? left : most;
}

size_t bound_look(struct bound *b, const long double *sums, size_t most)
{
    if (b->nothing) return most;
    if (!b->known) return 1;
    double low = (double)sums[0], high = low;
    b->low = smaller(low, b->low);
    b->high = larger(high, b->high);
    double least = b->low, greatest = b->high, range = GROWTH * (greatest - least);
    size_t count = 1;
    for (most = most_of_stretch(b, most); count < most; count++) {
        double sum = (double)sums[count];
        least = smaller(sum, least);
        greatest = larger(sum, greatest);
        if (greatest - least > range) break;
        low = smaller(sum, low);
        high = larger(sum, high);
    }
    b->low = smaller(low, b->low);
    b->high = larger(high, b->high);
    b->stretch.low = low;
    b->stretch.high = high;
    return count;
}

bool bound_look_whole(struct bound *b, double first, double low, double high)
{
    double least = smaller(first, b->low), greatest = larger(first, b->high);
    double range = GROWTH * (greatest - least);
    if (b->nothing || !b->known || most_of_stretch(b, BOUND_STRETCH) < BOUND_STRETCH) return false;
    if (larger(high, greatest) - smaller(low, least) > range) return false;
    b->low = smaller(low, b->low);
    b->high = larger(high, b->high);
    b->stretch.low = low;
    b->stretch.high = high;
    return true;
}

void bound_pass(struct bound *b, const long double *addends, const long double *sums, size_t count)
{
    long double sum = sums[count];
    double low = smaller((double)sum, smaller((double)sums[0], b->stretch.low));
    double high = larger((double)sum, larger((double)sums[0], b->stretch.high));
    b->at += count;
    for (size_t i = 0; i < b->count; i++)
        if (b->levels[i].is.sums == SUMS_STRIDED)
            take_elements(b, &b->levels[i].is, addends, count);
    for (size_t i = 0; i < b->count; i++) {
        struct bound_level *l = &b->levels[i];
        l->low = smaller(low, l->low);
        l->high = larger(high, l->high);
        if (l->end != b->at) break;
        low = l->low, high = l->high;
        end_segment(b, l, sum);
        begin_segment(b, l, sum);
    }
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* The number of levels of a sum over a warp: the additions that a segment's sum takes part in
 * there. */
static double halvings(unsigned lanes) { return lanes > 1 ? 1 + halvings(lanes / 2) : 0; }

/*
 * The rounding errors of the sums that are made for this output alone: errors E with
 *   E <= tally + carry + u (k (range + E) + the magnitudes of the segments' sums in warps' sums).
 * A warp's sum leaves segments out between others, up to lanes - 1 of them.
 */
static double bound_of_tree(const struct bound *b)
{
    const struct rounding *r = &b->elements;
    double range = b->high - b->low, had = b->tally + b->windows + b->carry;
    double left_out = b->any.lanes > 1 ? (b->any.lanes - 1) * b->any.greatest : 0;
    if (range + left_out + had + r->slack <= r->exact) return had;
    double warp = halvings(b->any.lanes), own = b->joins + b->any.joined;
    double loss = (own + warp) * r->unit;
    if (!(loss < 1)) return INFINITY;
    return (had + r->unit * (own * (range + r->slack) + warp * b->any.magnitude)) / (1 - loss);
}

void bound_link(struct bound *b, double error)
{
    b->inherited = fabs(error);
    b->tally = 0;
}

double bound_of(const struct bound *b, size_t elements, long double magnitude)
{
    if (b->nothing) return 0;
    if (b->chain) return b->tally * INFLATE;
    double additions = elements ? (double)(elements - 1) : 0, loss = b->depth * b->elements.unit;
    double simple = additions * b->elements.unit;
    if (loss < 1) simple = smaller(loss / (1 - loss), simple);
    simple *= (double)magnitude;
    return (b->known ? smaller(bound_of_tree(b), simple) : simple) * INFLATE;
}
