/*
 * request.h — what the user asks step 17 for, beside the harness's options.
 */
#ifndef STEP17_REQUEST_H
#define STEP17_REQUEST_H

#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"
#include "parts/shape.h"

#include <stdbool.h>

enum exchange_choice { CHOOSE_MPI, CHOOSE_NCCL, CHOOSE_PEER, CHOOSE_EXSCAN, CHOOSE_ANY };

struct request {
    bool affine;        /* --op affine; otherwise a sum */
    const char *type;   /* --type; NULL: a .npy file's, or f32 */
    const char *second; /* --second; NULL: not given */
    enum exchange_choice exchange;
    double wait; /* --wait: seconds for the other ranks; 0: no limit */

    /* Filled in by many_request_check(). */
    enum element element;
    enum many_op op;
};

extern const struct step_option many_options[];
extern const char *const exchange_names[];

void *many_request_open(void); /* the verb (step.h); free() closes it */

/* Do the options go together? Opens the .npy file for its type if --type leaves that to the file.
 * Returns 0 or EXIT_USAGE. */
int many_request_check(struct request *, const struct options *, struct fault *);

/* What decides which exchanges are possible. */
struct surroundings {
    int ranks, machines, gpus; /* gpus: different ones */
    bool emulated;
    bool peers; /* each rank has a GPU of its own, and they reach each other's memory */
    bool nccl;  /* the program was built with NCCL */
};

/* What was asked for or, if that is CHOOSE_ANY, peer if it is possible, and else mpi. Returns 0, or
 * EXIT_USAGE if what was asked for is impossible here. */
int choose_exchange(const struct surroundings *, enum exchange_choice asked,
                    enum exchange_choice *chosen, struct fault *);

/* ---- a part of the input --------------------------------------------------------------------- */

/*
 * A rank's part of the input: of files, or of random numbers.
 *
 * Element i is the same for any number of ranks.
 */

/* Where the elements come from. */
struct source {
    const struct request *request;
    const struct options *options;
    size_t n;                      /* of the whole */
    struct npy_file input, second; /* .file is NULL: not given */
};

/* Opens the files. Returns 0, or EXIT_USAGE; then there is nothing to close. */
int source_open(struct source *, const struct request *, const struct options *, struct fault *);
void source_close(struct source *);

/* Reads or makes the part; second->data stays NULL without a second input. The caller frees both
 * by input_free, also after a fault. */
int source_read(struct source *, struct many_part, struct input *in, struct input *second,
                struct fault *);

/* ---- are the results right? ------------------------------------------------------------------ */

/*
 * Are the results of a part right? Each one is compared with that of a loop over all
 * elements, in a wider type.
 *
 * The loop's state after some elements is a struct reference. It passes from rank to rank, since
 * what a rank compares depends on all elements before its part.
 *
 * Integers have to be equal, modulo 2^32 or 2^64. So have sums of whole numbers if the type holds
 * every sum of neighbours. Elsewhere a result may differ by what rounding does in the scan's tree.
 * u is the unit roundoff, d the depth of the tree: the most combinations between an element and a
 * result. The bounds are those of step 16:
 *   sum     ((1 + u)^d - 1) (|x0| + … + |xi|)
 *   affine  (1 + u)^d h'' - h'. h' is the result for |a| and |b|, h'' that for (1 + u) |a| and |b|.
 * NaN and infinities have to be the same.
 */

/* What the loop has after `count` elements. */
struct reference {
    size_t count;
    uint64_t integer;    /* the sum of integers, modulo 2^64 */
    double sum, lost;    /* of floats, and what rounding has lost; affine: the result */
    double special;      /* the sum of NaN and infinities; 0: none */
    double magnitude;    /* |x0| + …; affine: h' */
    double low, high;    /* the least and the largest running sum; affine, high: largest h' */
    double error;        /* affine: h'' - h' */
    double run, product; /* affine: the largest |product| of neighbours of a, of those that end
                               here and of all; at least 1 */
    double addends;      /* affine: |b0| + … */
    double least;        /* the smallest |x| that is not 0 */
    bool whole;          /* all are whole numbers that the type holds */
    bool infinite;       /* affine: an element is not finite; the first is `infinite_at` */
    size_t infinite_at;
};

struct judge {
    enum many_op op;
    bool inclusive;
    size_t first;         /* index of the part's first element in the whole */
    double depth;         /* of the tree */
    const void *in, *in2; /* the part, on the host */

    enum element element; /* of op */
    double growth;        /* (1 + u)^d - 1 */
    size_t done;          /* elements of it that have been compared */
    struct reference at;
    struct verdict verdict;
};

/* The loop before the first element. */
struct reference reference_begin(void);
/* Passes over `count` elements. */
void reference_pass(struct reference *, enum many_op, const void *in, const void *in2,
                    size_t count);
/* For sums: passes over the elements that `next` has passed over from reference_begin() on. So
 * ranks pass over their parts at the same time. */
void reference_join(struct reference *, const struct reference *next);
/* Refuses what overflows in some orders of combinations, and in affine what is not finite:
 * EXIT_USAGE. */
int reference_check(const struct reference *, enum many_op, struct fault *);

/* The type of an element, of the input and of the result. */
enum element many_element(enum many_op);

/* Begins, with the loop's state before the part. The caller fills in what stands before `done`. */
void judge_begin(struct judge *, const struct reference *before);
/* Compares the next `count` results. */
void judge_piece(struct judge *, const void *out, size_t count);

/* ---- judge.c: the whole scan of step 17 on the CPU, for tests -------------------------------- */

/* Scans n elements in the kernels' tree (shape.h), so with the same bits. It is slow. out may be an
 * input. Returns false if there is no memory. */
bool many_reference(enum many_op, void *out, const void *in, const void *in2, size_t n,
                    bool inclusive);

#endif
