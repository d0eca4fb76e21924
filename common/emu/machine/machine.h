/*
 * machine.h — the structures of the emulated GPU while it runs a launch: warps, blocks, clusters.
 * The code that it runs is in ptx/kernel.h. The machine knows no counters, checkers or traces:
 * it announces events (events.h).
 *
 * From the outside in:
 *
 *   struct emu      a device           device.c       memory, modules, settings
 *   struct launch   a running grid     scheduler.c  host threads run its clusters
 *   struct cluster  one or more blocks cluster.c    that run at the same time
 *   struct block    a thread block     block.c      shared memory, barriers, warps
 *   struct warp     32 lanes           exec.c       registers, fragments (fragment.c)
 *
 * A function that nvcc did not inline has its own registers for each call: a frame (warp.c).
 * The kernel's own registers are the root frame's.
 */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "common/emu/ptx/kernel.h"
#include <pthread.h>
#include <stdatomic.h>

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
    uint64_t moved, needed;            /* global, by an older GPU's rules: see models.h */
    uint64_t divergent, replays;       /* constant */
};

/* ---- running --------------------------------------------------------------------------------- */

enum fragment_state {
    FRAGMENT_READY,
    FRAGMENT_AT_BARRIER,
    FRAGMENT_WAITING_FOR_PHASE, /* of an mbarrier or barrier.cluster (phase_wait.h) */
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
    bool is_heap; /* the heap of malloc in kernels (heap.h) */
    bool is_hidden; /* freed: only its addresses are kept, see emu_hide() */
    bool is_exported, is_imported; /* other processes see it; it is another process's (ipc.c) */
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
    uint8_t *local;      /* the lanes' local memories (local.h) */
    uint8_t *own_shared; /* its block's shared memory, for runs, which do not pass the door */
    size_t own_shared_bytes;    /* 0 in a cluster of several blocks: there all accesses pass it */
    bool observed;              /* its accesses are counted or announced */
    struct insn_counts *counts; /* the host thread's, by instruction; NULL: not counting */
    uint64_t clock;             /* instructions granted so far; minus fuel, its %clock */
    uint64_t earlier;           /* its %clock beyond that: see clocks.h */
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
    _Alignas(16) uint64_t nowhere[4]; /* where stores outside of memory go (stray.h) */
    struct barrier barriers[MAX_BARRIERS];
    bool used_barriers;      /* barriers[] are not all zero, or were not */
    unsigned epoch;          /* barriers passed */
    uint8_t *memory;         /* shared memory, registers and local memory in one allocation; */
    size_t memory_bytes;     /* the bytes in use, from `shared` on */
    /* What its threads have called of the CUDA runtime (schedule.h); NULL: nothing yet */
    struct thread_runtime *runtime;
    struct race_block *racecheck; /* the checkers' state of it; NULL: off */
    struct init_block *initcheck;
};

enum {
    LAUNCH_MESSAGE = 4096,
    WORKSPACE_BYTES = 8, /* of a cooperative launch: see make_workspace() in launch.c */
};

/* Where a cluster waited for an mbarrier when no thread of it could go on. */
struct cluster_wait {
    struct warp *warp; /* NULL: it did not */
    const struct insn *insn;
    int lane;
    uint32_t offset; /* of the mbarrier */
};

/* Detects whether a cluster repeats the same states (repeat.h). */
struct repeat {
    uint64_t digest;      /* of an earlier state; 0: no state is kept */
    unsigned turns, most; /* turns since then; the number after which a newer state is kept */
    unsigned left;        /* turns for which the cluster is known to repeat */
    unsigned pause;       /* turns until the next digest */
    uint64_t new_values;  /* launch->new_values in its last turn */
    unsigned skipped;     /* turns of polling; most of them are without a digest */
    bool is_known;        /* what repeats() has said last */
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
    bool counting;
    bool lenient; /* as emu_config */
    unsigned checks; /* bits of enum emu_check */
    struct emu_host_place host_place;
    uint64_t random;    /* state of random_schedule.h's generator; 0: the usual order */
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
 * message. (fault.c) */
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

#endif
