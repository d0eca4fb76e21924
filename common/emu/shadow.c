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
    if (page->stamp != shadow->launch) { /* what is there is of an older launch */
        memset(page->content, 0, shadow->pages.bytes);
        page->stamp = shadow->launch;
    }
    return &((struct granule *)page->content)[address / GRANULE % PAGE_GRANULES];
}

void shadow_new_launch(struct shadow *shadow) { shadow->launch++; }

void shadow_forget(struct shadow *shadow, uint64_t address, uint64_t bytes)
{
    pages_drop(&shadow->pages, address >> PAGE_BITS, (address + bytes - 1) >> PAGE_BITS);
}

void shadow_close(struct shadow *shadow) { pages_close(&shadow->pages); }
