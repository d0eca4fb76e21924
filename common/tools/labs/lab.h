/*
 * lab.h — the labs: what a student's kernels are launched with, on which sizes, and what they are
 * expected to do.
 *
 * A lab is a step whose kernels have gaps. The host code is ours: lab_table.c says which kernels
 * are launched with which arguments (struct lab_plan), and lab_table.c which sizes and which inputs
 * a submission is run on. Nothing here runs a submission.
 */
#ifndef LAB_H
#define LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LAB_ARGUMENTS = 6,
    LAB_LAUNCHES = 8,
    LAB_SIZES = 16, /* graded sizes of a lab */
    LAB_CASES = 64,
    LAB_NAME = 12,
};

/* A lab's arrays in device memory: input and output of n floats each, and the workspace. Where the
 * result is LAB_KEPT, the output has one word more. */
enum lab_buffer { LAB_IN, LAB_OUT, LAB_WORKSPACE, LAB_BUFFERS };

/* An argument of a kernel. */
struct lab_argument {
    enum { LAB_ADDRESS, LAB_NULL, LAB_INT, LAB_SIZE } kind;
    enum lab_buffer buffer; /* LAB_ADDRESS */
    uint64_t value;         /* LAB_ADDRESS: offset in bytes; LAB_INT, LAB_SIZE: the number */
};

/* One launch of a kernel, by its name in the source. One-dimensional, as all labs are. */
struct lab_launch {
    const char *kernel;
    unsigned blocks, threads;
    size_t shared_bytes; /* dynamic */
    unsigned argument_count;
    struct lab_argument arguments[LAB_ARGUMENTS];
};

/* All launches of one scan. */
struct lab_plan {
    size_t workspace;     /* bytes; 0: none */
    bool clear_workspace; /* with zeros; otherwise it holds poison */
    unsigned launch_count;
    struct lab_launch launches[LAB_LAUNCHES];
};

/* What is free of the instructions besides the expected operations, counted in lanes. */
struct lab_others {
    double cap;         /* this many times the solution's are free; 0: twice as many */
    unsigned power;     /* beyond that, points fall with this power of the number; 0: 1 */
    const char *saving; /* how to need fewer of them: a sentence; or NULL */
};

/* What the output is. */
enum lab_result {
    LAB_SUMS, /* the exclusive scan of the n elements */
    LAB_KEPT, /* the elements greater than 0, in their order; nothing is written behind the last
                 one, and word n is their number */
};

struct lab {
    int number;
    const char *exercise; /* "exercise4": of this chapter, and no lab; NULL: a lab */
    const char *title;
    const char *source;  /* "steps/03-work-efficient/scan.cu", or a file of labs/sources */
    const char *chapter; /* "notes/03-work-efficient.md" */
    void (*plan)(size_t n, struct lab_plan *);
    enum lab_result result;
    size_t block; /* elements that a block scans, for the guess at a cause; 0: all */
    size_t least, most;
    size_t timed; /* the size whose time is measured on a GPU; it may be beyond `most` */
    bool power_of_two;
    const size_t *sizes;         /* those handed out, ascending; ends with 0 */
    const char *const *expected; /* operations that add elements: "add.f32"; ends with NULL */
    /* Additions are of integers. Indices are made of the same ones, so twice the solution's are
     * free, and operations that hide additions are compared with n. */
    bool adds_integers;
    struct lab_others others;
    /* Blocks that a small device has room for, on which some runs begin with the last block: then
     * a block may not wait for one with a lower index. 0: no such runs. */
    unsigned resident;
};

/* All labs in order, without exercises; NULL beyond the last. */
const struct lab *lab_at(size_t index);
/* The lab of a number in decimal digits, or an exercise: "3", or "exercise4"; or NULL. */
const struct lab *lab_named(const char *name);
/* What finds it again; `name` is room for it. */
const char *lab_name(const struct lab *, char name[LAB_NAME]);

/* ---- lab_table.c ----------------------------------------------------------------------------- */

/* How many elements of an input are greater than 0: about half, but at least one, and not all
 * unless n is 1; few; none; all. 0: the result is LAB_SUMS, and about half are. */
enum lab_share { LAB_HALF = 1, LAB_FEW, LAB_NONE, LAB_ALL };

/* One run of a submission: a fresh device with all checkers on. */
struct lab_case {
    size_t n;
    uint64_t input;      /* seed of the input */
    uint64_t schedule;   /* emu_config.schedule; 0: the usual order, and the counters are judged */
    uint64_t clock;      /* emu_config.clock_seed */
    size_t boundary;     /* the first large element; 0: none is large */
    uint64_t exponent;   /* large elements are this power of two times the others */
    uint64_t descending; /* not 0: on the lab's small device, the last block begins first */
    uint64_t share;      /* enum lab_share, where the result is LAB_KEPT; otherwise 0 */
};

/* Words of a case's output: n, and one more for the number of kept elements. */
size_t lab_output_words(const struct lab_case *);

/* A case of this size in the usual order, with about half of the elements greater than 0. */
struct lab_case lab_plain_case(const struct lab *, size_t n, uint64_t input);

/* The cases of a lab, at most LAB_CASES, in the order in which they are run; returns their number.
 * They depend on the arguments only. With `handed_out`, sizes are those that students know;
 * otherwise sizes near them are drawn from the seed, with the edges: the least size, one full
 * block, several full blocks, and two sizes anywhere. If only powers of two are allowed, both are
 * the same. Every size has one case with schedule 0, and some have more. */
size_t lab_cases(const struct lab *, uint64_t seed, bool handed_out, struct lab_case *);

/* Do students know the size? */
bool lab_hands_out(const struct lab *, size_t n);

/* The input of a case: n multiples of 1/8, of either sign (see `share`) and not 0. Every sum of
 * neighbours is a float, so the right result does not depend on the order of additions.
 *
 * With a boundary, the elements from there on are positive and so large that a float that holds one
 * of them holds nothing of the others. So every sum across the boundary is rounded to the large
 * elements' part, and the result is still the same in every order. A float can hold both kinds of
 * sums, and an integer cannot: the additions have to be made in floats. */
void lab_input(const struct lab_case *, float *in);

/* The most warp instructions that a launch may execute. It is far above any right solution's. */
uint64_t lab_instruction_limit(size_t n);

#endif
