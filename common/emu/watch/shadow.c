#include "vclock.h"
#include <stdlib.h>
#include <string.h>

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

static struct vclock *leaf_new(struct vclock_space *space, timestamp base,
                               const struct vclock_entry *entries, unsigned count)
{
    struct vclock_leaf *leaf = malloc(sizeof *leaf + count * sizeof *entries);
    if (!leaf) {
        space->out_of_memory = true;
        return NULL;
    }
    *leaf = (struct vclock_leaf){.head = {.owners = 1}, .base = base, .count = count};
    if (count) memcpy(leaf->entries, entries, count * sizeof *entries);
    return &leaf->head;
}

static struct vclock *node_new(struct vclock_space *space, struct vclock *const *branch)
{
    struct vclock_node *node = malloc(sizeof *node);
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

struct vclock *vclock_of_block(struct vclock_space *space, uint64_t block, timestamp base,
                               const struct vclock_entry *entries, unsigned count)
{
    struct vclock *k = leaf_new(space, base, entries, count);
    for (unsigned level = 1; level <= space->levels && k; level++) {
        struct vclock *branch[BRANCHES] = {NULL}, *inner = k;
        branch[branch_of(block, level)] = inner;
        k = node_new(space, branch);
        if (!k) drop_node(inner, level - 1);
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

static struct vclock *join_leaves(struct vclock_space *space, struct vclock_leaf *a,
                                  struct vclock_leaf *b)
{
    struct vclock_entry merged[MAX_KEYS];
    timestamp base = a->base > b->base ? a->base : b->base;
    unsigned count = merge(a, b, base, merged);
    if (is_equal(a, base, merged, count)) return vclock_hold(&a->head);
    if (is_equal(b, base, merged, count)) return vclock_hold(&b->head);
    return leaf_new(space, base, merged, count);
}

/* The later of the two times, for each thread. The arguments keep their owners; the result is a new
 * reference. A subtree that equals one of a or b is shared and not copied: this saves memory in
 * chains, and a second join of the same two clocks is quick. */
static struct vclock *join(struct vclock_space *space, struct vclock *a, struct vclock *b,
                           unsigned level)
{
    if (a == b || !b) return vclock_hold(a);
    if (!a) return vclock_hold(b);
    if (!level) return join_leaves(space, (struct vclock_leaf *)a, (struct vclock_leaf *)b);
    struct vclock *branch[BRANCHES];
    bool is_a = true, is_b = true;
    for (int i = 0; i < BRANCHES; i++) {
        struct vclock *of_a = ((struct vclock_node *)a)->branch[i],
                      *of_b = ((struct vclock_node *)b)->branch[i];
        branch[i] = join(space, of_a, of_b, level - 1);
        is_a = is_a && branch[i] == of_a;
        is_b = is_b && branch[i] == of_b;
    }
    struct vclock *same = is_a   ? a
                          : is_b ? b
                                 : NULL,
                  *result = same ? vclock_hold(same) : node_new(space, branch);
    if (same || !result)
        for (int i = 0; i < BRANCHES; i++) drop_node(branch[i], level - 1);
    return result;
}

void vclock_join(struct vclock_space *space, struct vclock **into, struct vclock *more)
{
    if (!more || *into == more) return;
    struct vclock *joined = join(space, *into, more, space->levels);
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
