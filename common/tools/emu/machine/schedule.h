/* schedule.h — launches: the turns of clusters, blocks and warps, and their end. */
#ifndef EMU_SCHEDULE_H
#define EMU_SCHEDULE_H

#include "device.h"

/* ---- %clock, %globaltimer and %smid ---------------------------------------------------------- */

/* As a rule %clock counts the instructions that its warp has executed, and what it has leapt over:
 * it stands still while the warp waits, and is the same in every run. %globaltimer is the host's
 * clock. Block n is on multiprocessor n modulo their number.
 *
 * With a seed (emu_config.clock_seed) all of them repeat, and differ from seed to seed. Time is the
 * number of warp instructions that the device has executed, of any warp. So it never runs back,
 * not even between two blocks. %globaltimer counts these instructions as nanoseconds, from a
 * beginning that is made from the seed. So does %clock, with a beginning for each multiprocessor.
 * Blocks lie on the multiprocessors in an order made from the seed, which loads them evenly.
 *
 * Time leaps over a loop that only waits for it. Once the warp has passed such a loop without doing
 * anything else, each further pass adds a 32nd of the time that it has waited. So the loop takes
 * some hundred passes, whatever it waits for, and ends up to a 32nd later than it asks for. Before
 * the first leap, other warps run. %globaltimer leaps only with a seed. */

uint64_t clocks_warp(const struct warp *);
uint64_t clocks_global(const struct warp *);
unsigned clocks_smid(const struct block *);
/* The warp reads a clock in a loop that only waits for it (insn.clock.loop): time may leap. */
void clocks_wait(struct warp *, const struct insn *);

/* A warp's turn begins; `own`: the instructions that it has executed until now. */
static inline void clocks_begin(struct warp *w, uint64_t own)
{
    const struct emu *emu = w->block->launch->emu;
    if (emu->clock_seed) w->earlier = emu->executed - own;
}

/* The turn of a block is over; the last argument is the number of instructions it executed. */
static inline void clocks_end(struct warp *w, uint64_t executed)
{
    struct emu *emu = w->block->launch->emu;
    if (emu->clock_seed) emu->executed += executed;
}

/* ---- one thread block: its memory, and the turns of its warps -------------------------------- */

enum block_stop {
    BLOCK_ENDED,      /* every thread has exited, or the launch has an error */
    BLOCK_SLICE_OVER, /* a warp's time slice is used up, or the block waits for another */
    BLOCK_WAITS,      /* it has run, and now no thread can go on */
    BLOCK_STUCK,      /* it could not run */
};

/* ---- the interpreter: runs the instructions of one warp -------------------------------------- */

enum warp_stop {
    WARP_DONE,       /* every lane has exited */
    WARP_WAITS,      /* no lane can go on until another warp does something */
    WARP_SLICE_OVER, /* its time slice is used up */
    WARP_FAULT,
};

/* Gives a warp a new time slice; the rest of its last one is lost. */
void warp_grant(struct warp *, uint64_t instructions);
/* Runs a warp until its slice is used up, or until no lane can go on. */
enum warp_stop warp_run(struct warp *);

/* ---- detects a cluster that repeats the same states ------------------------------------------ */

/* If a cluster returns to an earlier state, and has changed no memory in between, it will return
 * there again and again until another cluster changes memory. So it waits, whatever its
 * instructions look like. The state is everything that decides how the cluster goes on: registers,
 * shared and local memory, and the instruction of each lane. */

/* Does the cluster repeat its states? Called at the end of each turn in which it ran and changed no
 * memory. False also if this is not known yet, if the state is too large, or if another cluster has
 * changed memory since its last turn. */
bool repeats(struct cluster *);

/* ---- blocks that start together -------------------------------------------------------------- */

/* Blocks that start together, are resident together, and may use each other's shared
 * memory (PTX ISA, "Cluster of Cooperative Thread Arrays"). Without __cluster_dims__ each block is
 * a cluster of its own.
 *
 * One host thread runs a whole cluster, and its blocks take turns. So remote shared memory,
 * mbarriers and asynchronous copies need no locks. */

