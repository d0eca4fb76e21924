/*
 * run_case.h — runs a submission's PTX: where its kernels begin, and one case.
 */
#ifndef LAB_RUN_CASE_H
#define LAB_RUN_CASE_H

#include "results.h"
#include "common/files/fault.h"
#include "common/tools/emu/emu.h"
#include <stdio.h>

/* ---- a submission's PTX, and where its kernels begin ----------------------------------------- */

/* A submission's PTX. The text ends with NUL, but may hold others. */
struct lab_ptx {
    char *text;
    size_t length;
};

/* Reads a file. The text is malloc'd. Returns 0 or an exit code. */
int ptx_read(const char *path, struct lab_ptx *, struct fault *);

/* Finds the next entry from *at on that is called `kernel` in the source, and moves *at behind it.
 * `name` is its mangled name. An entry that stands in a comment of the PTX is found, too. */
bool next_entry(const struct lab_ptx *, size_t *at, const char *kernel, char name[EMU_NAME_SIZE]);

/* ---- runs a submission's PTX on one case: a fresh device, our launches, all checkers on ------ */

/* The runs of a submission: the cases of a lab, each on a device with `memory` bytes (0: 256 MiB).
 * take(to, result) is called after each case, before its device is closed. A result that it does
 * not move elsewhere is freed then. It returns 0, or an error, which ends the runs. */
struct lab_runs {
    const struct lab *lab;
    uint64_t seed;
    bool handed_out; /* see lab_cases() */
    bool order;      /* run one case only, and find out of each barrier whether it is needed */
    size_t memory;
    size_t first;                 /* cases before this one are left out */
    void (*opened)(struct emu *); /* called with each device that is opened; NULL: nothing is */
    int (*take)(void *to, struct lab_case_result *);
    void *to;
};

/* Runs all cases; those that would only end as an earlier one has ended get its message. Returns 0,
 * or the error of take(). */
int run_cases(const struct lab_runs *, const struct lab_ptx *);

/* The kernel that runs now has printed this many bytes. Of a flood, the kernel is stopped, and ends
 * as LAB_INSTRUCTIONS. For what takes a kernel's printf. */
void run_case_printed(size_t bytes);

/* ---- one of the first puzzles, whose host code needs nvcc: its kernel is launched here ------- */

struct puzzle;

/* The puzzle called "first1" … "first5", or NULL. */
const struct puzzle *puzzle_named(const char *name);

/* Runs the kernel of a PTX text with all checkers on, and prints what is wrong, or that all is
 * right. Returns EXIT_RIGHT if the numbers are right and no checker found anything, EXIT_WRONG if
 * not, or another exit code and the fault. */
int run_puzzle(const struct puzzle *, const struct lab_ptx *, FILE *, struct fault *);

#endif
