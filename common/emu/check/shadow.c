/* shadow.c — see shadow.h. */
#include "shadow.h"
#include <stdlib.h>
#include <string.h>

/* ---- planes ---------------------------------------------------------------------------------- */

struct spare_plane {
    struct spare_plane *next;
};

static void plane_give(struct planes *planes, record *plane)
{
    struct spare_plane *spare = (struct spare_plane *)plane;
    spare->next = planes->spare;
    planes->spare = spare;
}

static record *plane_take(struct planes *planes)
{
    size_t bytes = planes->granules * sizeof(record);
    struct spare_plane *spare = planes->spare;
    if (spare) {
        planes->spare = spare->next;
        return memset(spare, 0, bytes);
    }
    record *plane = calloc(1, bytes);
    if (plane) planes->bytes += bytes;
    return plane;
}

void planes_free(struct planes *planes)
{
    while (planes->spare) {
        struct spare_plane *spare = planes->spare;
        planes->spare = spare->next;
        free(spare);
    }
    planes->bytes = 0;
}

/* ---- one page -------------------------------------------------------------------------------- */

void shadow_page_clear(struct planes *planes, struct shadow_page *page)
{
    for (int which = 0; which < RECORDS; which++) {
        if (page->plane[which]) plane_give(planes, page->plane[which]);
        page->plane[which] = NULL;
    }
}

record *shadow_plane(struct planes *planes, struct shadow_page *page, int which)
{
    if (!page->plane[which]) page->plane[which] = plane_take(planes);
    return page->plane[which];
}

/* ---- global memory --------------------------------------------------------------------------- */

static struct shadow_page *content_of(struct page *page)
{
    return (struct shadow_page *)page->content;
}

void shadow_open(struct shadow *shadow)
{
    *shadow = (struct shadow){.pages.bytes = sizeof(struct shadow_page),
                              .planes.granules = PAGE_GRANULES};
}

struct shadow_page *shadow_page_at(struct shadow *shadow, uint64_t address)
{
    struct page *page = pages_touch(&shadow->pages, address >> PAGE_BITS);
    if (!page) return NULL;
    struct shadow_page *content = content_of(page);
    if (content->launch != shadow->launch) {
        shadow_page_clear(&shadow->planes, content);
        content->launch = shadow->launch;
    }
    return content;
}

void shadow_new_launch(struct shadow *shadow) { shadow->launch++; }

/* Clears the granules of a range inside one page. Other granules of the page may be in use: malloc
 * in a kernel gives out small pieces. */
static void clear(struct shadow *shadow, uint64_t address, uint64_t end)
{
    struct page *page = pages_find(&shadow->pages, address >> PAGE_BITS);
    uint64_t first = address / GRANULE, last = (end + GRANULE - 1) / GRANULE;
    for (int which = 0; page && which < RECORDS; which++)
        if (content_of(page)->plane[which])
            memset(content_of(page)->plane[which] + first % PAGE_GRANULES, 0,
                   (last - first) * sizeof(record));
}

static void give_planes(struct shadow *shadow, struct page *page, uint64_t first, uint64_t last)
{
    if (page && page->number >= first && page->number <= last)
        shadow_page_clear(&shadow->planes, content_of(page));
}

/* Drops the pages from the first to the last. Looks for each of them, or at all pages, whichever is
 * less work. */
static void drop(struct shadow *shadow, uint64_t first, uint64_t last)
{
    struct pages *pages = &shadow->pages;
    if (last - first < pages->count)
        for (uint64_t number = first; number <= last; number++)
            give_planes(shadow, pages_find(pages, number), first, last);
    else
        for (size_t i = 0; i < pages->size; i++) give_planes(shadow, pages->table[i], first, last);
    pages_drop(pages, first, last);
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
    if (first < last) drop(shadow, first, last - 1);
    if (last * PAGE_BYTES < end) clear(shadow, last * PAGE_BYTES, end);
}

void shadow_close(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->pages.size; i++)
        give_planes(shadow, shadow->pages.table[i], 0, UINT64_MAX);
    planes_free(&shadow->planes);
    pages_close(&shadow->pages);
}
