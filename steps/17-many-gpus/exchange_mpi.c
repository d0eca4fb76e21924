/*
 * exchange_mpi.c — all ranks gather the sums of all nodes by MPI_Allgather. It works between any
 * machines. The sums are copied from the GPU to the host, and from the host to the GPU. In between
 * the host waits for the GPU, so it launches the next kernel late.
 */
#include "parts/waits.h"
#include "scan.h"

#include "common/step/cuda_check.h"

#include <stdlib.h>

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
