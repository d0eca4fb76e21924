#include "pages.h"
#include <stdbool.h>
#include <stdlib.h>

enum { FIRST_PAGES = 256 };

static size_t home_of_page(const struct pages *pages, uint64_t number)
{
    return (number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (pages->size - 1);
}

static struct page **place_of(const struct pages *pages, uint64_t number)
{
    size_t at = home_of_page(pages, number);
    while (pages->table[at] && pages->table[at]->number != number)
        at = (at + 1) & (pages->size - 1);
    return &pages->table[at];
}

/* Rebuilds the table with a different size, without the pages from first to last. */
static bool rebuild(struct pages *pages, size_t size, uint64_t first, uint64_t last)
{
    struct pages old = *pages;
    pages->table = calloc(size, sizeof *pages->table);
    if (!pages->table) {
        *pages = old;
        return false;
    }
    pages->size = size;
    pages->count = 0;
    pages->last = NULL;
    for (size_t i = 0; i < old.size; i++) {
        struct page *page = old.table[i];
        if (page && page->number >= first && page->number <= last) {
            free(page);
        } else if (page) {
            *place_of(pages, page->number) = page;
            pages->count++;
        }
    }
    free(old.table);
    return true;
}

struct page *pages_find(struct pages *pages, uint64_t number)
{
    if (pages->last && pages->last->number == number) return pages->last;
    struct page *page = pages->size ? *place_of(pages, number) : NULL;
    if (page) pages->last = page;
    return page;
}

struct page *pages_touch(struct pages *pages, uint64_t number)
{
    struct page *page = pages_find(pages, number);
    if (page) return page;
    if (2 * pages->count >= pages->size &&
        !rebuild(pages, pages->size ? 2 * pages->size : FIRST_PAGES, 1, 0))
        return NULL;
    page = calloc(1, sizeof *page + pages->bytes);
    if (!page) return NULL;
    page->number = number;
    *place_of(pages, number) = page;
    pages->count++;
    return pages->last = page;
}

/* Removes one page. Pages behind it that could no longer be found move up. */
static void drop(struct pages *pages, uint64_t number)
{
    size_t mask = pages->size - 1, hole = (size_t)(place_of(pages, number) - pages->table);
    if (!pages->table[hole]) return;
    free(pages->table[hole]);
    for (size_t at = (hole + 1) & mask; pages->table[at]; at = (at + 1) & mask) {
        if (((at - home_of_page(pages, pages->table[at]->number)) & mask) < ((at - hole) & mask))
            continue;
        pages->table[hole] = pages->table[at];
        hole = at;
    }
    pages->table[hole] = NULL;
    pages->count--;
    pages->last = NULL;
}

void pages_drop(struct pages *pages, uint64_t first, uint64_t last)
{
    if (!pages->count) return;
    /* Out of memory: the pages stay, and are used for the next data at these addresses. */
    if (last - first >= pages->count)
        rebuild(pages, pages->size, first, last);
    else
        for (uint64_t number = first; number <= last; number++) drop(pages, number);
}

void pages_close(struct pages *pages)
{
    for (size_t i = 0; i < pages->size; i++) free(pages->table[i]);
    free(pages->table);
    *pages = (struct pages){.bytes = pages->bytes};
}
