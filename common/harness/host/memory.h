/*
 * memory.h — how much memory is left on the host.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of host memory that can still be allocated without swapping. */
size_t host_memory(void);

#ifdef __cplusplus
}
#endif

#endif
