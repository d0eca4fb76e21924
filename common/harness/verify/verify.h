/*
 * verify.h — is an output right? Every element is compared with a sequential sum in a wider type.
 *
 * If the element type holds every sum that the step makes exactly (integers that stay small), the
 * order of additions does not matter, and no other bits are right. Otherwise the error of an output
 * may be as large as d u / (1 - d u) times |x0| + |x1| + …, where u is the unit roundoff and d the
 * most additions on the way from an input to an output (Higham, Accuracy and Stability of Numerical
 * Algorithms, section 4.2). And for a sum of k elements it is never more than (k - 1) u times that
 * (Jeannerod and Rump, 2013). So there is no tolerance to choose. This bound is wide: the report
 * says where an element that is left out may not show.
 *
 * NaN and infinities are right only where the reference has the same. -0 is right only where all
 * elements in the sum are -0. Any other sum that is 0 is +0, as IEEE 754 says of x + (-x) and of 0
 * + (-0).
 *
 * The output is passed in pieces, from the first element to the last. So it never has to be in
 * host memory as a whole. This code makes no CUDA calls.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include "common/step/element.h"
#include "common/files/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers to be summed: n elements on the host. If the step has a reference of its own, its n
 * values take the place of the running sum (otherwise NULL). Both have to stay while they are
 * used. */
struct problem {
    enum element element;
    const void *in;
    size_t n;
    bool inclusive;
    const double *reference;
    /* Where they are only a part of an input: how many elements are before them, which the guess at
     * a cause counts, too, and whether others follow. */
    size_t before;
    bool ahead;
    /* The step adds up elements that are no neighbours, too, and nobody knows whether such a sum of
     * these numbers is rounded. */
    bool any_order;
};

/* Facts about the elements and their sums, from one pass over the input. */
struct facts {
    bool finite;             /* no NaN and no infinity */
    bool poison;             /* some element is the NaN that VERIFY_POISON makes */
    bool exact;              /* every sum of neighbours is held exactly by the element type */
    bool exact_in_any_order; /* every sum of any of the elements */
    long double magnitude;   /* sum of |x|, of the finite ones; 0 for integer types */
    /* Of real types, finite elements: */
    double least;       /* |x|, of those that are not 0 (infinite if all are 0) */
    double quantum;     /* all x are multiples of it; 0: it is not known */
    size_t minus_zeros; /* how many elements at the beginning are -0 */
};

/* ---- verify_facts.c -------------------------------------------------------------------------- */

#define VERIFY_CHUNK 2048 /* elements looked at together */

struct facts facts_of(const struct problem *);

/* Refuses an input whose sums may overflow in some orders of additions: EXIT_USAGE. */
int facts_check(const struct facts *, enum element, struct fault *);

/* The addends: the input's numbers, or the differences of the step's own reference. */
void verify_addends(const struct problem *, size_t start, size_t count, long double *to);

/* Is every byte of the element VERIFY_POISON? */
bool verify_is_poison(const void *array, enum element, size_t index);
/* Is every byte of it VERIFY_UNSTORED? One byte alone is too common a number. */
bool verify_is_unstored(const void *array, enum element, size_t index);
/* A wrong element as text: its number, or "never stored". */
void verify_text(const void *array, enum element, size_t index, char *text, size_t size);

/* ---- verify.c -------------------------------------------------------------------------------- */

#define VERIFY_SHOWN 5 /* mismatches that are kept for the report */

/* Every byte of an output before the scan: the same as BUFFER_POISON. A NaN in float and double. */
#define VERIFY_POISON 0xFF
/* Every byte of the emulator's memory, shared memory included, before the first store. A GPU's has
 * any. */
#define VERIFY_UNSTORED 0xCD

struct mismatch {
    size_t index;
    char got[48], want[48];
};

struct verdict {
    bool right;
    bool exact;     /* compared for equality; otherwise within the bound */
    size_t checked; /* elements compared */
    size_t wrong;   /* of them */
    double worst;   /* greatest error of those that are right, as a fraction of the bound there */
    double bound;   /* the widest, in units of the elements; 0 if exact */
    double least;   /* smallest |input| that is not 0; infinite if all are 0 */
    size_t shown;
    struct mismatch first[VERIFY_SHOWN];
    char cause[200]; /* a guess, or "" */
};

/* A sum in two parts, the second being what rounding lost of the first (Knuth's TwoSum). */
struct wide_sum {
    long double sum, lost;
};

