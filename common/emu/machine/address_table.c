/* address_table.c — a hash table with linear probing: colliding entries follow each other. */
#include "address_table.h"
#include <stdlib.h>

enum { FIRST_SIZE = 64 };

static size_t home_of(const struct address_table *table, uint64_t address)
{
    return (address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table->size - 1);
}

/* The entry of an address, or the free one where it would be. */
static struct address_entry *entry_of(const struct address_table *table, uint64_t address)
{
    size_t at = home_of(table, address);
    while (table->entries[at].kept && table->entries[at].address != address)
        at = (at + 1) & (table->size - 1);
    return &table->entries[at];
}

static bool grow(struct address_table *table)
{
    size_t size = table->size ? 2 * table->size : FIRST_SIZE;
    struct address_table grown = {calloc(size, sizeof *grown.entries), size, table->count};
    if (!grown.entries) return false;
    for (size_t i = 0; i < table->size; i++)
        if (table->entries[i].kept)
            *entry_of(&grown, table->entries[i].address) = table->entries[i];
    free(table->entries);
    *table = grown;
    return true;
}

void *address_table_find(const struct address_table *table, uint64_t address)
{
    return table->size ? entry_of(table, address)->kept : NULL;
}

bool address_table_set(struct address_table *table, uint64_t address, void *kept)
{
    if (2 * table->count >= table->size && !grow(table)) return false;
    struct address_entry *entry = entry_of(table, address);
    if (!entry->kept) table->count++;
    *entry = (struct address_entry){address, kept};
    return true;
}

void address_table_remove(struct address_table *table, uint64_t address)
{
    if (!address_table_find(table, address)) return;
    size_t last = table->size - 1, hole = (size_t)(entry_of(table, address) - table->entries);
    table->count--;
    /* Entries behind the hole that could no longer be found move up. */
    for (size_t at = (hole + 1) & last; table->entries[at].kept; at = (at + 1) & last) {
        size_t home = home_of(table, table->entries[at].address);
        if (((at - home) & last) < ((at - hole) & last)) continue;
        table->entries[hole] = table->entries[at];
        hole = at;
    }
    table->entries[hole].kept = NULL;
}

void address_table_close(struct address_table *table)
{
    free(table->entries);
    *table = (struct address_table){0};
}
