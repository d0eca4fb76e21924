/* machine.h — the emulated GPU while it runs a launch: blocks, warps, lanes, and accesses of
 * memory. */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "common/tools/emu/ptx/insn.h"
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

/* ---- the structures of the emulated GPU while it runs a launch: warps, blocks, clusters ------ */

/*
 * The code that it runs is in ptx/insn.h. The machine knows no counters, checkers or traces: it
 * announces events (events.h).
 *
 * From the outside in:
 *
 *   struct emu      a device           device.c       memory, modules, settings
 *   struct launch   a running grid     scheduler.c  host threads run its clusters
 *   struct cluster  one or more blocks block.c    that run at the same time
 *   struct block    a thread block     block.c      shared memory, barriers, warps
 *   struct warp     32 lanes           exec.c       registers, fragments (warp.c)
 *
 * A function that nvcc did not inline has its own registers for each call: a frame (warp.c).
 * The kernel's own registers are the root frame's.
 */

enum {
    MAX_WARPS = 32,    /* of a block */
    MAX_BARRIERS = 16, /* named barriers of a block (PTX ISA, bar) */
    MAX_CLUSTER = 16,  /* blocks */
};

struct race_block;
struct init_block;
struct children;      /* schedule.h */
struct thread_runtime;

/* ---- counting -------------------------------------------------------------------------------- */

/* The counters of one instruction of the kernel, in one host thread. */
struct insn_counts {
    uint64_t executed, lanes;
    uint64_t wavefronts, ideal, source_ideal; /* shared */
    uint64_t shared_requests, one_address;
    uint64_t requests, sectors, bytes; /* global, or local; of bulk copies only the bytes */
    uint64_t copied_sectors;           /* of cp.async, as counted by NVIDIA's software */
    uint64_t moved, needed;            /* global, by an older GPU's rules: see device.h */
    uint64_t divergent, replays;       /* constant */
};

/* ---- running --------------------------------------------------------------------------------- */

enum fragment_state {
    FRAGMENT_READY,
    FRAGMENT_AT_BARRIER,
    FRAGMENT_WAITING_FOR_PHASE, /* of an mbarrier or barrier.cluster (async.h) */
    FRAGMENT_WAITING_FOR_LANES, /* of its member mask, at a warp-wide instruction */
};

/* The registers of one call. The lanes that made the call together share them. */
struct frame {
    struct frame *caller; /* NULL: the kernel itself. Of one in warp.unused_frames, the next one */
    const struct callee *callee;
    const struct insn *site; /* the call */
    uint32_t return_pc;
    unsigned depth, references; /* fragments in it and frames called from it */
    uint8_t *registers, *area;
    size_t area_bytes; /* per lane */
    size_t local_end;  /* of the local memory of this frame and its callers */
    size_t capacity;   /* bytes at `registers`; not set in a root frame */
    struct frame **unused; /* its warp's unused_frames, where it goes when the call is over */
};

/* Lanes of a warp that are at the same instruction of the same call. */
struct fragment {
    struct frame *frame;
    uint32_t pc, mask;
    enum fragment_state state;
    unsigned barrier;
    uint64_t turn; /* w->turns when it last ran, for fairness */
};

/* A range of addresses that kernels may access. The byte at `address` is at host = address +
 * delta. */
struct range {
    uint64_t base, bytes;
    int64_t delta;
    bool is_heap; /* the heap of malloc in kernels (device.h) */
    bool is_hidden; /* freed: only its addresses are kept, see emu_hide() */
    /* other processes see it; it is another process's (allocate.c) */
    bool is_exported, is_imported;
};

