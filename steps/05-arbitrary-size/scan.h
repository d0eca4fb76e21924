/*
 * scan.h — what the kernels of step 5 and its descriptor share: the size of a block's part, and how
 * much shared memory it takes.
 */
#ifndef STEP05_SCAN_H
#define STEP05_SCAN_H

/* Elements that one block scans, a power of two; GPU Gems 3 (39.2.4) calls them B. Harris 2007
 * takes 512, GPU Gems 3 takes 128; make step5-B128 builds a program that takes 128. */
#ifndef B
#define B 512
#endif

/* One float of padding after every 32: with 512 elements one level of it leaves no conflict. */
#define LOG_NUM_BANKS           5
#define CONFLICT_FREE_OFFSET(i) ((i) >> LOG_NUM_BANKS)

/* Floats of shared memory for n elements. */
#define PADDED_SIZE(n) ((n) + CONFLICT_FREE_OFFSET((n)-1))

#endif
