/* events.h — the events that the machine announces: functions that it calls when something happens.
 *
 * The machine declares these functions and does not define them: watch/ does. An event that
 * several observers use is passed on by watch/events.c. Frequent events are announced only if the
 * launch has the bit of enum announced for them.
 *
 * Addresses are as access_door_any() leaves them (machine.h): global addresses, or offsets in
 * shared memory. */
#ifndef EMU_EVENTS_H
#define EMU_EVENTS_H

#include "machine.h"

struct emu_module;
struct shared_place; /* machine.h */
struct child;        /* schedule.h */
struct ended_grid;

/* The groups of events that a launch announces. event_launch_begin sets launch->announced. */
enum announced {
    ANNOUNCE_ACCESSES = 1,  /* each access to shared and global memory */
    ANNOUNCE_ORDER = 2,     /* what puts accesses in order: barriers, fences, waits for copies */
    ANNOUNCE_ARGUMENTS = 4, /* arguments of barriers and of warp-wide operations */
    ANNOUNCE_TURNS = 8,     /* when a warp runs */
};

static inline bool announces(const struct block *block, enum announced what)
{
    return block->launch->announced & what;
}

/* What has been found, where; of a race also the other thread, and the word: in the shared memory
 * of a block, by its index, or in global memory. */
struct found {
    const char *text;
    struct emu_dim block, thread, other_block, other_thread;
    bool has_other, is_shared;
    uint64_t address, owner;
};

/* A debugger (debug/), to which watch/ hands on events. An access is announced before it is carried
 * out, if the debugger has added ANNOUNCE_ACCESSES to launch->announced. */
struct debugger {
    void (*launch_begin)(struct launch *);
    void (*launch_end)(struct launch *);
    void (*step)(struct warp *, const struct fragment *);
    void (*access)(struct warp *, const struct insn *, const struct access *);
    void (*finding)(const struct launch *, const struct found *); /* the first one of its kind */
};

/* ---- a device, its memory and its modules ---------------------------------------------------- */

/* A device opens, with emu->checks set, and closes. The function may set emu->threads to 1. */
void event_device_open(struct emu *, const struct emu_config *);
void event_device_close(struct emu *);

/* The program allocates and frees memory. */
void event_alloc(struct emu *, uint64_t address, uint64_t bytes);
void event_free(struct emu *, uint64_t address, uint64_t bytes);
/* A kernel's malloc or a memory pool gives out this memory again: it holds no values. */
void event_renew(struct emu *, uint64_t address, uint64_t bytes);
/* Memory is freed that the program did not allocate: of a kernel's malloc, or a module's
 * variable. */
void event_drop(struct emu *, uint64_t address, uint64_t bytes);
/* The host writes, reads and copies. `reader`: a library's function; NULL: a copy reads. */
void event_host_write(struct emu *, uint64_t address, uint64_t bytes);
void event_host_read(struct emu *, uint64_t address, const struct emu_rows *, const char *reader);
void event_host_copy(struct emu *to, uint64_t to_address, struct emu *from, uint64_t from_address,
                     uint64_t bytes);

/* A module is unloaded. (watch/) */
void event_module_close(struct emu_module *);

/* ---- a launch and its blocks ----------------------------------------------------------------- */

/* A launch begins, and ends after `seconds`, with launch->error set. */
void event_launch_begin(struct launch *);
void event_launch_end(struct launch *, double seconds);
/* Memory for blocks is allocated, which serves one block after another. */
void event_block_new(struct block *);
void event_block_free(struct block *);
void event_block_begin(struct block *);
/* With ANNOUNCE_ORDER: every thread of a block has exited. */
void event_block_end(struct block *);

/* ---- launches in kernels (watch/race_children.c) --------------------------------------------- */

/* With ANNOUNCE_ORDER: a lane has put work into a stream. */
void event_child(struct warp *, int lane, struct child *);
void event_child_free(struct child *);
/* A grid has ended that has put work into streams: it is carried out now, and is over then, or has
 * been dropped. */
void event_children_begin(const struct launch *, struct ended_grid *);
void event_children_end(struct emu *, struct ended_grid *);
/* Work begins. Returns its number in emu_config.stream_ops; 0: it has none. */
uint64_t event_child_begin(struct emu *, const struct ended_grid *, const struct child *);

/* With ANNOUNCE_ORDER: a lane sets the condition of a graph's node. (watch/race_children.c) */
void event_condition(struct warp *, const struct insn *, int lane, uint64_t handle, unsigned value);

/* A lane's call of the CUDA runtime returns an error. (watch/memcheck.c) */
void event_runtime_error(struct warp *, const struct insn *, int lane, int error);
/* A call in main returns an error (emu_run_main). */
void event_host_error(struct warp *, const struct insn *, int lane, const char *title);

