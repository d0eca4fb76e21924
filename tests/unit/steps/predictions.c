/* predictions.c — bank conflicts by formula: no address is computed. */
#include "predictions.h"

enum { B = 512, TREE = 512, VECTOR = 4 };

const struct plan plans[PLANS] = {
    {.step = "2", .variant = "-", .kernel = SWEEPS},
    {.step = "3", .variant = "-", .kernel = TREE_ALONE},
    {.step = "4", .variant = "pad16", .kernel = TREE_ALONE, .run = 16, .levels = 1},
    {.step = "4", .variant = "pad32", .kernel = TREE_ALONE, .run = 32, .levels = 1},
    {.step = "4", .variant = "pad32x2", .kernel = TREE_ALONE, .run = 32, .levels = 2},
    {.step = "5", .variant = "naive", .kernel = SWEEPS_OF_BLOCKS},
    {.step = "5", .variant = "work-efficient", .kernel = TREE_OF_BLOCKS},
    {.step = "5", .variant = "conflict-free", .kernel = TREE_OF_BLOCKS, .run = 32, .levels = 1},
    {.step = "5",
     .variant = "conflict-free-remainder",
     .kernel = TREE_OF_BLOCKS,
     .run = 32,
     .levels = 1,
     .rest_apart = true},
    {.step = "6", .variant = "-", .kernel = TREE_OF_VECTORS, .run = 32, .levels = 1},
    {.step = "7",
     .variant = "-",
     .kernel = TREE_OF_VECTORS,
     .run = 32,
     .levels = 1,
     .unrolled = true},
};

static unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
static unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }

/* The number of lanes that use the same bank if L lanes have a stride of s words: L s / banks, at
 * least 1 and at most L. (All numbers here are powers of two.) */
unsigned ways(unsigned lanes, unsigned stride, unsigned banks)
{
    return min(max(lanes * stride / banks, 1), lanes);
}

/* The same with padding. From a stride of `run` on, padding moves each lane stride / run words more
 * than the lane before, as if that were the stride. For smaller strides, lanes of one run conflict
 * as without padding, and lanes of different runs do not. The exception are more banks than the
 * padding was made for: then the second 16 of 32 lanes conflict with the first 16. */
static unsigned moved_ways(const struct plan *p, unsigned levels, unsigned lanes, unsigned stride,
                           unsigned banks)
{
    if (levels == 0) return ways(lanes, stride, banks);
    if (stride >= p->run) return moved_ways(p, levels - 1, lanes, stride / p->run, banks);
    if (p->run < banks) return lanes > p->run ? 2 : 1;
    return ways(min(lanes, p->run / stride), stride, banks);
}

unsigned padded_ways(const struct plan *p, unsigned lanes, unsigned stride, unsigned banks)
{
    return moved_ways(p, p->levels, lanes, stride, banks);
}

/* Conflicts of one access by `threads` threads. Each group with one lane per bank (a warp; a
 * half-warp on 16 banks) takes as many passes as the degree of its conflict, instead of one. */
static unsigned conflicts(const struct plan *p, unsigned threads, unsigned stride, unsigned banks)
{
    unsigned lanes = min(threads, banks);
    return lanes ? threads / lanes * (padded_ways(p, lanes, stride, banks) - 1) : 0;
}

static unsigned warps(unsigned threads) { return (threads + WARP_LANES - 1) / WARP_LANES; }

unsigned log2_of(size_t n)
{
    unsigned log = 0;
    while (n >> (log + 1)) log++;
    return log;
}

/* Barriers that a block passes: one before each level and one before the results are fetched; the
 * sweeps have the first one before them. */
unsigned barriers(const struct block *b)
{
    bool sweeps = b->plan->kernel == SWEEPS || b->plan->kernel == SWEEPS_OF_BLOCKS;
    return sweeps ? log2_of(b->size) + 1 : 2 * log2_of(b->size) + 1;
}

/* Neighbouring lanes touch neighbouring words: no conflicts, and n - offset additions a sweep. */
static struct level predict_sweep(const struct block *b, unsigned epoch)
{
    unsigned n = b->size, offset = epoch ? 1u << (epoch - 1) : 0;
    if (epoch == 0) return (struct level){.stores = warps(n), .store_lanes = n};
    if (epoch == barriers(b))
        return (struct level){.loads = warps(b->elements) + b->sum,
                              .load_lanes = b->elements + b->sum};
    return (struct level){.loads = 2 * warps(n) - offset / WARP_LANES,
                          .stores = warps(n),
                          .load_lanes = n + (n - offset),
                          .store_lanes = n};
}

