/*
 * run_puzzle.h — one of the first puzzles, whose host code needs nvcc: its kernel is launched here.
 */
#ifndef LAB_RUN_PUZZLE_H
#define LAB_RUN_PUZZLE_H

#include "run_entry.h"

#include <stdio.h>

struct puzzle;

/* The puzzle called "first1" … "first5", or NULL. */
const struct puzzle *puzzle_named(const char *name);

/* Runs the kernel of a PTX text with all checkers on, and prints what is wrong, or that all is
 * right. Returns EXIT_RIGHT if the numbers are right and no checker found anything, EXIT_WRONG if
 * not, or another exit code and the fault. */
int run_puzzle(const struct puzzle *, const struct lab_ptx *, FILE *, struct fault *);

#endif
