/*
 * judge.h — is a result of step 16 right?
 */
#ifndef STEP16_JUDGE_H
#define STEP16_JUDGE_H

#include "common/harness/application.h"

/* application.verify: each result against a loop over its sequence. */
int operators_judge(struct verdict *, const struct problem *, const struct options *,
                    const void *out, struct fault *);

/* What the last judged result says, beside its elements. */
struct operators_judged {
    size_t visible;                  /* points in the line of sight */
    size_t greatest;                 /* depth of brackets */
    size_t open;                     /* brackets that are open at the ends of their sequences */
    bool wrong;                      /* there is a closing bracket without an opening one */
    size_t wrong_line, wrong_column; /* of the first one in the order of the scan, from 1 on */
};
extern struct operators_judged operators_judged;

#endif
