/* race.h — racecheck: its state, and what its files share. */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "check.h"
#include "shadow.h"
#include "common/tools/emu/machine/events.h"

/* ---- the order of operations ----------------------------------------------------------------- */

/* The operations that a program puts into streams and graphs (kernels, copies,
 * fills, host functions, allocations), and which of them come before which.
 *
 * The emulator carries them out one after the other. On a GPU two of them may run at the same time
 * unless streams, events, edges of a graph or the host order them. racecheck reports accesses of
 * two such operations (race_streams.c).
 *
 * Each operation has a vector clock. Its entries stand for chains: operations of which each comes
 * after the one before. A stream is a chain, and so is a path of a graph. Operations that the host
 * has waited for come before all later ones, of whichever host thread: how host threads wait for
 * each other is not observed, so this never makes an order too short. Such operations are dropped.
 *
 * The runtime says what an operation comes after (runtime/order.c). All functions may be
 * called by several host threads at once. */

struct stream_ops;
/* The number of an operation; 0: none. Later operations have higher numbers. */
typedef uint64_t stream_op;

/* Those of a process, until it ends. */
struct stream_ops *stream_ops_open(void);
/* Has it stopped comparing operations, because too many could run at the same time, or memory ran
 * out? */
bool stream_ops_off(struct stream_ops *);

/* How a stream relates to the legacy default stream of its device. STREAM_ALONE: not at all, as
 * nodes of graphs and streams of cudaStreamNonBlocking. */
enum stream_kind { STREAM_LEGACY, STREAM_BLOCKING, STREAM_ALONE };

enum stream_op_kind {
    STREAM_OP_MARK, /* accesses nothing: an event, or the begin or end of a graph */
    STREAM_OP_KERNEL,
    STREAM_OP_COPY,
    STREAM_OP_FILL,
    STREAM_OP_HOST,
    STREAM_OP_LIBRARY,
    STREAM_OP_CONDITION, /* a conditional node of a graph decides */
    STREAM_OP_ALLOC,
    STREAM_OP_FREE,
};

/* An operation, as the runtime describes it. */
struct stream_op_info {
    enum stream_op_kind kind;
    enum stream_kind stream_kind;
    int device;
    unsigned long long stream; /* its number, for reports */
    bool in_graph;
    const char *library; /* of STREAM_OP_LIBRARY: the function */
    stream_op launcher;  /* the kernel that has launched it; 0: the host has */
    struct emu_host_place place; /* where the program called the runtime */
    size_t early; /* how many of its needs, the first, may not have ended when a kernel begins */
};

/* Begins an operation that comes after these (0: none) and after all that the host has waited for.
 * Returns its number; 0: there are too many, and nothing is said about it. */
stream_op stream_op_begin(struct stream_ops *, const struct stream_op_info *,
                          const stream_op *needs, size_t count);
/* The kernel that an operation in this stream would follow; 0: something else comes between, or the
 * host has waited for it. */
stream_op stream_op_last_kernel(struct stream_ops *, const struct stream_op_info *);
/* The host has waited for an operation; for all of a device. */
void stream_op_wait(struct stream_ops *, stream_op);
void stream_ops_wait_device(struct stream_ops *, int device);

/* An operation of the host's side reads or writes memory: the rows begin at `address`, as those
 * that emu_read_rows() reads (from_row, from_slice). Reports accesses of other operations that
 * nothing orders, among the findings of this device. */
void stream_op_access(struct stream_ops *, struct emu *, stream_op, uint64_t address,
                      const struct emu_rows *, bool writes);
/* The same for a caller that has the device's lock. */
void stream_op_access_locked(struct stream_ops *, struct emu *, stream_op, uint64_t address,
                             const struct emu_rows *, bool writes);

/* The condition of a graph counts as the word at STREAM_CONDITIONS +
 * STREAM_CONDITION_BYTES * handle, where no memory is. */
#define STREAM_CONDITIONS (UINT64_C(1) << 63)
enum { STREAM_CONDITION_BYTES = 4 };

/* ---- racecheck ------------------------------------------------------------------------------- */

