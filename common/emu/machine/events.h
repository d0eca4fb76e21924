/*
 * events.h — what the machine announces: functions that it calls where something happens.
 *
 * The machine declares these functions and does not define them. The counters (count/), the
 * checkers (check/) and fidelity/ each define those that they alone want. events/ defines the
 * others and hands them on. What happens often is announced only if the launch has a bit of enum
 * announced set.
 *
 * Addresses are those behind the door (access.h): of global memory, or offsets in shared memory.
 */
#ifndef EMU_EVENTS_H
#define EMU_EVENTS_H

#include "access.h"

struct emu_module;
struct shared_place; /* shared.h */

/* What is wanted of a launch; event_launch_begin sets launch->announced. */
enum announced {
    ANNOUNCE_ACCESSES = 1,  /* each access to shared and global memory */
    ANNOUNCE_ORDER = 2,     /* what puts accesses in order: barriers, fences, waits for copies */
    ANNOUNCE_ARGUMENTS = 4, /* what threads come to barriers and warp-wide operations with */
};

static inline bool announces(const struct block *block, enum announced what)
{
    return block->launch->announced & what;
}

/* ---- a device, its memory and its modules -------------------------------------------------- */

/* A device opens; emu->checks is set. May set emu->threads to 1. False: out of memory. */
bool event_device_open(struct emu *, const struct emu_config *);
/* It is closed. Called after event_device_open has failed, too. */
void event_device_close(struct emu *);

/* The program allocates and frees memory. */
void event_alloc(struct emu *, uint64_t address, uint64_t bytes);
void event_free(struct emu *, uint64_t address, uint64_t bytes);
/* Memory holds no values any more: a kernel's malloc or a pool gives it out. */
void event_renew(struct emu *, uint64_t address, uint64_t bytes);
/* Memory is freed that the program did not allocate: of a kernel's malloc, or of a module's
 * variable. */
void event_drop(struct emu *, uint64_t address, uint64_t bytes);
/* The host writes, reads and copies. */
void event_host_write(struct emu *, uint64_t address, uint64_t bytes);
void event_host_read(struct emu *, uint64_t address, const struct emu_rows *);
void event_host_copy(struct emu *to, uint64_t to_address, struct emu *from, uint64_t from_address,
                     uint64_t bytes);

/* A module is unloaded. (fidelity/) */
void event_module_close(struct emu_module *);

/* ---- a launch and its blocks --------------------------------------------------------------- */

/* False: out of memory. The end comes in any case, when launch->error is known; `seconds`: how long
 * it ran. */
bool event_launch_begin(struct launch *);
void event_launch_end(struct launch *, double seconds);
/* Memory for a block, which serves one after another; false: out of memory. */
bool event_block_new(struct block *);
void event_block_free(struct block *);
void event_block_begin(struct block *);
/* With ANNOUNCE_ORDER: every thread has exited. */
void event_block_end(struct block *);

/* ---- accesses ------------------------------------------------------------------------------ */

/* With w->counts or ANNOUNCE_ACCESSES: one warp's access to shared or global memory, behind the
 * door and before it is carried out. */
void event_access(struct warp *, const struct insn *, const struct access *);
/* With w->counts, a cp.async as one instruction: its loads from global memory, and its stores to
 * shared memory, whatever block that is of. No lane need load. (count/) */
void event_copy_issued(struct warp *, const struct insn *, const struct access *from,
                       const struct access *to);

/* An access that is wrong, and ends the launch; addresses are as for access_error.h. */
enum wrong_access {
    ACCESS_MISALIGNED,
    ACCESS_OUTSIDE_GLOBAL,
    ACCESS_OUTSIDE,    /* of another space's `size` bytes, which are those `of_what` */
    ACCESS_NOT_ALLOWED /* it cannot be written, or has no atomics */
};
struct bad_access {
    const struct access *access;
    enum wrong_access wrong;
    uint32_t lanes; /* that are wrong: at least one */
    uint64_t size;
    const char *of_what; /* "of shared memory a block" */
};
void event_bad_access(struct warp *, const struct insn *, const struct bad_access *);

