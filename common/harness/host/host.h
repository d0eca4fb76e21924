/*
 * host.h — the process and its machine: memory, processors, how the program ends.
 */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>
#include <stddef.h>

/* ---- how much memory is left on the host ----------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of host memory that can still be allocated without swapping. */
size_t host_memory(void);

#ifdef __cplusplus
}
#endif

/* ---- a loop whose turns the processors share ------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

/* Calls work(context, i) for i = 0 … count-1, in any order, and several at a time. Returns when
 * all calls have returned. A call should take 10 µs or more. Few calls are made by this thread
 * alone. */
void parallel_for(size_t count, void (*work)(void *context, size_t i), void *context);

/* How many threads take part. 0, as at first: one for each processor that this process may use. */
extern unsigned parallel_threads;

#ifdef __cplusplus
}
#endif

#endif
