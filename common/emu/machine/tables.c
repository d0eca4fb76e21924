#include "ranges.h"
#include <stdlib.h>

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
    struct range_node *below, *others, *node = malloc(sizeof *node);
    if (!node) return NULL;
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
