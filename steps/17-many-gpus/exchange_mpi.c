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

struct gather {
    void *mine, *all; /* pinned host memory: this rank's slots, and those of all ranks */
    void *all_nodes;  /* device memory */
};

static int gather_open(struct many_scan *s, struct fault *fault)
{
    struct gather *g = calloc(1, sizeof *g);
    size_t size = all_slots_bytes(s->ranks, s->slots, s->state_bytes);
    s->own = g;
    if (!g) return fail(fault, EXIT_DEVICE, "out of host memory.");
    CUDA_CHECK(fault, cudaMallocHost(&g->mine, states_bytes(s->slots, s->state_bytes)));
    CUDA_CHECK(fault, cudaMallocHost(&g->all, size));
    CUDA_CHECK(fault, cudaMalloc(&g->all_nodes, size));
    return 0;
}

/* Without a limit MPI may wait in a way of its own. */
static int gather(struct many_scan *s, int size, struct fault *fault)
{
    const struct gather *g = s->own;
    if (s->wait == MANY_WAIT_FOREVER) {
        MPI_Allgather(g->mine, size, MPI_BYTE, g->all, size, MPI_BYTE, s->comm);
        return 0;
    }
    MPI_Iallgather(g->mine, size, MPI_BYTE, g->all, size, MPI_BYTE, s->comm, &s->running);
    return await(s, &s->running, "many_run", fault);
}

static int gather_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    struct gather *g = s->own;
    size_t size = s->slots * s->state_bytes;
    cudaError_t error =
        cudaMemcpyAsync(g->mine, s->part.node_sums, size, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    int code = gather(s, (int)size, fault);
    if (code) return code;
    if (error) return cuda_fault(fault, error, "the copy of the sums to the host");
    CUDA_CHECK(fault, cudaMemcpyAsync(g->all_nodes, g->all, (size_t)s->ranks * size,
                                      cudaMemcpyHostToDevice, stream));
    CUDA_CHECK(fault, part_scan_nodes(&s->part, g->all_nodes, stream));
    return 0;
}

static void gather_close(struct many_scan *s)
{
    struct gather *g = s->own;
    if (!g) return;
    cudaFreeHost(g->mine);
    cudaFreeHost(g->all);
    cudaFree(g->all_nodes);
    free(g);
}

const struct exchange exchange_mpi = {.open = gather_open,
                                      .run = gather_run,
                                      .close = gather_close,
                                      .launches = 1,
                                      .bytes = all_slots_bytes};

/* ---- exscan ---------------------------------------------------------------------------------- */

/*
 * One sum per rank, and MPI's own scan: MPI_Exscan gives each rank the
 * combination of the sums of all ranks before it. On rank 0 the result of MPI_Exscan is undefined,
 * so rank 0 takes the identity.
 *
 * That is enough for integers. A sum of floats is added up in the groups that the parts of the
 * ranks make, so its last bits depend on the number of ranks.
 */

struct exscan {
    void *nodes; /* pinned host memory: the sums of this rank's nodes, later their prefixes */
    union many_state mine, before; /* the sum of all nodes of this rank, and of all before it */
    MPI_Datatype type;
    MPI_Op op;
};

/* MPI calls a function with the left operands first, and stores where the right ones are. It does
 * not say which operator it is for. So each operator has a function. */
static void combine_all(enum many_op op, const void *left, void *right, int count)
{
    for (int i = 0; i < count; i++) {
        union many_state *to = (union many_state *)right + i;
        *to = many_combine(op, ((const union many_state *)left)[i], *to);
    }
}
#define FUNCTION(name, op)                                                                         \
    static void name(void *left, void *right, int *count, MPI_Datatype *type)                      \
    {                                                                                              \
        (void)type;                                                                                \
        combine_all(op, left, right, *count);                                                      \
    }
FUNCTION(sum_f32, MANY_SUM_F32)
FUNCTION(sum_f64, MANY_SUM_F64)
FUNCTION(sum_i32, MANY_SUM_I32)
FUNCTION(sum_i64, MANY_SUM_I64)
FUNCTION(affine_f32, MANY_AFFINE_F32)
static MPI_User_function *const functions[MANY_OPS] = {
    [MANY_SUM_F32] = sum_f32, [MANY_SUM_F64] = sum_f64,       [MANY_SUM_I32] = sum_i32,
    [MANY_SUM_I64] = sum_i64, [MANY_AFFINE_F32] = affine_f32,
};

static int exscan_open(struct many_scan *s, struct fault *fault)
{
    struct exscan *e = calloc(1, sizeof *e);
    int commutes = s->part.op != MANY_AFFINE_F32;
    s->own = e;
    if (!e) return fail(fault, EXIT_DEVICE, "out of host memory.");
    MPI_Type_contiguous(sizeof(union many_state), MPI_BYTE, &e->type);
    MPI_Type_commit(&e->type);
    MPI_Op_create(functions[s->part.op], commutes, &e->op);
    CUDA_CHECK(fault, cudaMallocHost(&e->nodes, states_bytes(s->slots, s->state_bytes)));
    return 0;
}

/* Combines `before` with the sums of this rank's nodes. If `store`, each of them is replaced by
 * what stands before it. */
static union many_state scan_nodes(const struct many_scan *s, union many_state before, bool store)
{
    const struct exscan *e = s->own;
    size_t count = many_nodes_of(s->part.shape, s->ranks, s->rank).count;
    for (size_t i = 0; i < count; i++) {
        char *at = (char *)e->nodes + i * s->state_bytes;
        union many_state sum = many_identity(s->part.op);
        memcpy(&sum, at, s->state_bytes);
        if (store) memcpy(at, &before, s->state_bytes);
        before = many_combine(s->part.op, before, sum);
    }
    return before;
}

/* Without a limit MPI may wait in a way of its own. */
static int exscan_ranks(struct many_scan *s, struct fault *fault)
{
    struct exscan *e = s->own;
    if (s->wait == MANY_WAIT_FOREVER) {
        MPI_Exscan(&e->mine, &e->before, 1, e->type, e->op, s->comm);
        return 0;
    }
    MPI_Iexscan(&e->mine, &e->before, 1, e->type, e->op, s->comm, &s->running);
    return await(s, &s->running, "many_run", fault);
}

static int exscan_run(struct many_scan *s, cudaStream_t stream, struct fault *fault)
{
    struct exscan *e = s->own;
    size_t size = s->slots * s->state_bytes;
    union many_state none = many_identity(s->part.op);
    cudaError_t error =
        cudaMemcpyAsync(e->nodes, s->part.node_sums, size, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaStreamSynchronize(stream);
    e->mine = scan_nodes(s, none, false);
    int code = exscan_ranks(s, fault);
    if (code) return code;
    if (s->rank == 0) e->before = none;
    if (error) return cuda_fault(fault, error, "the copy of the sums to the host");
    scan_nodes(s, e->before, true);
    CUDA_CHECK(fault, cudaMemcpyAsync(s->part.node_prefix, e->nodes, size, cudaMemcpyHostToDevice,
                                      stream));
    return 0;
}

static void exscan_close(struct many_scan *s)
{
    struct exscan *e = s->own;
    if (!e) return;
    MPI_Op_free(&e->op);
    MPI_Type_free(&e->type);
    cudaFreeHost(e->nodes);
    free(e);
}

const struct exchange exchange_exscan = {
    .open = exscan_open, .run = exscan_run, .close = exscan_close, .launches = 0};
