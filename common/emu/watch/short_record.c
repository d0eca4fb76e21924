#include "short_record.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 }; /* of the table, which is at most half full */

static uint32_t hash_of(record row, uint32_t size)
{
    return (uint32_t)((row * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (size - 1);
}

/* Where the number of a row is in the table, or where it belongs. */
static uint32_t *place_of(const struct record_rows *rows, record row)
{
    uint32_t at = hash_of(row, rows->size);
    while (rows->table[at] && rows->row[rows->table[at]] != row) at = (at + 1) & (rows->size - 1);
    return &rows->table[at];
}

/* Doubles the room. */
static bool grow(struct record_rows *rows)
{
    uint32_t size = rows->size ? 2 * rows->size : FIRST_SIZE;
    record *row = realloc(rows->row, (size / 2 + 1) * sizeof *row);
    if (row) rows->row = row;
    uint32_t *table = row ? calloc(size, sizeof *table) : NULL;
    if (!table) return false;
    free(rows->table);
    rows->table = table;
    rows->size = size;
    for (uint32_t number = 1; number <= rows->count; number++)
        *place_of(rows, rows->row[number]) = number;
    return true;
}

/* The number of a row, which is added if it is new. 0: too many rows, or no memory is left. */
static uint32_t number_of(struct record_rows *rows, record row)
{
    if (rows->last_number && rows->last == row) return rows->last_number;
    if (rows->count == rows->size / 2 && !grow(rows)) return 0;
    uint32_t *number = place_of(rows, row);
    if (!*number && rows->count == MOST_ROWS) return 0;
    if (!*number) {
        *number = ++rows->count;
        rows->row[*number] = row;
    }
    rows->last = row;
    return rows->last_number = *number;
}

bool short_record_of(struct record_rows *rows, record v, short_record *to)
{
    *to = 0;
    if (!v) return true;
    uint32_t number = number_of(rows, v & ~(RECORD_THREAD | RECORD_BYTES));
    *to = number << ROW_AT | record_thread(v) << BYTES_BITS | record_bytes(v);
    return number != 0;
}

void record_rows_clear(struct record_rows *rows)
{
    if (rows->count) memset(rows->table, 0, rows->size * sizeof *rows->table);
    rows->count = rows->last_number = 0;
}

void record_rows_free(struct record_rows *rows)
{
    free(rows->row);
    free(rows->table);
    *rows = (struct record_rows){0};
}