/*
 * A happens-before race detector with vector clocks.
 *
 * Two accesses of one byte by different threads, at least one of them a write, are a hazard unless
 * synchronisation orders them. Their order in this run does not matter: the question is whether
 * every run must have it. Lanes of a warp are threads like any others, although they run in step
 * here. So a missing __syncwarp() is found like a missing __syncthreads().
 *
 * These order accesses: barriers of a block, of some of its warps, of a warp's lanes and of a
 * cluster; mbarriers; a fence followed by a strong store or an atomic, once a strong load or an
 * atomic has observed it; release and acquire; and the end of a kernel. An atomic is ordered after
 * those atomics of the same word that it has observed. These do not: shuffles, votes and other
 * exchanges of values; volatile and relaxed accesses. The end of a kernel comes before operations
 * that streams, events, graphs or the host order after it. An asynchronous copy is
 * over only for threads that have waited for it.
 *
 *   shadow.c, .h     vector clocks; an access in 64 bits; the last accesses of each 4 bytes
 *   race.c           splits a warp's access into those of single lanes, and compares each with the
 *                    earlier ones; plain loads and stores of a warp, in few steps
 *   race_clock.c     the clocks of a lane; barriers join them; asynchronous copies, mbarriers
 *   race_flags.c     words that carry a clock from a release to an acquire; what a thread that
 *                    waits for a flag relies on; a load and a store that are not atomic together
 *   race_state.c     the state of a device, a launch and a block; blocks that exit too early
 *   race_children.c  a grid, and what it launches; conditions of graphs; rows of matrices
 *   code_uses.c      what the code does with a value
 *   value_bits.c     in which bits of a register a value may be
 *   race_stream_order.c  the order of launches and copies, by streams, events and graphs
 *   race_streams.c   compares the accesses of those that nothing orders; kernels that begin early
 *   race_report.c    hazards as text
 *
 * The machine announces to these files what orders accesses (machine/events.h, ANNOUNCE_ORDER).
 * Only racecheck asks for these events. While it is on, one host thread runs all blocks.
 */

/* racecheck's state of a device. */
struct race *race_open(void);
void race_close(struct race *);
/* Memory is freed: earlier accesses do not conflict with those of its next owner. */
void race_forget(struct race *, uint64_t address, uint64_t bytes);
/* A grid begins and ends. */
void race_begin(struct launch *);
void race_end(struct launch *);
/* The state of a block, which serves one block after another. */
struct race_block *race_block_new(const struct block *);
void race_block_start(struct block *);
void race_block_free(struct race_block *);

/* An access, before it is carried out: memory still has its old bytes. */
void race_access(struct warp *, const struct insn *, const struct access *);

/* Is the instruction, which puts accesses in order, to be taken for one that does not? */
bool race_skips(const struct launch *, const struct insn *);
/* A fence of some lanes, like event_fence(); with strict readers, what they have kept until a fence
 * of this scope. */
void race_fence(struct warp *, uint32_t lanes, enum fence);
void race_reader_fence(struct warp *, uint32_t lanes, enum fence scope);

/* ---- state ----------------------------------------------------------------------------------- */

/* The agent of a kind of access: see enum access_strength in shadow.h. */
static inline enum agent agent_of(unsigned kind) { return (enum agent)(kind >> AGENT_AT); }
static inline unsigned granule_kind(const struct granule *g, int which)
{
    return record_kind(g->access[which]);
}

/* A word that carries clocks from one thread to another: a flag, a lock, a counter. A release joins
 * the thread's clock into it; an acquire joins the word's clock into the thread's. */
struct sync_word {
    uint64_t key; /* 0: this row of the table is free */
    struct vclock *clock[FENCES];
    uint64_t block;             /* the block that clock[SCOPE_BLOCK] is of */
    uint64_t last_read;         /* of shared memory of a cluster: see race_state.c */
    struct word_before *before; /* at the last stores, newest first: see race_flags.c */
};

/* The value and the clocks of a word before a store. */
enum { MOST_BEFORE = 8 };
struct word_before {
    struct word_before *next;
    record store;
    uint32_t value;
    struct vclock *clock[FENCES];
};

