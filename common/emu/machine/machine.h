/*
 * machine.h — the machine that the emulator is: warps, blocks, a launch. What it runs is in
 * decode/kernel.h.
 *
 * Where things are, from the outside in:
 *
 *   struct emu      a device           device.c   memory, modules, records of launches
 *   struct launch   a running grid     scheduler.c    host threads take its clusters
 *   struct cluster  one or more blocks cluster.c  that run at the same time
 *   struct block    a thread block     block.c    shared memory, barriers, warps
 *   struct warp     32 lanes           exec.c     registers, fragments (fragment.c)
 *
 * Functions that nvcc did not inline have registers of their own for each call: a frame (frame.c).
 * The kernel's own registers are the root frame's.
 */
#ifndef EMU_MACHINE_H
#define EMU_MACHINE_H

#include "common/emu/decode/kernel.h"
#include <pthread.h>
#include <stdatomic.h>

enum {
    MAX_WARPS = 32,    /* of a block */
    MAX_BARRIERS = 16, /* named barriers of a block (PTX ISA, bar) */
    MAX_CLUSTER = 16,  /* blocks */
};

struct race_block;
struct init_block;

/* ---- counting ------------------------------------------------------------------------------ */

/* What one instruction of the kernel has counted, in one host thread. */
struct insn_counts {
    uint64_t executed, lanes;
    uint64_t wavefronts, ideal; /* shared */
    uint64_t shared_requests;
    uint64_t requests, sectors, bytes; /* global */
    uint64_t moved, needed;            /* global, by another model's rules: see models.h */
};

/* ---- running ------------------------------------------------------------------------------- */

enum fragment_state {
    FRAGMENT_READY,
    FRAGMENT_AT_BARRIER,
    FRAGMENT_WAITING_FOR_PHASE, /* of an mbarrier or barrier.cluster (phase_wait.h) */
    FRAGMENT_WAITING_FOR_LANES, /* of its member mask, at a warp-wide instruction */
};

/* The registers of one call, shared by the lanes that made it together. */
struct frame {
    struct frame *caller; /* NULL: the kernel itself */
    const struct callee *callee;
    const struct insn *site; /* the call */
    uint32_t return_pc;
    unsigned depth, references; /* fragments in it and frames called from it */
    uint8_t *registers, *area;
    size_t area_bytes; /* a lane */
    size_t local_end;  /* of the local memory that this frame and its callers use */
};

/* Lanes of a warp that are at the same instruction of the same call. */
struct fragment {
    struct frame *frame;
    uint32_t pc, mask;
    enum fragment_state state;
    unsigned barrier;
    uint64_t turn; /* when it last ran, for fairness */
};

/* A stretch of addresses that kernels may touch. host = address + delta is where its bytes are. */
struct range {
    uint64_t base, bytes;
    int64_t delta;
    bool is_heap; /* of malloc in kernels (heap.h) */
};

struct warp {
    uint8_t *bank[BANK_COUNT]; /* see slot; the registers are those of `frame` */
    struct frame *frame;       /* of the fragment that runs */
    struct frame root;
    uint32_t live;    /* lanes that have not exited */
    uint32_t carry;   /* the condition code's carry flag, a bit a lane */
    uint32_t current; /* the fragment's mask while an instruction runs */
    unsigned index;   /* in its block */
    unsigned fragment_count;
    struct fragment fragments[WARP];
    uint64_t turns;
    uint32_t
        cluster_arrived;   /* lanes that have arrived at a barrier.cluster that is not complete */
    uint32_t cluster_owes; /* lanes that have arrived and not yet waited */
    uint32_t exited;       /* lanes that existed and have exited */
    struct block *block;
    uint8_t *local; /* stack_bytes a lane, lane after lane */
    struct insn_counts
        *counts;       /* of the host thread that runs it, by instruction; NULL: not counting */
    uint64_t clock;    /* instructions that it has been given to run: with fuel, its %clock */
    uint64_t fuel;     /* instructions until the loop stops and looks around; 0 stops it at once */
    uint64_t slice;    /* instructions left in this time slice, beyond fuel */
    bool fair;         /* the next fragment is the one that has waited longest, not the lowest */
    struct range near; /* of global memory, where the last access was */
    /* The last access of a kind that waits for others: a load that orders memory, or an atomic that
     * changed nothing. Of its first lane: where it was, and what it read. */
    const struct insn *polled;
    uint64_t polled_address, polled_value;
    bool spins;       /* it has lately read there what it had read before, or slept */
    uint64_t spun_at; /* its clock at that time */
    const struct insn
        *stored; /* the last store that was looked at, and the place of its first lane */
    uint64_t stored_address;
};

struct barrier {
    unsigned arrived, expected; /* threads; expected 0: nobody waits */
    unsigned asked;             /* threads that those which wait have named; may exceed the block */
    unsigned true_count;        /* of bar.red: threads whose predicate is true */
};

