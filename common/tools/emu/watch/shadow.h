/* shadow.h — the last accesses of each 4 bytes, in few bits, and vector clocks. */
#ifndef EMU_SHADOW_H
#define EMU_SHADOW_H

#include "common/tools/emu/machine/device.h"

/* ---- vector clocks --------------------------------------------------------------------------- */

/* Vector clocks: for each thread of the grid, up to which time its accesses happen
 * before the owner's next access (Mattern 1988; FastTrack 2009 for race detectors).
 *
 * Each block counts its synchronisations. A timestamp is a value of this counter; 0 is before all
 * accesses of the block. Timestamps of different blocks cannot be compared.
 *
 * A clock never changes after it is made. Several owners may share it, and they are counted. It is
 * a tree over the block's number with 16 branches a node: clocks that thousands of blocks pass on
 * to each other (in a chained scan, or at a grid barrier) share nearly all of their nodes. A leaf
 * is the clock of one block: one time for all of its threads, and later times for single warps,
 * threads and asynchronous copies. A NULL clock has time 0 for every thread. */

enum {
    MAX_THREADS = 1024, /* of a block */
    WARP_KEY = MAX_THREADS,
    /* Asynchronous copies that end in the order in which they began: */
    COPY_KEY = WARP_KEY + MAX_THREADS / 32, /* a thread's cp.async */
    BULK_READ_KEY = COPY_KEY + MAX_THREADS, /* a thread's cp.async.bulk: their reads, */
    BULK_KEY = BULK_READ_KEY + MAX_THREADS, /* and their writes */
    BARRIER_KEY = BULK_KEY + MAX_THREADS,   /* all cp.async.bulk that arrive at one mbarrier */
    WAIT_KEY = BARRIER_KEY + MAX_THREADS,   /* any thread's griddepcontrol.wait */
    MAX_KEYS
};

typedef uint32_t timestamp;

/* The time of a thread of the block; of all threads of warp w (key WARP_KEY + w); or of copies. */
struct vclock_entry {
    uint16_t key;
    timestamp time;
};

struct vclock;

/* What the clocks of one launch share: the depth of their trees. */
struct vclock_space {
    unsigned levels;
};
void vclock_open(struct vclock_space *, uint64_t blocks);

/* A clock of one block: `base` for all of its threads and 0 for its copies, and besides the
 * entries, in the order of their keys. Returns a new reference. */
struct vclock *vclock_of_block(struct vclock_space *, uint64_t block, timestamp base,
                               const struct vclock_entry *entries, unsigned count);
/* *into becomes the later time of the two clocks, for each thread. */
void vclock_join(struct vclock_space *, struct vclock **into, struct vclock *more);
/* Adds an owner; removes one, and the last frees the clock. */
struct vclock *vclock_hold(struct vclock *);
void vclock_drop(struct vclock_space *, struct vclock **);
/* Is no time of `of` later than in the first clock, if the first has at least the time `base` for
 * all threads of that block? */
bool vclock_covers(const struct vclock_space *, const struct vclock *, const struct vclock *of,
                   uint64_t block, timestamp base);
/* The time of a thread; and of copies, by their key. */
timestamp vclock_time_of_thread(const struct vclock_space *, const struct vclock *, uint64_t block,
                                unsigned thread);
timestamp vclock_time_of_copies(const struct vclock_space *, const struct vclock *, uint64_t block,
                                unsigned key);

/* ---- an access in 64 bits -------------------------------------------------------------------- */

/*
 * An access in 64 bits: which thread made it and when (FastTrack's epoch, time@thread),
 * where it is in the code, how it was made, and which bytes of a granule it accessed:
 *
 *     time | place | block | thread 10 | kind 5 | bytes 4
 *
 * 45 bits are for time, place and block. A launch divides them: the block and the place get the
 * bits that its grid and its kernel need, and the time gets the others. The time has at least 16
 * bits: with more than 2^29 blocks several have the same number, and places that do not fit are
 * unknown. Records of two launches cannot be compared. No bytes: there was no access, and the whole
 * record is 0.
 */

enum { GRANULE = 4 };

