/*
 * process_tree.h — how much memory a process and all its descendants use.
 */
#ifndef PROCESS_TREE_H
#define PROCESS_TREE_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes of memory in use, summed over a process and its descendants. A page that several of them
 * share is counted for each. Processes that end meanwhile count 0. */
uint64_t process_tree_resident(pid_t root);

#endif