struct warp {
    uint8_t *bank[BANK_COUNT]; /* see slot; the registers are those of `frame` */
    struct frame *frame;       /* of the fragment that runs */
    struct frame root;
    uint32_t live;    /* lanes that have not exited */
    uint32_t carry;   /* the carry flag of the condition code, a bit per lane */
    uint32_t current; /* the fragment's mask while an instruction runs */
    unsigned index;   /* in its block */
    unsigned fragment_count;
    struct fragment fragments[WARP];
    uint64_t turns;
    uint32_t cluster_arrived; /* lanes that have arrived at an incomplete barrier.cluster */
    uint32_t cluster_owes; /* lanes that have arrived and not yet waited */
    uint32_t exited;       /* lanes that existed and have exited */
    struct frame *unused_frames; /* of calls that are over, for later ones */
    struct block *block;
    uint8_t *local;      /* the lanes' local memories */
    uint8_t *own_shared; /* its block's shared memory, for runs, which do not pass the door */
    size_t own_shared_bytes;    /* 0 in a cluster of several blocks: there all accesses pass it */
    bool observed;              /* its accesses are counted or announced */
    struct insn_counts *counts; /* the host thread's, by instruction; NULL: not counting */
    uint64_t clock;             /* instructions granted so far; minus fuel, its %clock */
    uint64_t earlier;           /* its %clock beyond that: see schedule.h */
    const struct insn *waited;  /* the last read of a clock in a loop that only waits for it; */
    uint64_t waited_at, waits_since; /* its clock then, and the time when it began to wait */
    uint64_t fuel;              /* instructions until the interpreter stops; 0 stops it now */
    uint64_t slice;    /* instructions left in this time slice, beyond fuel */
    bool may_wait;     /* a fragment may be FRAGMENT_WAITING_FOR_PHASE */
    bool fair;         /* run the fragment that has waited longest, not the lowest */
    struct range near; /* the global memory of the last access */
    /* The last access that may wait for other threads: a load that orders memory, or an atomic that
     * changed nothing. The address and the value are its first lane's. */
    const struct insn *polled;
    uint64_t polled_address, polled_value;
    bool spins;       /* it has read the same value there again, or has slept */
    uint64_t spun_at; /* its clock at that time */
    const struct insn *stored; /* the last store that was compared with memory */
    uint64_t stored_address;
};

struct barrier {
    unsigned arrived, expected; /* threads; expected 0: no thread waits */
    unsigned asked; /* the number that the waiting threads name; may exceed the block's */
    unsigned true_count;        /* of bar.red: threads whose predicate is true */
};

struct block {
    struct launch *launch;
    uint64_t index; /* in the grid, x fastest */
    struct emu_dim id;
    unsigned threads, warp_count;
    bool is_new; /* its memory has not served a block before */
    /* What the block has done in this turn of its cluster: */
    bool changed;         /* memory, in the last rounds, by a store of a different value */
    bool changed_earlier; /* the same, in earlier rounds */
    bool wrote;           /* memory in more than one place, perhaps with equal values */
    bool passed;          /* a barrier, or arrived at one: this alone changes no memory */
    bool busy;            /* a warp has used up its slice and did not spin */
    bool quiet;           /* its warps have passed many barriers and changed no memory */
    bool looked_at_time;  /* it has read %globaltimer, so it may wait for time to pass */
    bool looked_at_host;  /* a warp went on to access memory of the host */
    unsigned rounds;      /* a round runs each of the block's warps once */
    uint64_t executed;    /* warp instructions that its launch has not added up yet */
    bool ended;           /* every thread has exited */
    struct async *async;  /* asynchronous copies (async.h); NULL: there were none so far */
    struct cluster *cluster;
    unsigned rank; /* in its cluster */
    struct warp *warps;
    uint8_t *shared;
    size_t shared_bytes;
    size_t reserved_offset; /* from this offset on, the system's: cooperative groups use it */
    _Alignas(16) uint64_t nowhere[4]; /* where stores outside of memory go (device.h) */
    struct barrier barriers[MAX_BARRIERS];
    bool used_barriers;      /* barriers[] are not all zero, or were not */
    unsigned epoch;          /* barriers passed */
    uint8_t *memory;         /* shared memory, registers and local memory in one allocation; */
    size_t memory_bytes;     /* the bytes in use, from `shared` on */
    /* What its threads have called of the CUDA runtime (schedule.h); NULL: nothing yet */
    struct thread_runtime *runtime;
    struct race_block *racecheck; /* the checkers' state of it; NULL: off */
    struct init_block *initcheck;
    struct undefined *undefined; /* registers that synccheck follows; NULL: none */
};

enum {
    LAUNCH_MESSAGE = 4096,
    WORKSPACE_BYTES = 8, /* of a cooperative launch: see make_workspace() in device_runtime.c */
};

