/*
 * shadow.h — an access in 64 bits: which thread made it and when (FastTrack's epoch, time@thread),
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
#ifndef EMU_RECORD_H
#define EMU_RECORD_H

#include "vclock.h"

enum { GRANULE = 4 };

/* How strong an access is (PTX ISA, "strong operations"), as in struct insn's `order`. A record
 * keeps one of the first four, and KIND_NARROW if the access is strong only among threads of its
 * block. From bit AGENT_AT on it keeps the agent that made the access (enum agent). */
enum access_strength {
    KIND_WEAK,
    KIND_VOLATILE,
    KIND_STRONG,
    KIND_ATOMIC,
    KIND_MASK = KIND_ATOMIC,
    KIND_NARROW,
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
    timestamp last_time; /* and the last time: see is_off() in race_race.c */
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

/* A record without some of its bytes; 0 if none is left. */
static inline record record_without(record v, unsigned bytes)
{
    v &= ~(record)bytes;
    return v & RECORD_BYTES ? v : 0;
}

/* Are two records equal except for some fields? */
static inline bool record_equals(record a, record b, record except) { return !((a ^ b) & ~except); }

#endif
