/* shadow.c — see shadow.h. */
#include "shadow.h"
#include <string.h>

enum { PAGE_GRANULES = PAGE_BYTES / GRANULE };

void shadow_open(struct shadow *shadow)
{
    *shadow = (struct shadow){.pages.bytes = PAGE_GRANULES * sizeof(struct granule)};
}

struct granule *shadow_at(struct shadow *shadow, uint64_t address)
{
    struct page *page = pages_touch(&shadow->pages, address >> PAGE_BITS);
    if (!page) return NULL;
    if (page->stamp != shadow->launch) { /* the accesses kept there are an older launch's */
        memset(page->content, 0, shadow->pages.bytes);
        page->stamp = shadow->launch;
    }
    return &((struct granule *)page->content)[address / GRANULE % PAGE_GRANULES];
}

void shadow_new_launch(struct shadow *shadow) { shadow->launch++; }

/* Clears the granules of a range inside one page. Other granules of the page may be in use: malloc
 * in a kernel gives out small pieces. */
static void clear(struct shadow *shadow, uint64_t address, uint64_t end)
{
    struct page *page = pages_find(&shadow->pages, address >> PAGE_BITS);
    uint64_t first = address / GRANULE, last = (end + GRANULE - 1) / GRANULE;
    if (page)
        memset((struct granule *)page->content + first % PAGE_GRANULES, 0,
               (last - first) * sizeof(struct granule));
}

void shadow_forget(struct shadow *shadow, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes, first = (address + PAGE_BYTES - 1) / PAGE_BYTES,
             last = end / PAGE_BYTES; /* pages from first to before last are whole */
    if (first > last) {
        clear(shadow, address, end);
        return;
    }
    if (address < first * PAGE_BYTES) clear(shadow, address, first * PAGE_BYTES);
    if (first < last) pages_drop(&shadow->pages, first, last - 1);
    if (last * PAGE_BYTES < end) clear(shadow, last * PAGE_BYTES, end);
}

void shadow_close(struct shadow *shadow) { pages_close(&shadow->pages); }