struct sync_table {
    struct sync_word *words;
    size_t size, count;
};

/* The last strong reads of a lane, newest first: see race_flags.c. */
enum { RECENT = 4 };
struct recent_read {
    uint64_t address; /* of the granule */
    record write;     /* that it read: the granule's last one */
    enum ptx_space space;
    uint16_t place;
    bool is_there, is_atomic;
};

/* The clocks of a warp's lanes, beyond what holds for all threads of the block. `fenced` is the
 * clock that a strong store of the lane releases: the lane's clock at its last fence. The lane's
 * own accesses until fence_time (0: no fence) are before that fence as well. */
struct race_warp {
    struct recent_read recent[WARP][RECENT];
    timestamp base;                    /* until this time, the lanes' accesses are in order */
    uint32_t has_acquired, has_fenced; /* lanes with a clock in the arrays */
    struct vclock *acquired[WARP];
    struct vclock *fenced[FENCES][WARP];
    timestamp fence_time[FENCES][WARP];
};

struct race_block {
    struct race *device;
    timestamp now;  /* the block's time: synchronisations are counted */
    timestamp base; /* until this time, the threads' accesses are in order */
    struct vclock *common, *fenced[FENCES]; /* of all its threads: acquired; fenced */
    struct race_warp *warps;
    unsigned warp_count;
    struct planes planes; /* of the shadow of its shared memory */
    struct shadow_page shared;
    struct sync_table words;   /* in shared memory */
    struct remote_use *remote; /* of it, by threads of other blocks; NULL: none yet */
    /* The mbarriers that copies arrive at. An mbarrier's index here is its number. */
    struct race_copies {
        uint32_t *mbarriers;
        unsigned mbarrier_count;
    } copies;
    /* Of named barriers: the clocks of threads that arrived without waiting (bar.arrive). */
    struct vclock *arrived[MAX_BARRIERS], *arrived_fenced[MAX_BARRIERS][FENCES];
    bool has_arrived[MAX_BARRIERS];
};

/* The answers of code_uses.c for an instruction, each computed once. */
struct code_uses {
    bool has_decision;
    uint8_t tries_again, compares; /* 0: not computed yet; 1: no; 2: yes */
    /* Of a store: does the value of the load at `source` go into the store, and does it decide
     * whether the store is carried out? Coded as above; only the last `source` is kept. */
    uint8_t is_fed, is_decided;
    uint8_t is_repeated; /* of a load: does the flag at `source` decide whether it is repeated? */
    uint32_t source;
    uint16_t number; /* of the place, in records; 0: none yet */
    struct decision decision;
};

/* What a launch has last set the condition of a graph's node to (race_children.c). */
struct condition_set {
    uint64_t handle;
    record last;
    unsigned value;
    bool is_set;
};

struct race {
    /* the devices' operations (race_streams.c); NULL: none are observed */
    struct stream_ops *ops;
    /* grids whose launches run, the youngest first (race_children.c) */
    struct race_family *families;
    uint64_t ended; /* the last launch's, if the history may need its accesses; else 0 */
    /* A launch that may begin early, compared with the kernels before it; NULL: it may not. */
    struct op_comparison *early;
    bool has_waited; /* it has executed a griddepcontrol.wait */
    struct vclock_space space;
    struct shadow shadow;
    struct record_rows rows; /* of this launch's short records */
    struct sync_table words; /* in global memory */
    struct race_reports *reports;
    bool has_flags;         /* the kernel has strong loads and strong stores */
    bool tracks_observed;   /* has_flags, and not all of these loads are polls: OBSERVED */
    bool has_atomics;       /* the kernel has some */
    bool has_inval;         /* the kernel has an mbarrier.inval: see event_match() */
    bool strict_readers;    /* emu --strict-readers: see race_flags.c */
    int fences;             /* FENCES, or without strict readers only those that come first */
    uint64_t serial;        /* counts uses of other blocks' shared memory: race_state.c */
    struct code_uses *uses; /* by instruction */
    struct condition_set *conditions;
    size_t condition_count;
    struct record_layout layout;
    uint16_t *places; /* by their numbers: instructions; UNKNOWN_PLACE for number 0 */
    unsigned place_count;
};
/* No instruction: the kernel is too long. */
enum { UNKNOWN_PLACE = UINT16_MAX };

