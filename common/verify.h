/*
 * verify.h — is it right? Every element against a wider sequential sum.
 *
 * Where every contiguous sum of the input is held exactly by the element type (integers that stay
 * small), any order of additions gives the same bits, and nothing else is accepted. Otherwise
 * |got - want| <= d * u * (|x0| + … + |xi|), where u is the unit roundoff and d the most additions
 * on the way from an input to this output: the step's depth, but at most one less than there are
 * elements in the sum. It is Higham's bound (Accuracy and Stability of Numerical Algorithms,
 * section 4.2) without the terms of order u², which Jeannerod and Rump (2013) show to be
 * unnecessary. There is no tolerance to choose. NaN and infinities are right only where the
 * reference has the same.
 *
 * The output is handed over in pieces, from the first element to the last, so that it never has to
 * be in host memory as a whole. No CUDA here.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "element.h"
#include "fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is to be summed: n elements on the host, and what takes the place of their running sum where
 * the step has a reference of its own (n values; NULL: none). Both have to stay while they are
 * used. */
struct problem {
    enum element element;
    const void *in;
    size_t n;
    bool inclusive;
    const double *reference;
};

/* What one pass over the input says about its sums. */
struct facts {
    bool finite;           /* no NaN and no infinity */
    bool poison;           /* some element is the NaN that VERIFY_POISON makes */
    bool exact;            /* any order of additions gives the exact sums */
    long double magnitude; /* sum of |x|, of the finite ones */
};
struct facts facts_of(const struct problem *);

/* Refuses an input whose sums may overflow in some orders of additions: EXIT_USAGE. */
int facts_check(const struct facts *, enum element, struct fault *);

#define VERIFY_SHOWN 5 /* mismatches that are kept for the report */

/* Every byte of an output before the scan: the same as BUFFER_POISON. A NaN in float and double. */
#define VERIFY_POISON 0xFF

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

/* How many of the mismatches fit each suspicion. (verify_cause.c) */
struct suspicion {
    size_t mismatches;
    size_t never_written, nan, zero, copied, next, previous, doubled, swapped, tile_alone, constant;
    size_t first, last;                  /* indices of mismatches */
    long double offset;                  /* got - want at the first one */
    long double carry;                   /* the sum of all tiles before that of the first one */
    long double got_before, want_before; /* at the last one */
    long double addend_before_first;     /* the addend of element first-1 */
};

struct verifier {
    struct problem problem;
    struct facts facts;
    double depth;
    double roundoff;           /* u */
    size_t tile;               /* elements a block, for the guess at the cause; 0: not known */
    size_t at;                 /* the next element */
    struct wide_sum sum;       /* of the elements before it */
    uint64_t integer_sum;      /* the same for integer types, which wrap around */
    long double magnitude;     /* of the elements before it: |x0| + … */
    long double previous;      /* what output at-1 should be; 0 before the first */
    long double addend_before; /* the addend of element at-1 */
    long double tile_base;     /* the sum of the elements before the tile that holds `at` */
    struct suspicion suspicion;
    struct verdict verdict;
};

/* Begins. depth: the additions on the way from an input to an output. */
void verify_begin(struct verifier *, const struct problem *, const struct facts *, double depth,
                  size_t tile);
/* Compares out[0..count) with what elements start … start+count-1 should be. Pieces come in
 * ascending order; elements left out between them are not checked. `out` has elements of
 * element_of_sum. */
void verify_piece(struct verifier *, const void *out, size_t start, size_t count);
/* Ends: the verdict, with a guess at the cause if it is not right. */
struct verdict verify_end(struct verifier *);

/* ---- verify_cause.c -------------------------------------------------------------------------- */

/* One mismatch and its surroundings. */
struct evidence {
    size_t index;
    long double got, want;
    long double want_previous, want_next; /* what the neighbours should be; 0 before the first */
    long double addend, addend_before;    /* elements index and index-1 of the input */
    long double tile_sum;                 /* want, if the sum began with this tile */
    long double tolerance;
    bool poison; /* the bytes that the buffer was filled with */
};

void suspect(struct suspicion *, const struct evidence *);
/* Writes the guess at the cause: "" if there is none. */
void suspicion_name(const struct suspicion *, const struct verifier *, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
