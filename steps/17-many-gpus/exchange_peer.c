/*
 * exchange_peer.c — each GPU stores its sums into the memory of the others: see peer.h. The ranks
 * are processes of one machine. CUDA's IPC handles make the memory of one visible in another.
 */
#include "agree.h"
#include "exchange.h"
#include "peer.h"

#include "common/harness/cuda_check.h"

#include <stdlib.h>

/* An allocation of its own. CUDA takes smaller ones from a common block, and a handle would make
 * all of it visible. */
#define MAILBOX_BYTES ((size_t)2 << 20)
_Static_assert(sizeof(struct mailbox) <= MAILBOX_BYTES, "a mailbox fits into its memory");

struct peer {
    struct mailbox *mine;
    struct mailbox **all;    /* of the ranks, as this process sees them; NULL: not opened */
    struct mailbox **on_gpu; /* the same, in device memory */
};

static size_t bytes(size_t gathered)
{
    (void)gathered;
    return MAILBOX_BYTES + MANY_RANKS * sizeof(struct mailbox *);
}

static int peer_open(struct many_scan *s, struct fault *fault)
{
    size_t pointers = (size_t)s->ranks * sizeof(struct mailbox *);
    struct peer *x = calloc(1, sizeof *x);
    s->own = x;
    if (x) x->all = calloc(1, pointers);
    if (!x || !x->all) return fail(fault, EXIT_DEVICE, "out of host memory.");
    CUDA_CHECK(fault, cudaMalloc((void **)&x->mine, MAILBOX_BYTES));
    CUDA_CHECK(fault, cudaMemset(x->mine, 0, sizeof *x->mine));
    CUDA_CHECK(fault, cudaMalloc((void **)&x->on_gpu, pointers));
    return 0;
}

/* Are all ranks on one machine? Returns the same on all of them. */
static int on_one_machine(const struct many_scan *s, struct fault *fault)
{
    MPI_Comm here;
    int count;
    MPI_Comm_split_type(s->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &count);
    MPI_Comm_free(&here);
    int code = 0;
    if (count < s->ranks)
        code = fail(fault, EXIT_USAGE,
                    "the ranks are on several machines, and only GPUs of one machine can store "
                    "into each other's memory; use exchange mpi or nccl.");
    return agree(s->comm, code, fault);
}

static int get_handle(struct peer *x, int ranks, cudaIpcMemHandle_t *handle, struct fault *fault)
{
    if (ranks > 1) CUDA_CHECK(fault, cudaIpcGetMemHandle(handle, x->mine));
    return 0;
}

static int open_all(struct many_scan *s, const cudaIpcMemHandle_t *handles, struct fault *fault)
{
    struct peer *x = s->own;
    for (int r = 0; r < s->ranks; r++) {
        void *opened = x->mine;
        if (r != s->rank)
            CUDA_CHECK(fault,
                       cudaIpcOpenMemHandle(&opened, handles[r], cudaIpcMemLazyEnablePeerAccess));
        x->all[r] = opened;
    }
    CUDA_CHECK(fault, cudaMemcpy(x->on_gpu, x->all, (size_t)s->ranks * sizeof *x->all,
                                 cudaMemcpyHostToDevice));
    return 0;
}

static int peer_connect(struct many_scan *s, struct fault *fault)
{
    cudaIpcMemHandle_t mine = {{0}}, *all = calloc((size_t)s->ranks, sizeof *all);
    int code = on_one_machine(s, fault);
    if (code) return free(all), code;
    code = all ? get_handle(s->own, s->ranks, &mine, fault)
               : fail(fault, EXIT_DEVICE, "out of host memory.");
    code = agree(s->comm, code, fault);
    if (code) return free(all), code;
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, s->comm);
    code = open_all(s, all, fault);
    free(all);
    return code;
}

static int peer_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    struct peer *x = s->own;
    struct peers peers = {x->on_gpu, (uint64_t)MANY_WAIT_SECONDS * 1000000000};
    CUDA_CHECK(fault, peer_exchange(&s->part, peers, stream));
    return 0;
}

static int peer_check(struct many_scan *s, struct fault *fault)
{
    struct peer *x = s->own;
    uint32_t failed;
    CUDA_CHECK(fault, cudaMemcpy(&failed, &x->mine->failed, sizeof failed, cudaMemcpyDeviceToHost));
    if (!failed) return 0;
    return fail(fault, EXIT_DEVICE, "the sums of rank %u did not arrive within %d seconds.",
                failed - 1, MANY_WAIT_SECONDS);
}

/* No rank may free its mailbox while another one has it open. */
static void peer_close(struct many_scan *s)
{
    struct peer *x = s->own;
    for (int r = 0; x && x->all && r < s->ranks; r++)
        if (r != s->rank && x->all[r]) cudaIpcCloseMemHandle(x->all[r]);
    MPI_Barrier(s->comm);
    if (!x) return;
    cudaFree(x->mine);
    cudaFree(x->on_gpu);
    free(x->all);
    free(x);
}

const struct exchange exchange_peer = {.open = peer_open,
                                       .connect = peer_connect,
                                       .run = peer_run,
                                       .check = peer_check,
                                       .close = peer_close,
                                       .launches = 1,
                                       .bytes = bytes};