static inline struct race_warp *state_of(const struct warp *w)
{
    return &w->block->racecheck->warps[w->index];
}
static inline struct vclock_space *space_of(const struct block *block)
{
    return &block->racecheck->device->space;
}
static inline const struct record_layout *layout_of(const struct warp *w)
{
    return &w->block->racecheck->device->layout;
}
static inline uint32_t bit_of(int lane) { return UINT32_C(1) << lane; }

/* race_clock.c: a lane's clock, its own accesses until now included; and the clock that it releases
 * if it stores to a flag. Both return a new reference. */
struct vclock *lane_clock(const struct warp *, int lane);
struct vclock *lane_fence_clock(const struct warp *, int lane, enum fence);
void lane_acquire(const struct warp *, int lane, struct vclock *);
/* What a lane acquires from another thread's fence is before the lane's own fence, too. Is an
 * access before it? */
void lane_acquire_fenced(const struct warp *, int lane, enum fence, struct vclock *);
bool lane_is_fenced(const struct warp *, int lane, enum fence, record);
/* Does an access of another thread happen before the lane's next one? And an access of a copy,
 * which has that key in the clock? */
bool lane_is_after(const struct warp *, int lane, record);
bool lane_is_after_copy(const struct warp *, int lane, record, unsigned key);
bool lane_has_fenced(const struct warp *, int lane);
/* Is it after a griddepcontrol.wait of any thread? */
bool lane_has_waited(const struct warp *, int lane);
/* Increases the block's time. */
void clock_tick(struct race_block *);
/* For another block: all clocks are 0. */
void race_clock_reset(struct race_block *);

/* race_flags.c: the store of one lane's strong access to a word. */
struct stored {
    bool replaces, changes; /* a store, not an atomic; the word's value may change */
    uint32_t before;        /* the word's value */
};
/* The load of one lane's strong access. The value of `earlier` stores before would have served as
 * well (race_flags.c); the code acts on the value, as on a flag's or a lock's; it takes a fence
 * until the lane has acquired what the value tells. */
struct reading {
    unsigned earlier;
    bool acts_on_it, needs_fence;
};
void sync_acquire(struct warp *, int lane, struct sync_table *, uint64_t key, struct reading);
void sync_release(struct warp *, int lane, struct sync_table *, uint64_t key, struct stored);
void sync_clear(struct vclock_space *, struct sync_table *);
/* Keeps a word's value and clocks before a store. */
void sync_keep_earlier(struct vclock_space *, struct sync_word *, uint32_t value, record store);
void sync_forget_earlier(struct vclock_space *, struct sync_word *);
/* The word of a key; NULL: it has no row. */
struct sync_word *sync_word_at(const struct sync_table *, uint64_t key);
/* A block's word; makes a row if it has none. */
struct sync_word *sync_word_for(const struct block *, struct sync_table *, uint64_t key);

/* race_state.c: code_uses.c's answers for this launch's kernel, each computed once. */
bool race_tries_again(struct race *, const struct emu_kernel *, size_t place);
bool race_compares(struct race *, const struct emu_kernel *, size_t place);
bool race_feeds(struct race *, const struct emu_kernel *, size_t from, size_t to);
bool race_decides(struct race *, const struct emu_kernel *, size_t from, size_t to);
bool race_repeats(struct race *, const struct emu_kernel *, size_t from, size_t to);
const struct decision *race_decision(struct race *, const struct emu_kernel *, size_t place);
/* The number of a place in this launch's records, and the place of a record. */
unsigned race_number_of_place(struct race *, unsigned place);
static inline unsigned race_place_of(const struct race *race, record v)
{
    return race->places[record_place(&race->layout, v)];
}