/* How strong an access is (PTX ISA, "strong operations"), as in struct insn's `order`. A record
 * keeps one of the first four, and KIND_NARROW if the access is strong only among threads of its
 * block, or, of a weak one, if it takes memory for constant. From bit AGENT_AT on it keeps the
 * agent that made the access (enum agent). */
enum access_strength {
    KIND_WEAK,
    KIND_VOLATILE,
    KIND_STRONG,
    KIND_ATOMIC,
    KIND_MASK = KIND_ATOMIC,
    KIND_NARROW,
    KIND_CONSTANT = KIND_WEAK | KIND_NARROW,
    AGENT_AT = 3
};

typedef uint64_t record;
enum {
    BYTES_BITS = GRANULE,
    KIND_BITS = 5, /* enum access_strength and agent */
    THREAD_BITS = 10,
    KIND_AT = BYTES_BITS,
    THREAD_AT = KIND_AT + KIND_BITS,
    BLOCK_AT = THREAD_AT + THREAD_BITS,
    WARP_AT = THREAD_AT + 5, /* a warp has 32 threads */
    MIN_TIME_BITS = 16
};
_Static_assert(1 << THREAD_BITS == MAX_THREADS, "each thread of a block has a number");

/* How a launch's records are laid out. The masks are of bits in their place in the record. */
struct record_layout {
    unsigned place_at, time_at;
    record block_mask, place_mask;
    unsigned last_place; /* the highest number of a place that fits */
    timestamp last_time; /* and the last time: see is_off() in race.c */
};

static inline record bits_from_to(unsigned from, unsigned to)
{
    return (to - from < 64 ? (UINT64_C(1) << (to - from)) - 1 : UINT64_MAX) << from;
}

/* The bits of a number from 0 to `last`. */
static inline unsigned bits_for(uint64_t last)
{
    return last ? 64 - (unsigned)__builtin_clzll(last) : 0;
}

static inline unsigned at_most(unsigned a, unsigned b) { return a < b ? a : b; }

static inline struct record_layout record_layout(uint64_t blocks, uint64_t places)
{
    const unsigned most = 64 - MIN_TIME_BITS;
    unsigned block_end = at_most(BLOCK_AT + bits_for(blocks - 1), most);
    unsigned place_end = at_most(block_end + bits_for(places), most);
    unsigned time_bits = at_most(64 - place_end, 31); /* a timestamp and its successor */
    return (struct record_layout){.place_at = block_end,
                                  .time_at = place_end,
                                  .block_mask = bits_from_to(BLOCK_AT, block_end),
                                  .place_mask = bits_from_to(block_end, place_end),
                                  .last_place = (unsigned)bits_from_to(0, place_end - block_end),
                                  .last_time = (timestamp)bits_from_to(0, time_bits)};
}

/* What a record says. An asynchronous copy has the time at which it began; see enum agent for what
 * takes the place of the thread. */
struct record_parts {
    uint64_t block;
    unsigned thread;
    timestamp time;
    unsigned place; /* see race_number_of_place(); 0: unknown */
    unsigned kind, bytes;
};

static inline record record_of(const struct record_layout *l, struct record_parts parts)
{
    return (uint64_t)parts.time << l->time_at | (uint64_t)parts.place << l->place_at |
           (parts.block << BLOCK_AT & l->block_mask) | (uint64_t)parts.thread << THREAD_AT |
           (uint64_t)parts.kind << KIND_AT | parts.bytes;
}

static inline unsigned record_bytes(record v) { return v & ((1u << BYTES_BITS) - 1); }
static inline unsigned record_kind(record v) { return v >> KIND_AT & ((1u << KIND_BITS) - 1); }
static inline unsigned record_thread(record v)
{
    return v >> THREAD_AT & ((1u << THREAD_BITS) - 1);
}
static inline uint64_t record_block(const struct record_layout *l, record v)
{
    return (v & l->block_mask) >> BLOCK_AT;
}
static inline unsigned record_place(const struct record_layout *l, record v)
{
    return (unsigned)((v & l->place_mask) >> l->place_at);
}
static inline timestamp record_time(const struct record_layout *l, record v)
{
    return (timestamp)(v >> l->time_at);
}

