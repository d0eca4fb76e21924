/*
 * process_tree.h — what a process and all its descendants use.
 */
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct tree_usage {
    uint64_t resident; /* bytes of memory; a page that several processes share counts for each */
    uint64_t ticks;    /* processor time of the threads that are there now */
    unsigned active;   /* threads that run, are ready to run, or wait for a disk */
    unsigned processes;
};

/* Sums over a process and its descendants. Processes that end meanwhile count 0. */
struct tree_usage process_tree_usage(pid_t root);

/* Are descendants found here? A kernel without CONFIG_PROC_CHILDREN does not list them, and /proc
 * may hide them. Every tree seems to be idle and small then. */
bool process_tree_works(void);

#endif
