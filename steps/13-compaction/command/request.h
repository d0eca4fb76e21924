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
    struct predicate predicate;
    struct search search;
};

/* What the command line said, as a whole only after request_input(). One program, one request. */
extern struct request request;

extern const struct step_option request_options[];

/* Checks the options together, and says how large a generated input is: application.h. */
int request_plan(struct input *, const struct options *, struct fault *);

/* Checks the options together, and reads or generates the input: application.h. */
int request_input(struct input *, const struct options *, struct fault *);

/* Writes the elements that were kept: application.h. `kept` of them. */
int request_write(const struct options *, const struct input *, const void *out, uint64_t kept,
                  struct fault *);

#endif