/* Where a cluster waited for an mbarrier when no thread of it could go on. */
struct cluster_wait {
    struct warp *warp; /* NULL: it did not */
    const struct insn *insn;
    int lane;
    uint32_t offset; /* of the mbarrier */
};

/* Detects whether a cluster repeats the same states (schedule.h). */
struct repeat {
    uint64_t digest;      /* of an earlier state; 0: no state is kept */
    unsigned turns, most; /* turns since then; the number after which a newer state is kept */
    unsigned left;        /* turns for which the cluster is known to repeat */
    unsigned pause;       /* turns until the next digest */
    uint64_t new_values;  /* launch->new_values in its last turn */
    unsigned skipped;     /* turns of polling; most of them are without a digest */
    bool is_known;        /* what repeats() has said last */
};

/* Stops a grid, which one host thread runs, before instructions: see event_step(). */
struct stepper {
    uint64_t left;        /* instructions until the next stop */
    const uint8_t *marks; /* not 0 for those that it always stops before */
    struct cluster *cluster; /* that runs */
};

/* Blocks that start together and that one host thread runs. Most clusters have one block. */
struct cluster {
    struct launch *launch;
    unsigned size, ended;
    struct block *blocks[MAX_CLUSTER]; /* by rank */
    bool parity;                       /* of its barrier.cluster's phase */
    unsigned timeouts; /* waits in a row that have timed out while no memory changed */
    struct cluster_wait waits_for;
    struct repeat repeat;
    bool waited;           /* it has had a turn and has not ended in it */
    bool polls;            /* in its last turn it only waited, perhaps for time to pass */
    double rested;         /* seconds that its host thread has rested since that turn */
    double ran;            /* its running time, in seconds, since its first turn */
    double idle;           /* its running time, in seconds, since any cluster changed memory */
    uint64_t changes_seen; /* launch->changes at that time */
    uint64_t spins_since;  /* launch->busy_turns when it began to spin; 0: it does not spin */
    struct cluster *next;  /* the next one in the launch's queue */
};

struct launch {
    struct emu *emu;
    struct emu_kernel *kernel;
    unsigned id;
    uint64_t operation; /* as emu_shape */
    /* The kernel and the launch that have launched it; NULL: the host has. The nesting depth. */
    const struct emu_kernel *launched_by;
    unsigned launcher, depth;
    uint64_t *ended; /* as struct ended_grid (schedule.h); NULL: of a launch of the host */
    struct children *children; /* what the grid has launched; NULL: it cannot */
    struct emu_dim grid, block, cluster;
    unsigned cluster_size; /* blocks */
    bool explicit_cluster; /* the program asked for clusters, perhaps of one block */
    uint64_t cluster_count;
    double began; /* in seconds of the host's monotonic clock */
    size_t dynamic_shared, shared_bytes;
    uint8_t *params;
    emu_addr workspace;            /* in global memory, for a cooperative launch; else 0 */
    const struct emu_model *model; /* of an older generation; NULL: today's rules */
    struct stepper *stepper;       /* NULL: nothing stops it */
    bool counting;
    bool lenient; /* as emu_config */
    unsigned checks; /* bits of enum emu_check */
    struct emu_host_place host_place;
    uint64_t random;    /* the generator's state; 0: the usual order */
    bool splits_lanes;  /* random: also lanes without a branch are split */
    bool descending;    /* blocks start in the order of falling index */
    unsigned announced; /* bits of enum announced (events.h) */

    pthread_mutex_t lock;              /* of what follows */
    uint64_t next_cluster;             /* the first one that has not started */
    uint64_t resident, resident_limit; /* clusters */
    uint64_t changes;  /* turns in which a cluster changed memory, and clusters that ended */
    uint64_t new_values; /* turns in which a cluster changed a value in memory */
    uint64_t busy_turns; /* turns in which a cluster did not only spin; counted from 1 */
    uint64_t spinning;   /* clusters that have only spun since */
    uint64_t polls;    /* turns of clusters that only waited, since one did something else */
    double advanced;   /* the host's clock when the last one was seen to have ended */
    double ran;        /* seconds that clusters have run since one has ended */
    double spun;       /* seconds that clusters have run while all of them were spinning */
    double spun_since; /* the same, by the host's clock */
    uint64_t hopeless; /* the last turns, in a row, of clusters that only a cluster could help */
    bool may_suspend;  /* all of them spinning: see emu_resume() */
    atomic_bool suspended;
    struct cluster *waiting, **waiting_end;
    struct insn_counts *total; /* each host thread adds its counts when it ends */
    uint64_t longest_warp;     /* counting: warp instructions of the warp that executed most */
    atomic_int error;          /* of the first fault; blocks stop when it is set */
    char message[LAUNCH_MESSAGE];
};

