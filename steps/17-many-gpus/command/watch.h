/*
 * watch.h — ends the program if the other ranks do not come to a call of MPI, or of NCCL, in time.
 *
 * A rank that has been stopped, or hangs, would leave the others waiting for ever. mpirun ends all
 * ranks when one of them has ended with an error.
 */
#ifndef STEP17_WATCH_H
#define STEP17_WATCH_H

#include "common/command/fault.h"

#ifdef __cplusplus
extern "C" {
#endif

/* From here on a rank waits this many seconds at most in a call of MPI; 0: without a limit. */
void watch_begin(int rank, double seconds);

/* What is done in between waits for the other ranks as well, outside of MPI. */
void watch_begin_wait(void);
void watch_end_wait(void);

/* This rank has failed, and is about to tell the others. If they do not come soon, this is what the
 * rank says when it ends. */
void watch_reason(const struct fault *);

/* Ends the program at once, as if the wait were over. */
_Noreturn void watch_give_up(const struct fault *);

#ifdef __cplusplus
}
#endif

#endif
