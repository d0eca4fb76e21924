/*
 * race.h — the state that racecheck keeps of a device, a block and a warp, and the functions
 * that its files call of each other. Only the files of race_race.h's list include it.
 */
#ifndef EMU_RACE_STATE_H
#define EMU_RACE_STATE_H

#include "race_race.h"
#include "uses.h"
#include "shadow_shadow.h"

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
    uint64_t last_read;         /* of shared memory of a cluster: see exit.c */
    struct word_before *before; /* at the last stores, newest first: see earlier.c */
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

/* The last strong reads of a lane, newest first: see update.c. */
enum { RECENT = 4 };
struct recent_read {
    uint64_t address; /* of the granule */
    record write;     /* that it read: the granule's last one */
    enum ptx_space space;
    uint16_t place;
    bool is_there, is_atomic;
};

/*
 * The clocks of a warp's lanes, beyond what holds for all threads of the block. `fenced` is the
 * clock that a strong store of the lane releases: the lane's clock at its last fence. The lane's
 * own accesses until fence_time (0: no fence) are before that fence as well.
 */
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

/* What a launch has last set the condition of a graph's node to (condition.c). */
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
    bool off;               /* for the rest of this launch: out of memory */
    uint64_t serial;        /* counts uses of other blocks' shared memory: exit.c */
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
/* For several lanes, faster than one after the other. */
struct vclock *lanes_clock(const struct warp *, uint32_t lanes);
struct vclock *lanes_fence_clock(const struct warp *, uint32_t lanes, enum fence);
void lanes_acquire(const struct warp *, uint32_t lanes, struct vclock *);
/* What a lane acquires from another thread's fence is before the lane's own fence, too. Is an
 * access before it? */
void lane_acquire_fenced(const struct warp *, int lane, enum fence, struct vclock *);
bool lane_is_fenced(const struct warp *, int lane, enum fence, record);
/* Does an access of another thread happen before the lane's next one? And an access of a copy,
 * which has that key in the clock? */
bool lane_is_after(const struct warp *, int lane, record);
bool lane_is_after_copy(const struct warp *, int lane, record, unsigned key);
bool lane_has_fenced(const struct warp *, int lane);
/* Increases the block's time. */
void clock_tick(struct race_block *);
/* The part of a lane's clock that the bases give, with the lane's own accesses until `until`.
 * Returns a new reference. */
struct vclock *own_block_clock(const struct warp *, int lane, timestamp until);
/* barrier.c: drops the lanes' clocks beyond the bases. */
void reset_warp_clocks(struct vclock_space *, struct race_warp *);
/* For another block: all clocks are 0. */
void race_clock_reset(struct race_block *);

/* race_flags.c: the store of one lane's strong access to a word. */
struct stored {
    bool replaces, changes; /* a store, not an atomic; the word's value may change */
    uint32_t before;        /* the word's value */
};
/* The load of one lane's strong access. The value of `earlier` stores before would have served as
 * well (earlier.c); the code acts on the value, as on a flag's or a lock's; it takes a fence
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
/* A block's word; makes a row if it has none. NULL: out of memory. */
struct sync_word *sync_word_for(const struct block *, struct sync_table *, uint64_t key);

/* exit.c: for another block */
void race_exit_reset(struct race_block *);

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
/* A launch has ended: reports its hazards as findings, and drops them. */
void race_reports_flush(struct race_reports *, const struct launch *);
enum { AT_ONCE = 0 }; /* the time of another lane of the same instruction */
enum hazard {
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    UNSEEN_BY_COPY,
    UNFENCED_READ, /* volatile or relaxed accesses: see counts_on_order() in race.c */
    UNFENCED_WRITE,
    LOST_UPDATE,     /* see update.c */
    USE_BEFORE_EXIT, /* shared memory of a block that may exit before: see exit.c */
    USE_AFTER_EXIT,
    SET_DIFFERENTLY, /* see condition.c; space and address mean nothing */
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

#endif