struct block {
    struct launch *launch;
    uint64_t index; /* in the grid, x fastest */
    struct emu_dim id;
    unsigned threads, warp_count;
    bool is_new; /* its memory has served no block yet */
    /* What it has done in this turn of its cluster. */
    bool changed; /* memory, in the last rounds; a store of what was there changes nothing */
    bool changed_earlier; /* the same, in rounds before those */
    bool wrote;           /* memory, in more than one place, though it may not have changed it */
    bool passed;          /* a barrier, or an arrival at one: that alone is no change of memory */
    bool busy;            /* a warp ran to the end of its slice and did not spin */
    bool quiet;           /* its warps have passed many barriers and changed nothing between */
    bool looked_at_time;  /* %globaltimer: what it waits for may come by itself */
    unsigned rounds;      /* in which each of its warps ran once */
    bool ended;           /* every thread has exited */
    struct async *async;  /* copies that have not been carried out yet; NULL: never any */
    struct cluster *cluster;
    unsigned rank; /* in its cluster */
    struct warp *warps;
    uint8_t *shared;
    size_t shared_bytes;
    size_t reserved_offset; /* from here on it is the system's: for cooperative groups */
    struct barrier barriers[MAX_BARRIERS];
    unsigned epoch;          /* barriers passed */
    uint8_t *memory;         /* shared memory, registers and local memory: one allocation, */
    size_t memory_bytes;     /* those in use, from `shared` on */
    struct race_block *racecheck; /* what racecheck and initcheck keep of it; NULL: they are off */
    struct init_block *initcheck;
};

enum {
    LAUNCH_MESSAGE = 4096,
    WORKSPACE_BYTES = 8, /* of a cooperative launch: the size of its grid, and a count */
};

/* Where a cluster waited for an mbarrier when nothing else could run. */
struct cluster_wait {
    struct warp *warp; /* NULL: nowhere */
    const struct insn *insn;
    int lane;
    uint32_t offset; /* of the mbarrier */
};

/* Finds out whether a cluster does the same again and again (repeat.h). */
struct repeat {
    uint64_t digest;      /* of an earlier state; 0: of none */
    unsigned turns, most; /* since then, and after how many a newer state takes its place */
    unsigned left;        /* turns for which it is known to repeat */
};

/* Blocks that start together and are run by one host thread; most often only one. */
struct cluster {
    struct launch *launch;
    unsigned size, ended;
    struct block *blocks[MAX_CLUSTER]; /* by rank */
    bool parity;                       /* of its barrier.cluster's phase */
    unsigned timeouts;                 /* in a row, of waits, while nothing changed */
    struct cluster_wait waits_for;
    struct repeat repeat;
    double idle;           /* seconds that it has run since a cluster last changed memory */
    uint64_t changes_seen; /* launch->changes at that time */
    uint64_t spins_since;  /* launch->unrest when it was counted as spinning; 0: it is not */
    struct cluster *next;  /* in the launch's queue of those that wait */
};

struct launch {
    struct emu *emu;
    struct emu_kernel *kernel;
    unsigned id;
    struct emu_dim grid, block, cluster;
    unsigned cluster_size; /* blocks */
    bool explicit_cluster; /* the program asked for clusters, be it of one block */
    uint64_t cluster_count;
    double began; /* on the host's clock, seconds */
    size_t dynamic_shared, shared_bytes;
    uint8_t *params;
    emu_addr workspace;            /* of a cooperative launch: in global memory; else 0 */
    const struct emu_model *model; /* of another generation; NULL: today's rules */
    bool counting, allow_exited;
    unsigned checks; /* bits of enum emu_check */
    struct emu_host_place host_place;
    uint64_t random;  /* random_schedule.h: the generator's state; 0: turns are not by chance */
    bool splits_lanes; /* nor only lanes that a branch parts */
    bool descending;  /* blocks begin with the last index */
    unsigned announced; /* bits of enum announced (events.h) */

    pthread_mutex_t lock;              /* of what follows */
    uint64_t next_cluster;             /* the first that has not started */
    uint64_t resident, resident_limit; /* clusters */
    uint64_t changes;  /* turns in which a cluster has changed memory, and clusters that ended */
    uint64_t unrest;   /* turns in which a cluster did anything but spin; from 1 on */
    uint64_t spinning; /* clusters that have done nothing else since */
    double spun;       /* seconds that clusters have run while every one of them was spinning */
    double spun_until; /* on the host's clock: until then that is no deadlock */
    struct cluster *waiting, **waiting_end;
    struct insn_counts *total; /* summed by each host thread when it ends */
    atomic_int error;          /* the first fault; blocks stop when they see it */
    char message[LAUNCH_MESSAGE];
};

/* What a fault is, beyond its sentence. */
enum fault_kind {
    FAULT_OTHER,
    FAULT_ARGUMENTS,          /* of a barrier or a warp-wide operation */
    FAULT_DIVERGENT_IN_WARP,  /* a warp-wide operation that not all lanes reach, */
    FAULT_DIVERGENT_IN_BLOCK, /* a barrier that not all threads reach */
    FAULT_ENDLESS,
};
/* Reports a fault of one lane (lane < 0: of the warp's first live lane). Only the launch's first is
 * kept, and announced. The instruction's place, kernel, block and thread are added. (fault.c) */
void fault(struct warp *, const struct insn *, int lane, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same, of the arguments of a barrier or a warp-wide operation. */
void fault_arguments(struct warp *, const struct insn *, int lane, int error, const char *format,
                     ...) __attribute__((format(printf, 5, 6)));
/* The same, which the caller announces or has announced. True: this is the fault that is kept. */
bool fault_found(struct warp *, const struct insn *, int lane, int error, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* "scan.cu:41 (PTX line 97)" */
void describe_place(const struct emu_kernel *, const struct insn *, char *text, size_t size);

/* Nearly always it is all of them, and a CPU of which nothing is known counts bits slowly. */
static inline unsigned lanes_in(uint32_t mask)
{
    return mask == ALL_LANES ? WARP : (unsigned)__builtin_popcount(mask);
}

/* The warp waits for others: ends its slice. */
static inline void warp_spins(struct warp *w)
{
    w->fuel = w->slice = 0;
    w->spins = true;
    w->spun_at = w->clock;
}

/* An access that may wait for others, by what its first lane has read. If that is what it read the
 * last time, it does wait. Returns whether it does. */
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

/* A lane's place in its block. */
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
