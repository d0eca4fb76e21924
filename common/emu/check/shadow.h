/*
 * shadow.h — racecheck's shadow memory: for every 4 bytes of shared and global memory (a granule)
 * the last write and up to two reads since.
 *
 * It takes 8 bytes for each byte of the pages that a kernel accesses, and nothing when racecheck is
 * off. It is incomplete: of several threads that write different bytes of one granule it keeps the
 * last, and of more than two readers the two that are farthest apart. So a hazard may be missed in
 * one such byte and found in its neighbours; no hazard is invented.
 */
#ifndef EMU_SHADOW_H
#define EMU_SHADOW_H

#include "vclock.h"
#include "common/emu/machine/pages.h"

enum { GRANULE = 4 };

/*
 * Which thread made an access and when (FastTrack's epoch, time@thread), and which of the granule's
 * bytes it accessed: time 24 bits | bytes 4 | thread 10 | block 26. No bytes: there was no access.
 * An asynchronous copy has the time at which it began; see enum agent for what takes the place of
 * the thread.
 */
typedef uint64_t epoch;
enum { EPOCH_BLOCK_BITS = 26, EPOCH_THREAD_BITS = 10, EPOCH_TIME_BITS = 24 };
#define MAX_TIMESTAMP ((UINT32_C(1) << EPOCH_TIME_BITS) - 1)
enum {
    EPOCH_THREAD_AT = EPOCH_BLOCK_BITS,
    EPOCH_BYTES_AT = EPOCH_THREAD_AT + EPOCH_THREAD_BITS,
    EPOCH_TIME_AT = EPOCH_BYTES_AT + GRANULE
};

static inline epoch epoch_make(uint64_t block, unsigned thread, timestamp now, unsigned bytes)
{
    return (uint64_t)now << EPOCH_TIME_AT | (uint64_t)bytes << EPOCH_BYTES_AT |
           (uint64_t)thread << EPOCH_THREAD_AT | (block & ((1u << EPOCH_BLOCK_BITS) - 1));
}
static inline uint64_t epoch_block(epoch v) { return v & ((1u << EPOCH_BLOCK_BITS) - 1); }
static inline unsigned epoch_thread(epoch v)
{
    return v >> EPOCH_THREAD_AT & ((1u << EPOCH_THREAD_BITS) - 1);
}
static inline unsigned epoch_bytes(epoch v) { return v >> EPOCH_BYTES_AT & ((1u << GRANULE) - 1); }
static inline timestamp epoch_time(epoch v) { return (timestamp)(v >> EPOCH_TIME_AT); }
/* Are thread and time the same? The bytes may differ. */
static inline bool epoch_is_same(epoch a, epoch b)
{
    return !((a ^ b) & ~((epoch)((1u << GRANULE) - 1) << EPOCH_BYTES_AT));
}

enum { LAST_WRITE, READ, OTHER_READ, RECORDS };

struct granule {
    epoch access[RECORDS];
    uint16_t place[RECORDS]; /* index of the instruction in the kernel's code, or UNKNOWN_PLACE */
    uint16_t kinds;          /* KIND_BITS bits each: enum access_strength and agent */
};
enum { UNKNOWN_PLACE = UINT16_MAX, KIND_BITS = 5 };
_Static_assert(RECORDS *KIND_BITS <= 16, "all kinds in 16 bits");
_Static_assert(sizeof(struct granule) == 8 * GRANULE, "8 bytes of shadow a byte");

static inline unsigned granule_kind(const struct granule *g, int which)
{
    return g->kinds >> (which * KIND_BITS) & ((1u << KIND_BITS) - 1);
}
static inline void granule_set(struct granule *g, int which, epoch access, unsigned place,
                               unsigned kind)
{
    unsigned shift = (unsigned)which * KIND_BITS, mask = ((1u << KIND_BITS) - 1) << shift;
    g->access[which] = access;
    g->place[which] = (uint16_t)place;
    g->kinds = (uint16_t)((g->kinds & ~mask) | kind << shift);
}

/* The granules of global memory. All accesses of earlier launches happen before those of this
 * one. */
struct shadow {
    struct pages pages;
    uint64_t launch;
};

void shadow_open(struct shadow *);
void shadow_close(struct shadow *);
/* The granule that holds an address; NULL: out of memory. */
struct granule *shadow_at(struct shadow *, uint64_t address);
void shadow_new_launch(struct shadow *);
/* Drops the granules of freed memory. */
void shadow_forget(struct shadow *, uint64_t address, uint64_t bytes);

#endif