/* The memory of a cluster, which serves one cluster after another. */
struct cluster *cluster_new(struct launch *);
void cluster_free(struct cluster *);
/* Starts the cluster with that number in the grid. */
void cluster_start(struct cluster *, uint64_t index);
/* Runs the cluster for one turn. True: it has ended, or the launch has an error. */
bool cluster_run(struct cluster *, struct insn_counts *);
/* Ends a turn, and returns what the cluster has done in it. */
enum cluster_turn {
    TURN_CHANGED, /* it has changed memory, or has written to several places */
    TURN_WORKED,  /* not so, but more work or more time may lead to a change */
    TURN_SPUN,    /* it waits for another cluster, or for the host */
    TURN_STUCK,   /* it repeats its states until another cluster changes memory */
};
enum cluster_turn cluster_end_turn(struct cluster *);

/* ---- ends a launch whose threads cannot or may not go on ------------------------------------- */

/* No thread of the cluster can go on. Ends the launch with an error that says which threads wait
 * for which. If the program allows it, releases a barrier without the threads that have exited. */
void deadlock_resolve(struct cluster *);
/* Ends the launch with an error, the reason `why`, and the place of a thread of the cluster: one
 * that runs, if there is one. Except for an interrupt, it is also a finding. */
void give_up_cluster(struct cluster *, int error, const char *why);
/* "the loop around file.cu:12 (PTX line 97)", or "each loop" if no line is known */
void describe_loop(struct cluster *, char *text, size_t size);
/* Ends the launch with a sentence that names the kernel and no place in it. It is a finding. */
void give_up_launch(struct launch *, int error, const char *sentence);

/* ---- deadlock.c: where each lane of a cluster waits, for the message of a deadlock ----------- */

/*
 *   block (0,0,0):
 *     warp 0     ################................  scan.cu:12  waits at barrier 0 (16 of 64)
 *                ................################  scan.cu:15  waits for lanes 0x0000ffff
 *     warp 1     xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  exited
 *
 * A lane is one character, lane 0 first. Warps with equal lines are drawn once: "warps 1-31".
 */

/* ---- begins a launch, of the host or of a kernel --------------------------------------------- */

/* Where a launch comes from, as struct launch has it. */
struct launch_origin {
    const struct emu_kernel *kernel;
    unsigned launch, depth;
    uint64_t *ended;
};

/* Checks a launch, makes it and announces that it begins. `origin`: NULL, or the kernel that
 * launches. Returns 0, or an enum emu_error with the message set and no launch. */
int launch_start(struct emu *, struct emu_kernel *, const struct emu_shape *, void *const *args,
                 const struct launch_origin *origin, struct launch **);

/* ---- runs the clusters of a launch on host threads ------------------------------------------- */

/* A host thread takes the clusters in the order of their index and runs each one until it ends or
 * its time slice is over. A cluster whose slice is over waits in a queue. The thread then starts
 * another cluster, as long as the GPU would hold that many at once; otherwise it continues with the
 * one that has waited longest. So a block that spins on a value of another block does not stop the
 * grid, and as on a GPU only resident blocks can be waited for. */

enum { WARP_SLICE = 1 << 16 }; /* instructions */

/* How many blocks of this shape an SM of the GPU holds, by threads, shared memory and its own
 * limit. Registers are left out, because only ptxas knows their number. */
unsigned blocks_per_sm(const struct emu_gpu *, unsigned threads, size_t shared_bytes);

/* ---- dynamic parallelism --------------------------------------------------------------------- */

/* Dynamic parallelism: the grids, copies and fills that a grid's threads put into
 * streams, as CUDA 12 and later have it.
 *
 * They are carried out when their grid has ended, and a launch of the host is over after all of
 * them. A GPU may begin them earlier; but a grid cannot wait for what it has launched, so no
 * program can rely on that. Streams and events order them. What these do not order comes in the
 * order of the blocks that put it into streams: it does not depend on the host's threads. The work
 * of the tail stream comes last.
 *
 * The functions that kernels call are in ops/. */

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
    size_t queue_count;
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
    size_t count;
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
