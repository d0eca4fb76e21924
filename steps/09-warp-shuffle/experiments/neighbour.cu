/*
 * neighbour: passing a value to the next lane, by a shuffle and through shared memory.
 *
 * What it shows: each thread takes the value of its right neighbour in the warp (the last lane
 * takes that of the first lane), thousands of times. Through shared memory this needs a barrier
 * after the write and one after the read. The lecture times a version without barriers (`unsafe`)
 * and calls a version with one barrier safe (`printed`); both have races. The column `wrong` counts
 * their wrong results. After 4096 rounds, which are 128 turns around the warp, every value is back
 * at its lane, so an exchange that does nothing would pass. Therefore the check takes one round
 * more. A single warp, alone on the GPU, shows the latency of a round. NVIDIA's guide to Kepler
 * says that a shuffle has the lower latency.
 * From: lecture (CS 380, lecture 25), "Performance Experiment"; Kepler guide, 1.4.3.3.
 * How to run it: make experiment-09-neighbour
 */
#include "common/experiment/experiment.h"

#define WARP      32
#define ALL_LANES 0xffffffff
#define THREADS   1024
#define BLOCKS    26 // the lecture's: two for each SM of a K20
#define ROUNDS    4096

enum way { UNSAFE, PRINTED, SAFE, SYNCWARP, SHUFFLE };

// One round. x is this thread's value, except that UNSAFE and PRINTED keep it in shared memory.
template <int WAY, typename T> static __device__ T take(T x, T *smem, int next)
{
    T *mine = &smem[threadIdx.x];
    switch (WAY) {
    case UNSAFE: // volatile keeps each access, but no thread waits for another
        *(volatile T *)mine = *(volatile T *)&smem[next];
        return x;
    case PRINTED: // a neighbour may write before this thread reads
        *mine = smem[next];
        __syncthreads();
        return x;
    case SAFE:
        *mine = x;
        __syncthreads(); // no read before the neighbour's write
        x = smem[next];
        __syncthreads(); // no write of the next round before the neighbour's read
        return x;
    case SYNCWARP: // like BARRIERS, but only the lanes of a warp wait for each other
        *mine = x;
        __syncwarp();
        x = smem[next];
        __syncwarp();
        return x;
    default: return __shfl_sync(ALL_LANES, x, next % WARP);
    }
}

template <int WAY, typename T> static __global__ void exchange(T *out, const T *in, int rounds)
{
    __shared__ T smem[THREADS]; // SHUFFLE does not use it, so the compiler removes it
    int lane = threadIdx.x % WARP, next = threadIdx.x - lane + (lane + 1) % WARP;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    bool stays = WAY == UNSAFE || WAY == PRINTED;
    T x = in[i];

    if (stays) {
        smem[threadIdx.x] = x;
        __syncthreads(); // the first round reads what other threads have written
    }
    for (int round = 0; round < rounds; round++) x = take<WAY>(x, smem, next);
    out[i] = stays ? smem[threadIdx.x] : x;
}

template <typename T> struct work {
    void (*kernel)(T *, const T *, int);
    T *out, *in;
    int blocks, threads, rounds;
};

template <typename T> static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work<T> *w = (struct work<T> *)context;
    w->kernel<<<w->blocks, w->threads, 0, stream>>>(w->out, w->in, w->rounds);
    return cudaGetLastError();
}

// The number of results that are not the value `rounds` lanes further.
template <typename T> static int count_wrong(const T *got, int n, int rounds)
{
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += got[i] != i - i % WARP + (i + rounds) % WARP;
    return wrong;
}

template <typename T>
static int run_type(struct experiment *e, const char *type, int blocks, int threads,
                    struct fault *fault)
{
    static const struct {
        const char *name;
        void (*kernel)(T *, const T *, int);
        bool is_race;
    } ways[] = {{"unsafe", exchange<UNSAFE, T>, true},
                {"printed", exchange<PRINTED, T>, true},
                {"safe", exchange<SAFE, T>, false},
                {"syncwarp", exchange<SYNCWARP, T>, false},
                {"shuffle", exchange<SHUFFLE, T>, false}};
    static T host[BLOCKS * THREADS];
    struct work<T> w = {
        NULL, NULL, NULL, blocks, threads, 0
    };
    int n = blocks * threads, rounds = e->emulated ? WARP : ROUNDS;

    CUDA_CHECK(fault, cudaMalloc(&w.in, n * sizeof(T)));
    CUDA_CHECK(fault, cudaMalloc(&w.out, n * sizeof(T)));
    for (int i = 0; i < n; i++) host[i] = i;
    CUDA_CHECK(fault, cudaMemcpy(w.in, host, n * sizeof(T), cudaMemcpyHostToDevice));

    for (auto &way : ways) {
        cudaFuncAttributes attributes;
        w.kernel = way.kernel;
        w.rounds = rounds;
        experiment_at(e, way.name, "%s", type);
        if (experiment_measure(e, launch<T>, &w, NULL, fault)) return fault->code;
        CUDA_CHECK(fault, cudaFuncGetAttributes(&attributes, way.kernel));
        experiment_value(e, "shared_bytes", attributes.sharedSizeBytes, "B");

        w.rounds = rounds + 1;
        CUDA_CHECK(fault, launch<T>(&w, NULL));
        CUDA_CHECK(fault, cudaMemcpy(host, w.out, n * sizeof(T), cudaMemcpyDeviceToHost));
        int wrong = count_wrong(host, n, w.rounds);
        experiment_value(e, "wrong", wrong, "");
        if (wrong && !way.is_race)
            return fail(fault, EXIT_WRONG, "%s, %s: %d of %d values are wrong.", way.name, type,
                        wrong, n);
    }
    CUDA_CHECK(fault, cudaFree(w.in));
    CUDA_CHECK(fault, cudaFree(w.out));
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "the shuffle is the fastest way; the ways with races give wrong values "
                "under --schedule.";
    int blocks = e->emulated ? 1 : BLOCKS;
    int code = run_type<float>(e, "float", blocks, THREADS, fault);
    if (!code) code = run_type<double>(e, "double", blocks, THREADS, fault);
    if (!code) code = run_type<float>(e, "float: one warp", 1, WARP, fault);
    return code;
}

int main(int argc, char **argv)
{
    return experiment_main("09-neighbour", "The cost of passing a value to the next lane", run,
                           argc, argv);
}