/* ---- turns ----------------------------------------------------------------------------------- */

/* With ANNOUNCE_TURNS: a warp begins to run, has chosen the lanes that run next, and stops. */
void event_turn(struct warp *);
void event_turn_lanes(struct warp *);
void event_turn_end(struct warp *);

/* With launch->stepper: a warp is about to execute the instruction at f->pc for a fragment, and the
 * stepper has no instructions left, or has marked this one. The function sets its `left`. */
void event_step(struct warp *, const struct fragment *);

/* ---- accesses -------------------------------------------------------------------------------- */

/* With w->counts or ANNOUNCE_ACCESSES: one warp's access to shared or global memory, checked and
 * not yet carried out. */
void event_access(struct warp *, const struct insn *, const struct access *);
/* With w->counts or ANNOUNCE_ACCESSES: a run of a load or store. */
void event_access_run(struct warp *, const struct insn *, const struct access_run *);
/* With w->counts or ANNOUNCE_ACCESSES: the same for constant memory. */
void event_constant_access(struct warp *, const struct insn *, const struct access *);
/* With w->counts: the same for local memory, with offsets in each lane's own. (watch/) */
void event_private_access(struct warp *, const struct insn *, const struct access *);
/* With w->counts: an access of `bytes` bytes a lane to local memory, at one offset for all lanes,
 * or (`apart`) at another one for each of the 32 lanes. (watch/) */
void event_local_run(struct warp *, const struct insn *, uint32_t lanes, bool apart,
                     unsigned bytes);
/* With w->counts: a cp.async as one instruction, with its loads from global memory and its stores
 * to the shared memory of any block. The loads may have fewer lanes, or none; but they have the
 * address of each lane. (watch/) */
void event_copy_issued(struct warp *, const struct insn *, const struct access *from,
                       const struct access *to);

/* With w->counts: a lane has begun a bulk copy, or one that reduces; `bytes` is its size, but the
 * number of elements if it reduces a tensor. */
void event_bulk_issued(struct warp *, const struct insn *, uint64_t bytes);

/* An invalid access, which ends the launch unless it passes. Addresses are as in device.h. */
enum wrong_access {
    ACCESS_MISALIGNED,
    ACCESS_OUTSIDE_GLOBAL,
    ACCESS_OUTSIDE,    /* outside the `size` bytes of another space */
    ACCESS_NOT_ALLOWED /* the space cannot be written, or has no atomics */
};
struct bad_access {
    const struct access *access;
    enum wrong_access wrong;
    uint32_t lanes; /* the lanes with an invalid address, at least one */
    uint64_t size;
    const char *of_what; /* "of shared memory a block" */
    /* With emu --lenient (device.h): "reads 0", what the access does instead. NULL: it ends
     * the launch. */
    const char *passes;
};
void event_bad_access(struct warp *, const struct insn *, const struct bad_access *);

/* wmma loads or stores a matrix at an address, with rows (or columns) some bytes apart, of which
 * one is no multiple of what it must be. The access is carried out. (watch/) */
struct misaligned_matrix {
    uint64_t address, row_bytes;
    unsigned for_address, for_rows;
};
void event_misaligned_matrix(struct warp *, const struct insn *, const struct misaligned_matrix *);

/* ---- what puts accesses in order: only with ANNOUNCE_ORDER (check/race*.c) ------------------- */

/* What a fence is for. SCOPE_BLOCK and SCOPE_DEVICE: how far releases and atomics reach.
 * FOR_COPIES, FOR_GLOBAL_COPIES: bulk copies see what threads have stored in shared memory, in
 * global memory (fence.proxy.async). The others are no fences: OBSERVED stands for what a thread
 * has observed by volatile and relaxed accesses, fenced or not; READ_BLOCK and READ_DEVICE for what
 * a fence of this scope, or of a wider one, puts before the thread's later accesses
 * (emu --strict-readers). */
