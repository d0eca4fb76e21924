/*
 * small-scans: 32 independent small scans, of one block each.
 *
 * What it shows: launches in one stream run one after the other, and a single block leaves all
 * other multiprocessors idle. In different streams the kernels run at the same time: up to 32 of
 * them on Kepler's GK110 (Hyper-Q), up to 128 on an H200. One launch with a block for each scan
 * does the same at the cost of one launch.
 * From: Kepler tuning guide, 1.4.2.1 and 1.4.2.2.
 * How to run it: make experiment-05-small-scans
 */
#include "common/experiment/experiment.h"

#include <stdlib.h>

#define SCANS   32
#define THREADS 256

// Block b scans the n ints from index b n on, inclusively; n is a multiple of THREADS. It goes from
// left to right and scans THREADS ints at a time with naive sweeps.
static __global__ void scan(int *out, const int *in, int n)
{
    __shared__ int temp[2][THREADS];
    int thid = threadIdx.x, before = 0, to = 0;
    out += (size_t)blockIdx.x * n, in += (size_t)blockIdx.x * n;

    for (int begin = 0; begin < n; begin += THREADS) {
        temp[to][thid] = in[begin + thid];
        for (int offset = 1; offset < THREADS; offset *= 2) {
            __syncthreads(); // reads what other threads wrote in the sweep before
            int sum = temp[to][thid];
            if (thid >= offset) sum += temp[to][thid - offset];
            to = 1 - to;
            temp[to][thid] = sum;
        }
        __syncthreads(); // another thread wrote the last sum
        out[begin + thid] = before + temp[to][thid];
        before += temp[to][THREADS - 1];
        to = 1 - to; // other threads may still read the old array
    }
}

struct work {
    int streams; // 0: one launch of SCANS blocks
    int n, *out, *in;
    cudaStream_t stream[SCANS];
    cudaEvent_t fork, join[SCANS];
};

// Launches all scans, which begin and end within the stream that is timed.
static cudaError_t launch(void *context, cudaStream_t timed)
{
    struct work *w = (struct work *)context;
    if (w->streams <= 1) {
        int launches = w->streams == 0 ? 1 : SCANS;
        for (int i = 0; i < launches; i++)
            scan<<<SCANS / launches, THREADS, 0, timed>>>(w->out + i * w->n, w->in + i * w->n,
                                                          w->n);
        return cudaGetLastError();
    }
    CUDA_TRY(cudaEventRecord(w->fork, timed));
    for (int i = 0; i < w->streams; i++) CUDA_TRY(cudaStreamWaitEvent(w->stream[i], w->fork, 0));
    for (int i = 0; i < SCANS; i++)
        scan<<<1, THREADS, 0, w->stream[i % w->streams]>>>(w->out + i * w->n, w->in + i * w->n,
                                                           w->n);
    for (int i = 0; i < w->streams; i++) {
        CUDA_TRY(cudaEventRecord(w->join[i], w->stream[i]));
        CUDA_TRY(cudaStreamWaitEvent(timed, w->join[i], 0));
    }
    return cudaGetLastError();
}

static int measure(struct experiment *e, struct work *w, const char *name, struct fault *fault)
{
    size_t bytes = (size_t)SCANS * w->n * sizeof(int);
    int *host = (int *)malloc(bytes);
    CUDA_CHECK(fault, cudaMemset(w->out, 0xff, bytes));
    experiment_at(e, name, "%d", w->n);
    if (experiment_measure(e, launch, w, NULL, fault)) return fault->code;
    CUDA_CHECK(fault, cudaMemcpy(host, w->out, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < SCANS * w->n; i++)
        if (host[i] != i % w->n + 1)
            return fail(fault, EXIT_WRONG, "%s: element %d of scan %d is %d.", name, i % w->n,
                        i / w->n, host[i]);
    free(host);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "32 small scans in one launch take less time than 32 launches, in any "
                "number of streams.";
    static const int sizes[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16};
    static const struct {
        const char *name;
        int streams;
    } ways[] = {{"1-stream", 1}, {"8-streams", 8}, {"32-streams", SCANS}, {"1-launch", 0}};
    struct work w = {};
    size_t most = (size_t)SCANS * sizes[e->emulated ? 0 : 3];
    int *ones = (int *)malloc(most * sizeof(int));
    for (size_t i = 0; i < most; i++) ones[i] = 1;
    CUDA_CHECK(fault, cudaMalloc(&w.in, most * sizeof(int)));
    CUDA_CHECK(fault, cudaMalloc(&w.out, most * sizeof(int)));
    CUDA_CHECK(fault, cudaMemcpy(w.in, ones, most * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.fork, cudaEventDisableTiming));
    for (int i = 0; i < SCANS; i++) {
        CUDA_CHECK(fault, cudaStreamCreateWithFlags(&w.stream[i], cudaStreamNonBlocking));
        CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.join[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < (e->emulated ? 1 : 4); i++) {
        w.n = sizes[i];
        for (auto &way : ways) {
            w.streams = way.streams;
            if (measure(e, &w, way.name, fault)) return fault->code;
        }
    }
    free(ones);
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("05-small-scans", "32 small scans, one after the other and side by side",
                           run, argc, argv);
}
