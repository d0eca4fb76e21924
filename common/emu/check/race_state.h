/* race_state.h — what racecheck keeps, for its own files: see race.h. */
#ifndef EMU_RACE_STATE_H
#define EMU_RACE_STATE_H

#include "race.h"
#include "race_uses.h"
#include "shadow.h"

/* How an access takes part in synchronisation, in struct insn's `order`. A granule's kind is one of
 * the first four, and KIND_NARROW if it is strong among threads of its block only; above that, whose
 * the access was (enum maker). */
enum access_kind {
    KIND_WEAK,
    KIND_VOLATILE,
    KIND_STRONG,
    KIND_ATOMIC,
    KIND_MASK = KIND_ATOMIC,
    KIND_NARROW,
    MAKER_AT = 3
};
static inline enum maker maker_of(unsigned kind) { return (enum maker)(kind >> MAKER_AT); }

/* A word through which threads hand on what they know: a flag, a lock, a counter. */
struct sync_word {
    uint64_t key; /* 0: this place in the table is free */
    struct knowledge *known[FENCES];
    uint64_t block;             /* whose known[SCOPE_BLOCK] is */
    uint64_t seen;              /* of a cluster's shared memory: see race_exit.c */
    struct word_before *before; /* the last stores, newest first: see race_earlier.c */
};

/* What a word was, and handed on, before a store. */
enum { MOST_BEFORE = 8 };
struct word_before {
    struct word_before *next;
    visit store;
    uint32_t value;
    struct knowledge *known[FENCES];
};

struct sync_table {
    struct sync_word *words;
    size_t size, count;
};

/* The last strong reads of a lane, newest first: see race_update.c. */
enum { RECENT = 4 };
struct recent_read {
    uint64_t address; /* of the granule */
    visit seen;       /* its last write at that time */
    uint16_t place;
    bool is_there, is_atomic;
};

/*
 * What a warp's lanes know besides what their whole block does. `fenced` is the part that a strong
 * store of the lane hands on: what it knew at its last fence, and its own accesses until
 * fence_time (0: no fence).
 */
struct race_warp {
    struct recent_read recent[WARP][RECENT];
    moment base;                    /* every lane knows every other lane until here */
    uint32_t with_more, has_fenced; /* lanes with something in the arrays */
    struct knowledge *more[WARP];
    struct knowledge *fenced[FENCES][WARP];
    moment fence_time[FENCES][WARP];
};

struct race_block {
    struct race *race;
    moment now;  /* counts what synchronises in this block */
    moment base; /* all threads of the block know each other until here */
    struct knowledge *common, *fenced[FENCES]; /* what all know, and hand on without a fence */
    struct race_warp *warps;
    unsigned warp_count;
    struct granule *shared;
    size_t granules;
    struct sync_table words;   /* in shared memory */
    struct remote_use *remote; /* of it, by threads of other blocks; NULL: none yet */
    /* The mbarriers that copies arrive at: their places here are their numbers. */
    struct race_copies {
        uint32_t *mbarriers;
        unsigned mbarrier_count;
    } copies;
    /* of named barriers: what threads knew and had fenced that did not wait */
    struct knowledge *arrived[MAX_BARRIERS], *arrived_fenced[MAX_BARRIERS][FENCES];
    bool has_arrived[MAX_BARRIERS];
};

/* What race_uses.c has told of an instruction: asked once. */
struct code_uses {
    bool has_decision;
    uint8_t tries_again, compares; /* 0: not asked yet; 1: no; 2: yes */
    /* Of a store: is what the load at `source` reads stored by it, or does it decide? Both as
     * above, of the load that was asked about last. */
    uint8_t is_fed, is_decided;
    uint32_t source;
    struct decision decision;
};

struct race {
    struct knowledge_space space;
    struct shadow shadow;
    struct sync_table words; /* in global memory */
    struct race_reports *reports;
    bool has_flags;         /* the kernel loads and stores words that are volatile, relaxed, … */
    bool hears;             /* and some of these loads are no polls: HEARD is needed */
    bool has_inval;         /* it has an mbarrier.inval: see event_match() */
    bool off;               /* for the rest of this launch: it has no memory left */
    uint64_t serial;        /* of stores to shared memory of another block: see race_exit.c */
    struct code_uses *uses; /* by instruction: what race_uses.c has told */
};

static inline struct race_warp *state_of(const struct warp *w)
{
    return &w->block->race->warps[w->index];
}
static inline struct knowledge_space *space_of(const struct block *block)
{
    return &block->race->race->space;
}
static inline uint32_t bit_of(int lane) { return UINT32_C(1) << lane; }

