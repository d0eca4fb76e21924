/*
 * judge_partners.c — compares the partners of brackets with those that a stack finds.
 */
#include "judge.h"
#include "common/harness/verify/verify.h"

#include <stdlib.h>
#include <string.h>

/* The kind of a bracket, from 1 on; above 0 if it opens, below 0 if it closes; 0: no bracket. */
static int bracket_kind(char c)
{
    switch (c) {
    case '(': return 1;
    case ')': return -1;
    case '[': return 2;
    case ']': return -2;
    case '{': return 3;
    case '}': return -3;
    default: return 0;
    }
}

/* The bracket at `closing` closes the one at `opening`. */
static void note_pair(struct findings *f, const char *text, size_t opening, size_t closing)
{
    f->pairs++;
    if (f->mixed || bracket_kind(text[opening]) == -bracket_kind(text[closing])) return;
    f->mixed = true;
    f->mixed_opening = text[opening];
    f->mixed_closing = text[closing];
    f->opening_at = text_place_of(text, opening);
    f->closing_at = text_place_of(text, closing);
}

/* Fills in partners, with what the text says beside them. The stack lies in `partner`: each bracket
 * that is open has the index of the one that is open around it, or -1. */
static void find_partners(struct findings *f, int32_t *partner, const char *text, size_t n)
{
    int32_t innermost = -1;
    memset(partner, 0xFF, n * sizeof *partner); /* -1 */
    for (size_t i = 0; i < n && !f->wrong; i++) {
        int kind = bracket_kind(text[i]);
        if (kind > 0) {
            partner[i] = innermost;
            innermost = (int32_t)i;
            if (++f->open > f->greatest) f->greatest = f->open;
        } else if (kind < 0 && innermost < 0) {
            f->wrong = true;
            f->wrong_at = text_place_of(text, i);
        } else if (kind < 0) {
            int32_t opening = innermost;
            innermost = partner[opening];
            partner[opening] = (int32_t)i;
            partner[i] = opening;
            f->open--;
            note_pair(f, text, (size_t)opening, i);
        }
    }
    while (innermost >= 0) {
        int32_t around = partner[innermost];
        partner[innermost] = -1;
        innermost = around;
    }
}

void operators_judge_partners(const struct problem *p, const int32_t *partner, struct verdict *v,
                              struct findings *found)
{
    int32_t *want = allocated(malloc(p->n * sizeof *want));
    v->least = 1;
    *found = (struct findings){0};
    find_partners(found, want, p->in, p->n);
    for (size_t i = 0; i < p->n; i++)
        if (partner[i] != want[i]) verdict_note_element(v, i, ELEMENT_I32, partner, i, &want[i]);
    free(want);
}
