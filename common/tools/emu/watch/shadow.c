/* shadow.c — the last accesses of each 4 bytes, and vector clocks. */
#include "shadow.h"

/* ---- vector clocks --------------------------------------------------------------------------- */

enum { BRANCH_BITS = 4, BRANCHES = 1 << BRANCH_BITS };

/* The beginning of a node and of a leaf. The level in the tree says which it is: 0 for a leaf. */
struct vclock {
    uint32_t owners;
};

struct vclock_node {
    struct vclock head;
    struct vclock *branch[BRANCHES];
};

struct vclock_leaf {
    struct vclock head;
    timestamp base;
    uint32_t count;
    struct vclock_entry entries[];
};

void vclock_open(struct vclock_space *space, uint64_t blocks)
{
    *space = (struct vclock_space){0};
    while (space->levels * BRANCH_BITS < 64 && (blocks - 1) >> (space->levels * BRANCH_BITS))
        space->levels++;
}

struct vclock *vclock_hold(struct vclock *k)
{
    if (k) k->owners++;
    return k;
}

static void drop_node(struct vclock *k, unsigned level)
{
    if (!k || --k->owners) return;
    if (level)
        for (int i = 0; i < BRANCHES; i++)
            drop_node(((struct vclock_node *)k)->branch[i], level - 1);
    free(k);
}