/* race_clock.c: what a lane knows now, its own accesses included; and what it hands on if it stores
 * to a flag. Both get an owner. */
struct knowledge *lane_knowledge(const struct warp *, int lane);
struct knowledge *lane_fenced(const struct warp *, int lane, enum fence);
void lane_learn(const struct warp *, int lane, struct knowledge *);
/* The same of several: quicker than one by one. */
struct knowledge *lanes_knowledge(const struct warp *, uint32_t lanes);
struct knowledge *lanes_fenced(const struct warp *, uint32_t lanes, enum fence);
void lanes_learn(const struct warp *, uint32_t lanes, struct knowledge *);
/* What others have fenced is fenced for a lane that has heard of it. Is an access? */
void lane_learn_fenced(const struct warp *, int lane, enum fence, struct knowledge *);
bool lane_is_fenced(const struct warp *, int lane, enum fence, visit);
/* Does this lane know that an access of another thread is over? And that a copy is, of that key? */
bool lane_knows(const struct warp *, int lane, visit);
bool lane_knows_copy(const struct warp *, int lane, visit, unsigned key);
bool lane_has_fenced(const struct warp *, int lane);
void next_moment(struct race_block *);
/* What a lane knows of its own block through the bases, with its own accesses until `until`. */
struct knowledge *own_block(const struct warp *, int lane, moment until);
/* race_barrier.c: what the lanes know beyond the bases is thrown away. */
void forget_warp(struct knowledge_space *, struct race_warp *);
/* For another block: nobody knows anything. */
void race_clock_reset(struct race_block *);

/* race_sync.c: what happens to a word of memory that a strong access of one lane touches. */
struct stored {
    bool replaces, changes; /* it is a plain store; it is no atomic that leaves the word as it is */
    uint32_t before;        /* what the word holds */
};
/* How a lane reads: a value that `earlier` stores less would have given; and whether it goes by it. */
struct reading {
    unsigned earlier;
    bool goes_by_it;
};
void sync_acquire(struct warp *, int lane, struct sync_table *, uint64_t key, struct reading);
void sync_release(struct warp *, int lane, struct sync_table *, uint64_t key, struct stored);
void sync_clear(struct knowledge_space *, struct sync_table *);
/* Remembers what a word holds and hands on before a store. */
void sync_keep_before(struct knowledge_space *, struct sync_word *, uint32_t value, visit store);
void sync_forget_before(struct knowledge_space *, struct sync_word *);
/* The word of a key; NULL: it is not there. */
struct sync_word *sync_word_at(const struct sync_table *, uint64_t key);
/* A block's word, made if it is not there; NULL: no memory for it. */
struct sync_word *sync_word_for(const struct block *, struct sync_table *, uint64_t key);

/* race_exit.c: for another block */
void race_exit_reset(struct race_block *);

/* race_life.c: race_uses.c's answers for this launch's kernel. */
bool race_tries_again(struct race *, const struct emu_kernel *, size_t place);
bool race_compares(struct race *, const struct emu_kernel *, size_t place);
bool race_feeds(struct race *, const struct emu_kernel *, size_t from, size_t to);
bool race_decides(struct race *, const struct emu_kernel *, size_t from, size_t to);
const struct decision *race_decision(struct race *, const struct emu_kernel *, size_t place);

/* race_report.c */
struct race_reports *race_reports_open(void);
void race_reports_close(struct race_reports *);
/* A launch has ended: tells what was reported, and forgets it. */
void race_reports_tell(struct race_reports *, const struct launch *);
/* `lane` touches the bytes at `address` now, and `before` says who did, whose it was, and where:
 * UNKNOWN_PLACE if the kernel is too long to tell. */
enum { AT_ONCE = 0 }; /* the moment of another lane of the very same instruction */
enum hazard {
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    UNSEEN_BY_COPY,
    UNFENCED_READ, /* volatile or relaxed accesses: see counts_on_order() in race_pair.c */
    UNFENCED_WRITE,
    LOST_UPDATE,     /* see race_update.c */
    USE_BEFORE_EXIT, /* shared memory of a block that may exit before: see race_exit.c */
    USE_AFTER_EXIT,
    HAZARDS
};
/* An access that another one before it is not in order with. */
struct conflict {
    enum hazard hazard;
    enum maker maker;
    visit before; /* who made the other one */
    enum maker before_maker;
    unsigned before_place; /* in the code */
    enum ptx_space space;
    uint64_t address;
};
void race_report(struct warp *, const struct insn *, int lane, const struct conflict *);

#endif
