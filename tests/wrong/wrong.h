/*
 * wrong.h — scans that are wrong on purpose. The verifier has to reject every one, and to name the
 * cause where its results give it away. Many of them pass well-known verifiers: those that look at
 * the last element only, at a sample, at the sum of signed differences, or at inputs that are all
 * ones.
 *
 * They are deterministic: where the mistake is a race, the kernel loses the race under any
 * schedule, and its comment says how.
 */
#ifndef WRONG_H
#define WRONG_H

#include "common/step/step.h"

/* A number of the input that another number replaces. */
enum special { SPECIAL_NONE, SPECIAL_NAN, SPECIAL_INFINITY };

struct wrong {
    struct step step;
    size_t n;             /* elements to run it on */
    bool in_place;        /* wrong only in place */
    size_t offset;        /* wrong only if displaced by this many elements */
    bool real;            /* on random real numbers; otherwise random integers */
    enum special special; /* in the middle of the input */
    const char *fault;    /* a part of the sentence with which the program ends instead; run as a
                             program of its own, for some end the process */
    const char *checker;  /* right for the verifier; a part of memcheck's message */
    const char *run;      /* a part of what names the run that is wrong; NULL: the first is */
    const char *cause;    /* a part of the cause that has to be named; NULL: none can be */
};

/* Ends with n = 0. */
extern const struct wrong wrong_scans[];

/* The scan that they are made from: right, and slow. */
extern const struct step wrong_control;
/* Step 9's scan, right: the step's other functions leave errors of CUDA. */
extern const struct step wrong_erring;
/* Finds one of all these by its name; NULL: there is none. */
const struct step *wrong_find(const char *name);

#endif
