/*
 * grid-sync: the cost of a barrier of the grid.
 *
 * What it shows: the time of a grid.sync() compared with the end of one launch and the beginning of
 * the next, which is a barrier, too, by the number of blocks per multiprocessor. In each round a
 * block passes a number to the next block, so the result shows whether the barrier let a block
 * through too early. A grid with one block more than fits does not hang: the launch returns
 * cudaErrorCooperativeLaunchTooLarge.
 * From: lecture (CS 380, lecture 25), "Grid group".
 * How to run it: make experiment-10-grid-sync
 */
#include "common/experiment/experiment.h"

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#define THREADS 256
#define ROUNDS  100

struct ring {
    int *numbers[2]; // one number per block; a round reads one array and writes the other
    unsigned blocks;
};

// Writes the number of the block before, plus 1.
static __device__ void pass_on(int *to, const int *from)
{
    if (threadIdx.x == 0)
        to[blockIdx.x] = from[blockIdx.x > 0 ? blockIdx.x - 1 : gridDim.x - 1] + 1;
}

static __global__ void all_rounds(int *to, int *from)
{
    cg::grid_group grid = cg::this_grid();
    for (int round = 0; round < ROUNDS; round++) {
        pass_on(round % 2 ? from : to, round % 2 ? to : from);
        grid.sync(); // the next round reads what other blocks write in this round
    }
}

static __global__ void one_round(int *to, const int *from) { pass_on(to, from); }

static cudaError_t by_sync(void *context, cudaStream_t stream)
{
    struct ring *r = (struct ring *)context;
    void *arguments[] = {&r->numbers[1], &r->numbers[0]};
    return cudaLaunchCooperativeKernel(all_rounds, r->blocks, THREADS, arguments, 0, stream);
}

static cudaError_t by_launches(void *context, cudaStream_t stream)
{
    struct ring *r = (struct ring *)context;
    for (int round = 0; round < ROUNDS; round++) {
        one_round<<<r->blocks, THREADS, 0, stream>>>(r->numbers[1 - round % 2],
                                                     r->numbers[round % 2]);
        cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

// All numbers begin with 0, and each round adds 1 to each.
static int check(struct ring *r, run_fn *launch, const char *name, struct fault *fault)
{
    int *host = (int *)calloc(r->blocks, sizeof *host), wrong = 0;
    CUDA_CHECK(fault, cudaMemset(r->numbers[0], 0, r->blocks * sizeof *host));
    CUDA_CHECK(fault, launch(r, NULL));
    CUDA_CHECK(fault, cudaMemcpy(host, r->numbers[ROUNDS % 2], r->blocks * sizeof *host,
                                 cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < r->blocks; b++) wrong += host[b] != ROUNDS;
    free(host);
    return wrong ? fail(fault, EXIT_WRONG, "%s: %d numbers are wrong.", name, wrong) : 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "a barrier of the grid takes less time than a launch, and more with more blocks.";
    struct ring r = {.numbers = {NULL, NULL}, .blocks = 0};
    int sms, fit;
    CUDA_CHECK(fault, cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(fault, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, all_rounds, THREADS, 0));
    for (int **p = r.numbers; p < r.numbers + 2; p++)
        CUDA_CHECK(fault, cudaMalloc(p, (fit * sms + 1) * sizeof **p));

    for (int each = 1; each <= fit; each *= 2) {
        r.blocks = each * (e->emulated ? 1 : sms);
        double seconds;
        for (int which = 0; which < 2; which++) {
            const char *name = which ? "launches" : "grid.sync";
            run_fn *launch = which ? by_launches : by_sync;
            experiment_at(e, name, "%d", each);
            if (check(&r, launch, name, fault)) return fault->code;
            if (experiment_measure(e, launch, &r, &seconds, fault)) return fault->code;
            if (!e->emulated) experiment_value(e, "a round", seconds / ROUNDS, "s");
        }
    }

    r.blocks = fit * sms + 1;
    cudaError_t error = by_sync(&r, NULL);
    experiment_at(e, "too large", "%u", r.blocks);
    experiment_value(e, "error", error, "");
    if (error != cudaErrorCooperativeLaunchTooLarge)
        return fail(fault, EXIT_WRONG, "%u blocks: the launch says %s.", r.blocks,
                    cudaGetErrorName(error));
    cudaGetLastError(); // the expected error
    CUDA_CHECK(fault, cudaFree(r.numbers[0]));
    CUDA_CHECK(fault, cudaFree(r.numbers[1]));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("10-grid-sync", "The cost of a barrier of the whole grid", run, argc,
                           argv);
}
