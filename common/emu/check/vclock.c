/* vclock.c — see vclock.h. */
#include "vclock.h"
#include <stdlib.h>
#include <string.h>

enum { BRANCH_BITS = 4, BRANCHES = 1 << BRANCH_BITS };

/* What nodes and leaves have in common: they are told apart by their level, 0 for a leaf. */
struct knowledge {
    uint32_t owners;
};

struct node {
    struct knowledge head;
    struct knowledge *branch[BRANCHES];
};

struct leaf {
    struct knowledge head;
    moment base;
    uint32_t count;
    struct known entries[];
};

void knowledge_open(struct knowledge_space *space, uint64_t blocks)
{
    *space = (struct knowledge_space){0};
    while (space->levels * BRANCH_BITS < 64 && (blocks - 1) >> (space->levels * BRANCH_BITS))
        space->levels++;
}

struct knowledge *knowledge_hold(struct knowledge *k)
{
    if (k) k->owners++;
    return k;
}

static void drop(struct knowledge *k, unsigned level)
{
    if (!k || --k->owners) return;
    if (level)
        for (int i = 0; i < BRANCHES; i++) drop(((struct node *)k)->branch[i], level - 1);
    free(k);
}

void knowledge_drop(struct knowledge_space *space, struct knowledge **k)
{
    drop(*k, space->levels);
    *k = NULL;
}

/* ---- making ---------------------------------------------------------------------------------- */

static struct knowledge *leaf_new(struct knowledge_space *space, moment base,
                                  const struct known *entries, unsigned count)
{
    struct leaf *leaf = malloc(sizeof *leaf + count * sizeof *entries);
    if (!leaf) {
        space->out_of_memory = true;
        return NULL;
    }
    *leaf = (struct leaf){.head = {.owners = 1}, .base = base, .count = count};
    if (count) memcpy(leaf->entries, entries, count * sizeof *entries);
    return &leaf->head;
}

static struct knowledge *node_new(struct knowledge_space *space, struct knowledge *const *branch)
{
    struct node *node = malloc(sizeof *node);
    if (!node) {
        space->out_of_memory = true;
        return NULL;
    }
    node->head.owners = 1;
    memcpy(node->branch, branch, sizeof node->branch);
    return &node->head;
}

static unsigned branch_of(uint64_t block, unsigned level)
{
    return block >> ((level - 1) * BRANCH_BITS) & (BRANCHES - 1);
}

