/*
 * verify_bound.h — how large may the error of an output be? As large as the errors of all
 * additions in its tree together.
 *
 * The error of an addition with the result c is at most u |c|, where u is the unit roundoff. The
 * errors of all additions in the tree of an output add up to the error of the output. tree.h says
 * which elements c is the sum of. So the exact running sum gives |c|, except for the errors of the
 * operands, and these are bounded in the same way. An addition has no error if its result is held
 * exactly. If all elements are multiples of a quantum q, so are all sums. A float holds these sums
 * exactly up to 2^24 q, and a double up to 2^53 q.
 *
 * The bound of one output is the sum of u |c| over two kinds of additions:
 *
 * - Additions of all segments that end before the output, on each level. The segments in the
 *   output's own tree are among them.
 * - Additions that are made for this output alone: on each level those in the segment that holds
 *   the output, and those that join the levels. They make sums of neighbours. So none of these
 *   sums is larger than the range of the running sum so far, which is the difference of its
 *   greatest and its least value.
 *
 * The bound is never more than d u / (1 - d u) times |x0| + |x1| + …, where d is the depth of the
 * tree (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). And for a sum of k
 * elements it is never more than (k - 1) u times |x0| + |x1| + … (Jeannerod and Rump, 2013).
 */
#ifndef VERIFY_BOUND_H
#define VERIFY_BOUND_H

#include "common/step/element.h"
#include "common/step/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Facts about the elements and their sums, from one pass over the input. */
struct facts {
    bool finite;           /* no NaN and no infinity */
    bool poison;           /* some element is the NaN that VERIFY_POISON makes */
    bool exact;            /* every sum of neighbours is held exactly by the element type */
    bool plain;            /* a long double holds every running sum exactly */
    long double magnitude; /* sum of |x|, of the finite ones; 0 for integer types */
    /* Of real types, finite elements: */
    double least, greatest; /* |x|; least: of those that are not 0 (infinite if all are 0) */
    double quantum;         /* all x are multiples of it; 0: it is not known */
    double range;           /* if exact: the greatest difference of two running sums */
    size_t minus_zeros;     /* how many elements at the beginning are -0 */
};

/* The rounding of one type of sums. */
struct rounding {
    double unit;  /* u */
    double exact; /* sums up to here are held exactly */
    double slack; /* the error of a magnitude that was computed in doubles */
};

struct bound_level {
    struct tree_level is;
    size_t start, end;      /* of the segment under way */
    size_t ended;           /* segments before it */
    long double sum_before; /* of all elements before it */
    double low, high;       /* least and greatest running sum in it */
    double tally;           /* bound.tally where it began */
    double windows;         /* SUMS_WINDOW: its part of bound.windows */
    struct {
        double low, high, tally;
    } previous; /* of the segment before */
};

/* Sums of a number of accumulators, their least and greatest values, and how wrong they may be. */
struct ways {
    double sum[TREE_WAYS], low[TREE_WAYS], high[TREE_WAYS], error[TREE_WAYS];
};

#define BOUND_STRETCH 64 /* the most outputs in a stretch, which share a bound */

struct bound {
    bool known;       /* the tree is known; otherwise only the depth */
    bool nothing;     /* no sum is rounded, in any order */
    bool chain;       /* each output is the output before plus one element: SUMS_CHAIN */
    double inherited; /* there: see bound_link */
    struct rounding elements, doubles;
    double depth, joins;
    size_t count;
    struct bound_level levels[TREE_LEVELS];
    size_t at;        /* elements so far */
    double low, high; /* least and greatest running sum so far */
    struct {
        double low, high; /* and in the stretch that was looked at */
    } stretch;
    double tally;   /* of the sums of all segments so far */
    double windows; /* of those of SUMS_WINDOW in groups that have not ended */
    double carry;   /* of those of SUMS_CARRY */
    struct ways strided, carried;
    struct {
        double sum, magnitude;
        unsigned filled;
    } vector;
    size_t vectors; /* in the segment of SUMS_STRIDED so far */
    struct {
        unsigned lanes;
        double joined;              /* segments */
        double magnitude, greatest; /* of their sums */
    } any;
};

/* Begins, before the first element. */
void bound_begin(struct bound *, const struct tree *, const struct facts *, enum element);
/* Where only one level has sums that are no sums of neighbours, those of its segments in any order:
 * the length of the segments. Otherwise 0. If the greatest of the segments' sums is known, it may
 * be that no sum is rounded. */
size_t bound_segments(const struct bound *, const struct facts *);
void bound_know_segments(struct bound *, const struct facts *, double greatest_sum);
/* Takes the next outputs, which should be `sums`. Returns for how many of them one bound holds, at
 * most `most`: a stretch. */
size_t bound_look(struct bound *, const long double *sums, size_t most);
/* Takes BOUND_STRETCH outputs of which the first, the least and the greatest are known. False, and
 * nothing is taken: one bound does not hold for all of them. */
bool bound_look_whole(struct bound *, double first, double low, double high);
/* Moves on past that stretch. The running sums are those from before its first element to after its
 * last, so one more than `count`. */
void bound_pass(struct bound *, const long double *addends, const long double *sums, size_t count);
/* The bound of the outputs that bound_look has taken last. They are sums of at most this many
 * elements, whose absolute values add up to `magnitude` or less. Must be asked before bound_pass if
 * the sums are exclusive, and after it if they are inclusive. */
double bound_of(const struct bound *, size_t elements, long double magnitude);

/* For a chain: the output judged last is right, with this `error`. From there on the bound is that
 * of the difference from this error. */
void bound_link(struct bound *, double error);

#ifdef __cplusplus
}
#endif

#endif
