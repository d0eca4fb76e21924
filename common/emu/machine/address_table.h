/* address_table.h — a hash table from addresses to pointers. A table of zero bytes is empty. */
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
    size_t size, count; /* entries; used entries */
};

/* The pointer of an address; NULL: it has none. */
void *address_table_find(const struct address_table *, uint64_t address);
/* Sets the pointer of an address, which must not be NULL. False: out of memory. */
bool address_table_set(struct address_table *, uint64_t address, void *kept);
/* Removes an address. */
void address_table_remove(struct address_table *, uint64_t address);
void address_table_close(struct address_table *);

#endif
