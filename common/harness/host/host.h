/*
 * host.h — the machine: memory and processors.
 */
#ifndef HOST_H
#define HOST_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of host memory that can still be allocated without swapping. */
size_t host_memory(void);

/* Calls work(context, i) for i = 0 … count-1, in any order, and several at a time. Returns when
 * all calls have returned. Few calls are made by this thread alone. */
void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context);

/* How many threads take part, at most. 0, as at first: one for each processor that this process may
 * use. */
extern unsigned parallel_threads;

#ifdef __cplusplus
}
#endif

#endif
