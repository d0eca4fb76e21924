/* pages.h — something kept for each page of memory that has been touched: a hash table by the
 * page's number. */
#ifndef EMU_PAGES_H
#define EMU_PAGES_H

#include <stddef.h>
#include <stdint.h>

enum { PAGE_BITS = 12, PAGE_BYTES = 1 << PAGE_BITS };

struct page {
    uint64_t number, stamp; /* stamp: for whoever uses it; 0 at first */
    uint64_t content[];     /* zeros at first */
};

struct pages {
    size_t bytes; /* of a page's content */
    struct page **table;
    size_t size, count;
    struct page *last; /* found last */
};

/* The page of that number. pages_touch makes it if it is not there; NULL: out of memory. */
struct page *pages_find(struct pages *, uint64_t number);
struct page *pages_touch(struct pages *, uint64_t number);
/* Those from the first to the last are no more. */
void pages_drop(struct pages *, uint64_t first, uint64_t last);
void pages_close(struct pages *);

#endif
