#include "written.h"
#include <stdlib.h>
#include <string.h>

enum {
    WORD = 64,          /* bytes whose bits are in one word */
    MAX_ALIGNMENT = 16, /* of a member that may have padding before it */
    VECTORS = 8,        /* in `widths`: bit k is for elements of 2^k bytes, bit 8 + k for vectors */
};

void written_open(struct written *w) { *w = (struct written){.pages.bytes = PAGE_BYTES / 8}; }

bool written_open_piece(struct written *w, size_t bytes)
{
    *w = (struct written){.words = (bytes + WORD - 1) / WORD};
    w->bits = malloc((w->words + 1) * sizeof *w->bits);
    if (w->bits) written_forget_all(w);
    return w->bits != NULL;
}

void written_close(struct written *w)
{
    pages_close(&w->pages);
    free(w->bits);
}

/* ---- bits ------------------------------------------------------------------------------------ */

/* The word with an address's bit. NULL: no byte near it is written. */
static uint64_t *word_at(struct written *w, uint64_t address)
{
    if (w->bits) return address / WORD < w->words ? &w->bits[address / WORD] : NULL;
    struct page *page = pages_find(&w->pages, address >> PAGE_BITS);
    return page ? &page->content[address % PAGE_BYTES / WORD] : NULL;
}

/* That word, in a page that is made if necessary. NULL: out of memory. *widths: the page's. */
static uint64_t *word_for(struct written *w, uint64_t address, uint64_t **widths)
{
    *widths = &w->widths;
    if (w->bits) return word_at(w, address);
    struct page *page = pages_touch(&w->pages, address >> PAGE_BITS);
    if (!page) {
        w->out_of_memory = true;
        return NULL;
    }
    *widths = &page->stamp;
    return &page->content[address % PAGE_BYTES / WORD];
}

/* How many bytes from `at` on are in the same word, at most `left`. */
static unsigned in_word(uint64_t at, uint64_t left)
{
    unsigned room = WORD - (unsigned)(at % WORD);
    return left < room ? (unsigned)left : room;
}

static uint64_t bits_from(uint64_t at, unsigned count)
{
    uint64_t ones = count == WORD ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    return ones << at % WORD;
}

static void set(struct written *w, uint64_t address, uint64_t bytes, uint64_t stored)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *widths, *word = word_for(w, at, &widths);
        if (!word) return;
        *word |= bits_from(at, count);
        *widths |= stored;
        at += count;
    }
}

void written_set(struct written *w, uint64_t address, uint64_t bytes) { set(w, address, bytes, 0); }

void written_store(struct written *w, uint64_t address, unsigned bytes, unsigned element)
{
    set(w, address, bytes,
        UINT64_C(1) << __builtin_ctz(element) | UINT64_C(1) << (VECTORS + __builtin_ctz(bytes)));
}

/* Forgets bytes in one page. */
static void forget_some(struct written *w, uint64_t address, uint64_t bytes)
{
    for (uint64_t at = address, end = address + bytes; at < end;) {
        unsigned count = in_word(at, end - at);
        uint64_t *word = word_at(w, at);
        if (!word) return;
        *word &= ~bits_from(at, count);
        at += count;
    }
}