/* Fields of a record. The masks of a layout are the others. */
#define RECORD_BYTES    bits_from_to(0, KIND_AT)
#define RECORD_KIND     bits_from_to(KIND_AT, THREAD_AT)
#define RECORD_STRENGTH bits_from_to(KIND_AT, KIND_AT + AGENT_AT)
#define RECORD_AGENT    bits_from_to(KIND_AT + AGENT_AT, THREAD_AT)
#define RECORD_THREAD   bits_from_to(THREAD_AT, BLOCK_AT)
#define RECORD_WARP     bits_from_to(WARP_AT, BLOCK_AT) /* the high bits of the thread */

/* Is it a load that takes memory for constant (ORDER_CONSTANT)? */
static inline bool record_is_constant(record v)
{
    return (v & RECORD_STRENGTH) == (record)KIND_CONSTANT << KIND_AT;
}

/* A record without some of its bytes; 0 if none is left. */
static inline record record_without(record v, unsigned bytes)
{
    v &= ~(record)bytes;
    return v & RECORD_BYTES ? v : 0;
}

/* Are two records equal except for some fields? */
static inline bool record_equals(record a, record b, record except) { return !((a ^ b) & ~except); }

/* ---- a record in 4 bytes --------------------------------------------------------------------- */

/*
 * What the records of many granules have in common, which is the time, the place, the block and
 * the kind, is a row of a table. The short record has the number of that row:
 *
 *     row 18 | thread 10 | bytes 4
 *
 * A launch may need more rows than 18 bits can count. Then other records have no short form.
 */

typedef uint32_t short_record; /* 0: no access, as of a record */
enum { ROW_AT = BYTES_BITS + THREAD_BITS, MOST_ROWS = (1 << (32 - ROW_AT)) - 1 };

struct record_rows {
    record *row;          /* from number 1 on */
    uint32_t *table;      /* the numbers, by the hash of their rows; 0: free */
    uint32_t count, size; /* of rows; of the table: a power of two, and 0 at first */
    record last;          /* the row that was looked for last, */
    uint32_t last_number; /* and its number; 0: none yet */
};

/* The short form of a record. False: it has none, or memory does not suffice. */
bool short_record_of(struct record_rows *, record, short_record *to);

static inline record record_of_short(const struct record_rows *rows, short_record s)
{
    if (!s) return 0;
    return rows->row[s >> ROW_AT] |
           (record)(s >> BYTES_BITS & ((1u << THREAD_BITS) - 1)) << THREAD_AT |
           (s & ((1u << BYTES_BITS) - 1));
}

/* A short record without some of its bytes, as record_without(). */
static inline short_record short_record_without(short_record s, unsigned bytes)
{
    s &= ~bytes;
    return s & RECORD_BYTES ? s : 0;
}

/* No short record is in use any more. */
void record_rows_clear(struct record_rows *);
void record_rows_free(struct record_rows *);
static inline size_t record_rows_bytes(const struct record_rows *rows)
{
    return rows->size / 2 * sizeof *rows->row + rows->size * sizeof *rows->table;
}

/* ---- racecheck's shadow memory --------------------------------------------------------------- */

/* Racecheck's shadow memory: for every 4 bytes of shared and global memory (a
 * granule) the last write and up to two reads since.
 *
 * Each of the first two is a record of 8 bytes, and the second read is a short record of 4. Each
 * has a plane of its own, and a page has a plane only when it needs it. So a byte of a page takes 2
 * bytes of shadow if it is only read or only written, and 4 if both. It takes 5 where a launch also
 * has, in the same page, two reads of which neither happens before the other. It takes 6 if the
 * second read has no short form, and in shared memory, of which there is little.
 * It takes nothing when racecheck is off.
 *
 * It is incomplete: of several threads that write different bytes of one granule it keeps the last,
 * and of more than two readers the two that are farthest apart. So a hazard may be missed in one
 * such byte and found in its neighbours; no hazard is invented. */

enum { LAST_WRITE, READ, OTHER_READ, RECORDS };

struct granule {
    record access[RECORDS];
};

/* The last write of a granule after one more write. The bytes of two writes of one thread at the
 * same time add up. */
static inline record record_of_write(const struct record_layout *l, record before, record new)
{
    record except = l->place_mask | RECORD_BYTES | RECORD_STRENGTH;
    return record_equals(before, new, except) ? new | (before & RECORD_BYTES) : new;
}

