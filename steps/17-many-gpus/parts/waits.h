/*
 * waits.h — the library's waits for other ranks, which end at the limit that many_create gets.
 *
 * A collective that has begun cannot be cancelled. One that did not end in time stays under way,
 * together with its communicator and its buffers.
 */
#ifndef STEP17_WAITS_H
#define STEP17_WAITS_H

#include "exchange.h"

/* Waits for a collective that is under way. `call` is what all ranks have to call. If they do not
 * come in time, the scan is lost, and the collective stays under way. Returns 0 or EXIT_DEVICE. */
int await(struct many_scan *, MPI_Request *, const char *call, struct fault *);

/* Waits until all ranks have called it, or the same function has been called again after a failure.
 * Returns 0 or EXIT_DEVICE. */
int meet(struct many_scan *, const char *call, struct fault *);

/* The fault of a scan that is lost. */
int scan_lost(struct many_scan *, struct fault *, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
