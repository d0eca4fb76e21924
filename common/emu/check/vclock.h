/*
 * vclock.h — what a thread knows of all others: for each, up to which moment its accesses are
 * over and in order before the thread's own next one (a vector clock, as race detectors call it).
 *
 * A moment is a number that counts a block's synchronisations, so it says something about threads
 * of that block only; 0 is before all of them. A knowledge never changes and may have many owners,
 * which are counted. It is a tree by the block's number, 16 branches a node, so that what
 * thousands of blocks have handed on to each other (a chained scan, a grid barrier) shares nearly
 * all of its nodes; a leaf knows one block: all of its threads, some of its warps, some of its
 * threads, some asynchronous copies. NULL knows nothing.
 */
#ifndef EMU_VCLOCK_H
#define EMU_VCLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum {
    MAX_THREADS = 1024, /* of a block */
    WARP_KEY = MAX_THREADS,
    /* Copies that some thread has begun, and that are over in the order in which they were: */
    COPY_KEY = WARP_KEY + MAX_THREADS / 32, /* by cp.async, a thread's */
    BULK_READ_KEY = COPY_KEY + MAX_THREADS, /* by cp.async.bulk, a thread's: they have read; */
    BULK_KEY = BULK_READ_KEY + MAX_THREADS, /* and written */
    BARRIER_KEY = BULK_KEY + MAX_THREADS, /* by cp.async.bulk, those that arrive at one mbarrier */
    MAX_KEYS = BARRIER_KEY + MAX_THREADS
};

typedef uint32_t moment;

/* A thread of the block, or (WARP_KEY + w) all threads of warp w, or copies. */
struct known {
    uint16_t key;
    moment until;
};

struct knowledge;

/* One launch's: how deep its trees are, and whether memory has run out, after which nothing that is
 * known can be relied on. */
struct knowledge_space {
    unsigned levels;
    bool out_of_memory;
};
void knowledge_open(struct knowledge_space *, uint64_t blocks);

/* One block: all its threads until `base`, but no copies, and the entries, whose keys rise. An owner
 * gets it. */
struct knowledge *knowledge_of(struct knowledge_space *, uint64_t block, moment base,
                               const struct known *entries, unsigned count);
/* *into becomes what it knew and `more` knows. */
void knowledge_add(struct knowledge_space *, struct knowledge **into, struct knowledge *more);
/* Another owner; one owner less. */
struct knowledge *knowledge_hold(struct knowledge *);
void knowledge_drop(struct knowledge_space *, struct knowledge **);
/* Does the first hold all that the second does, if of one block all threads are known until `base`,
 * besides? */
bool knowledge_holds(const struct knowledge_space *, const struct knowledge *,
                     const struct knowledge *of, uint64_t block, moment base);
/* Until when a thread is known; and copies, by their key. */
moment knowledge_until(const struct knowledge_space *, const struct knowledge *, uint64_t block,
                       unsigned thread);
moment knowledge_of_copies(const struct knowledge_space *, const struct knowledge *, uint64_t block,
                           unsigned key);

#endif
