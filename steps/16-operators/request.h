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

#define TYPES_MOST    4
#define EVERY_DEFAULT 100

/* What an operator takes. */
struct operator_facts {
    const char *name;
    enum operator_kind plain;       /* itself, or that of which it is the segmented form */
    enum element types[TYPES_MOST]; /* the first one is the default */
    int type_count;
    bool all_heads;     /* --heads bytes and keys, too */
    bool second;        /* a second input */
    const char *random; /* what its random input is */
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
    enum scan_heads kind; /* --heads; SCAN_HEADS_NONE: not given */
    size_t every;         /* --every; 0: not given, EVERY_DEFAULT */
    const char *second;   /* --second; NULL: not given */
    bool partners;        /* --partners: the results are the partners of brackets */

    /* Filled in by operators_check() and operators_input(). */
    enum operator_kind plain;
    enum element element, result; /* types of an element of the input and of the result */
    size_t n;
    bool inclusive;
    uint64_t seed;
    uint64_t initial_value; /* the bytes of a result */
    size_t offset;          /* --offset, in elements */
    float eye;              /* OP_SIGHT: the height of the first point */

    /* On the host: the second input, of n elements; NULL: none. */
    void *second_input;
    /* On the device: the second input, and the array of heads with the number of its elements. */
    struct own_array second_on_device, heads_on_device;
    size_t head_count, head_bytes;

    struct findings found; /* of the result that was judged last */
};

extern const struct step_option operators_options[];
extern const char *const head_names[]; /* by enum scan_heads */

/* ---- request.c ------------------------------------------------------------------------------- */

/* Do the options go together? Fills in the types. Returns 0 or EXIT_USAGE. */
int operators_check(struct request *, const struct options *, struct fault *);

/* Refuses more characters than --partners takes: EXIT_USAGE. */
int operators_check_count(const struct request *, size_t n, struct fault *);

/* keep and take of OP_EMA and OP_DISCOUNT in the type of the elements. */
struct decay {
    double keep, take;
};
struct decay operators_decay(const struct request *);

/* ---- request_input.c ------------------------------------------------------------------------- */

/* The verbs of the same names (step.h). */
void *operators_open(void);
void operators_close(void *);
int operators_plan(const struct subject *, struct input *, struct fault *);
int operators_input(const struct subject *, struct input *, struct fault *);

/* Bytes of the second input and of the heads. */
size_t operators_own_bytes(const struct request *, size_t n);

/* The input in a line; "": the harness says it. */
void operators_about_input(const struct request *, char *text, size_t size, const struct options *);

/* ---- request.c ------------------------------------------------------------------------------- */

/* Does a sequence begin with element i of n in the order of memory? Not for columns. */
bool operators_begins(const struct request *, size_t i);

/* Does the scan begin a sequence with element i of n? In a reverse scan that is the last one of its
 * sequence. Not for columns. */
bool operators_is_first(const struct request *, size_t i, size_t n);

/* Bytes of the array of heads for n elements; of offsets, about as many. */
size_t operators_heads_bytes(const struct request *, size_t n);

/* Makes the array of heads on the host: n elements have *count of them, in *bytes bytes. NULL: no
 * memory. */
void *operators_heads(const struct request *, size_t n, size_t *count, size_t *bytes);

/* ---- request_input.c ------------------------------------------------------------------------- */

/* Refuses numbers whose results, or combinations on the way to them, may leave the range of their
 * type: EXIT_USAGE. The path of their file; NULL: random numbers, with --initial. */
int operators_check_range(const struct request *, const struct input *, const char *path,
                          struct fault *);

/* ---- is a result right? ---------------------------------------------------------------------- */

/* Judges each result by a loop over its sequence. Fills in *found. */
void operators_judge(const struct request *, const struct problem *, const void *out,
                     struct verdict *, struct findings *found);

/* Where character i of a text is. */
struct text_place text_place_of(const void *text, size_t i);

/* ---- judge.c --------------------------------------------------------------------------------- */

/* Judges the result of --partners: each partner by that of a stack. */
void operators_judge_partners(const struct problem *, const int32_t *partner, struct verdict *,
                              struct findings *found);

#endif
