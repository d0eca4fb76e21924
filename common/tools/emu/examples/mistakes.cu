/*
 * mistakes.cu — one mistake for each checker; some of these numbers are right all the same. Run:
 * emu --tool all run mistakes.cu NAME, such as race.
 */
#include "example.cuh"

/* racecheck: no barrier between a store and the load of another thread. */
__global__ void race(int *out, const int *in)
{
    __shared__ int part[N];
    part[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = part[N - 1 - threadIdx.x];
}

/* memcheck: the last thread loads the element after the array. */
__global__ void beyond(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

/* initcheck: shared memory is loaded, and nothing has been stored there. */
__global__ void unwritten(int *out, const int *in)
{
    __shared__ int part[N];
    if (in[threadIdx.x] < 0) part[threadIdx.x] = 0;
    out[threadIdx.x] = part[threadIdx.x];
}

/* synccheck: some lanes of a warp wait at a barrier, and the others do not. */
__global__ void barrier(int *out, const int *in)
{
    if (threadIdx.x % 64 < 16) __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
}

PROGRAM(race, N - 1 - i)
PROGRAM(beyond, i + 1)
PROGRAM(unwritten, 0)
PROGRAM(barrier, i)

int main(int argc, char **argv)
{
    static const struct program programs[] = {{"race", run_race},
                                              {"beyond", run_beyond},
                                              {"unwritten", run_unwritten},
                                              {"barrier", run_barrier}};
    return choose(argc, argv, programs, 4);
}