/* Blocks A and E of the listings: conflicts where a thread has two neighbours, none where it has
 * one element of each half, unless padding brings lanes together that were not. Step 3's two
 * accesses are one of 8 bytes, whose half-warps touch every bank once; for 16 banks they count as
 * two. */
static struct level predict_ends(const struct block *b, unsigned count)
{
    const struct plan *p = b->plan;
    bool halves = p->levels > 0, wide = p->kernel == TREE_ALONE && !halves;
    unsigned first = halves ? min(count, b->size / 2) : (count + 1) / 2, second = count - first;
    unsigned stride = halves ? 1 : 2;
    unsigned met = conflicts(p, first, stride, b->banks) + conflicts(p, second, stride, b->banks);
    return (struct level){.loads = warps(first) + (wide ? 0 : warps(second)),
                          .load_lanes = wide ? first : count,
                          .load_conflicts = wide && b->banks == WARP_LANES ? 0 : met};
}

/* A level of the tree. Up: load both children, store the right one; d additions. Down: load the
 * left child and twice the right one, store both; d additions and d moves. */
static struct level predict_level(const struct block *b, unsigned epoch)
{
    unsigned height = log2_of(b->size);
    bool up = epoch <= height, root = epoch == height;
    unsigned offset = up ? 1u << (epoch - 1) : b->size >> (epoch - height);
    unsigned d = b->size / 2 / offset, met = conflicts(b->plan, d, 2 * offset, b->banks);
    unsigned loads = up || (b->plan->unrolled && offset >= WARP_LANES) ? 2 : 3;
    unsigned stores = up ? 1 : 2;
    /* Thread 0 also clears the root, after it has stored it as the block's sum. */
    return (struct level){.loads = loads * warps(d) + (root && b->sum),
                          .stores = stores * warps(d) + root,
                          .load_lanes = loads * d + (root && b->sum),
                          .store_lanes = stores * d + root,
                          .load_conflicts = loads * met,
                          .store_conflicts = stores * met};
}

struct level predict(const struct block *b, unsigned epoch)
{
    if (b->plan->kernel == SWEEPS || b->plan->kernel == SWEEPS_OF_BLOCKS)
        return predict_sweep(b, epoch);
    if (epoch == barriers(b))
        return predict_ends(b, b->plan->kernel == TREE_OF_VECTORS ? b->size : b->elements);
    if (epoch > 0) return predict_level(b, epoch);
    struct level l = predict_ends(b, b->size);
    return (struct level){
        .stores = l.loads, .store_lanes = l.load_lanes, .store_conflicts = l.load_conflicts};
}

/* ---- a whole scan ---------------------------------------------------------------------------- */

/* Leaves of a block's tree, and elements that they stand for. */
static unsigned block_size(const struct plan *p, size_t n)
{
    if (p->kernel == SWEEPS || p->kernel == TREE_ALONE) return (unsigned)n;
    unsigned size = 2;
    while (p->rest_apart && size < n) size *= 2;
    return p->rest_apart ? min(size, B) : p->kernel == TREE_OF_VECTORS ? TREE : B;
}

size_t block_elements(const struct plan *p, size_t n)
{
    return p->kernel == TREE_OF_VECTORS ? TREE * VECTOR : block_size(p, n);
}

struct block block_at(const struct plan *p, size_t n, size_t j, unsigned banks)
{
    size_t each = block_elements(p, n), left = n - j * each;
    return (struct block){p, block_size(p, n), (unsigned)(left < each ? left : each), banks,
                          n > each};
}

static void add(size_t sum[2], const struct block *b, size_t times)
{
    for (unsigned epoch = 0; epoch <= barriers(b); epoch++) {
        struct level l = predict(b, epoch);
        sum[0] += times * l.load_conflicts;
        sum[1] += times * l.store_conflicts;
    }
}

void predict_scan(const struct plan *p, size_t n, size_t sum[2])
{
    sum[0] = sum[1] = 0;
    for (size_t count = n; count > 0;) {
        size_t each = block_elements(p, count), full = count / each, rest = count % each;
        struct block first = block_at(p, count, 0, WARP_LANES);
        struct block last = block_at(p, count, full, WARP_LANES);
        if (full) add(sum, &first, full);
        if (rest) add(sum, &last, 1);
        count = full + (rest > 0) > 1 ? full + (rest > 0) : 0;
    }
}
