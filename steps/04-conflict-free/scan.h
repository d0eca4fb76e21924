/*
 * scan.h — the paddings of step 4, for the kernel (how it indexes) and for the descriptor (how much
 * shared memory that takes).
 */
#ifndef STEP04_SCAN_H
#define STEP04_SCAN_H

/* How many floats the element at index i is moved to the right (Listing 3, corrected: Harris prints
 * NUM_BANKS for LOG_NUM_BANKS and leaves out the parentheses, which removes no conflict at all). */
enum padding {
    PAD32,   /* one float after every 32: today's banks */
    PAD16,   /* one after every 16: the documents' banks of 2007 */
    PAD32X2, /* one after every 32, and one more after every 32 * 32 */
};

#define LOG_NUM_BANKS 5

#define CONFLICT_FREE_OFFSET(i, padding)                                                           \
    ((padding) == PAD16   ? (i) >> 4                                                               \
     : (padding) == PAD32 ? (i) >> LOG_NUM_BANKS                                                   \
                          : ((i) >> LOG_NUM_BANKS) + ((i) >> (2 * LOG_NUM_BANKS)))

/* Floats of shared memory for n >= 1 elements: the last one is moved, too. */
#define PADDED_SIZE(n, padding) ((n) + CONFLICT_FREE_OFFSET((n)-1, padding))

#endif
