/*
 * reduce: sums and scans of a warp, by shuffles and through shared memory.
 *
 * What it shows: five sweeps give all lanes the sum of the warp, or each lane the sum up to it.
 * Through shared memory, every sweep is a write, a read and two __syncwarp; with shuffles, it is
 * one shuffle. Since compute capability 8.0 one instruction adds integers (`redux`), but not
 * floats. Integers wrap around, so the results of thousands of rounds can be checked exactly.
 * From: lecture (CS 380, lecture 25), "Reduce" and "Scan" by shuffles.
 * How to run it: make experiment-09-reduce
 */
#include "common/experiment/experiment.h"

#define WARP      32
#define ALL_LANES 0xffffffff
#define THREADS   1024
#define BLOCKS    26 // as the lecture
#define ROUNDS    4096

static __device__ unsigned lane() { return threadIdx.x % WARP; }

// Returns the value of lane `from`, through the warp's part of shared memory.
static __device__ unsigned through_shared(unsigned *smem, unsigned x, unsigned from)
{
    smem[lane()] = x;
    __syncwarp(); // no read before the other lane's write
    unsigned y = smem[from];
    __syncwarp(); // no write of the next sweep before the others' reads
    return y;
}

struct reduce_shared {
    static __device__ unsigned of(unsigned x, unsigned *smem)
    {
        for (int d = WARP / 2; d > 0; d /= 2) x += through_shared(smem, x, lane() ^ d);
        return x;
    }
};

struct reduce_shuffle {
    static __device__ unsigned of(unsigned x, unsigned *)
    {
        for (int d = WARP / 2; d > 0; d /= 2) x += __shfl_xor_sync(ALL_LANES, x, d);
        return x;
    }
};

struct reduce_redux {
    static __device__ unsigned of(unsigned x, unsigned *smem)
    {
#if __CUDA_ARCH__ >= 800
        (void)smem;
        return __reduce_add_sync(ALL_LANES, x);
#else
        return reduce_shuffle::of(x, smem);
#endif
    }
};

struct scan_shared {
    static __device__ unsigned of(unsigned x, unsigned *smem)
    {
        for (int d = 1; d < WARP; d *= 2) {
            unsigned y = through_shared(smem, x, lane() >= d ? lane() - d : lane());
            if (lane() >= d) x += y;
        }
        return x;
    }
};

struct scan_shuffle {
    static __device__ unsigned of(unsigned x, unsigned *)
    {
        for (int d = 1; d < WARP; d *= 2) {
            unsigned y = __shfl_up_sync(ALL_LANES, x, d);
            if (lane() >= d) x += y;
        }
        return x;
    }
};

struct scan_predicate {
    static __device__ unsigned of(unsigned x, unsigned *)
    {
        for (int d = 1; d < WARP; d *= 2)
            asm volatile("{ .reg .pred p;"
                         "  .reg .u32 y;"
                         "  shfl.sync.up.b32 y|p, %0, %1, 0, 0xffffffff;"
                         "  @p add.u32 %0, %0, y; }"
                         : "+r"(x)
                         : "r"(d));
        return x;
    }
};

// Repeats the sum or scan. A sum is mixed with each lane's value, so the lanes stay different.
template <typename how> static __global__ void rounds_of(unsigned *data, int rounds, bool is_sum)
{
    __shared__ unsigned smem[THREADS]; // removed by the compiler if `how` does not use it
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    unsigned x = data[i], *mine = &smem[threadIdx.x - lane()];
    for (int round = 0; round < rounds; round++) {
        unsigned y = how::of(x, mine);
        x = is_sum ? x ^ y : y;
    }
    data[i] = x;
}

// Does the same on the host, for one warp.
static void reference(unsigned *x, int rounds, bool is_sum)
{
    for (int round = 0; round < rounds; round++) {
        unsigned scanned[WARP], sum = 0;
        for (int l = 0; l < WARP; l++) scanned[l] = sum += x[l];
        for (int l = 0; l < WARP; l++) x[l] = is_sum ? x[l] ^ sum : scanned[l];
    }
}

struct work {
    void (*kernel)(unsigned *, int, bool);
    unsigned *data;
    int blocks, rounds;
    bool is_sum;
};

static cudaError_t launch(void *context, cudaStream_t stream)
{
    struct work *w = (struct work *)context;
    w->kernel<<<w->blocks, THREADS, 0, stream>>>(w->data, w->rounds, w->is_sum);
    return cudaGetLastError();
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "shuffles need half of the time of shared memory, and no shared memory.";
    static const struct {
        const char *name, *what;
        void (*kernel)(unsigned *, int, bool);
        bool is_sum;
    } ways[] = {{"shared", "sum", rounds_of<reduce_shared>, true},
                {"shuffle", "sum", rounds_of<reduce_shuffle>, true},
                {"redux", "sum", rounds_of<reduce_redux>, true},
                {"shared", "scan", rounds_of<scan_shared>, false},
                {"shuffle", "scan", rounds_of<scan_shuffle>, false},
                {"predicate", "scan", rounds_of<scan_predicate>, false}};
    static unsigned host[BLOCKS * THREADS];
    struct work w = {NULL, NULL, e->emulated ? 1 : BLOCKS, e->emulated ? 8 : ROUNDS, false};
    int n = w.blocks * THREADS;
    unsigned want[WARP];

    CUDA_CHECK(fault, cudaMalloc(&w.data, n * sizeof *w.data));
    for (auto &way : ways) {
        cudaFuncAttributes attributes;
        w.kernel = way.kernel;
        w.is_sum = way.is_sum;
        experiment_at(e, way.name, "%s", way.what);
        if (experiment_measure(e, launch, &w, NULL, fault)) return fault->code;
        CUDA_CHECK(fault, cudaFuncGetAttributes(&attributes, way.kernel));
        experiment_value(e, "shared_bytes", attributes.sharedSizeBytes, "B");

        // Checks a run with known input: all warps begin with 1 … 32.
        for (int i = 0; i < n; i++) host[i] = i % WARP + 1;
        for (int l = 0; l < WARP; l++) want[l] = l + 1;
        reference(want, w.rounds, way.is_sum);
        CUDA_CHECK(fault, cudaMemcpy(w.data, host, n * sizeof *host, cudaMemcpyHostToDevice));
        CUDA_CHECK(fault, launch(&w, NULL));
        CUDA_CHECK(fault, cudaMemcpy(host, w.data, n * sizeof *host, cudaMemcpyDeviceToHost));
        for (int i = 0; i < n; i++)
            if (host[i] != want[i % WARP])
                return fail(fault, EXIT_WRONG, "%s, %s: value %d is %u and should be %u.", way.name,
                            way.what, i, host[i], want[i % WARP]);
    }
    CUDA_CHECK(fault, cudaFree(w.data));
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("09-reduce", "Sums and scans of a warp: shuffles and shared memory", run,
                           argc, argv);
}