/* race_report.c */
struct race_reports *race_reports_open(void);
void race_reports_close(struct race_reports *);
/* Reports the hazards of a launch, which has ended, as findings, and drops them. */
void race_reports_flush(struct race_reports *, const struct launch *);
enum { AT_ONCE = 0 }; /* the time of another lane of the same instruction */
enum hazard {
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    UNSEEN_BY_COPY,
    UNSEEN_UNDER_COPY, /* a copy writes what a thread has stored */
    CONSTANT_WRITTEN,  /* see breaks_constant() in race.c */
    WRITTEN_CONSTANT,
    UNFENCED_READ, /* volatile or relaxed accesses: see counts_on_order() in race.c */
    UNFENCED_WRITE,
    LOST_UPDATE,     /* see race_flags.c */
    USE_BEFORE_EXIT, /* shared memory of a block that may exit before: see race_state.c */
    USE_AFTER_EXIT,
    SET_DIFFERENTLY, /* see race_children.c; space and address mean nothing */
    HAZARDS
};
/* Two accesses that conflict, and that nothing puts in order: the one that is made now, and
 * `before`. */
struct conflict {
    enum hazard hazard;
    enum agent agent;
    record before; /* the other one */
    enum agent before_agent;
    unsigned before_place; /* in the code; UNKNOWN_PLACE if the kernel is too long for it */
    bool is_mixed;         /* both are strong, and their sizes differ */
    bool reader_unfenced;  /* the lane has read of the other access, without a fence behind */
    enum ptx_space space;
    uint64_t address;
};
void race_report(struct warp *, const struct insn *, int lane, const struct conflict *);

/* ---- one lane's access ----------------------------------------------------------------------- */

/* One lane's access of one granule. race.c splits a warp's access into these; race.c compares each
 * with the earlier accesses. race.c does both for most accesses, in fewer steps. */

struct lane_access {
    struct warp *w;
    const struct insn *insn;
    enum ptx_space space;
    struct race_block *owner; /* of the shared memory that is accessed */
    int lane;
    const struct record_layout *layout;
    record common; /* the lane's record without thread and bytes: equal for all lanes */
    record record;
    unsigned place, kind;
    uint16_t number;             /* of the mbarrier, if the agent is BY_BARRIER */
    bool reads, writes;          /* an atomic does both */
    struct stored_values stored; /* as in struct access */
    bool changes;                /* false for an atomic that leaves the word as it is */
    uint32_t used;               /* of the access's bytes: see check_used_bytes() */
    uint64_t address;            /* of the granule */
    const void *before;          /* the lane's bytes in the granule, before and after; */
    const void *after;           /* NULL: unknown, or not a plain store */
};

/* race.c: a warp's access, each lane's by its own thread. race_children.c: one of rows of matrices.
 * */
void race_threads_access(struct warp *, const struct insn *, const struct access *);
void race_matrix_access(struct warp *, const struct insn *, const struct access *rows);

/* The page of the shadow that belongs to an address. */
static inline struct shadow_page *race_page_at(const struct lane_access *t, uint64_t address)
{
    if (t->space == PTX_SHARED) return &t->owner->shared;
    return shadow_page_at(&t->owner->device->shadow, address);
}
/* The index in its page of the granule with a number, its address / GRANULE. All shared memory of a
 * block is one page. */
static inline size_t race_index_mask(enum ptx_space space)
{
    return space == PTX_SHARED ? SIZE_MAX : PAGE_GRANULES - 1;
}

enum { LARGEST = 32 }; /* bytes of one lane's access */

/* The record of a lane's access of some bytes of a granule. */
static inline record lane_record(const struct lane_access *t, unsigned bytes)
{
    unsigned thread =
        agent_of(t->kind) == BY_BARRIER ? t->number : t->w->index * WARP + (unsigned)t->lane;
    return t->common | (record)thread << THREAD_AT | bytes;
}

/* The bytes that a lane stores, in memory order; NULL: they are unknown, or it does not store. */
static inline const uint8_t *stored_value(const struct warp *w, const struct insn *i,
                                          struct stored_values stored, int lane, uint8_t *value)
{
    if (stored.first) return (const uint8_t *)stored.first + (size_t)lane * stored.stride;
    if (i->tally != TALLY_STORE) return NULL;
    for (unsigned k = 0; k < i->elements; k++)
        memcpy(value + (size_t)k * i->element_bytes,
               (const uint8_t *)slot_at(w, i->memory.value[k]) + (size_t)lane * i->lane_bytes,
               i->element_bytes);
    return value;
}