/* How far apart two threads are: in one warp, in one block, in two blocks. */
static inline unsigned record_distance(const struct record_layout *l, record a, record b)
{
    record differ = a ^ b;
    if (differ & l->block_mask) return 3;
    if (differ & RECORD_WARP) return 2;
    return differ & RECORD_THREAD ? 1 : 0;
}

/* Is `new` at least as far away from `read` as `other` is? */
static inline bool is_farther(const struct record_layout *l, record new, record other, record read)
{
    return record_distance(l, new, read) >= record_distance(l, other, read);
}

/* Where planes come from. A plane that is given back is kept for the next page that needs one. */
struct planes {
    size_t granules; /* of each plane */
    size_t bytes;    /* of all of them, those that are not in use included */
    struct spare_plane *spare, *spare_short;
    struct record_rows *rows; /* for short records; NULL: long ones only, as in shared memory */
};
void planes_free(struct planes *);

/* The granules of a page of global memory, or of all shared memory of a block. */
struct shadow_page {
    uint64_t launch;        /* of global memory: the launch whose accesses it keeps */
    record *plane[RECORDS]; /* NULL: no such access yet, or only in its short form */
    short_record *short_reads; /* in place of plane[OTHER_READ]; NULL: all are long, or none yet */
};
/* The page has no accesses any more. Its planes go back. */
void shadow_page_clear(struct planes *, struct shadow_page *);
/* A plane of a page, made if the page has none. */
record *shadow_plane(struct planes *, struct shadow_page *, int which);
static inline record shadow_record(const struct shadow_page *page, int which, size_t index)
{
    return page->plane[which] ? page->plane[which][index] : 0;
}
/* The second read of a granule, which has a short form. */
record shadow_short_read(const struct planes *, const struct shadow_page *, size_t index);
/* The second read of a granule. */
static inline record shadow_other(const struct planes *planes, const struct shadow_page *page,
                                  size_t index)
{
    if (page->plane[OTHER_READ]) return page->plane[OTHER_READ][index];
    return page->short_reads ? shadow_short_read(planes, page, index) : 0;
}
/* Replaces it. */
void shadow_put_other(struct planes *, struct shadow_page *, size_t index, record);
static inline struct granule shadow_granule(const struct planes *planes,
                                            const struct shadow_page *page, size_t index)
{
    return (struct granule){{shadow_record(page, LAST_WRITE, index),
                             shadow_record(page, READ, index), shadow_other(planes, page, index)}};
}
/* Puts back the records of a granule. */
static inline void shadow_put(struct planes *planes, struct shadow_page *page, size_t index,
                              const struct granule *g)
{
    for (int which = 0; which < OTHER_READ; which++) {
        if (shadow_record(page, which, index) == g->access[which]) continue;
        shadow_plane(planes, page, which)[index] = g->access[which];
    }
    record other = g->access[OTHER_READ];
    if (shadow_other(planes, page, index) != other) shadow_put_other(planes, page, index, other);
}

/* The granules of global memory. All accesses of earlier launches happen before those of this
 * one. */
struct shadow {
    struct pages pages;
    struct planes planes;
    uint64_t launch;
    uint64_t *touched; /* numbers of the pages that have accesses, of the launch */
    size_t touched_count, touched_room;
};
enum { PAGE_GRANULES = PAGE_BYTES / GRANULE };

void shadow_open(struct shadow *, struct record_rows *);
void shadow_close(struct shadow *);
/* The page of an address. */
struct shadow_page *shadow_page_at(struct shadow *, uint64_t address);
void shadow_new_launch(struct shadow *);
/* Adds a page to `touched`. */
void shadow_note_touched(struct shadow *, uint64_t number);
/* Drops the granules of freed memory. */
void shadow_forget(struct shadow *, uint64_t address, uint64_t bytes);
/* The bytes that the shadow takes, with its tables. */
static inline size_t shadow_bytes(const struct shadow *shadow)
{
    const struct pages *pages = &shadow->pages;
    return shadow->planes.bytes + record_rows_bytes(shadow->planes.rows) +
           pages->table.size * sizeof *pages->table.entries +
           pages->table.count * (sizeof(struct page) + pages->bytes);
}

#endif