/* The sum of the elements so far. */
struct sum_so_far {
    struct wide_sum real;
    uint64_t integer; /* of integer types, which wrap around */
};

/* For a scan in blocks: the sums that the block of the last mismatch may have lost. */
struct blocks {
    size_t size;             /* elements a block; 0: not known */
    size_t start;            /* of this block */
    struct sum_so_far sum;   /* of the elements before it */
    long double base;        /* the same as a number */
    long double base_before; /* the same for the block before */
}; /* all of them from block 0 on, as mismatches come in order */

/* How many of the mismatches fit each suspicion. (verify_facts.c) */
struct suspicion {
    size_t mismatches;
    size_t never_written, unstored, nan, minus_zero, zero, copied, next, previous, doubled, swapped;
    size_t block_alone, constant;
    size_t blocks, in_blocks;            /* blocks with mismatches, and elements of these blocks */
    size_t block;                        /* of the last mismatch */
    size_t first, last;                  /* indices of mismatches */
    long double offset, tolerance;       /* got - want at the first one, and what it may be off */
    long double base, block_before;      /* sums of all before its block, and of the block before */
    long double addend_before;           /* the last addend that the element before it lacks */
    long double got_before, want_before; /* at the last one */
};

struct verifier {
    struct problem problem;
    struct facts facts;
    double depth;
    bool is_exact;         /* no sum is rounded */
    size_t at;             /* the next element */
    struct sum_so_far sum; /* of the elements before it */
    long double magnitude; /* of the elements before it: |x0| + … */
    long double previous;  /* what output at-1 should be; 0 before the first */
    long double addend;    /* the addend of element at-1 */
    struct blocks blocks;
    struct suspicion suspicion;
    struct verdict verdict;
};

/* Begins. There are at most `depth` additions between an input and an output. `block` is the number
 * of elements of a block, for the guess at the cause (0: not known). */
void verify_begin(struct verifier *, const struct problem *, const struct facts *,
                  double depth, size_t block);
/* Compares out[0..count) with the expected outputs start … start+count-1. Pieces come in ascending
 * order; elements left out between them are not checked. `out` has elements of element_of_sum. */
void verify_piece(struct verifier *, const void *out, size_t start, size_t count);
/* Ends: the verdict, with a guess at the cause if it is not right. */
struct verdict verify_end(struct verifier *);
/* All of this, for an output that is in memory as a whole. */
struct verdict verify_all(const struct problem *, const void *out, double depth, size_t block);

/* Notes that the result is wrong at this index. Returns what the caller fills in; NULL: enough of
 * them are kept already. */
struct mismatch *verdict_note(struct verdict *, size_t index);
/* The same, filled in: element `at` of the array `got`, and element 0 of `want`. */
void verdict_note_element(struct verdict *, size_t index, enum element, const void *got, size_t at,
                          const void *want);
void verdict_note_real(struct verdict *, size_t index, enum element, const void *got, size_t at,
                       long double want);

/* Compares element `at` of `got`, the result with this index, with an integer modulo 2^64, or with
 * a number from which it may differ by `bound`. NaN and infinities have to be the same. */
void verdict_compare_integer(struct verdict *, size_t index, enum element, const void *got,
                             size_t at, uint64_t want);
void verdict_compare_real(struct verdict *, size_t index, enum element, const void *got, size_t at,
                          long double want, long double bound);

/* Takes into account the verdict on an earlier result, which was right. The errors and bounds are
 * then the largest of both results, and they are exact only together. A result that is wrong keeps
 * its verdict. */
void verdict_add_earlier(struct verdict *, const struct verdict *earlier);

/* ---- verify_facts.c -------------------------------------------------------------------------- */

/* One mismatch and its surroundings. */
struct evidence {
    size_t index;
    long double got, want;
    long double want_previous, want_next; /* what the neighbours should be; 0 before the first */
    long double addend;                   /* of this element */
    long double newest;           /* the addend that this output has and the one before lacks */
    size_t block, block_elements; /* number of its block, and the elements of that; 0, 0: unknown */
    long double base;             /* the sum of all elements before the block */
    long double block_before;     /* the sum of the block before */
    long double tolerance;
    bool poison;   /* the bytes that the buffer was filled with */
    bool unstored; /* the bytes of memory to which nothing has been stored */
};

void suspect(struct suspicion *, const struct evidence *);
/* Writes the guess at the cause: "" if there is none. */
void suspicion_name(const struct suspicion *, const struct verifier *, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
