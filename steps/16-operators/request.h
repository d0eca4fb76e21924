/*
 * request.h — what the user asks step 16 for: its own options, and its input.
 */
#ifndef STEP16_REQUEST_H
#define STEP16_REQUEST_H

#include "common/harness/input/input.h"
#include "common/harness/verify/verify.h"
#include "common/step/options.h"
#include "common/tools/library/scan/scan.h"

/* The operators of --op. A segmented one is its plain one with --heads. */
enum operator_kind {
    OP_SUM,
    OP_PRODUCT,
    OP_MAX,
    OP_MIN,
    OP_XOR,
    OP_LOGSUMEXP,
    OP_AFFINE,
    OP_EMA,
    OP_DISCOUNT,
    OP_SEGMENTED_SUM,
    OP_SEGMENTED_MAX,
    OP_BRACKETS,
    OP_SIGHT,
    OPERATORS
};

struct operator_facts {
    const char *name;
    enum operator_kind plain; /* itself, or that of which it is the segmented form */
    const char *functions;    /* its functions in scan_functions, without the type */
    const char *random;       /* what its random input is */
};
extern const struct operator_facts operator_facts[OPERATORS];

/* An array of the step's own in device memory, displaced by --offset as the harness's are. */
struct own_array {
    char *memory, *data; /* NULL: there is none */
};

/* Both count from 1 on. */
struct text_place {
    size_t line, column;
};

/* What a judged result says, beside its elements. */
struct findings {
    size_t visible;             /* points in the line of sight */
    size_t greatest;            /* depth of brackets */
    size_t open;                /* brackets that are open at the ends of their sequences */
    bool wrong;                 /* there is a closing bracket without an opening one */
    struct text_place wrong_at; /* the first one in the order of the scan */

    /* --partners: up to the first closing bracket without an opening one. */
    size_t pairs;
    bool mixed;                        /* there are partners of different kinds, such as ( and ] */
    char mixed_opening, mixed_closing; /* the first two in the order of the closing ones, */
    struct text_place opening_at, closing_at; /* and where they are */
};

/* The options of the step's own, as --help has them, and what follows from them. */
struct request {
    enum operator_kind op; /* as --op says */
    const char *type;      /* --type; NULL: not given */
    double keep;           /* --keep */
    bool keep_given;
    bool reverse;
    const char *initial;  /* --initial; NULL: not given */
    size_t rows, columns; /* --shape; 0: not given */
    int along;            /* --along; -1: not given */
    enum upsweep_heads kind; /* --heads; UPSWEEP_HEADS_NONE: not given */
    size_t every;         /* --every; 0: not given, EVERY_DEFAULT */
    const char *second;   /* --second; NULL: not given */
    bool partners;        /* --partners: the results are the partners of brackets */

    /* Filled in by operators_check() and operators_input(). */
    enum operator_kind plain;
    const struct scan_function *function;
    enum element element, result; /* types of an element of the input and of the result */
    size_t n;
    bool inclusive;
    uint64_t seed;
    uint64_t initial_value; /* the bytes of a result */
    size_t offset;          /* --offset, in elements */
    double take;            /* OP_EMA, OP_DISCOUNT; in the type of the elements, as keep then is */
    float eye;              /* OP_SIGHT: the height of the first point */

    void *second_input; /* on the host, n elements; NULL: none */
    struct own_array second_on_device, heads_on_device;
    size_t head_count, head_bytes;

    struct findings found; /* of the result that was judged last */
};

/* ---- request.c ------------------------------------------------------------------------------- */

#define EVERY_DEFAULT 100

extern const struct step_option operators_options[];
extern const char *const head_names[]; /* by enum upsweep_heads */

/* Do the options go together? Fills in the types. Returns 0 or EXIT_USAGE. */
int operators_check(struct request *, const struct options *, struct fault *);

/* Refuses more characters than --partners takes: EXIT_USAGE. */
int operators_check_count(const struct request *, size_t n, struct fault *);

/* Does a sequence begin with element i of n in the order of memory; and does the scan begin one
 * there? In a reverse scan that is the last element of its sequence. Not for columns. */
bool operators_begins(const struct request *, size_t i);
bool operators_is_first(const struct request *, size_t i, size_t n);

/* ---- request_input.c ------------------------------------------------------------------------- */

/* The verbs of the same names (step.h). */
void operators_close(void *);
int operators_plan(const struct subject *, struct input *, struct fault *);
int operators_input(const struct subject *, struct input *, struct fault *);

/* Bytes of the second input and of the heads. */
size_t operators_own_bytes(const struct request *, size_t n);

/* Makes the array of heads on the host: n elements have *count of them, in *bytes bytes. NULL: no
 * memory. */
void *operators_heads(const struct request *, size_t n, size_t *count, size_t *bytes);

/* ---- common/tools/library/scan/judge.c ------------------------------------------------------- */

/* Judges each result by a loop over its sequence, or each partner of a bracket by that of a stack.
 * Fills in r->found. */
void operators_judge(struct request *r, const struct problem *, const void *out, struct verdict *);

#endif