enum fence {
    SCOPE_BLOCK,
    SCOPE_DEVICE,
    FOR_COPIES,
    FOR_GLOBAL_COPIES,
    OBSERVED,
    READ_BLOCK,
    READ_DEVICE,
    FENCES
};
void event_fence(struct warp *, const struct insn *, uint32_t lanes, enum fence);
/* The other side of a fence of a scope: what the lanes have read comes before what they do next. */
void event_reader_fence(struct warp *, const struct insn *, uint32_t lanes, enum fence scope);
/* These lanes have waited for the kernels that this one may begin before (griddepcontrol.wait). */
void event_grid_wait(struct warp *, uint32_t lanes);
/* These lanes have all come to a bar.warp.sync, or to a match.sync. */
void event_warp_sync(struct warp *, const struct insn *, uint32_t lanes);
void event_match(struct warp *, uint32_t lanes);
/* A bar.arrive. A barrier releases its threads: the last one has come, and none has gone on yet. */
void event_barrier_arrive(struct warp *, const struct insn *, uint32_t lanes, unsigned number);
void event_barrier_release(struct block *, unsigned number);
/* Lanes arrive at a cluster's barrier, and have waited for it. `word` identifies the barrier; it is
 * no address. An arrival that releases covers what the lanes have done until now; another covers
 * what they had fenced. */
void event_cluster_arrive(struct warp *, const struct insn *, uint32_t lanes, uint64_t word,
                          bool releases);
void event_cluster_wait(struct warp *, const struct insn *, uint32_t lanes, uint64_t word);
/* A lane accesses the shared memory of a block that has ended, at an offset. */
void event_use_after_end(struct warp *, const struct insn *, int lane, const struct block *owner,
                         uint64_t offset);

/* A lane initialises or invalidates an mbarrier (a store), has waited for it (a load), or does
 * something else with it (an atomic). */
void event_mbarrier_use(struct warp *, const struct insn *, int lane, const struct shared_place *,
                        enum operation);
void event_mbarrier_init(const struct shared_place *);
/* Lanes arrive at an mbarrier. An arrival that releases covers what they have done until now;
 * another covers what they had fenced. */
void event_mbarrier_arrive(struct warp *, const struct insn *, uint32_t lanes,
                           const struct shared_place *, bool releases);
/* The phase is over. */
void event_mbarrier_over(const struct shared_place *);
/* Lanes have waited for the phase, by its parity or by the state that an arrival returned. */
void event_mbarrier_wait(struct warp *, const struct insn *, uint32_t lanes,
                         const struct shared_place *, bool by_parity);

/* Copies begin that arrive at an mbarrier, or (NULL) at none. Returns the mark that the machine
 * keeps with the copies and puts into access->copy of their accesses. */
struct copy_mark event_copy_begin(struct warp *, const struct shared_place *mbarrier);
/* All accesses of these copies have been announced. */
void event_copy_end(struct warp *);
/* A lane has waited for the end of its copies, or of their reads, up to the mark `until`. */
enum copies { COPIES, BULK_READS, BULK_COPIES };
void event_copy_wait(struct warp *, const struct insn *, int lane, enum copies, uint32_t until);
/* A copy arrives at an mbarrier: a copy BY_BARRIER, or all cp.async of the lane up to the mark. */
void event_copy_arrive(struct warp *, int lane, enum agent, struct copy_mark,
                       const struct shared_place *);

/* ---- arguments: only with ANNOUNCE_ARGUMENTS ------------------------------------------------- */

/* A fragment comes to a barrier, which names a number of threads if `threads` is not 0. */
void event_barrier_arguments(struct warp *, const struct fragment *, const struct insn *,
                             unsigned number, unsigned threads);
/* Lanes come to a warp-wide operation with these member masks. */
void event_member_masks(struct warp *, const struct insn *, uint32_t lanes);
/* A shuffle or a vote has been carried out for these lanes. A lane has given a value and received
 * one: of a vote, whether its predicate is true, and the result. `from` is the lane whose value a
 * lane of a shuffle has received (it may be its own); NULL for a vote. The arrays have an entry for
 * each lane of the warp. */
struct exchange {
    uint32_t lanes;
    const uint8_t *from;
    const uint32_t *given, *received;
};
void event_exchange(struct warp *, const struct insn *, const struct exchange *);
/* With block->undefined: a warp is about to execute the instruction at f->pc for a fragment.
 * (watch/synccheck.c) */
void event_follow(struct warp *, const struct fragment *);

/* ---- exits ----------------------------------------------------------------------------------- */

/* A barrier ends for the threads that wait at it, since all others of the block have exited: whole
 * warps, or (`parted`, with emu --lenient only) also some lanes of a warp. */
void event_barrier_exited(struct warp *, const struct insn *, unsigned waiting, unsigned exited,
                          bool parted);

/* ---- faults (watch/finding_text.c) ----------------------------------------------------------- */

/* The first fault of a launch, by any thread, except faults of accesses. */
struct fault_event {
    struct warp *warp; /* NULL: no block was running */
    const struct insn *insn;
    int lane, error;
    enum fault_kind kind;
    const char *what, *picture; /* a sentence; a picture of schedule.h, or "" */
};
void event_fault(struct launch *, const struct fault_event *);

#endif
