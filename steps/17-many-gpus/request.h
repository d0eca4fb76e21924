/*
 * request.h — what the user asks step 17 for, beside the harness's options; and the judge.
 */
#ifndef STEP17_REQUEST_H
#define STEP17_REQUEST_H

#include "common/harness/run/runs.h"
#include "parts/part.h"

#include <stdbool.h>

/* Which ranks and GPUs there are: what decides which exchanges are possible. */
struct surroundings {
    int ranks, machines, gpus; /* gpus: different ones, on all machines; emulated: one each */
    bool emulated;             /* on every rank */
    bool alike;                /* all GPUs are of one model */
    bool peers; /* each rank has a GPU of its own, and they reach each other's memory */
    bool nccl;  /* the program was built with NCCL */
};

/* What the judge's loop has after `count` elements. */
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
};

/* An open step: subject.self. */
struct request {
    const char *op_name;       /* --op */
    struct type_asked type;    /* --type, or the type of a .npy file */
    const char *second;        /* --second; NULL: not given */
    const char *exchange_name; /* --exchange; NULL: not given */
    double wait;               /* --wait: seconds for the other ranks; 0: no limit */
    enum many_op op;
    enum many_exchange exchange; /* EXCHANGE_ANY until ranks.c has chosen one */

    struct ranks ranks;
    struct surroundings around;
    size_t n; /* of the whole */
    struct many_part part;
    struct input more; /* the second input of the part, on the host */
    void *more_on_device;
    struct reference before; /* the elements before the part */
    uint64_t checksum;       /* of all bits of the result that was judged last */
    struct many_scan *scan;
    struct fault fault; /* of the last call */
};

/* Of the elements of an operator. (judge.c) */
extern const enum element many_element[MANY_OPS];

/* ---- driver.c -------------------------------------------------------------------------------- */

extern const char *const exchange_names[EXCHANGE_ANY];

/* Do the options go together? Finds what they ask for. Returns 0 or EXIT_USAGE. */
int many_request_check(struct request *, const struct options *, struct fault *);

/* What was asked for or, if that is EXCHANGE_ANY, peer if it is possible, and else mpi. Returns 0,
 * or EXIT_USAGE if what was asked for is impossible here. */
int choose_exchange(const struct surroundings *, enum many_exchange asked,
                    enum many_exchange *chosen, struct fault *);

/* ---- ranks.c --------------------------------------------------------------------------------- */

/* The verb `join`. */
int ranks_join(struct subject *, struct device *, int code, struct fault *);

/* From here on a rank waits for others for --wait seconds, and then ends, and with it all others.
 * It says why: `own`, which has failed here, or, if that is NULL, that others have not come. */
void wait_begin(const struct fault *own);
void wait_end(void);

/* ---- judge.c: are the results of a part right? ----------------------------------------------- */

/*
 * Each result is compared with that of a loop over all elements, in a wider type. What the loop has
 * before a part passes from rank to rank.
 *
 * Integers have to be equal, modulo 2^32 or 2^64. So have sums of whole numbers if the type holds
 * every sum of neighbours. Elsewhere a result may differ by what rounding does in the scan's tree.
 * u is the unit roundoff, d the depth of the tree: the most combinations between an element and a
 * result. The bounds are those of step 16:
 *   sum     ((1 + u)^d - 1) (|x0| + … + |xi|)
 *   affine  (1 + u)^d h'' - h'. h' is the result for |a| and |b|, h'' that for (1 + u) |a| and |b|.
 * NaN and infinities have to be the same.
 */

/* The loop before the first element. */
struct reference reference_begin(void);
/* Passes over `count` elements. */
void reference_pass(struct reference *, enum many_op, const void *in, const void *in2,
                    size_t count);
/* Refuses what overflows in some orders of combinations, and in affine what is not finite:
 * EXIT_USAGE. */
int reference_check(const struct reference *, enum many_op, struct fault *);

/* Compares the results of the part, from the loop's state before it on. */
void judge_part(const struct request *, bool inclusive, const void *in, const void *out,
                struct verdict *);
/* Adds the verdict on the part behind. */
void judge_add(struct verdict *, const struct verdict *next);

#endif
