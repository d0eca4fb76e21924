/*
 * shadow.h — racecheck's memory of who touched what: for every 4 bytes of shared and global memory
 * (a granule) the last write and up to two reads since.
 *
 * It costs 8 bytes for each byte that a kernel touches, in pages as they are touched, and nothing
 * when racecheck is off. What it forgets: of several threads that write different bytes of one
 * granule it keeps the last, of more than two readers those farthest apart. So a hazard in one such
 * byte may be missed while its neighbours' are found; none is invented.
 */
#ifndef EMU_SHADOW_H
#define EMU_SHADOW_H

#include "vclock.h"
#include "common/emu/machine/pages.h"

enum { GRANULE = 4 };

/*
 * A thread at a moment, and which of the granule's bytes it touched, in 64 bits:
 * moment 24 | bytes 4 | thread 10 | block 26. No bytes: nobody. Of an asynchronous copy the moment
 * is that at which it began; what stands in place of the thread, see enum maker.
 */
typedef uint64_t visit;
enum { VISIT_BLOCK_BITS = 26, VISIT_THREAD_BITS = 10, VISIT_MOMENT_BITS = 24 };
#define MAX_MOMENT ((UINT32_C(1) << VISIT_MOMENT_BITS) - 1)
enum {
    VISIT_THREAD_AT = VISIT_BLOCK_BITS,
    VISIT_BYTES_AT = VISIT_THREAD_AT + VISIT_THREAD_BITS,
    VISIT_MOMENT_AT = VISIT_BYTES_AT + GRANULE
};

static inline visit visit_make(uint64_t block, unsigned thread, moment now, unsigned bytes)
{
    return (uint64_t)now << VISIT_MOMENT_AT | (uint64_t)bytes << VISIT_BYTES_AT |
           (uint64_t)thread << VISIT_THREAD_AT | (block & ((1u << VISIT_BLOCK_BITS) - 1));
}
static inline uint64_t visit_block(visit v) { return v & ((1u << VISIT_BLOCK_BITS) - 1); }
static inline unsigned visit_thread(visit v)
{
    return v >> VISIT_THREAD_AT & ((1u << VISIT_THREAD_BITS) - 1);
}
static inline unsigned visit_bytes(visit v) { return v >> VISIT_BYTES_AT & ((1u << GRANULE) - 1); }
static inline moment visit_moment(visit v) { return (moment)(v >> VISIT_MOMENT_AT); }
/* The same thread at the same moment, whichever bytes? */
static inline bool visit_is_same(visit a, visit b)
{
    return !((a ^ b) & ~((visit)((1u << GRANULE) - 1) << VISIT_BYTES_AT));
}

enum { LAST_WRITE, READ, OTHER_READ, VISITS };

struct granule {
    visit who[VISITS];
    uint16_t place[VISITS]; /* index of the instruction, at most UNKNOWN_PLACE */
    uint16_t kinds;         /* KIND_BITS each: enum access_kind */
};
enum { UNKNOWN_PLACE = UINT16_MAX, KIND_BITS = 5 };
_Static_assert(VISITS *KIND_BITS <= 16, "all kinds in 16 bits");
_Static_assert(sizeof(struct granule) == 8 * GRANULE, "8 bytes of shadow a byte");

static inline unsigned granule_kind(const struct granule *g, int which)
{
    return g->kinds >> (which * KIND_BITS) & ((1u << KIND_BITS) - 1);
}
static inline void granule_set(struct granule *g, int which, visit who, unsigned place,
                               unsigned kind)
{
    unsigned shift = (unsigned)which * KIND_BITS, mask = ((1u << KIND_BITS) - 1) << shift;
    g->who[which] = who;
    g->place[which] = (uint16_t)place;
    g->kinds = (uint16_t)((g->kinds & ~mask) | kind << shift);
}

/* Global memory, by its addresses. What older launches did is in order before everything. */
struct shadow {
    struct pages pages;
    uint64_t launch;
};

void shadow_open(struct shadow *);
void shadow_close(struct shadow *);
/* The granule that holds an address; NULL: out of memory. */
struct granule *shadow_at(struct shadow *, uint64_t address);
void shadow_new_launch(struct shadow *);
/* Gives back what was kept for freed memory. */
void shadow_forget(struct shadow *, uint64_t address, uint64_t bytes);

#endif
