/*
 * beside: a scan while another kernel holds a part of the GPU.
 *
 * What it shows: a kernel whose blocks take all shared memory of a multiprocessor each stays on
 * half of them, or on all but one, and ends only when the host signals it. The host does so after
 * the scan has ended. So the scan's blocks cannot all be resident at the same time, and resident
 * blocks must not wait for the others. On the emulator kernels run one after the other, and nothing
 * is held. How to run it: make promises && build/promises/12-beside
 */
#include "common/experiment/experiment.h"
#include "known.cuh"
#include "steps/12-pipeline/parts/shape.h"

#include <time.h>

#define PATIENCE   0.5   // seconds that the host waits for the scan before it ends the other kernel
#define GIVE_UP    20e9  // nanoseconds after which the other kernel ends in any case
#define LOOK_EVERY 20000 // nanoseconds between two polls: constant polling slows other threads
#define RUNS       5 // runs while it is held; the fastest counts, since the host may launch late

/* Flags between the host and the holding kernel, in memory of the host that both access. */
struct talk {
    volatile int go;
    volatile int there[1024]; // one word per block
};

static __device__ volatile int g_go; // what one thread has read there, for the others

/* Each block occupies a multiprocessor until the host lets it end. */
static __global__ void hold(struct talk *talk)
{
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    talk->there[blockIdx.x] = 1;
    __threadfence_system();
    do {
        __nanosleep(LOOK_EVERY);
        if (blockIdx.x == 0) g_go = talk->go;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (!g_go && now - start < (unsigned long long)GIVE_UP);
}

/* Resets the flags before the kernel is launched again. */
static __global__ void stay(void) { g_go = 0; }

struct beside {
    struct talk *host, *device;
    int multiprocessors, shared; // bytes: all that a block can have
    cudaStream_t stream;         // of the holding kernel
    cudaEvent_t from, to;        // around the scan
    float *in, *out;
    void *workspace;
    size_t bytes; // of the workspace
    unsigned long long *wrong;
};

static void a_moment(void)
{
    struct timespec moment = {0, 100000};
    nanosleep(&moment, NULL);
}

/* Takes this number of multiprocessors, and returns when all of them are taken. */
static int hold_some(struct beside *b, int held, struct fault *fault)
{
    b->host->go = 0;
    for (int i = 0; i < held; i++) b->host->there[i] = 0;
    stay<<<1, 1, 0, b->stream>>>();
    CUDA_CHECK(fault, cudaGetLastError());
    hold<<<held, 1, b->shared, b->stream>>>(b->device);
    CUDA_CHECK(fault, cudaGetLastError());
    double start = clock_seconds();
    for (int i = 0; i < held; i++)
        while (!b->host->there[i]) {
            a_moment();
            if (clock_seconds() - start > PATIENCE)
                return fail(fault, EXIT_DEVICE,
                            "no room for the kernel that is to hold %d "
                            "multiprocessors: is another program on this GPU?",
                            held);
        }
    return 0;
}

/* Launches the scan, which is timed, and the kernel that checks its result. */
static int launch(struct beside *b, size_t n, cudaStream_t stream, struct fault *fault)
{
    CUDA_CHECK(fault, cudaEventRecord(b->from, stream));
    CUDA_CHECK(fault, scan(false, b->workspace, &b->bytes, b->out, b->in, n, stream));
    CUDA_CHECK(fault, cudaEventRecord(b->to, stream));
    CUDA_CHECK(fault, known_check<float>(b->out, n, false, b->wrong, stream));
    return 0;
}

/* Waits for the scan, for a limited time. Has it ended while the other kernel was running? */
static bool ends(const struct beside *b, int held, cudaStream_t stream)
{
    double start = clock_seconds();
    while (cudaStreamQuery(stream) == cudaErrorNotReady && clock_seconds() - start < PATIENCE)
        a_moment();
    bool ended = cudaStreamQuery(stream) == cudaSuccess &&
                 (held == 0 || cudaStreamQuery(b->stream) == cudaErrorNotReady);
    (void)cudaGetLastError(); // "not ready" is also kept as the last error, and is cleared here
    return ended;
}

/* Scans n elements RUNS times while `held` multiprocessors are taken. *ended: each time before they
 * were let go; then *milliseconds is the time of the fastest run. */
static int scan_beside(struct beside *b, size_t n, int held, cudaStream_t stream, bool *ended,
                       float *milliseconds, struct fault *fault)
{
    CUDA_CHECK(fault, cudaMemset(b->wrong, 0, sizeof *b->wrong));
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    // Once before: the first launch of a kernel may load it, which may wait for the whole GPU.
    if (launch(b, n, stream, fault)) return fault->code;
    CUDA_CHECK(fault, cudaDeviceSynchronize());

    if (held > 0 && hold_some(b, held, fault)) return fault->code;
    *ended = true;
    for (int run = 0; run < RUNS && *ended; run++) {
        float took;
        CUDA_CHECK(fault, cudaMemsetAsync(b->out, 0xFF, n * sizeof(float), stream));
        if (launch(b, n, stream, fault)) return fault->code;
        *ended = ends(b, held, stream);
        if (!*ended) break;
        CUDA_CHECK(fault, cudaEventElapsedTime(&took, b->from, b->to));
        if (run == 0 || took < *milliseconds) *milliseconds = took;
    }
    b->host->go = 1;
    CUDA_CHECK(fault, cudaDeviceSynchronize());
    return 0;
}

/* Does the scan end, and is it right? */
static int run_one(struct experiment *e, struct beside *b, size_t n, int held, struct fault *fault)
{
    static const char *const names[] = {"scan_wave", "scan_onchip", "scan_pipeline", "scan_direct"};
    enum kernel kernel = kernel_for(n, sizeof(float), 10 * e->device.major + e->device.minor, true);
    unsigned long long wrong;
    float milliseconds = 0;
    bool ended = false;

    if (scan_beside(b, n, held, e->timer.stream, &ended, &milliseconds, fault)) return fault->code;
    CUDA_CHECK(fault, cudaMemcpy(&wrong, b->wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    experiment_at(e, names[kernel], "%zu beside %d of %d", n, held, b->multiprocessors);
    experiment_value(e, "ended", ended, "");
    experiment_value(e, "wrong", (double)wrong, "");
    if (!e->emulated && ended) experiment_value(e, "time", milliseconds * 1e-3, "s");
    if (wrong > 0) return fail(fault, EXIT_WRONG, "%llu elements are wrong.", wrong);
    if (!ended)
        return fail(fault, EXIT_WRONG, "%s waits while %d of %d multiprocessors are held.",
                    names[kernel], held, b->multiprocessors);
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    static const size_t on_gpu[] = {1000, 1 << 13, 1 << 16, 1 << 18, 1 << 22,
                                    1 << 23, 1 << 24, 1 << 28};
    static const size_t on_emulator[] = {1000, 1 << 13, 40000, WAVE_MAX(4) + 1, ONCHIP_MAX(4) + 1};
    const size_t *sizes = e->emulated ? on_emulator : on_gpu;
    size_t count = (e->emulated ? sizeof on_emulator : sizeof on_gpu) / sizeof *sizes;
    struct beside b;
    size_t most = sizes[count - 1];

    CUDA_CHECK(fault,
               cudaDeviceGetAttribute(&b.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(fault,
               cudaDeviceGetAttribute(&b.shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA_CHECK(fault,
               cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, b.shared));
    CUDA_CHECK(fault, cudaHostAlloc(&b.host, sizeof *b.host, cudaHostAllocMapped));
    CUDA_CHECK(fault, cudaHostGetDevicePointer(&b.device, b.host, 0));
    CUDA_CHECK(fault, cudaStreamCreateWithFlags(&b.stream, cudaStreamNonBlocking));
    CUDA_CHECK(fault, cudaEventCreate(&b.from));
    CUDA_CHECK(fault, cudaEventCreate(&b.to));
    CUDA_CHECK(fault, cudaMalloc(&b.in, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&b.out, most * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&b.wrong, sizeof *b.wrong));
    CUDA_CHECK(fault, (make_workspace<float, float>(&b.workspace, &b.bytes, most)));
    CUDA_CHECK(fault, known_fill(b.in, most, NULL));
    CUDA_CHECK(fault, cudaDeviceSynchronize());

    int all = b.multiprocessors, held[] = {0, all / 2, all - 1};
    for (size_t h = 0; h < (e->emulated ? 1 : sizeof held / sizeof *held); h++)
        for (size_t i = 0; i < count; i++)
            if (run_one(e, &b, sizes[i], held[h], fault)) return fault->code;
    return 0;
}

int main(int argc, char **argv)
{
    return experiment_main("12-beside", "A scan while another kernel holds a part of the GPU", run,
                           argc, argv);
}
