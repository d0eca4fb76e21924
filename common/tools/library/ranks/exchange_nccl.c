/*
 * exchange_nccl.c — all ranks gather the sums of all nodes by ncclAllGather, which is a kernel in
 * the stream: the host does not wait, and the scan may be captured into a graph.
 */
#include "steps/17-many-gpus/parts/exchange.h"

#include "common/step/cuda_check.h"

#include <nccl.h>

static int nccl_fault(struct fault *fault, ncclResult_t result, const char *call)
{
    return fail(fault, EXIT_DEVICE, "%s: %s.", call, ncclGetErrorString(result));
}

#define NCCL_CHECK(fault, call)                                                                    \
    do {                                                                                           \
        ncclResult_t result_ = (call);                                                             \
        if (result_ != ncclSuccess) return nccl_fault((fault), result_, #call);                    \
    } while (0)

/* Rank 0 makes an id. All ranks pass the same id to ncclCommInitRank. */
static int nccl_connect(struct many_scan *s, struct fault *fault)
{
    ncclComm_t comm;
    ncclUniqueId id = {0};
    ncclResult_t drawn = s->rank == 0 ? ncclGetUniqueId(&id) : ncclSuccess;
    int code = drawn ? nccl_fault(fault, drawn, "ncclGetUniqueId") : 0;
    code = agree(s->comm, code, fault);
    if (code) return code;
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, s->comm);
    NCCL_CHECK(fault, ncclCommInitRank(&comm, s->ranks, id, s->rank));
    s->own = comm;
    return 0;
}

/* The communicator is lost if not all ranks have come to many_reset, or NCCL itself has failed. */
static int nccl_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    if (!s->own) return scan_lost(s, fault, NOT_RESET);
    NCCL_CHECK(fault, ncclAllGather(s->part.node_sums, s->all_nodes, s->slots_bytes, ncclChar,
                                    s->own, stream));
    CUDA_CHECK(fault, part_scan_nodes(&s->part, s->all_nodes, stream));
    return 0;
}

static int nccl_check(struct many_scan *s, struct fault *fault)
{
    ncclResult_t result = ncclSuccess;
    if (!s->own) return scan_lost(s, fault, NOT_RESET);
    NCCL_CHECK(fault, ncclCommGetAsyncError(s->own, &result));
    return result == ncclSuccess ? 0 : nccl_fault(fault, result, "ncclAllGather");
}

/* NCCL's kernel waits without a limit, and ncclCommDestroy for the kernel. */
static void nccl_stop(struct many_scan *s)
{
    if (s->own) ncclCommAbort(s->own);
    s->own = NULL;
}

static void nccl_close(struct many_scan *s) { ncclCommDestroy(s->own); }

const struct exchange exchange_nccl = {.connect = nccl_connect,
                                       .run = nccl_run,
                                       .check = nccl_check,
                                       .stop = nccl_stop,
                                       .reset = nccl_connect,
                                       .close = nccl_close};
