/*
 * exchange_mpi.c — all ranks gather the sums of all nodes by MPI_Allgather. It works between any
 * machines. The sums are copied from the GPU to the host, and from the host to the GPU. In between
 * the host waits for the GPU, so it launches the next kernel late.
 */
#include "common/step/cuda_check.h"
#include "parts/exchange.h"
#include "scan.h"

#include <stdlib.h>
#include <string.h>

/* A fault is kept: the other ranks wait for this one. */
static cudaError_t copy_to_host(const struct many_scan *s, cudaStream_t stream)
{
    cudaError_t error = cudaMemcpyAsync(s->host_sums, s->part.node_sums, s->slots_bytes,
                                        cudaMemcpyDeviceToHost, stream);
    return error ? error : cudaStreamSynchronize(stream);
}

static int gather_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    void *all = s->host_all_nodes;
    int bytes = (int)s->slots_bytes;
    cudaError_t error = copy_to_host(s, stream);
    if (s->wait == MANY_WAIT_FOREVER) /* MPI may wait in a way of its own */
        MPI_Allgather(s->host_sums, bytes, MPI_BYTE, all, bytes, MPI_BYTE, s->comm);
    else
        MPI_Iallgather(s->host_sums, bytes, MPI_BYTE, all, bytes, MPI_BYTE, s->comm, &s->running);
    int code = await(s, &s->running, NOT_RUN, fault);
    if (code) return code;
    if (error) return cuda_fault(fault, error, "the copy of the sums to the host");
    CUDA_CHECK(fault, cudaMemcpyAsync(s->all_nodes, all, (size_t)s->ranks * s->slots_bytes,
                                      cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(fault, part_scan_nodes(&s->part, s->all_nodes, stream));
    return 0;
}

const struct exchange exchange_mpi = {.run = gather_run};

/* ---- exscan ---------------------------------------------------------------------------------- */

/*
 * One sum per rank, and MPI's own scan: MPI_Exscan gives each rank the
 * combination of the sums of all ranks before it. On rank 0 the result of MPI_Exscan is undefined,
 * so rank 0 takes the identity.
 *
 * That is enough for integers. A sum of floats is added up in the groups that the parts of the
 * ranks make, so its last bits depend on the number of ranks.
 */

struct operand {
    enum many_op op;
    union many_state state;
};

struct exscan {
    struct operand mine, before; /* the sum of all nodes of this rank, and of all before it */
    MPI_Datatype type;
    MPI_Op op;
};

/* MPI calls it with the left operands first, and it stores where the right ones are. MPI does not
 * say which operator it is for, so each operand does. */
static void combine_all(void *left, void *right, int *count, MPI_Datatype *type)
{
    const struct operand *from = left;
    struct operand *to = right;
    (void)type;
    for (int i = 0; i < *count; i++)
        to[i].state = many_combine(to[i].op, from[i].state, to[i].state);
}

static int exscan_open(struct many_scan *s, struct fault *fault)
{
    struct exscan *e = s->own = allocated(calloc(1, sizeof *e));
    int commutes = s->part.op != MANY_AFFINE_F32;
    (void)fault;
    MPI_Type_contiguous(sizeof(struct operand), MPI_BYTE, &e->type);
    MPI_Type_commit(&e->type);
    MPI_Op_create(combine_all, commutes, &e->op);
    return 0;
}

/* Combines `before` with the sums of this rank's nodes. If `store`, each of them is replaced by
 * what stands before it. */
static union many_state scan_nodes(const struct many_scan *s, union many_state before, bool store)
{
    size_t size = many_state_bytes(s->part.op);
    size_t count = many_nodes_of(s->part.shape, s->ranks, s->rank).count;
    char *at = s->host_sums;
    for (size_t i = 0; i < count; i++, at += size) {
        union many_state sum = many_identity(s->part.op);
        memcpy(&sum, at, size);
        if (store) memcpy(at, &before, size);
        before = many_combine(s->part.op, before, sum);
    }
    return before;
}

static int exscan_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    struct exscan *e = s->own;
    union many_state none = many_identity(s->part.op);
    cudaError_t error = copy_to_host(s, stream);
    e->mine = (struct operand){s->part.op, scan_nodes(s, none, false)};
    if (s->wait == MANY_WAIT_FOREVER)
        MPI_Exscan(&e->mine, &e->before, 1, e->type, e->op, s->comm);
    else
        MPI_Iexscan(&e->mine, &e->before, 1, e->type, e->op, s->comm, &s->running);
    int code = await(s, &s->running, NOT_RUN, fault);
    if (code) return code;
    if (s->rank == 0) e->before.state = none;
    if (error) return cuda_fault(fault, error, "the copy of the sums to the host");
    scan_nodes(s, e->before.state, true);
    CUDA_CHECK(fault, cudaMemcpyAsync(s->part.node_prefix, s->host_sums, s->slots_bytes,
                                      cudaMemcpyHostToDevice, stream));
    return 0;
}

static void exscan_close(struct many_scan *s)
{
    struct exscan *e = s->own;
    MPI_Op_free(&e->op);
    MPI_Type_free(&e->type);
    free(e);
}

const struct exchange exchange_exscan = {
    .open = exscan_open, .run = exscan_run, .close = exscan_close};