/* Does it store the value that is in memory already? */
static inline bool stores_same(const struct lane_access *t)
{
    return t->after &&
           !memcmp(t->before, t->after, (unsigned)__builtin_popcount(record_bytes(t->record)));
}

/* race_flags.c, if the kernel has flags: keeps a read; checks a store. */
void race_note_read(const struct lane_access *, const struct granule *);
void race_check_update(const struct lane_access *, const struct granule *);

/* race_flags.c: the lane's recent reads that may be values of the flag that it loads now, as
 * bits; and after it has acquired the flag's clock: checks these reads. */
unsigned race_values_before(const struct lane_access *);
void race_check_values(const struct lane_access *, unsigned values);

/* race_state.c: keeps a use of another block's shared memory, at an offset. */
void race_note_remote(const struct lane_access *, uint64_t offset);

/* race_flags.c: how many stores earlier a strong read would have served as well. */
unsigned race_stores_back(const struct lane_access *, struct sync_table *, uint64_t address,
                          uint64_t host);

/* ---- operations ------------------------------------------------------------------------------ */

/* What the files of racecheck between operations share: race_stream_order.c orders the
 * operations, race_streams.c keeps their accesses and compares them, race_report.c reports. */

/* For each chain of operations, the number of those that come before. */
struct op_clock {
    uint32_t *time;
    size_t chains;
};

/* A source line of a kernel, by the number that its places have in records. */
struct op_place {
    const char *file; /* kept in struct stream_ops; NULL: unknown */
    unsigned line, ptx_line;
};
/* A kernel's name and lines: its module may be unloaded before a finding names them. */
struct op_code {
    char *kernel;
    unsigned place_count;
    struct op_place places[];
};

/* A kernel that may begin before others have ended. */
struct op_early {
    struct op_clock begun; /* what comes before its threads that have not waited */
    bool never_waited;     /* it has ended, and none of its threads has waited */
    bool has_gap; /* that is so of one of `needs`: what comes before that one may still run */
    size_t count;
    stream_op needs[]; /* the kernels that it waits for */
};

struct op_state {
    struct stream_op_info info;
    uint32_t chain, time; /* it is the time-th operation of its chain, counted from 1 */
    struct op_clock clock;
    struct op_early *early; /* NULL: it begins when all is over that comes before it */
    struct op_code *code; /* of a kernel that has run */
};

/* An access of the host's side: rows of bytes. Or of a condition. */
struct op_range {
    stream_op op;
    uint64_t address;
    struct emu_rows rows;
    bool writes;
    unsigned place; /* of a kernel that sets a condition: a number as in records */
};

enum { MOST_RACES = EMU_MAX_PEERS + 1, MOST_DEVICES = EMU_MAX_PEERS + 1 };

struct stream_ops {
    pthread_mutex_t lock;
    bool off; /* too many chains: nothing is reported any more */

    /* The operations from number `first` on. Those before are over for the host. */
    struct op_state *ops;
    size_t count, room;
    stream_op first;
    struct op_chain {
        stream_op last;
        uint32_t time; /* of the last one */
    } * chains;
    size_t chain_count;
    struct op_clock host; /* what the host has waited for */
    /* By device: all operations, those of blocking streams, those of the legacy stream. */
    struct op_clock all[MOST_DEVICES], blocking[MOST_DEVICES], legacy[MOST_DEVICES];

    struct race *races[MOST_RACES]; /* racecheck's states of the devices */
    struct shadow history;          /* of kernels that are not over: see race_streams.c */
    bool has_atomics;               /* some of them have atomics */
    struct op_range *ranges;
    size_t range_count;

    char **files; /* names of source files */
    size_t file_count;
};

/* ---- race_stream_order.c; the lock is held --------------------------------------------------- */

