/* address_table.h — something kept for each of many addresses: a hash table. Filled with zeros it is
 * empty. */
#ifndef EMU_ADDRESS_TABLE_H
#define EMU_ADDRESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_entry {
    uint64_t address;
    void *kept; /* NULL: the entry is free */
};

struct address_table {
    struct address_entry *entries;
    size_t size, count; /* of entries; of those that are not free */
};

/* What is kept for an address. NULL: nothing. */
void *address_table_find(const struct address_table *, uint64_t address);
/* Keeps something, which must not be NULL, in place of what was kept for that address. False: out of
 * memory. */
bool address_table_set(struct address_table *, uint64_t address, void *kept);
/* Nothing is kept for that address any more. */
void address_table_remove(struct address_table *, uint64_t address);
void address_table_close(struct address_table *);

#endif
