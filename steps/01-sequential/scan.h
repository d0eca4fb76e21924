/*
 * scan.h — the variants of step 1, for scan.c and for its descriptor.
 */
#ifndef STEP01_SCAN_H
#define STEP01_SCAN_H

enum variant {
    EXCLUSIVE, /* out[j] = in[0] + … + in[j-1] */
    INCLUSIVE, /* out[j] = in[0] + … + in[j] */
    LOOP,      /* out[j] = f(in[0]) + … + f(in[j-1]), as one loop */
    TWO_PASS,  /* the same as a map and a scan */
};

/* The example's f: is x positive? So out[j] says how many positive elements come before j. */
static inline float f(float x) { return x > 0 ? 1 : 0; }

#endif