struct knowledge *knowledge_of(struct knowledge_space *space, uint64_t block, moment base,
                               const struct known *entries, unsigned count)
{
    struct knowledge *k = leaf_new(space, base, entries, count);
    for (unsigned level = 1; level <= space->levels && k; level++) {
        struct knowledge *branch[BRANCHES] = {NULL}, *inner = k;
        branch[branch_of(block, level)] = inner;
        k = node_new(space, branch);
        if (!k) drop(inner, level - 1);
    }
    return k;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* The later moment of each key that both have or either; those that the base covers are left
 * out. It covers no copies. */
static unsigned merge(const struct leaf *a, const struct leaf *b, moment base, struct known *merged)
{
    unsigned count = 0;
    for (unsigned i = 0, k = 0; i < a->count || k < b->count;) {
        struct known next;
        if (k == b->count || (i < a->count && a->entries[i].key < b->entries[k].key)) {
            next = a->entries[i++];
        } else if (i == a->count || b->entries[k].key < a->entries[i].key) {
            next = b->entries[k++];
        } else {
            next = a->entries[i++];
            if (b->entries[k].until > next.until) next = b->entries[k];
            k++;
        }
        if (next.until > base || next.key >= COPY_KEY) merged[count++] = next;
    }
    return count;
}

static bool is_that(const struct leaf *leaf, moment base, const struct known *entries,
                    unsigned count)
{
    if (leaf->base != base || leaf->count != count) return false;
    for (unsigned i = 0; i < count; i++)
        if (leaf->entries[i].key != entries[i].key || leaf->entries[i].until != entries[i].until)
            return false;
    return true;
}

static struct knowledge *join_leaves(struct knowledge_space *space, struct leaf *a, struct leaf *b)
{
    struct known merged[MAX_KEYS];
    moment base = a->base > b->base ? a->base : b->base;
    unsigned count = merge(a, b, base, merged);
    if (is_that(a, base, merged, count)) return knowledge_hold(&a->head);
    if (is_that(b, base, merged, count)) return knowledge_hold(&b->head);
    return leaf_new(space, base, merged, count);
}

/* What either knows. The arguments keep their owners, and the result gets a new one. Nothing is
 * copied that one of the two has already: that keeps chains short of memory and makes the next join
 * of the same two quick. */
static struct knowledge *join(struct knowledge_space *space, struct knowledge *a,
                              struct knowledge *b, unsigned level)
{
    if (a == b || !b) return knowledge_hold(a);
    if (!a) return knowledge_hold(b);
    if (!level) return join_leaves(space, (struct leaf *)a, (struct leaf *)b);
    struct knowledge *branch[BRANCHES];
    bool is_a = true, is_b = true;
    for (int i = 0; i < BRANCHES; i++) {
        struct knowledge *of_a = ((struct node *)a)->branch[i],
                         *of_b = ((struct node *)b)->branch[i];
        branch[i] = join(space, of_a, of_b, level - 1);
        is_a = is_a && branch[i] == of_a;
        is_b = is_b && branch[i] == of_b;
    }
    struct knowledge *same = is_a   ? a
                             : is_b ? b
                                    : NULL,
                     *result = same ? knowledge_hold(same) : node_new(space, branch);
    if (same || !result)
        for (int i = 0; i < BRANCHES; i++) drop(branch[i], level - 1);
    return result;
}

void knowledge_add(struct knowledge_space *space, struct knowledge **into, struct knowledge *more)
{
    if (!more || *into == more) return;
    struct knowledge *joined = join(space, *into, more, space->levels);
    knowledge_drop(space, into);
    *into = joined;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static moment entry_until(const struct leaf *leaf, unsigned key)
{
    unsigned low = 0, high = leaf->count;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (leaf->entries[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < leaf->count && leaf->entries[low].key == key ? leaf->entries[low].until : 0;
}

static const struct leaf *leaf_of(const struct knowledge_space *space, const struct knowledge *k,
                                  uint64_t block)
{
    for (unsigned level = space->levels; k && level; level--)
        k = ((const struct node *)k)->branch[branch_of(block, level)];
    return (const struct leaf *)k;
}

/* Until when what an entry's key stands for is known, which for a thread is also said of its warp, or
 * of all threads. */
static moment until_of(const struct leaf *leaf, unsigned key, moment base)
{
    if (!leaf) return key < COPY_KEY ? base : 0;
    moment until = entry_until(leaf, key), warp;
    if (key >= COPY_KEY) return until;
    if (leaf->base > until) until = leaf->base;
    if (base > until) until = base;
    if (key < WARP_KEY && (warp = entry_until(leaf, WARP_KEY + key / 32)) > until) until = warp;
    return until;
}

static bool leaf_holds(const struct leaf *leaf, const struct leaf *of, moment base)
{
    bool all = of->base <= base || (leaf && of->base <= leaf->base);
    for (unsigned i = 0; i < of->count && all; i++)
        all = of->entries[i].until <= until_of(leaf, of->entries[i].key, base);
    return all;
}

static bool holds(const struct knowledge *k, const struct knowledge *of, unsigned level,
                  uint64_t block, moment base)
{
    if (k == of || !of) return true;
    if (!level) return leaf_holds((const struct leaf *)k, (const struct leaf *)of, base);
    bool all = true;
    for (unsigned i = 0; i < BRANCHES && all; i++)
        all = holds(k ? ((const struct node *)k)->branch[i] : NULL,
                    ((const struct node *)of)->branch[i], level - 1, block,
                    branch_of(block, level) == i ? base : 0);
    return all;
}

bool knowledge_holds(const struct knowledge_space *space, const struct knowledge *k,
                     const struct knowledge *of, uint64_t block, moment base)
{
    return holds(k, of, space->levels, block, base);
}

moment knowledge_of_copies(const struct knowledge_space *space, const struct knowledge *k,
                           uint64_t block, unsigned key)
{
    const struct leaf *leaf = leaf_of(space, k, block);
    return leaf ? entry_until(leaf, key) : 0;
}

moment knowledge_until(const struct knowledge_space *space, const struct knowledge *k,
                       uint64_t block, unsigned thread)
{
    const struct leaf *leaf = leaf_of(space, k, block);
    if (!leaf) return 0;
    moment warp = entry_until(leaf, WARP_KEY + thread / 32), own = entry_until(leaf, thread);
    moment until = leaf->base > warp ? leaf->base : warp;
    return until > own ? until : own;
}
