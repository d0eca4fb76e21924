/*
 * verify.h — is it right? Every element against a wider sequential sum.
 *
 * What is right: where every contiguous sum of the input is held exactly by the element type (integers
 * that stay small), any order of additions gives the same bits, and nothing else is accepted.
 * Otherwise |got - want| <= gamma(depth) * (|x0| + … + |xi|), with gamma(d) = d*u / (1 - d*u), u the
 * unit roundoff and depth the most additions on the way from an input to an output: Higham, Accuracy
 * and Stability of Numerical Algorithms, section 4.2. There is no tolerance to choose.
 * NaN and infinities are right only where the reference has the same.
 *
 * The output is handed over in pieces, from the first element to the last, so that it never has to be in
 * host memory as a whole. No CUDA here.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "element.h"
#include "fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one pass over the input says about its sums. */
struct facts {
    bool finite;           /* no NaN and no infinity */
    bool exact;            /* any order of additions gives the exact sums */
    long double magnitude; /* sum of |x|, of the finite ones */
};
struct facts facts_of(enum element, const void *in, size_t n);

/* Refuses an input whose sums may overflow in some orders of additions: EXIT_USAGE. */
int facts_check(const struct facts *, enum element, struct fault *);

#define VERIFY_SHOWN 5 /* mismatches that are kept for the report */

struct mismatch {
    size_t index;
    char got[48], want[48];
};

struct verdict {
    bool right;
    bool exact;     /* compared for equality; otherwise within the bound */
    size_t checked; /* elements compared */
    size_t wrong;   /* of them */
    double worst;   /* greatest error as a fraction of the bound (bound only) */
    size_t shown;
    struct mismatch first[VERIFY_SHOWN];
    char cause[200]; /* a guess, or "" */
};

/* A sum in two parts, the second being what rounding lost of the first (Knuth's TwoSum). */
struct wide_sum {
    long double sum, lost;
};

/* What mismatches look like so far: how many of them fit each suspicion. (verify_cause.c) */
struct suspicion {
    size_t never_written, nan, zero, input_copied, inclusive, exclusive, shifted_left, shifted_right;
    size_t doubled, swapped, offset_constant, offset_kept;
    size_t first, last;                  /* indices of mismatches */
    bool contiguous;                     /* no right element between them */
    long double offset;                  /* got - want at the first mismatch */
    long double previous_got, previous_want;
    size_t previous_index;
    bool in_tile;                        /* the mismatches are constant within the first tile */
};

struct verifier {
    enum element element; /* of the input */
    const void *in;       /* n elements, on the host */
    size_t n;
    bool inclusive;
    double depth;
    size_t tile;             /* elements a block, or 0: for the guess at the cause */
    const double *reference; /* n values in place of the running sum; NULL */

    struct facts facts;
    size_t next;                 /* the first element that was not looked at yet */
    struct wide_sum sum;         /* of the elements before it */
    long double magnitude;       /* of the elements before it */
    long double previous;        /* what output next-1 should be */
    struct suspicion suspicion;
    struct verdict verdict;
};

/* Begins. `in` and `reference` have to stay until the end. depth counts the additions of one output. */
void verify_begin(struct verifier *, enum element, const void *in, size_t n, bool inclusive,
                  double depth, size_t tile, const double *reference, const struct facts *);
/* Compares out[0..count) with what elements start … start+count-1 should be. Pieces come in ascending
 * order; elements left out between them are not checked. `out` has elements of element_of_sum. */
void verify_piece(struct verifier *, const void *out, size_t start, size_t count);
/* Ends: the verdict, with a guess at the cause if it is not right. */
struct verdict verify_end(struct verifier *);

#ifdef __cplusplus
}
#endif

#endif
