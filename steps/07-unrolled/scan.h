/*
 * scan.h — what the kernels of step 7 and its descriptor share: the size of a block's part, and how
 * much shared memory it takes.
 */
#ifndef STEP07_SCAN_H
#define STEP07_SCAN_H

/* Leaves of a block's tree: the totals of that many float4. Two a thread. */
#define TREE 512

/* Elements that one block scans. */
#define B (4 * TREE)

/* One float of padding after every 32: with TREE elements one level of it leaves no conflict. */
#define LOG_NUM_BANKS           5
#define CONFLICT_FREE_OFFSET(i) ((i) >> LOG_NUM_BANKS)

/* Floats of shared memory for n padded elements. */
#define PADDED_SIZE(n) ((n) + CONFLICT_FREE_OFFSET((n)-1))

#endif
