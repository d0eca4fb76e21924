/*
 * schedule.h — dynamic parallelism: the grids, copies and fills that a grid's threads put into
 * streams, as CUDA 12 and later have it.
 *
 * They are carried out when their grid has ended, and a launch of the host is over after all of
 * them. A GPU may begin them earlier; but a grid cannot wait for what it has launched, so no
 * program can rely on that. Streams and events order them. What these do not order comes in the
 * order of the blocks that put it into streams: it does not depend on the host's threads. The work
 * of the tail stream comes last.
 *
 * The functions that kernels call are in ops/.
 */
#ifndef EMU_CHILDREN_H
#define EMU_CHILDREN_H

#include "machine.h"

/* CUDA's default limit for launches that have not begun. It also limits the depth of launches,
 * as on an H200. A tail launch is as deep as the grid that makes it. */
enum { CHILDREN_PENDING = 2048 };
enum { CHILDREN_TEXTS = 64 << 10 }; /* bytes for texts, at the beginning of a family's memory */

enum child_kind {
    CHILD_GRID,
    CHILD_COPY,
    CHILD_FILL,
    CHILD_MARK, /* a stream waits for an event */
};

struct child {
    enum child_kind kind;
    bool is_tail;
    uint64_t number, key;   /* its place in the order: see child_submit() */
    struct child *needs[2]; /* what it comes after; NULL: nothing */
    /* Of a grid: */
    struct emu_kernel *kernel;
    struct emu_shape shape;
    emu_addr buffer; /* where the launching thread puts the parameters */
    uint8_t *params; /* a copy of them */
    /* Of a copy and of a fill: */
    uint64_t to, from;
    struct emu_rows rows;
    uint8_t value;
    /* racecheck: the clock of what comes before it, the levels of that clock, and the operation
     * with which its last descendant ends */
    struct vclock *before;
    unsigned before_levels;
    uint64_t ended;
    struct child *next;
};

/* A stream or an event that the grid has made. Later work in it comes after `last`. */
struct child_queue {
    bool is_event, is_destroyed;
    struct child *last;
};

/* What a running grid has launched. The lock of its device's struct descendants protects it. */
struct children {
    struct child *first, **end; /* submitted, in this order */
    size_t count;
    struct child *buffers; /* not submitted yet, newest first */
    struct child *tail;    /* the last one of the tail stream */
    struct child_queue *queues;
    size_t queue_count, queue_room;
};

/* What calls of the CUDA runtime store for a thread. A block has one of these for each of its
 * threads, and after them one for the stream NULL, which is the block's. */
struct thread_runtime {
    int error;          /* the last one */
    struct child *last; /* in the thread's own stream */
};

/* A grid that has ended, while what it has launched is carried out. */
struct race_family;
struct ended_grid {
    const struct emu_kernel *kernel;
    unsigned launch, depth;
    uint64_t operation; /* racecheck's */
    struct children *children;
    struct child **order;
    size_t count, next, first_tail;
    uint64_t *ended;          /* receives the last operation of all its work, or is NULL */
    struct race_family *race; /* its accesses; NULL: they are not needed */
};

/* A device's family: what its grids have launched, and memory for that. */
struct descendants {
    pthread_mutex_t lock;
    size_t pending, most_pending; /* submitted and not begun */
    emu_addr memory;              /* for parameters, and for texts that kernels ask for */
    size_t bytes, used, texts;
    emu_addr text[2][1024];   /* by error, names and sentences; 0: not asked for yet */
    struct ended_grid *grids; /* the ended grids whose children run, the youngest last */
    size_t count, room;
    uint64_t ended; /* of the last launch of the host */
};

/* Prepares a launch of a kernel that uses the runtime. Returns 0, or an enum emu_error with the
 * message set. */
int children_open(struct emu *, struct launch *);
void descendants_close(struct emu *);

/* Makes a child for work that a thread is about to put into a stream. NULL: *error is what the
 * thread's call returns. The family is locked. */
struct child *child_new(struct warp *, enum child_kind, int *error);
/* Makes room for the parameters of a grid. 0: the room is used up. The family is locked. */
emu_addr child_buffer(struct descendants *, size_t bytes);
/* Puts a child into the stream whose last work is *last (NULL: the stream of fire and forget). */
void child_submit(struct warp *, int lane, struct child *, struct child **last);

/* After a launch that has ended without a fault: moves its children, if there are any, from the
 * launch to the family. children_next() carries them out. */
int children_take(struct emu *, struct launch *);
/* Carries out copies and fills up to the next grid, and returns that grid's launch. NULL: no grid
 * is left, or *error is set. */
struct launch *children_next(struct emu *, int *error);
/* After a fault: frees all ended grids and their children, which are not carried out. */
void children_drop(struct emu *);
void children_free(struct launch *);

#endif
