/*
 * shadow_shadow.h — racecheck's shadow memory: for every 4 bytes of shared and global memory (a
 * granule) the last write and up to two reads since.
 *
 * Each of the first two is a record of 8 bytes, and the second read is a short record of 4. Each
 * has a plane of its own, and a page has a plane only when it needs it. So a byte of a page takes 2
 * bytes of shadow if it is only read or only written, and 4 if both. It takes 5 where a launch also
 * has, in the same page, two reads of which neither happens before the other. It takes 6 if the
 * second read has no short form (short_record.h), and in shared memory, of which there is little.
 * It takes nothing when racecheck is off.
 *
 * It is incomplete: of several threads that write different bytes of one granule it keeps the last,
 * and of more than two readers the two that are farthest apart. So a hazard may be missed in one
 * such byte and found in its neighbours; no hazard is invented.
 */
#ifndef EMU_SHADOW_H
#define EMU_SHADOW_H

#include "common/emu/machine/pages.h"
#include "short_record.h"

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
/* A plane of a page, made if the page has none. NULL: out of memory. */
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
/* Replaces it. False: out of memory. */
bool shadow_put_other(struct planes *, struct shadow_page *, size_t index, record);
static inline struct granule shadow_granule(const struct planes *planes,
                                            const struct shadow_page *page, size_t index)
{
    return (struct granule){{shadow_record(page, LAST_WRITE, index),
                             shadow_record(page, READ, index), shadow_other(planes, page, index)}};
}
/* Puts back the records of a granule. False: out of memory. */
static inline bool shadow_put(struct planes *planes, struct shadow_page *page, size_t index,
                              const struct granule *g)
{
    for (int which = 0; which < OTHER_READ; which++) {
        if (shadow_record(page, which, index) == g->access[which]) continue;
        if (!shadow_plane(planes, page, which)) return false;
        page->plane[which][index] = g->access[which];
    }
    record other = g->access[OTHER_READ];
    return shadow_other(planes, page, index) == other ||
           shadow_put_other(planes, page, index, other);
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
/* The page of an address; NULL: out of memory. */
struct shadow_page *shadow_page_at(struct shadow *, uint64_t address);
void shadow_new_launch(struct shadow *);
/* Adds a page to `touched`. If memory runs out, it is missing there. */
void shadow_note_touched(struct shadow *, uint64_t number);
/* Drops the granules of freed memory. */
void shadow_forget(struct shadow *, uint64_t address, uint64_t bytes);
/* The bytes that the shadow takes, with its tables. */
static inline size_t shadow_bytes(const struct shadow *shadow)
{
    const struct pages *pages = &shadow->pages;
    return shadow->planes.bytes + record_rows_bytes(shadow->planes.rows) +
           pages->size * sizeof *pages->table + pages->count * (sizeof(struct page) + pages->bytes);
}

#endif
