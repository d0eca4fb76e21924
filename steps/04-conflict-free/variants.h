/*
 * variants.h — the paddings that step 4 compares: scan.cu has the first, variants.cu the others.
 */
#ifndef STEP04_VARIANTS_H
#define STEP04_VARIANTS_H

enum padding {
    PAD32,   /* one float after every 32: today's banks */
    PAD16,   /* one after every 16: the documents' banks of 2007 */
    PAD32X2, /* one after every 32, and one more after every 32 * 32 */
};

/* How many floats the element at index i is moved to the right. */
#define PADDING_OFFSET(i, padding)                                                                 \
    ((padding) == PAD16 ? (i) >> 4 : (padding) == PAD32 ? (i) >> 5 : ((i) >> 5) + ((i) >> 10))

/* Floats of shared memory for n >= 1 elements: the last one is moved, too. */
#define VARIANT_SIZE(n, padding) ((n) + PADDING_OFFSET((n)-1, padding))

#endif
