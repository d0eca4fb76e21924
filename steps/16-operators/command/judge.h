/*
 * judge.h — is a result of step 16 right?
 */
#ifndef STEP16_JUDGE_H
#define STEP16_JUDGE_H

#include "common/step/application.h"

/* application.verify: each result against a loop over its sequence. */
int operators_judge(struct verdict *, const struct problem *, const struct options *,
                    const void *out, struct fault *);

/* Both count from 1 on. */
struct text_place {
    size_t line, column;
};

/* Where character i of a text is. */
struct text_place text_place_of(const void *text, size_t i);

/* What the last judged result says, beside its elements. */
struct operators_judged {
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
extern struct operators_judged operators_judged;

/* ---- judge_partners.c ------------------------------------------------------------------------ */

/* The same for --partners: each partner against that of a stack. EXIT_USAGE: no memory. */
int operators_judge_partners(struct verdict *, const struct problem *, const int32_t *partner,
                             struct fault *);

#endif
