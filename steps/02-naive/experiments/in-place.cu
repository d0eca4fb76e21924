/*
 * in-place: the naive scan with one array instead of two.
 *
 * What it shows: with one array, a warp may overwrite elements that another warp has not read yet.
 * A second barrier in each sweep, between reading and writing, prevents that; the second array
 * (Listing 1) makes this barrier unnecessary. The wrong kernel may still give right results; a
 * checker finds the error in any case.
 * From: Harris 2007, "A Naive Parallel Scan" and Listing 1; GPU Gems 3, 39.2.1.
 * How to run it: make experiment-02-in-place
 *                build/emu/emu --tool racecheck build/experiments/02-in-place
 *                build/emu/emu --schedule 7 build/experiments/02-in-place
 */
#include "common/experiment/experiment.h"

#define N     1024
#define TRIES 100

enum way { TWO_ARRAYS, TWO_BARRIERS, NO_BARRIER };

// Scans N integers inclusively, with one thread each.
template <enum way WAY> static __global__ void scan(int *out, const int *in)
{
    __shared__ int temp[WAY == TWO_ARRAYS ? 2 : 1][N];
    int thid = threadIdx.x, from = 0, to = 0;
    temp[0][thid] = in[thid];
    __syncthreads(); // the first sweep reads elements that other threads have loaded

    for (int offset = 1; offset < N; offset *= 2) {
        if (WAY == TWO_ARRAYS) to = 1 - from;
        int sum = temp[from][thid];
        if (thid >= offset) sum += temp[from][thid - offset];
        // With one array, no thread may write before all threads have read.
        if (WAY == TWO_BARRIERS) __syncthreads();
        temp[to][thid] = sum;
        __syncthreads(); // the next sweep reads what this sweep wrote
        from = to;
    }
    out[thid] = temp[from][thid];
}

static const struct {
    const char *name;
    void (*run)(int *, const int *);
} ways[] = {{"two-arrays", scan<TWO_ARRAYS>},
            {"two-barriers", scan<TWO_BARRIERS>},
            {"no-barrier", scan<NO_BARRIER>}};

struct work {
    int way, *out, *in;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    ways[w->way].run<<<1, N, 0, stream>>>(w->out, w->in);
    return cudaGetLastError();
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "without a barrier the result may be right by luck; racecheck finds "
                "the hazard all the same.";
    struct work w = {};
    int host[N];
    for (int i = 0; i < N; i++) host[i] = 1;
    CUDA_CHECK(fault, cudaMalloc(&w.in, sizeof host));
    CUDA_CHECK(fault, cudaMalloc(&w.out, sizeof host));
    CUDA_CHECK(fault, cudaMemcpy(w.in, host, sizeof host, cudaMemcpyHostToDevice));

    for (w.way = TWO_ARRAYS; w.way <= NO_BARRIER; w.way++) {
        experiment_at(e, ways[w.way].name, "%d", N);
        if (experiment_measure(e, launch, &w, NULL, fault)) return fault->code;
        int wrong_runs = 0;
        for (int i = 0; i < TRIES; i++) {
            CUDA_CHECK(fault, launch(&w, NULL));
            CUDA_CHECK(fault, cudaMemcpy(host, w.out, sizeof host, cudaMemcpyDeviceToHost));
            bool right = true;
            for (int j = 0; j < N; j++) right = right && host[j] == j + 1;
            wrong_runs += !right;
        }
        experiment_value(e, "wrong_of_100", wrong_runs, "");
        if (wrong_runs > 0 && w.way != NO_BARRIER)
            return fail(fault, EXIT_WRONG, "%s is wrong in %d of %d runs.", ways[w.way].name,
                        wrong_runs, TRIES);
    }
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("02-in-place", "The naive scan with one array instead of two", run, argc,
                           argv);
}
