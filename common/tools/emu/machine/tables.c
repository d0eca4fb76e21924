/* tables.c — sets of address ranges, and tables by address and by page. */
#include "device.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

struct range_node {
    struct range range; /* first: ranges_add() and others return its address */
    struct range_node *left, *right;
    uint64_t priority;        /* not less than its children's */
    uint64_t low, high, hole; /* of the subtree: first base, last end, widest hole */
};

/* ---- the fields of a node -------------------------------------------------------------------- */

uint64_t ranges_behind(uint64_t end)
{
    return (end + RANGES_GAP + RANGES_ALIGNMENT - 1) / RANGES_ALIGNMENT * RANGES_ALIGNMENT;
}

/* How many bytes fit between a range that ends at `end` and one that begins at `base`. */
static uint64_t hole_between(uint64_t end, uint64_t base)
{
    uint64_t first = ranges_behind(end) + RANGES_GAP;
    return first < base ? base - first : 0;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Updates a node's fields from its children. */
static void renew(struct range_node *n)
{
    uint64_t end = n->range.base + n->range.bytes;
    n->low = n->range.base;
    n->high = end;
    n->hole = 0;
    if (n->left) {
        n->low = n->left->low;
        n->hole = larger(n->left->hole, hole_between(n->left->high, n->range.base));
    }
    if (n->right) {
        n->high = n->right->high;
        n->hole = larger(n->hole, larger(n->right->hole, hole_between(end, n->right->low)));
    }
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* Splits a tree into the ranges that begin below `base`, and the others. */
static void split(struct range_node *tree, uint64_t base, struct range_node **below,
                  struct range_node **others)
{
    if (!tree) {
        *below = *others = NULL;
    } else if (tree->range.base < base) {
        split(tree->right, base, &tree->right, others);
        *below = tree;
        renew(tree);
    } else {
        split(tree->left, base, below, &tree->left);
        *others = tree;
        renew(tree);
    }
}

/* Joins two trees, of which the first has the lower addresses. */
static struct range_node *join(struct range_node *first, struct range_node *second)
{
    if (!first) return second;
    if (!second) return first;
    struct range_node *root = first->priority >= second->priority ? first : second;
    if (root == first)
        first->right = join(first->right, second);
    else
        second->left = join(first, second->left);
    renew(root);
    return root;
}

static uint64_t hash_of(uint64_t base)
{
    base ^= base >> 32;
    base *= UINT64_C(0x9E3779B97F4A7C15);
    base ^= base >> 29;
    base *= UINT64_C(0xBF58476D1CE4E5B9);
    return base ^ base >> 32;
}

struct range *ranges_add(struct ranges *ranges, struct range range)
{
    struct range_node *below, *others, *node = allocated(malloc(sizeof *node));
    *node = (struct range_node){.range = range, .priority = hash_of(range.base)};
    renew(node);
    split(ranges->root, range.base, &below, &others);
    ranges->root = join(join(below, node), others);
    ranges->count++;
    return &node->range;
}

void ranges_remove(struct ranges *ranges, uint64_t base)
{
    struct range_node *below, *node, *others;
    split(ranges->root, base, &below, &others);
    split(others, base + 1, &node, &others);
    ranges->root = join(below, others);
    ranges->count--;
    free(node);
}

static void free_tree(struct range_node *tree)
{
    if (!tree) return;
    free_tree(tree->left);
    free_tree(tree->right);
    free(tree);
}

void ranges_close(struct ranges *ranges)
{
    free_tree(ranges->root);
    *ranges = (struct ranges){0};
}

/* ---- looking --------------------------------------------------------------------------------- */

struct range *ranges_at(const struct ranges *ranges, uint64_t address)
{
    struct range_node *found = NULL;
    for (struct range_node *n = ranges->root; n;) {
        bool below = n->range.base <= address;
        if (below) found = n;
        n = below ? n->right : n->left;
    }
    return found ? &found->range : NULL;
}

struct range *ranges_above(const struct ranges *ranges, uint64_t address)
{
    struct range_node *found = NULL;
    for (struct range_node *n = ranges->root; n;) {
        bool above = n->range.base > address;
        if (above) found = n;
        n = above ? n->left : n->right;
    }
    return found ? &found->range : NULL;
}

/* The place for `bytes` bytes between two ranges, at `from` or behind it; 0: they do not fit. */
static uint64_t fits(uint64_t end, uint64_t base, uint64_t from, uint64_t bytes)
{
    return end > from && hole_between(end, base) >= bytes ? ranges_behind(end) : 0;
}

static uint64_t first_hole(const struct range_node *n, uint64_t from, uint64_t bytes)
{
    uint64_t place = 0;
    if (!n || n->hole < bytes || n->high <= from) return 0;
    if (n->left && n->range.base > from) {
        place = first_hole(n->left, from, bytes);
        if (!place) place = fits(n->left->high, n->range.base, from, bytes);
    }
    if (!place && n->right)
        place = fits(n->range.base + n->range.bytes, n->right->low, from, bytes);
    return place ? place : first_hole(n->right, from, bytes);
}

uint64_t ranges_hole(const struct ranges *ranges, uint64_t from, uint64_t bytes)
{
    return first_hole(ranges->root, from, bytes);
}

/* ---- a table by address ---------------------------------------------------------------------- */

/* A hash table with linear probing: colliding entries follow each other. */

enum { FIRST_SIZE = 64 };

static size_t home_of(const struct address_table *table, uint64_t address)
{
    return (address * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (table->size - 1);
}

/* The entry of an address, or the free one where it would be. */
static struct address_entry *entry_of(const struct address_table *table, uint64_t address)
{
    size_t at = home_of(table, address);
    while (table->entries[at].kept && table->entries[at].address != address)
        at = (at + 1) & (table->size - 1);
    return &table->entries[at];
}

static void grow(struct address_table *table)
{
    size_t size = table->size ? 2 * table->size : FIRST_SIZE;
    struct address_table larger = {allocated(calloc(size, sizeof *larger.entries)), size,
                                   table->count};
    for (size_t i = 0; i < table->size; i++)
        if (table->entries[i].kept)
            *entry_of(&larger, table->entries[i].address) = table->entries[i];
    free(table->entries);
    *table = larger;
}

void *address_table_find(const struct address_table *table, uint64_t address)
{
    return table->size ? entry_of(table, address)->kept : NULL;
}

void address_table_set(struct address_table *table, uint64_t address, void *kept)
{
    if (2 * table->count >= table->size) grow(table);
    struct address_entry *entry = entry_of(table, address);
    if (!entry->kept) table->count++;
    *entry = (struct address_entry){address, kept};
}

void address_table_remove(struct address_table *table, uint64_t address)
{
    if (!address_table_find(table, address)) return;
    size_t last = table->size - 1, hole = (size_t)(entry_of(table, address) - table->entries);
    table->count--;
    /* Entries behind the hole that could no longer be found move up. */
    for (size_t at = (hole + 1) & last; table->entries[at].kept; at = (at + 1) & last) {
        size_t home = home_of(table, table->entries[at].address);
        if (((at - home) & last) < ((at - hole) & last)) continue;
        table->entries[hole] = table->entries[at];
        hole = at;
    }
    table->entries[hole].kept = NULL;
}

void address_table_close(struct address_table *table)
{
    free(table->entries);
    *table = (struct address_table){0};
}

/* ---- a table by page ------------------------------------------------------------------------- */

struct page *pages_find(struct pages *pages, uint64_t number)
{
    if (pages->last && pages->last->number == number) return pages->last;
    struct page *page = address_table_find(&pages->table, number);
    if (page) pages->last = page;
    return page;
}

struct page *pages_touch(struct pages *pages, uint64_t number)
{
    struct page *page = pages_find(pages, number);
    if (page) return page;
    page = allocated(calloc(1, sizeof *page + pages->bytes));
    page->number = number;
    address_table_set(&pages->table, number, page);
    return pages->last = page;
}

static void drop(struct pages *pages, uint64_t number)
{
    free(address_table_find(&pages->table, number));
    address_table_remove(&pages->table, number);
}

void pages_drop(struct pages *pages, uint64_t first, uint64_t last)
{
    pages->last = NULL;
    if (last - first < pages->table.count) {
        for (uint64_t number = first; number <= last; number++) drop(pages, number);
        return;
    }
    for (size_t i = 0; i < pages->table.size;) {
        const struct page *page = pages_at(pages, i);
        if (page && page->number >= first && page->number <= last)
            drop(pages, page->number); /* another one may move to i */
        else
            i++;
    }
}

void pages_close(struct pages *pages)
{
    for (size_t i = 0; i < pages->table.size; i++) free(pages_at(pages, i));
    address_table_close(&pages->table);
    *pages = (struct pages){.bytes = pages->bytes};
}