/* NULL: it is over. */
struct op_state *op_at(const struct stream_ops *, stream_op);
/* Does the first come before the second? Is there any order between them? */
bool op_is_before(const struct stream_ops *, stream_op, stream_op);
bool op_is_ordered(const struct stream_ops *, stream_op, stream_op);
/* Is it over when threads of an early kernel run that have waited, or have not? True if that is
 * not because it begins early. */
bool op_is_over(const struct stream_ops *, stream_op, stream_op early, bool has_waited);
/* Does a kernel wait for the other one itself? */
bool op_waits_for(const struct op_state *early, stream_op);
/* Is there an operation that is neither before this one nor after it? */
bool op_has_rivals(const struct stream_ops *, stream_op);
/* Lets the second come after the first. */
void op_connect(struct stream_ops *, stream_op, stream_op);
/* The host has waited for it. */
void op_wait(struct stream_ops *, stream_op);

/* Two accesses of the same bytes that nothing orders; `count` times, first at `address`. */
struct op_conflict {
    record now, before;
    bool now_writes, before_wrote;
    uint64_t address, count;
};

/* One operation is compared with others. */
enum { MOST_CONFLICTS = 64 };
struct op_comparison {
    struct stream_ops *ops;
    stream_op op;
    stream_op asked; /* the operation that was asked for last, */
    bool is_ordered; /* and whether it is before or after `op` */
    /* Threads of `op`, which begins early, with those before it; and whether they have waited. */
    bool is_early, has_waited;
    bool has_gap, by_atomics; /* as of struct op_early; it acts on what its atomics return */
    struct op_conflict conflicts[MOST_CONFLICTS];
    size_t count;
};

/* ---- race_streams.c -------------------------------------------------------------------------- */

/* The devices that share these operations; NULL: operations are not observed. */
void race_ops_join(struct race *, struct stream_ops *);
void race_ops_leave(struct race *);
/* A launch begins: the accesses of the last one go into the history. */
void race_ops_begin_launch(struct race *);
/* A launch has ended: compares its accesses with those of other operations. */
void race_ops_end_launch(struct race *, const struct launch *);
/* And the conditions of graphs that it has set. */
void race_ops_end_conditions(struct race *, const struct launch *);
/* If the launch may begin early: prepares race->early; compares an access of a lane, to global
 * memory; does this matter for one of these lanes? */
void race_early_begin(struct race *, const struct launch *);
void race_early_access(const struct lane_access *);
bool race_early_matters(const struct warp *, uint32_t lanes);
/* Drops all accesses, since all operations are over. With the lock held. */
void race_ops_drop_all(struct stream_ops *);
/* Memory is freed. */
void race_ops_forget(struct race *, uint64_t address, uint64_t bytes);
/* The record of an access as the history keeps it. */
record op_cell(const struct record_layout *, record, stream_op);
/* Of a record: is the access strong? In the plane `which` of a granule, does it write? */
bool op_is_strong(record);
bool op_writes(int which, record);
void op_add_conflict(struct op_comparison *, struct op_conflict);

/* ---- race_children.c ------------------------------------------------------------------------- */

/* Compares the launch that has ended with the grids that have launched it. The lock is held. */
void race_families_compare(struct op_comparison *, struct race *);
void race_families_forget(struct race *, uint64_t address, uint64_t bytes);

/* ---- race_report.c --------------------------------------------------------------------------- */

/* An access of an operation, as the history keeps it: a record with the operation in place of
 * block, time and thread. */
enum { OP_PLACE_BITS = 16, OP_PLACE_AT = THREAD_AT, OP_AT = OP_PLACE_AT + OP_PLACE_BITS };
static inline stream_op op_of(record v) { return v >> OP_AT; }
static inline unsigned op_place_of(record v)
{
    return v >> OP_PLACE_AT & ((1u << OP_PLACE_BITS) - 1);
}

/* The code of the launch that has just ended. */
struct op_code *op_code_of(struct stream_ops *, const struct race *, const struct launch *);
/* Reports it once for each pair of places. emu->lock is held. */
void op_report(struct stream_ops *, struct emu *, const struct launch *,
               const struct op_conflict *);

#endif
