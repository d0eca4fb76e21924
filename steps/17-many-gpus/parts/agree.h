/*
 * agree.h — ranks that have to go on together, or end together.
 *
 * A rank that fails alone would leave the others waiting in their next call of MPI. So a failure is
 * kept until all ranks have come to the end of the same piece of work, and there they agree.
 */
#ifndef STEP17_AGREE_H
#define STEP17_AGREE_H

#include "common/command/fault.h"

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All ranks call it, each with the code of its own work (0: all is well) and the sentence. Returns
 * the same on all of them: 0 if no rank has failed; otherwise the code of the first rank that has,
 * and its sentence in every fault. The sentence names the rank, unless all ranks have the same. */
int agree(MPI_Comm, int code, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
