/*
 * request.h — what the user asked step 13 for: its own options, and its input.
 */
#ifndef STEP13_REQUEST_H
#define STEP13_REQUEST_H

#include "common/harness/input/input.h"
#include "common/step/options.h"
#include "steps/13-compaction/step13.h"

struct request {
    enum element element; /* --type; float if not given */
    bool typed;           /* --type was given */
    size_t offset;        /* --offset in bytes */
    const char *keep;     /* --keep, an expression; NULL: "x > 0" */
    const char *grep;     /* --grep; NULL: numbers, not lines */

    /* Whole only after request_input(). */
    struct predicate predicate;
    struct search search;

    uint64_t kept; /* of the result that was judged last */
};

extern const struct step_option request_options[];

/* The verbs of the same names (step.h): a request begins, its options are checked together, and its
 * input is read or generated. */
void *request_open(void);
int request_plan(const struct subject *, struct input *, struct fault *);
int request_input(const struct subject *, struct input *, struct fault *);

#endif