void vclock_drop(struct vclock_space *space, struct vclock **k)
{
    drop_node(*k, space->levels);
    *k = NULL;
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct vclock *leaf_new(timestamp base, const struct vclock_entry *entries, unsigned count)
{
    struct vclock_leaf *leaf = allocated(malloc(sizeof *leaf + count * sizeof *entries));
    *leaf = (struct vclock_leaf){.head = {.owners = 1}, .base = base, .count = count};
    if (count) memcpy(leaf->entries, entries, count * sizeof *entries);
    return &leaf->head;
}

static struct vclock *node_new(struct vclock *const *branch)
{
    struct vclock_node *node = allocated(malloc(sizeof *node));
    node->head.owners = 1;
    memcpy(node->branch, branch, sizeof node->branch);
    return &node->head;
}

static unsigned branch_of(uint64_t block, unsigned level)
{
    return block >> ((level - 1) * BRANCH_BITS) & (BRANCHES - 1);
}

struct vclock *vclock_of_block(struct vclock_space *space, uint64_t block, timestamp base,
                               const struct vclock_entry *entries, unsigned count)
{
    struct vclock *k = leaf_new(base, entries, count);
    for (unsigned level = 1; level <= space->levels; level++) {
        struct vclock *branch[BRANCHES] = {NULL};
        branch[branch_of(block, level)] = k;
        k = node_new(branch);
    }
    return k;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* The later time of each key of a or b. A time that the base covers is left out; the base covers no
 * copies. */
static unsigned merge(const struct vclock_leaf *a, const struct vclock_leaf *b, timestamp base,
                      struct vclock_entry *merged)
{
    unsigned count = 0;
    for (unsigned i = 0, k = 0; i < a->count || k < b->count;) {
        struct vclock_entry next;
        if (k == b->count || (i < a->count && a->entries[i].key < b->entries[k].key)) {
            next = a->entries[i++];
        } else if (i == a->count || b->entries[k].key < a->entries[i].key) {
            next = b->entries[k++];
        } else {
            next = a->entries[i++];
            if (b->entries[k].time > next.time) next = b->entries[k];
            k++;
        }
        if (next.time > base || next.key >= COPY_KEY) merged[count++] = next;
    }
    return count;
}

static bool is_equal(const struct vclock_leaf *leaf, timestamp base,
                     const struct vclock_entry *entries, unsigned count)
{
    if (leaf->base != base || leaf->count != count) return false;
    for (unsigned i = 0; i < count; i++)
        if (leaf->entries[i].key != entries[i].key || leaf->entries[i].time != entries[i].time)
            return false;
    return true;
}

static struct vclock *join_leaves(struct vclock_leaf *a, struct vclock_leaf *b)
{
    struct vclock_entry merged[MAX_KEYS];
    timestamp base = a->base > b->base ? a->base : b->base;
    unsigned count = merge(a, b, base, merged);
    if (is_equal(a, base, merged, count)) return vclock_hold(&a->head);
    if (is_equal(b, base, merged, count)) return vclock_hold(&b->head);
    return leaf_new(base, merged, count);
}

/* The later of the two times, for each thread. The arguments keep their owners; the result is a new
 * reference. A subtree that equals one of a or b is shared and not copied: this saves memory in
 * chains, and a second join of the same two clocks is quick. */
static struct vclock *join(struct vclock *a, struct vclock *b, unsigned level)
{
    if (a == b || !b) return vclock_hold(a);
    if (!a) return vclock_hold(b);
    if (!level) return join_leaves((struct vclock_leaf *)a, (struct vclock_leaf *)b);
    struct vclock *branch[BRANCHES];
    bool is_a = true, is_b = true;
    for (int i = 0; i < BRANCHES; i++) {
        struct vclock *of_a = ((struct vclock_node *)a)->branch[i],
                      *of_b = ((struct vclock_node *)b)->branch[i];
        branch[i] = join(of_a, of_b, level - 1);
        is_a = is_a && branch[i] == of_a;
        is_b = is_b && branch[i] == of_b;
    }
    if (!is_a && !is_b) return node_new(branch);
    for (int i = 0; i < BRANCHES; i++) drop_node(branch[i], level - 1);
    return vclock_hold(is_a ? a : b);
}

void vclock_join(struct vclock_space *space, struct vclock **into, struct vclock *more)
{
    if (!more || *into == more) return;
    struct vclock *joined = join(*into, more, space->levels);
    vclock_drop(space, into);
    *into = joined;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static timestamp entry_time(const struct vclock_leaf *leaf, unsigned key)
{
    unsigned low = 0, high = leaf->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (leaf->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < leaf->count && leaf->entries[low].key == key ? leaf->entries[low].time : 0;
}

static const struct vclock_leaf *leaf_of(const struct vclock_space *space, const struct vclock *k,
                                         uint64_t block)
{
    for (unsigned level = space->levels; k && level; level--)
        k = ((const struct vclock_node *)k)->branch[branch_of(block, level)];
    return (const struct vclock_leaf *)k;
}

/* The time of an entry's key. A thread also has its warp's time and the base, if they are later. */
static timestamp time_of(const struct vclock_leaf *leaf, unsigned key, timestamp base)
{
    if (!leaf) return key < COPY_KEY ? base : 0;
    timestamp time = entry_time(leaf, key), warp;
    if (key >= COPY_KEY) return time;
    if (leaf->base > time) time = leaf->base;
    if (base > time) time = base;
    if (key < WARP_KEY && (warp = entry_time(leaf, WARP_KEY + key / 32)) > time) time = warp;
    return time;
}

static bool leaf_covers(const struct vclock_leaf *leaf, const struct vclock_leaf *of,
                        timestamp base)
{
    bool all = of->base <= base || (leaf && of->base <= leaf->base);
    for (unsigned i = 0; i < of->count && all; i++)
        all = of->entries[i].time <= time_of(leaf, of->entries[i].key, base);
    return all;
}

static bool covers(const struct vclock *k, const struct vclock *of, unsigned level, uint64_t block,
                   timestamp base)
{
    if (k == of || !of) return true;
    if (!level)
        return leaf_covers((const struct vclock_leaf *)k, (const struct vclock_leaf *)of, base);
    bool all = true;
    for (unsigned i = 0; i < BRANCHES && all; i++)
        all = covers(k ? ((const struct vclock_node *)k)->branch[i] : NULL,
                     ((const struct vclock_node *)of)->branch[i], level - 1, block,
                     branch_of(block, level) == i ? base : 0);
    return all;
}

bool vclock_covers(const struct vclock_space *space, const struct vclock *k,
                   const struct vclock *of, uint64_t block, timestamp base)
{
    return covers(k, of, space->levels, block, base);
}

timestamp vclock_time_of_copies(const struct vclock_space *space, const struct vclock *k,
                                uint64_t block, unsigned key)
{
    const struct vclock_leaf *leaf = leaf_of(space, k, block);
    return leaf ? entry_time(leaf, key) : 0;
}

timestamp vclock_time_of_thread(const struct vclock_space *space, const struct vclock *k,
                                uint64_t block, unsigned thread)
{
    const struct vclock_leaf *leaf = leaf_of(space, k, block);
    if (!leaf) return 0;
    timestamp warp = entry_time(leaf, WARP_KEY + thread / 32), own = entry_time(leaf, thread);
    timestamp time = leaf->base > warp ? leaf->base : warp;
    return time > own ? time : own;
}

/* ---- short records --------------------------------------------------------------------------- */

enum { FIRST_SIZE = 256 }; /* of the table, which is at most half full */

static uint32_t hash_of(record row, uint32_t size)
{
    return (uint32_t)((row * UINT64_C(0x9E3779B97F4A7C15)) >> 32) & (size - 1);
}

/* Where the number of a row is in the table, or where it belongs. */
static uint32_t *place_of(const struct record_rows *rows, record row)
{
    uint32_t at = hash_of(row, rows->size);
    while (rows->table[at] && rows->row[rows->table[at]] != row) at = (at + 1) & (rows->size - 1);
    return &rows->table[at];
}

/* Doubles the room. */
static void grow(struct record_rows *rows)
{
    rows->size = rows->size ? 2 * rows->size : FIRST_SIZE;
    rows->row = allocated(realloc(rows->row, (rows->size / 2 + 1) * sizeof *rows->row));
    free(rows->table);
    rows->table = allocated(calloc(rows->size, sizeof *rows->table));
    for (uint32_t number = 1; number <= rows->count; number++)
        *place_of(rows, rows->row[number]) = number;
}

/* The number of a row, which is added if it is new. 0: too many rows. */
static uint32_t number_of(struct record_rows *rows, record row)
{
    if (rows->last_number && rows->last == row) return rows->last_number;
    if (rows->count == rows->size / 2) grow(rows);
    uint32_t *number = place_of(rows, row);
    if (!*number && rows->count == MOST_ROWS) return 0;
    if (!*number) {
        *number = ++rows->count;
        rows->row[*number] = row;
    }
    rows->last = row;
    return rows->last_number = *number;
}

bool short_record_of(struct record_rows *rows, record v, short_record *to)
{
    *to = 0;
    if (!v) return true;
    uint32_t number = number_of(rows, v & ~(RECORD_THREAD | RECORD_BYTES));
    *to = number << ROW_AT | record_thread(v) << BYTES_BITS | record_bytes(v);
    return number != 0;
}

void record_rows_clear(struct record_rows *rows)
{
    if (rows->count) memset(rows->table, 0, rows->size * sizeof *rows->table);
    rows->count = rows->last_number = 0;
}

void record_rows_free(struct record_rows *rows)
{
    free(rows->row);
    free(rows->table);
    *rows = (struct record_rows){0};
}

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
    planes->bytes += bytes;
    return allocated(calloc(1, bytes));
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
static void make_long(struct planes *planes, struct shadow_page *page)
{
    record *plane = shadow_plane(planes, page, OTHER_READ);
    for (size_t k = 0; k < planes->granules; k++)
        plane[k] = record_of_short(planes->rows, page->short_reads[k]);
    plane_give(&planes->spare_short, page->short_reads);
    page->short_reads = NULL;
}

record shadow_short_read(const struct planes *planes, const struct shadow_page *page, size_t index)
{
    return record_of_short(planes->rows, page->short_reads[index]);
}

/* Makes the plane for second reads, of short records if there are any. */
static void make_other(struct planes *planes, struct shadow_page *page)
{
    if (page->plane[OTHER_READ] || page->short_reads) return;
    if (planes->rows)
        page->short_reads = plane_take(planes, &planes->spare_short, sizeof(short_record));
    else
        shadow_plane(planes, page, OTHER_READ);
}

void shadow_put_other(struct planes *planes, struct shadow_page *page, size_t index, record v)
{
    short_record s;
    make_other(planes, page);
    if (page->short_reads && short_record_of(planes->rows, v, &s)) {
        page->short_reads[index] = s;
        return;
    }
    if (page->short_reads) make_long(planes, page);
    page->plane[OTHER_READ][index] = v;
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
        shadow->touched = allocated(realloc(shadow->touched, room * sizeof *shadow->touched));
        shadow->touched_room = room;
    }
    shadow->touched[shadow->touched_count++] = number;
}

struct shadow_page *shadow_page_at(struct shadow *shadow, uint64_t address)
{
    struct page *page = pages_touch(&shadow->pages, address >> PAGE_BITS);
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
    if (last - first < pages->table.count)
        for (uint64_t number = first; number <= last; number++)
            give_planes(shadow, pages_find(pages, number), first, last);
    else
        for (size_t i = 0; i < pages->table.size; i++)
            give_planes(shadow, pages_at(pages, i), first, last);
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
    for (size_t i = 0; i < shadow->pages.table.size; i++)
        give_planes(shadow, pages_at(&shadow->pages, i), 0, UINT64_MAX);
    planes_free(&shadow->planes);
    pages_close(&shadow->pages);
    free(shadow->touched);
}
