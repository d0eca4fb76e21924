/*
 * vclock.h — vector clocks: for each thread of the grid, up to which time its accesses happen
 * before the owner's next access (Mattern 1988; FastTrack 2009 for race detectors).
 *
 * Each block counts its synchronisations. A timestamp is a value of this counter; 0 is before all
 * accesses of the block. Timestamps of different blocks cannot be compared.
 *
 * A clock never changes after it is made. Several owners may share it, and they are counted. It is
 * a tree over the block's number with 16 branches a node: clocks that thousands of blocks pass on
 * to each other (in a chained scan, or at a grid barrier) share nearly all of their nodes. A leaf
 * is the clock of one block: one time for all of its threads, and later times for single warps,
 * threads and asynchronous copies. A NULL clock has time 0 for every thread.
 */
#ifndef EMU_VCLOCK_H
#define EMU_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MAX_THREADS = 1024, /* of a block */
    WARP_KEY = MAX_THREADS,
    /* Asynchronous copies that end in the order in which they began: */
    COPY_KEY = WARP_KEY + MAX_THREADS / 32, /* a thread's cp.async */
    BULK_READ_KEY = COPY_KEY + MAX_THREADS, /* a thread's cp.async.bulk: their reads, */
    BULK_KEY = BULK_READ_KEY + MAX_THREADS, /* and their writes */
    BARRIER_KEY = BULK_KEY + MAX_THREADS,   /* all cp.async.bulk that arrive at one mbarrier */
    MAX_KEYS = BARRIER_KEY + MAX_THREADS
};

typedef uint32_t timestamp;

/* The time of a thread of the block; of all threads of warp w (key WARP_KEY + w); or of copies. */
struct vclock_entry {
    uint16_t key;
    timestamp time;
};

struct vclock;

/* What the clocks of one launch share: the depth of their trees. After memory has run out, no clock
 * can be relied on. */
struct vclock_space {
    unsigned levels;
    bool out_of_memory;
};
void vclock_open(struct vclock_space *, uint64_t blocks);

/* A clock of one block: `base` for all of its threads and 0 for its copies, and besides the
 * entries, in the order of their keys. Returns a new reference; NULL: out of memory. */
struct vclock *vclock_of_block(struct vclock_space *, uint64_t block, timestamp base,
                               const struct vclock_entry *entries, unsigned count);
/* *into becomes the later time of the two clocks, for each thread. */
void vclock_join(struct vclock_space *, struct vclock **into, struct vclock *more);
/* Adds an owner; removes one, and the last frees the clock. */
struct vclock *vclock_hold(struct vclock *);
void vclock_drop(struct vclock_space *, struct vclock **);
/* Is no time of `of` later than in the first clock, if the first has at least the time `base` for
 * all threads of that block? */
bool vclock_covers(const struct vclock_space *, const struct vclock *, const struct vclock *of,
                   uint64_t block, timestamp base);
/* The time of a thread; and of copies, by their key. */
timestamp vclock_time_of_thread(const struct vclock_space *, const struct vclock *, uint64_t block,
                                unsigned thread);
timestamp vclock_time_of_copies(const struct vclock_space *, const struct vclock *, uint64_t block,
                                unsigned key);

#endif
