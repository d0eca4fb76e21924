/*
 * tree.h — the tree of additions of a step: which sums it makes on its way to the outputs. The
 * verifier (verify_bound.c) computes from the tree how large the error of each output may be.
 *
 * A tree is a list of levels. A level divides the elements into segments of the same length, one
 * after the other, and says which sums are made for a segment. Lengths ascend, and each length
 * divides the next one. The last segment may be shorter. Its sums are left out, since no other
 * output needs them. The additions that join sums of the levels into one output are counted by
 * `joins`.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sums {
    /* `additions` sums of neighbours, none of which reaches beyond the segment. A single one is the
     * sum of the whole segment. */
    SUMS_RUN,
    /* One sum of at most `length` neighbours, which ends in the segment and begins there or in the
     * segment before: a sweep of the naive scan. Only outputs of the same `group` use it. */
    SUMS_WINDOW,
    /* The sum of the segment, made from its elements: `ways` accumulators take vectors of `vector`
     * neighbours in turn, and at the end the accumulators are added up as in a warp (see `far`). So
     * only outputs of the same segment use the sums of the levels listed before this one. */
    SUMS_STRIDED,
    /* The sum of all segments so far: as SUMS_STRIDED, with whole segments in place of vectors. */
    SUMS_CARRY,
    /* The sum of all segments so far, in an unknown order. Each addition joins neighbours, except
     * that up to `lanes` segments (a power of two) may be added up in the order of a warp's sum. */
    SUMS_ANY_ORDER,
    /* The sum of all segments so far: the sum of all before, and the segment. Only for a step that
     * adds one element after the other. The length is 1, and there is no other level. */
    SUMS_CHAIN,
};

struct tree_level {
    enum sums sums;
    size_t length;      /* elements of a segment */
    unsigned additions; /* SUMS_RUN */
    size_t group;       /* SUMS_WINDOW: elements, a multiple of the length; 0: all */
    unsigned vector;    /* SUMS_STRIDED: elements */
    unsigned ways;      /* SUMS_STRIDED, SUMS_CARRY: a multiple of 32, at most TREE_WAYS */
    unsigned lanes;     /* SUMS_ANY_ORDER; 1: neighbours only */
    bool far;           /* the sum of 32 lanes begins with lanes 16 apart; otherwise 1 apart */
    bool in_double;     /* SUMS_CARRY: sums are of type double for every type of elements */
    /* SUMS_STRIDED, SUMS_CARRY: the first `longer` segments have `extra` elements more. */
    size_t longer, extra;
};

#define TREE_LEVELS 96
#define TREE_WAYS   512

struct tree {
    size_t count; /* 0: nothing is known but the depth */
    struct tree_level levels[TREE_LEVELS];
    /* Additions that are made for one output alone: those within the segments that it lies in, and
     * those that join sums of different levels, such as a block's carry and a sum within the block.
     * Each makes a sum of neighbours. */
    double joins;
    /* The most additions on the way from an input to an output. */
    double depth;
};

struct step;

/* The tree and the depth that a step states for a scan of n elements. (step.c) */
struct tree step_tree(const struct step *, size_t n, int variant);

/* Appends a level, but not its joins. More levels than TREE_LEVELS are a bug, which ends the
 * program. */
void tree_add(struct tree *, struct tree_level);

/* These append levels and count the joins within them. */

/* Segments that are added up one item after the other: `additions` are one less than the items. */
void tree_run(struct tree *, size_t length, size_t additions);
/* Segments of 2 from, 4 from, … to elements, each the sum of two halves: a balanced tree, swept up
 * and down. `to` is `from` times a power of two. */
void tree_halves(struct tree *, size_t from, size_t to);
/* The sweeps of the naive scan over items of `from` elements, until a window holds `to`. */
void tree_windows(struct tree *, size_t from, size_t to);
/* Those sweeps in each group of `to` elements, where the last item's windows give the sum of the
 * group. `to` is `from` times a power of two. */
void tree_sweeps(struct tree *, size_t from, size_t to);

#ifdef __cplusplus
}
#endif

#endif
