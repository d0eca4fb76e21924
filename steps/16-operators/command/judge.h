/*
 * judge.h — is a result of step 16 right?
 */
#ifndef STEP16_JUDGE_H
#define STEP16_JUDGE_H

#include "common/harness/verify/verify.h"
#include "request.h"

/* Judges each result by a loop over its sequence. Fills in *found. Returns 0. */
int operators_judge(const struct request *, const struct problem *, const void *out,
                    struct verdict *, struct findings *found);

/* Where character i of a text is. */
struct text_place text_place_of(const void *text, size_t i);

/* ---- judge_partners.c ------------------------------------------------------------------------ */

/* Judges the result of --partners: each partner by that of a stack. */
void operators_judge_partners(const struct problem *, const int32_t *partner, struct verdict *,
                              struct findings *found);

#endif
