/*
 * short_record.h — a record in 4 bytes. What the records of many granules have in common, which is
 * the time, the place, the block and the kind, is a row of a table. The short record has the number
 * of that row:
 *
 *     row 18 | thread 10 | bytes 4
 *
 * A launch may need more rows than 18 bits can count. Then other records have no short form.
 */
#ifndef EMU_SHORT_RECORD_H
#define EMU_SHORT_RECORD_H

#include "shadow.h"
#include <stddef.h>

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

#endif
