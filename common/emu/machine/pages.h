/* pages.h — a hash table of data for each page of memory that has been accessed, by page number. */
#ifndef EMU_PAGES_H
#define EMU_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS };

struct page {
    uint64_t number, stamp; /* stamp: for the user of the table; 0 at first */
    uint64_t content[];     /* zeros at first */
};

struct pages {
    size_t bytes; /* of a page's content */
    struct page **table;
    size_t size, count;
    struct page *last; /* found last */
};

/* The page with a number; NULL: it does not exist. pages_touch makes it; NULL: out of memory. */
struct page *pages_find(struct pages *, uint64_t number);
struct page *pages_touch(struct pages *, uint64_t number);
/* Removes the pages from the first to the last. */
void pages_drop(struct pages *, uint64_t first, uint64_t last);
void pages_close(struct pages *);

#endif
