/* nccl.cu — a stand-in for NCCL, for ranks on one machine whose GPUs are emulated. */
#include "nccl.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_RANKS = 64, MOST_BYTES = 1 << 14 };

/* Memory of the host that all ranks share. What round k leaves is overwritten by round k + 2, which
 * begins when all ranks have come to round k + 1. */
struct board {
    volatile int opened;
    volatile unsigned rounds[MOST_RANKS]; /* that each rank has come to */
    char sent[2][MOST_RANKS][MOST_BYTES];
};

struct ncclComm {
    struct board *board;
    int ranks, rank;
    unsigned *round;       /* memory of the device: a graph has a round at each launch */
    volatile int *aborted; /* pinned */
};

static __global__ void gather(board *b, const char *from, char *to, size_t bytes, int ranks,
                              int rank, unsigned *rounds, const volatile int *aborted)
{
    unsigned round = ++*rounds;
    for (size_t i = 0; i < bytes; i++) b->sent[round % 2][rank][i] = from[i];
    __threadfence_system();
    b->rounds[rank] = round;
    for (int r = 0; r < ranks; r++)
        while (b->rounds[r] < round && !*aborted) continue;
    __threadfence_system();
    for (size_t i = 0; i < ranks * bytes; i++)
        to[i] = ((volatile char *)b->sent[round % 2][i / bytes])[i % bytes];
}

const char *ncclGetErrorString(ncclResult_t result)
{
    return result == ncclSuccess ? "no error" : "unhandled system error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    static int count;
    snprintf(id->internal, sizeof id->internal, "/upsweep-nccl-%ld-%d", (long)getpid(), ++count);
    return ncclSuccess;
}

static board *open_board(const char *name)
{
    int file = shm_open(name, O_RDWR | O_CREAT, S_IRUSR | S_IWUSR);
    if (file < 0 || ftruncate(file, sizeof(board)) != 0) return NULL;
    void *map = mmap(NULL, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    bool is_mapped = map != MAP_FAILED && cudaHostRegister(map, sizeof(board), 0) == cudaSuccess;
    return is_mapped ? (board *)map : NULL;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank)
{
    ncclComm_t c = *comm = (ncclComm_t)calloc(1, sizeof *c);
    c->board = open_board(id.internal);
    c->ranks = ranks, c->rank = rank;
    if (c->board == NULL || ranks > MOST_RANKS) return ncclSystemError;
    cudaMallocHost((void **)&c->aborted, sizeof *c->aborted);
    *c->aborted = 0;
    cudaMallocManaged(&c->round, sizeof *c->round);
    *c->round = 0;
    __atomic_fetch_add(&c->board->opened, 1, __ATOMIC_SEQ_CST);
    while (c->board->opened < ranks) sched_yield();
    if (rank == 0) shm_unlink(id.internal);
    return ncclSuccess;
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count, ncclDataType_t, ncclComm_t c,
                           cudaStream_t stream)
{
    if (count > MOST_BYTES) return ncclSystemError;
    void *arguments[] = {&c->board, &from,    &to,       &count,
                         &c->ranks, &c->rank, &c->round, &c->aborted};
    cudaError_t error = cudaLaunchKernel((const void *)gather, 1, 1, arguments, 0, stream);
    return error == cudaSuccess ? ncclSuccess : ncclSystemError;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *result)
{
    *result = ncclSuccess;
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t c)
{
    cudaDeviceSynchronize();
    cudaHostUnregister(c->board);
    munmap(c->board, sizeof(board));
    cudaFreeHost((void *)c->aborted);
    cudaFree(c->round);
    free(c);
    return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t c)
{
    *c->aborted = 1;
    return ncclCommDestroy(c);
}
