/*
 * scan.h — the padding of step 4: how the kernel indexes, and how much shared memory that takes.
 */
#ifndef STEP04_SCAN_H
#define STEP04_SCAN_H

#define LOG_NUM_BANKS 5

/* How many floats the element at index i is moved to the right (the simpler macro of Harris'
 * Listing 3, with 32 banks in place of 16; the other one, ZERO_BANK_CONFLICTS, is misprinted). */
#define CONFLICT_FREE_OFFSET(i) ((i) >> LOG_NUM_BANKS)

/* Floats of shared memory for n >= 1 elements: the last one is moved, too. */
#define PADDED_SIZE(n) ((n) + CONFLICT_FREE_OFFSET((n)-1))

#endif
