/*
 * scan.h — step 17 as a library: a scan of more elements than one GPU holds, for programs with MPI.
 *
 *     struct many_part mine = many_part_of(n, ranks, rank);            which elements are mine?
 *     many_create(&scan, MPI_COMM_WORLD, MANY_SUM_F32, EXCHANGE_PEER, n, MANY_WAIT_SECONDS,
 *                 &fault);                                                             once
 *     many_run(scan, out, in, NULL, false, stream, &fault);            as often as you like
 *     cudaStreamSynchronize(stream);
 *     many_check(scan, &fault);
 *     many_destroy(scan, &fault);
 *
 * Let x be the whole array of n elements. The result for element i combines x[0] … x[i-1], and that
 * for element 0 is the identity; inclusive: x[0] … x[i]. `in` and `out` are the rank's own part.
 * Each rank has one GPU, which the caller selects by cudaSetDevice before many_create.
 *
 * The results are bitwise identical for any number of ranks, and for every exchange but
 * EXCHANGE_EXSCAN with floating-point numbers. For MANY_AFFINE_F32 the products of neighbouring a
 * must be finite.
 *
 * A function returns 0, or an exit code of fault.h with a sentence in the fault. An error of CUDA
 * that was there before stays for the caller's cudaGetLastError.
 */
#ifndef STEP17_SCAN_H
#define STEP17_SCAN_H

#include "common/files/fault.h"
#include "parts/part.h"

#include <cuda_runtime.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct many_scan;

/*
 * All ranks call it with the same arguments. It returns the same on all of them: if it fails on one
 * rank, it fails on all, with the sentence of the first rank that failed. A scan that was not
 * created is NULL, which many_destroy takes.
 *
 * A rank waits `wait_seconds` at most until all others have called many_run as often, or many_reset
 * or many_destroy; with MANY_WAIT_FOREVER without a limit. many_create itself waits without one,
 * and NCCL's kernel in the stream, too.
 */
int many_create(struct many_scan **, MPI_Comm, enum many_op, enum many_exchange, size_t n,
                double wait_seconds, struct fault *);
#define MANY_WAIT_SECONDS 30.0 /* a usual limit */
#define MANY_WAIT_FOREVER 0.0

/*
 * All ranks call it, and as often as the others. out, in and in2 are the caller's part in device
 * memory, aligned to MANY_ALIGNMENT bytes; NULL if the part is empty. in2 is the second input of
 * MANY_AFFINE_F32, otherwise NULL. out may be an input. With EXCHANGE_PEER and EXCHANGE_NCCL the
 * call does not wait, and may be captured into a graph. With the others it waits for the stream in
 * between. Scans of the same many_scan must run one after the other.
 *
 * If it fails on one rank, the results of all ranks are undefined, although it may return 0 on the
 * others, and many_check as well. The caller compares the codes. After a wait that has failed on
 * this rank, it fails at once, until many_reset.
 */
int many_run(struct many_scan *, void *out, const void *in, const void *in2, bool inclusive,
             cudaStream_t, struct fault *);

#define MANY_ALIGNMENT 16

/* To be called when the stream has been synchronised, and before `out` is used: did the sums of all
 * ranks arrive? With EXCHANGE_PEER it is the GPU that waits, so many_run cannot return that. When a
 * wait has failed, no later one of this many_scan is begun, and many_check fails, until many_reset.
 */
int many_check(struct many_scan *, struct fault *);

/* All ranks call it when their streams are idle, if one of them had to wait too long. Afterwards
 * the scan and graphs of it can be used again: the runs of all ranks count from here. If not all
 * come in time, it fails, and can be called again. When all have come, it waits for them without a
 * limit.
 *
 * With EXCHANGE_NCCL a stream in which a rank waits is never idle: many_reset first ends NCCL's
 * kernel there, whose results are undefined. Graphs captured before have NCCL's old communicator
 * and must not be launched again. */
int many_reset(struct many_scan *, struct fault *);

/* All ranks call it when their streams are idle (with EXCHANGE_NCCL, after many_reset if a rank
 * still waits). If not all come in time, it fails, and has freed what no other rank may still write
 * to. MPI_Finalize would wait for them without a limit then, but
 * MPI_Abort does not. */
int many_destroy(struct many_scan *, struct fault *);

#ifdef __cplusplus
}
#endif

#endif
