/*
 * judge.h — is a result of the engine right, as far as ./step16 can ask for it?
 */
#ifndef LIBRARY_SCAN_JUDGE_H
#define LIBRARY_SCAN_JUDGE_H

#include "common/harness/verify/verify.h"

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

struct request; /* of steps/16-operators/request.h */

/* Judges each result by a loop over its sequence, or each partner of a bracket by that of a stack.
 * Fills in r->found. */
void operators_judge(struct request *r, const struct problem *, const void *out, struct verdict *);

#endif
