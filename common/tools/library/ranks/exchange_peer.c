/*
 * exchange_peer.c — each GPU stores its sums into the memory of the others: see part.h. The ranks
 * are processes of one machine. CUDA's IPC handles make the memory of one visible in another.
 */
#include "steps/17-many-gpus/parts/exchange.h"
#include "steps/17-many-gpus/parts/part.h"
#include "steps/17-many-gpus/scan.h"

#include "common/step/cuda_check.h"

#include <stdio.h>
#include <stdlib.h>

/* An allocation of its own. CUDA takes smaller ones from a common block, and a handle would make
 * all of it visible. */
#define MAILBOX_BYTES ((size_t)2 << 20)
#define NS_PER_SECOND 1e9
_Static_assert(sizeof(struct mailbox) <= MAILBOX_BYTES, "a mailbox fits into its memory");

/* A limit beyond the range is none. */
static uint64_t ns_of(double seconds)
{
    double ns = seconds * NS_PER_SECOND;
    return seconds == MANY_WAIT_FOREVER || ns >= (double)UINT64_MAX ? UINT64_MAX : (uint64_t)ns;
}

static int peer_open(struct many_scan *s, struct fault *fault)
{
    struct peers *x = s->own = allocated(calloc(1, sizeof *x));
    x->wait_ns = ns_of(s->wait);
    CUDA_CHECK(fault, cudaMalloc((void **)&x->mailbox[0], MAILBOX_BYTES));
    CUDA_CHECK(fault, cudaMemset(x->mailbox[0], 0, sizeof *x->mailbox[0]));
    return 0;
}

static int open_all(struct many_scan *s, const cudaIpcMemHandle_t *handles, struct fault *fault)
{
    struct peers *x = s->own;
    for (int r = 1; r < s->ranks; r++) {
        void *opened;
        CUDA_CHECK(fault, cudaIpcOpenMemHandle(&opened, handles[(s->rank + r) % s->ranks],
                                               cudaIpcMemLazyEnablePeerAccess));
        x->mailbox[r] = opened;
    }
    return 0;
}

static int peer_connect(struct many_scan *s, struct fault *fault)
{
    const struct peers *x = s->own;
    cudaIpcMemHandle_t mine = {{0}}, all[MANY_PEERS];
    cudaError_t error = s->ranks > 1 ? cudaIpcGetMemHandle(&mine, x->mailbox[0]) : cudaSuccess;
    int code = error ? cuda_fault(fault, error, "cudaIpcGetMemHandle") : 0;
    code = agree(s->comm, code, fault);
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, s->comm);
    return code ? code : open_all(s, all, fault);
}

static int peer_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    CUDA_CHECK(fault, peer_exchange(&s->part, s->own, stream));
    return 0;
}

static int peer_check(struct many_scan *s, struct fault *fault)
{
    const struct peers *x = s->own;
    struct progress progress;
    CUDA_CHECK(fault, cudaMemcpy(&progress, &x->mailbox[0]->progress, sizeof progress,
                                 cudaMemcpyDeviceToHost));
    if (!progress.failed) return 0;
    char what[60];
    snprintf(what, sizeof what, "the sums of rank %d did not arrive",
             peer_sender_of(s->part.shape, s->ranks, progress.failed - 1));
    return scan_lost(s, fault, what);
}

/* No rank stores into this mailbox: all have come to many_reset with idle streams. None may begin
 * before all have cleared theirs. */
static int peer_reset(struct many_scan *s, struct fault *fault)
{
    const struct peers *x = s->own;
    CUDA_CHECK(fault, cudaMemset(x->mailbox[0], 0, sizeof *x->mailbox[0]));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

static void peer_leave(struct many_scan *s)
{
    const struct peers *x = s->own;
    for (int r = 1; x && r < MANY_PEERS; r++)
        if (x->mailbox[r]) cudaIpcCloseMemHandle(x->mailbox[r]);
}

static void peer_close(struct many_scan *s)
{
    struct peers *x = s->own;
    cudaFree(x->mailbox[0]);
    free(x);
}

const struct exchange exchange_peer = {.open = peer_open,
                                       .connect = peer_connect,
                                       .run = peer_run,
                                       .check = peer_check,
                                       .reset = peer_reset,
                                       .leave = peer_leave,
                                       .close = peer_close};