/* The kind of a fault, for the checkers. */
enum fault_kind {
    FAULT_OTHER,
    FAULT_ARGUMENTS,          /* of a barrier or a warp-wide operation */
    FAULT_DIVERGENT_IN_WARP,  /* a warp-wide operation that not all lanes reach */
    FAULT_DIVERGENT_IN_BLOCK, /* a barrier that not all threads reach */
    FAULT_ENDLESS,
};
/* Ends the launch with a fault of one lane (lane < 0: the warp's first live lane). The launch keeps
 * and announces only its first fault. The source line, kernel, block and thread are added to the
 * message. (faults.c) */
void fault(struct warp *, const struct insn *, int lane, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Ends it with a fault of kind FAULT_ARGUMENTS. */
void fault_arguments(struct warp *, const struct insn *, int lane, int error, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
/* Ends it with a fault that the caller announces. True: it is the launch's first one. */
bool fault_found(struct warp *, const struct insn *, int lane, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "scan.cu:41 (PTX line 97)"; file NULL: without -lineinfo, ptx_line 0: the end of the kernel. */
void describe_source(const char *file, unsigned line, unsigned ptx_line, char *text, size_t size);
/* Describes where an instruction stands in the source. */
void describe_place(const struct emu_kernel *, const struct insn *, char *text, size_t size);

/* The number of lanes in a mask. It is nearly always 32, and counting bits is slow on a CPU without
 * the instruction for it. */
static inline unsigned lanes_in(uint32_t mask)
{
    return mask == ALL_LANES ? WARP : (unsigned)__builtin_popcount(mask);
}

/* Ends the warp's time slice. */
static inline void warp_yield(struct warp *w)
{
    w->clock -= w->fuel; /* it has not executed those */
    w->fuel = w->slice = 0;
}

/* The interpreter stops behind this instruction, and then goes on in the same time slice. */
static inline void warp_pause(struct warp *w)
{
    w->slice += w->fuel;
    w->clock -= w->fuel;
    w->fuel = 0;
}

/* The warp waits for other threads: ends its time slice. */
static inline void warp_spins(struct warp *w)
{
    warp_yield(w);
    w->spins = true;
    w->spun_at = w->clock;
}

/* Notes an access that may wait for other threads, with the value that its first lane has read. If
 * the value is the same as the last time, the warp waits. Returns whether it waits. */
static inline bool warp_polls(struct warp *w, const struct insn *i, uint64_t address,
                              uint64_t value)
{
    bool waits = w->polled == i && w->polled_address == address && w->polled_value == value;
    w->polled = i;
    w->polled_address = address;
    w->polled_value = value;
    if (waits) warp_spins(w);
    return waits;
}

/* The index of a lane's thread in its block (threadIdx). */
static inline struct emu_dim thread_of(const struct warp *w, int lane)
{
    struct emu_dim size = w->block->launch->block;
    unsigned thread = w->index * WARP + (unsigned)lane;
    return (struct emu_dim){thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

/* A lane's registers. */
static inline void *slot_at(const struct warp *warp, slot s)
{
    return warp->bank[s >> 30] + (s & SLOT_OFFSET);
}

/* ---- a frame's area: the parameters and results of calls, area_bytes bytes for each lane ----- */

/* The bytes lie as registers do: word n of all 32 lanes is row n. So a parameter of 4 or 8 bytes
 * moves as vectors. A lane's bytes are not contiguous. */

enum { AREA_WORD = 4 }; /* bytes of a lane in one row */

/* The row with a lane's bytes from `offset` on, up to the next multiple of AREA_WORD. */
static inline void *area_row(const struct frame *frame, size_t offset)
{
    return frame->area + offset / AREA_WORD * (AREA_WORD * WARP);
}

/* Moves the bytes of one lane, at any offset. */
void area_read(const struct frame *, int lane, size_t offset, void *to, size_t bytes);
void area_write(const struct frame *, int lane, size_t offset, const void *from, size_t bytes);

/* ---- calls of functions that nvcc did not inline --------------------------------------------- */

/* Lanes that make a call together share a frame: registers, and an area for parameters and results.
 * A fragment belongs to one frame; two fragments merge only if they are in the same frame. Of
 * several fragments the one with the deepest call runs first, so that lanes behind the call wait
 * for those inside of it. */

/* Lanes of a fragment enter the called function. The fragment's other lanes wait behind the
 * call. */
void frame_call(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);
/* Lanes of a fragment return behind their call. */
void frame_return(struct warp *, struct fragment *, uint32_t lanes);
/* An operand of any fragment, not only of the one that runs. */
void *frame_slot(const struct warp *, const struct fragment *, slot);
/* A warp begins in a kernel that uses alloca: its stack is empty. */
void frame_start(struct warp *);
/* Adds and removes a fragment of a frame. */
void frame_release_call(struct frame *);
static inline void frame_release(struct frame *frame)
{
    if (frame->caller) frame_release_call(frame); /* the warp owns the root frame */
}
/* Frames of calls that are over are kept for later calls of their warp; this frees them. */
void frame_free_unused(struct warp *);

/* Copies an argument, a result or a part of one. It may have any size and alignment, but is nearly
 * always one or two words. */
static inline void copy_few(void *to, const void *from, size_t bytes)
{
    if (bytes == 4)
        memcpy(to, from, 4);
    else if (bytes == 8)
        memcpy(to, from, 8);
    else
        memcpy(to, from, bytes);
}

/* ---- divergence: how the lanes of a warp split at branches, and merge again ------------------ */

/* Lanes that are at the same instruction form a fragment. A warp begins as one fragment. A branch
 * that only some lanes take splits it. The fragment with the lowest instruction runs first: nvcc
 * lays out code so that lanes that are ahead wait where the other lanes will arrive. When two
 * fragments are at the same instruction, they merge. No stack of reconvergence points is needed,
 * and a loop with several exits is no special case.
 *
 * The lowest fragment may wait for a lane of another fragment (a spin lock inside of a warp). So
 * when it has run PATIENCE instructions in a row while others could run, the fragment that has
 * waited longest gets a turn. */

enum { PATIENCE = 1 << 14 };

/* Starts a warp with one fragment at instruction 0. */
static inline void fragment_start(struct warp *w, uint32_t lanes)
{
    w->live = lanes;
    w->exited = 0;
    w->fragment_count = 1;
    w->fragments[0] = (struct fragment){.frame = &w->root, .mask = lanes, .state = FRAGMENT_READY};
    w->turns = 0;
    w->fair = w->may_wait = false;
}
/* Under a limit on instructions, each unit of a copy, or of what malloc() gives, counts as one, and
 * an empty copy does, too: they take as much of the emulator's time. Ends the warp's slice when it
 * is used up. (bulk.c) */
void charge_bytes(struct warp *, uint64_t bytes);
/* Merges fragments, and chooses the next one to run; NULL: none is ready. *limit: the instruction
 * at which it would reach another fragment. *others: another fragment is ready, too. */
struct fragment *fragment_choose(struct warp *, uint32_t *limit, bool *others);
static inline struct fragment *fragment_next(struct warp *w, uint32_t *limit, bool *others)
{
    bool is_alone = w->fragment_count == 1 && w->fragments[0].state == FRAGMENT_READY;
    if (!is_alone) return fragment_choose(w, limit, others);
    w->fair = *others = false;
    *limit = UINT32_MAX;
    return &w->fragments[0];
}
/* Splits `lanes` off a fragment. Returns the new fragment, which is at instruction `pc`. Pointers
 * to fragments stay valid. */
struct fragment *fragment_split(struct warp *, struct fragment *, uint32_t lanes, uint32_t pc);
static inline void fragment_remove(struct warp *w, struct fragment *f)
{
    struct fragment *last = &w->fragments[--w->fragment_count];
    frame_release(f->frame);
    if (f != last) *f = *last;
}

/* ---- the waits of warp-wide instructions (shuffles, votes, __syncwarp) ----------------------- */

/* A lane waits until every lane of its member mask has come to an instruction with the same
 * qualifiers and the same mask. */

/* The lanes of a fragment that execute its instruction; and those of them whose member masks are
 * complete: all live lanes of the mask are in the fragment. */
uint32_t member_mask_active(const struct warp *, const struct fragment *);
uint32_t member_mask_complete(const struct warp *, const struct fragment *, uint32_t active);

/* Carries out the instruction for `lanes`, whose masks are complete, and moves them on. The
 * fragment's other lanes wait. */
void member_mask_run(struct warp *, struct fragment *, const struct insn *, uint32_t lanes);

/* The member mask of a lane of a waiting fragment. */
uint32_t member_mask_of(const struct warp *, const struct fragment *, int lane);

/* ---- a reproducible random schedule (emu --schedule SEED) ------------------------------------ */

/* A GPU promises no order among blocks, among the warps of a block, or among the lanes of a warp.
 * Yet a GPU nearly always takes the same order, and so does the emulator: a race may show once a
 * week. With a seed, the order of turns and their lengths are random: of resident blocks, of warps,
 * and of fragments. Lanes also split without a branch, as they may since Volta. One host thread
 * runs all blocks, so a seed always gives the same schedule.
 *
 * Blocks still start in the order of their index, because programs that wait for an earlier block
 * (chained scans) rely on it: see emu --blocks descending. Under synccheck, which looks at the
 * lanes that come to a barrier together, lanes do not split without a branch. All threads see a
 * store at once. A missing fence, which matters only for a GPU's memory order, gives no wrong
 * result here; racecheck finds it. */

/* A number whose bits all depend on those of another one. */
uint64_t random_mixed(uint64_t);
/* Starts the generator of a launch. launch->random is then not 0, and the schedule is random. */
void random_begin(struct launch *, uint64_t seed);
/* A random number below n. */
unsigned random_below(struct launch *, unsigned n);
/* The numbers 0 to n - 1 in random order; n is at most 256. */
void random_order(struct launch *, uint8_t *order, unsigned n);
/* The length of a warp's turn in instructions; 0: it has no turn now. */
uint64_t random_slice(struct launch *);
/* Splits some lanes off a fragment, or none. */
void random_split(struct warp *, struct fragment *);

/* ---- where the bytes of a warp's local memories are in host memory --------------------------- */

/* As on a GPU, word n of the 32 lanes lies side by side: an access of all lanes to one variable is
 * a row of words. So a lane's bytes are contiguous only inside of a word. */

enum {
    LOCAL_WORD = 4,                /* bytes */
    LOCAL_ROW = LOCAL_WORD * WARP, /* from one word of a lane to its next one */
};

/* The host bytes of a warp's local memories. */
static inline size_t local_warp_bytes(const struct emu_kernel *kernel)
{
    return (kernel->stack_bytes + LOCAL_WORD - 1) / LOCAL_WORD * LOCAL_ROW;
}

/* The place of a lane's byte, from w->local on. */
static inline uint64_t local_place(uint64_t offset, int lane)
{
    return offset / LOCAL_WORD * LOCAL_ROW + (unsigned)lane * LOCAL_WORD + offset % LOCAL_WORD;
}

static inline uint8_t *local_byte(const struct warp *w, uint64_t offset, int lane)
{
    return w->local + local_place(offset, lane);
}

/* ---- one warp's access to memory ------------------------------------------------------------- */

/* One warp's access to memory, and the door that every access passes (ops_door.c).
 *
 * The functions here are for operations other than plain loads and stores. They are those of one
 * instruction set that is compiled (operations.c). */

enum operation { OPERATION_LOAD, OPERATION_STORE, OPERATION_ATOMIC };

/* The agent that makes an access. */
enum agent {
    BY_THREAD,
    BY_COPY,    /* a cp.async of the thread */
    BY_BULK,    /* a cp.async.bulk that the thread waits for by groups */
    BY_BARRIER, /* a cp.async.bulk that arrives at the mbarrier of that number */
};

/* Identifies a copy for observers of the order of accesses. */
struct copy_mark {
    uint32_t when;   /* the time when it began */
    uint16_t number; /* of its mbarrier */
};

/* The values that lanes store: lane l's bytes are at first + l * stride. */
struct stored_values {
    const char *first;
    unsigned stride;
};

struct access {
    uint64_t address[WARP]; /* of the lanes in `mask`; other lanes repeat one of these */
    uint32_t mask;
    unsigned bytes;       /* per lane */
    unsigned checked;     /* of these, how many must be inside of memory */
    enum ptx_space space; /* the instruction's; never generic once the door is passed */
    enum operation operation;
    enum agent agent;
    struct copy_mark copy; /* of a copy, with ANNOUNCE_ORDER */
    /* Of a store by tensor cores; NULL: of other stores, which have the values in the registers of
     * the instruction, or if they are unknown. */
    struct stored_values stored;
    /* Set by the door: */
    struct block *owner; /* the block that owns the shared memory; for other spaces, the warp's */
    uint64_t host;       /* a lane's bytes are at host + address */
    uint32_t outside;    /* of the mask: lanes outside of all memory (device.h) */
};

static inline bool access_reads(const struct access *a) { return a->operation != OPERATION_STORE; }
static inline bool access_writes(const struct access *a) { return a->operation != OPERATION_LOAD; }

/* Makes an access by threads. The caller fills in the addresses, and the mask if the access is
 * split over several places. */
static inline void access_make(struct access *a, enum operation operation, enum ptx_space space,
                               uint32_t mask, unsigned bytes)
{
    a->mask = mask;
    a->bytes = a->checked = bytes;
    a->space = space;
    a->operation = operation;
    a->agent = BY_THREAD;
    a->copy = (struct copy_mark){0};
    a->stored = (struct stored_values){0};
    a->owner = NULL;
    a->host = 0;
    a->outside = 0;
}

/* The usual access of threads is a run: lane l's address is first + l * stride. */
struct access_run {
    uint64_t first;  /* of lane 0, even if it is not in the mask */
    unsigned stride; /* 0: all lanes go to one place; otherwise it is `bytes` */
    unsigned bytes;  /* a lane */
    uint32_t mask;
    enum ptx_space space; /* behind the door, never generic; shared memory is the block's own */
    enum operation operation;
    uint64_t host; /* a lane's bytes are at host + address */
};

/* Checks an access and translates its addresses, for the lanes that access the same place as the
 * first lane: access->mask afterwards. Returns this mask, or 0 after a fault. */
uint32_t access_door_any(struct warp *, const struct insn *, struct access *);

/* Combines the element at `at` with an operand like an atomic operation with the instruction's
 * function and type. True: the element has changed. */
bool access_combine_any(const struct insn *, void *at, const void *operand);

/* A lane's value of an address operand. */
static inline uint64_t address_of(const struct warp *w, const struct address *a, int lane)
{
    if (a->bytes == 8) return ((const uint64_t *)slot_at(w, a->base))[lane] + (uint64_t)a->offset;
    return ((const uint32_t *)slot_at(w, a->base))[lane] + (uint32_t)a->offset;
}

/* ---- addresses of shared memory -------------------------------------------------------------- */

/* Addresses of shared memory: the block's own, and those of other blocks in its cluster
 * (PTX ISA, ".shared::cta", ".shared::cluster").
 *
 * An address has 32 bits, as on a GPU: the rank of a block in the highest 8, and an offset in the
 * others. A variable's address contains the rank of its own block, so it means the same in the
 * whole cluster. Without clusters every rank is 0. */

enum { RANK_SHIFT = 24 };
static inline uint64_t shared_window(unsigned rank) { return (uint64_t)rank << RANK_SHIFT; }
static inline uint64_t shared_offset(uint64_t address) { return address & (shared_window(1) - 1); }

/* Reduces an access to the lanes that access the same block as the first lane, and replaces their
 * addresses by offsets. `own`: .shared::cta, which reaches no other block. Returns the block; NULL
 * after a fault. */
struct block *shared_enter(struct warp *, const struct insn *, struct access *, bool own);

/* A place in shared memory that is not accessed by a load or store. */
struct shared_place {
    struct block *owner;
    uint32_t offset;
};
/* Finds the place of `bytes` bytes at an address of .shared::cta, .shared::cluster or generic
 * space. False after a fault: the address is outside of the memory, or not aligned. */
bool shared_find(struct warp *, const struct insn *, int lane, enum ptx_space, uint64_t address,
                 uint64_t bytes, unsigned alignment, struct shared_place *);

#endif