void written_forget(struct written *w, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes, first = (address + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES,
             last = end / PAGE_BYTES * PAGE_BYTES; /* from first to before last, pages are whole */
    if (first > last) {
        forget_some(w, address, bytes);
        return;
    }
    forget_some(w, address, first - address);
    if (first < last) pages_drop(&w->pages, first / PAGE_BYTES, last / PAGE_BYTES - 1);
    forget_some(w, last, end - last);
}

void written_forget_all(struct written *w)
{
    memset(w->bits, 0, w->words * sizeof *w->bits);
    w->widths = 0;
}

/* ---- runs of bytes that are written, or are not ---------------------------------------------- */

static bool is_written(struct written *w, uint64_t address)
{
    const uint64_t *word = word_at(w, address);
    return word && *word >> address % WORD & 1;
}

bool written_near(struct written *w, uint64_t address, unsigned bytes)
{
    const uint64_t *word = word_at(w, address);
    return word && !(~*word & bits_from(address, bytes));
}

/* The first byte from `at` on that is written (`sought` true) or unwritten (false); `end`: none
 * is. */
static uint64_t find(struct written *w, uint64_t at, uint64_t end, bool sought)
{
    while (at < end) {
        const uint64_t *word = word_at(w, at);
        uint64_t bits = (word ? sought ? *word : ~*word : sought ? 0 : UINT64_MAX) >> at % WORD;
        if (bits) {
            at += (unsigned)__builtin_ctzll(bits);
            return at < end ? at : end;
        }
        at = word || w->bits ? (at / WORD + 1) * WORD : (at / PAGE_BYTES + 1) * PAGE_BYTES;
    }
    return end;
}

static uint64_t *widths_at(struct written *w, uint64_t address)
{
    struct page *page = w->bits ? NULL : pages_find(&w->pages, address >> PAGE_BITS);
    return w->bits ? &w->widths : page ? &page->stamp : NULL;
}

/* Copies from the last byte to the first: the target overlaps the end of the source. */
static void copy_backwards(struct written *to, uint64_t to_address, struct written *from,
                           uint64_t from_address, uint64_t bytes)
{
    for (uint64_t k = bytes; k-- > 0;)
        if (is_written(from, from_address + k))
            written_set(to, to_address + k, 1);
        else
            written_forget(to, to_address + k, 1);
}

void written_copy(struct written *to, uint64_t to_address, struct written *from,
                  uint64_t from_address, uint64_t bytes)
{
    uint64_t end = from_address + bytes;
    if (to == from && to_address > from_address && to_address < end &&
        find(from, from_address, end, false) < end) {
        copy_backwards(to, to_address, from, from_address, bytes);
        return;
    }
    for (uint64_t at = from_address; at < end;) {
        uint64_t page_end = (at / PAGE_BYTES + 1) * PAGE_BYTES,
                 stop = end < page_end ? end : page_end, gap = find(from, at, stop, false),
                 next = gap < stop ? find(from, gap, end, true) : gap;
        const uint64_t *widths = widths_at(from, at);
        set(to, to_address + (at - from_address), gap - at, widths ? *widths : 0);
        written_forget(to, to_address + (gap - from_address), next - gap);
        at = next;
    }
}

/* ---- padding --------------------------------------------------------------------------------- */

/* Is [first, end) unwritten, between bytes that are written? */
static bool is_gap(struct written *w, uint64_t first, uint64_t end)
{
    return is_written(w, first - 1) && find(w, first, end, true) == end && is_written(w, end);
}

/* Does such a gap occur in another element of an array? */
static bool recurs(struct written *w, uint64_t first, uint64_t end)
{
    enum { ELEMENTS = 4 }; /* of MAX_ALIGNMENT bytes: as large as such an element may be */
    for (uint64_t away = MAX_ALIGNMENT; away <= ELEMENTS * MAX_ALIGNMENT; away += MAX_ALIGNMENT)
        if (is_gap(w, first + away, end + away) || is_gap(w, first - away, end - away)) return true;
    return false;
}

/* The widest alignment that widths, a bit 2^k for each, are evidence of. */
static unsigned widest(uint64_t widths)
{
    unsigned most = MAX_ALIGNMENT;
    while (most > 1 && widths < most) most /= 2;
    return most;
}

/* Where padding ends that begins at `first`, if something so aligned comes behind it, and no byte
 * before `end` is written; returns `first` if there is no padding. */
static uint64_t aligned_end(uint64_t first, uint64_t end, unsigned alignment)
{
    uint64_t next = (first + alignment - 1) / alignment * alignment, power = 1;
    if (end > next) return next; /* behind the last structure that is written */
    while (power <= end - first) power *= 2;
    return end % power ? first : end;
}

/* Where padding ends that begins at `first`, behind a byte that is written. */
static uint64_t padding_end(struct written *w, uint64_t first, uint64_t end)
{
    const uint64_t *widths = widths_at(w, first);
    if (!widths) return first;
    uint64_t next = aligned_end(first, end, widest(*widths % (1 << VECTORS)));
    if (next > first) return next;
    next = aligned_end(first, end, widest(*widths >> VECTORS));
    return next > first && recurs(w, first, next) ? next : first;
}

static void add(struct unwritten *found, uint64_t first, uint64_t end)
{
    if (first >= end) return;
    if (!found->bytes) found->first = first;
    found->bytes += end - first;
}

struct unwritten written_look(struct written *w, uint64_t address, uint64_t bytes)
{
    struct unwritten found = {0};
    for (uint64_t at = address, end = address + bytes; at < end;) {
        uint64_t gap = find(w, at, end, false);
        at = find(w, gap, end, true);
        add(&found, gap > address ? padding_end(w, gap, at) : gap, at);
    }
    return found;
}

struct unwritten written_look_around(struct written *w, uint64_t address, unsigned bytes,
                                     uint64_t end)
{
    struct unwritten found = {0};
    for (uint64_t at = address, behind = address + bytes; at < behind;) {
        uint64_t gap = find(w, at, behind, false), first = gap, last;
        at = find(w, gap, behind, true);
        while (first && gap - first < MAX_ALIGNMENT && !is_written(w, first - 1)) first--;
        last = find(w, at, end - at < MAX_ALIGNMENT ? end : at + MAX_ALIGNMENT, true);
        uint64_t next = padding_end(w, first, last);
        add(&found, next > gap ? next : gap, at);
    }
    return found;
}

unsigned written_width(struct written *w, uint64_t address)
{
    const uint64_t *widths = widths_at(w, address);
    uint64_t vectors = widths ? *widths >> VECTORS : 0;
    return vectors && !(vectors & (vectors - 1)) ? (unsigned)vectors : 0;
}