/* ---- what puts accesses in order: only with ANNOUNCE_ORDER (check/race*.c) ------------------- */

/* What fences are for: how far releases and atomics reach, the block or everybody; and that bulk
 * copies see what threads have stored (fence.proxy.async). OBSERVED is none: of what a thread has
 * heard by volatile and relaxed accesses, fenced or not. */
enum fence { SCOPE_BLOCK, SCOPE_DEVICE, FOR_COPIES, OBSERVED, FENCES };
void event_fence(struct warp *, uint32_t lanes, enum fence);
/* These lanes have met at a bar.warp.sync, or at a match.sync. */
void event_warp_sync(struct warp *, uint32_t lanes);
void event_match(struct warp *, uint32_t lanes);
/* bar.arrive, and bar.sync when the last has come and those that wait have not gone on yet. */
void event_barrier_arrive(struct warp *, uint32_t lanes, unsigned number);
void event_barrier_release(struct block *, unsigned number);
/* The barrier of a cluster, known by a word that is no address: lanes arrive (what they have done
 * until now, or if it does not `release` what they had fenced, is known to those that wait), and
 * have waited. */
void event_cluster_arrive(struct warp *, uint32_t lanes, uint64_t word, bool releases);
void event_cluster_wait(struct warp *, uint32_t lanes, uint64_t word);
/* A lane uses shared memory, at an offset, of a block that has ended. */
void event_use_after_end(struct warp *, const struct insn *, int lane, const struct block *owner,
                         uint64_t offset);

/* A lane makes or unmakes an mbarrier (a store), has waited for it (a load) or does something else
 * with it (an atomic). */
void event_mbarrier_use(struct warp *, const struct insn *, int lane, const struct shared_place *,
                        enum operation);
void event_mbarrier_init(const struct shared_place *);
/* Lanes arrive: what they have done until now, or had fenced if the arrival releases nothing, … */
void event_mbarrier_arrive(struct warp *, uint32_t lanes, const struct shared_place *,
                           bool releases);
/* … is known when the phase is over … */
void event_mbarrier_over(const struct shared_place *);
/* … to lanes that have waited for it, by its parity or by what an arrival returned. */
void event_mbarrier_wait(struct warp *, uint32_t lanes, const struct shared_place *,
                         bool by_parity);

/* Copies begin, which arrive at an mbarrier or (NULL) at none. Returns what their accesses are to
 * have as access->copy, and the machine keeps with them. */
struct copy_mark event_copy_begin(struct warp *, const struct shared_place *mbarrier);
/* They have begun: all of their accesses were announced. */
void event_copy_end(struct warp *);
/* A lane has waited until its copies up to one are over, or have been read. */
enum copies { COPIES, BULK_READS, BULK_COPIES };
void event_copy_wait(struct warp *, int lane, enum copies, uint32_t until);
/* A copy arrives at an mbarrier: one that BY_BARRIER is known by, or a lane's up to `when`. */
void event_copy_arrive(struct warp *, int lane, enum agent, struct copy_mark,
                       const struct shared_place *);

/* ---- arguments: only with ANNOUNCE_ARGUMENTS (check/sync_check.c) ---------------------------- */

/* A fragment comes to a barrier, for `threads` threads if not 0. */
void event_barrier_arguments(struct warp *, const struct fragment *, const struct insn *,
                             unsigned number, unsigned threads);
/* Lanes come to a warp-wide operation: their member masks. */
void event_member_masks(struct warp *, const struct insn *, uint32_t lanes);
/* A lane takes a value from one that does not take part in the shuffle. */
void event_shuffle_outside(struct warp *, int lane, int from);

/* ---- faults (check/fault_finding.c) -------------------------------------------------------- */

/* The first fault of a launch, whichever thread made it; but for those of accesses. */
struct fault_event {
    struct warp *warp; /* NULL: between two blocks */
    const struct insn *insn;
    int lane, error;
    enum fault_kind kind;
    const char *what, *picture; /* a sentence; of deadlock_picture.h, "": none */
};
void event_fault(struct launch *, const struct fault_event *);

#endif
