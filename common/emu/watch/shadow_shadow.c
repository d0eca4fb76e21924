#include "shadow_shadow.h"
#include <stdlib.h>
#include <string.h>

/* ---- planes ---------------------------------------------------------------------------------- */

struct spare_plane {
    struct spare_plane *next;
};

static void plane_give(struct spare_plane **spares, void *plane)
{
    struct spare_plane *spare = plane;
    if (!plane) return;
    spare->next = *spares;
    *spares = spare;
}

/* A plane of zeros, with `of_granule` bytes for each granule. */
static void *plane_take(struct planes *planes, struct spare_plane **spares, size_t of_granule)
{
    size_t bytes = planes->granules * of_granule;
    struct spare_plane *spare = *spares;
    if (bytes < sizeof *spare) bytes = sizeof *spare;
    if (spare) {
        *spares = spare->next;
        return memset(spare, 0, bytes);
    }
    void *plane = calloc(1, bytes);
    if (plane) planes->bytes += bytes;
    return plane;
}

static void free_all(struct spare_plane **spares)
{
    while (*spares) {
        struct spare_plane *spare = *spares;
        *spares = spare->next;
        free(spare);
    }
}

void planes_free(struct planes *planes)
{
    free_all(&planes->spare);
    free_all(&planes->spare_short);
    planes->bytes = 0;
}

/* ---- one page -------------------------------------------------------------------------------- */

void shadow_page_clear(struct planes *planes, struct shadow_page *page)
{
    for (int which = 0; which < RECORDS; which++) {
        plane_give(&planes->spare, page->plane[which]);
        page->plane[which] = NULL;
    }
    plane_give(&planes->spare_short, page->short_reads);
    page->short_reads = NULL;
}

record *shadow_plane(struct planes *planes, struct shadow_page *page, int which)
{
    if (!page->plane[which])
        page->plane[which] = plane_take(planes, &planes->spare, sizeof(record));
    return page->plane[which];
}

/* The page's second reads get their long form. */
static bool make_long(struct planes *planes, struct shadow_page *page)
{
    record *plane = shadow_plane(planes, page, OTHER_READ);
    for (size_t k = 0; plane && k < planes->granules; k++)
        plane[k] = record_of_short(planes->rows, page->short_reads[k]);
    if (!plane) return false;
    plane_give(&planes->spare_short, page->short_reads);
    page->short_reads = NULL;
    return true;
}

record shadow_short_read(const struct planes *planes, const struct shadow_page *page, size_t index)
{
    return record_of_short(planes->rows, page->short_reads[index]);
}

/* Makes the plane for second reads, of short records if there are any. */
static bool make_other(struct planes *planes, struct shadow_page *page)
{
    if (page->plane[OTHER_READ] || page->short_reads) return true;
    if (!planes->rows) return shadow_plane(planes, page, OTHER_READ) != NULL;
    page->short_reads = plane_take(planes, &planes->spare_short, sizeof(short_record));
    return page->short_reads != NULL;
}

bool shadow_put_other(struct planes *planes, struct shadow_page *page, size_t index, record v)
{
    short_record s;
    if (!make_other(planes, page)) return false;
    if (page->short_reads && short_record_of(planes->rows, v, &s)) {
        page->short_reads[index] = s;
        return true;
    }
    if (page->short_reads && !make_long(planes, page)) return false;
    page->plane[OTHER_READ][index] = v;
    return true;
}

/* ---- global memory --------------------------------------------------------------------------- */

static struct shadow_page *content_of(struct page *page)
{
    return (struct shadow_page *)page->content;
}

void shadow_open(struct shadow *shadow, struct record_rows *rows)
{
    *shadow = (struct shadow){.pages.bytes = sizeof(struct shadow_page),
                              .planes = {.granules = PAGE_GRANULES, .rows = rows}};
}

void shadow_note_touched(struct shadow *shadow, uint64_t number)
{
    enum { FIRST_ROOM = 256 };
    if (shadow->touched_count == shadow->touched_room) {
        size_t room = shadow->touched_room ? 2 * shadow->touched_room : FIRST_ROOM;
        uint64_t *grown = realloc(shadow->touched, room * sizeof *grown);
        if (!grown) return;
        shadow->touched = grown;
        shadow->touched_room = room;
    }
    shadow->touched[shadow->touched_count++] = number;
}

struct shadow_page *shadow_page_at(struct shadow *shadow, uint64_t address)
{
    struct page *page = pages_touch(&shadow->pages, address >> PAGE_BITS);
    if (!page) return NULL;
    struct shadow_page *content = content_of(page);
    if (content->launch != shadow->launch) {
        shadow_page_clear(&shadow->planes, content);
        content->launch = shadow->launch;
        shadow_note_touched(shadow, page->number);
    }
    return content;
}

void shadow_new_launch(struct shadow *shadow)
{
    shadow->launch++;
    shadow->touched_count = 0;
}

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
    if (page && content_of(page)->short_reads)
        memset(content_of(page)->short_reads + first % PAGE_GRANULES, 0,
               (last - first) * sizeof(short_record));
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
    free(shadow->touched);
}
