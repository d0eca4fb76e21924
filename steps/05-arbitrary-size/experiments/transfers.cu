/*
 * transfers: copying from the host to the GPU and back, and scanning meanwhile.
 *
 * What it shows: pinned memory is copied at the speed of PCIe. Ordinary (pageable) memory is
 * slower, because the driver first copies it to pinned memory. Both directions can be used at the
 * same time. When data are on the host, their scan takes little time compared with its two copies.
 * If the data are cut into chunks, some chunks are copied while another is scanned, and the whole
 * takes little longer than one of the copies.
 * From: Kepler tuning guide, 1.4.8.
 * How to run it: make experiment-05-transfers
 */
#include "common/experiment/experiment.h"
#include "steps/05-arbitrary-size/scan.cu"

#include <stdlib.h>

#define CHUNKS 8
#define ADDERS 256

// carry[1] = the sum of everything before the next chunk: carry[0] and the sum of this chunk.
static __global__ void next_carry(float *carry, const float *out, const float *in, size_t n)
{
    carry[1] = carry[0] + out[n - 1] + in[n - 1];
}

// Adds the sum of everything before the chunk to its elements.
static __global__ void add_carry(float *out, const float *carry, size_t n)
{
    size_t i = (size_t)blockIdx.x * ADDERS + threadIdx.x;
    if (i < n) out[i] += *carry;
}

enum { IN, WORK, OUT };
struct work {
    float *host_in, *host_out, *in, *out, *carry; // carry[c]: the sum of the chunks before c
    void *workspace;
    size_t n;
    int chunks;
    bool to_device, to_host; // directions of a copy without a scan
    cudaStream_t stream[3];  // copies in, scans, copies out
    cudaEvent_t fork, loaded[CHUNKS], scanned[CHUNKS], join[3];
};

static cudaError_t scan_chunk(struct work *w, int chunk, size_t n)
{
    float *out = w->out + chunk * n, *in = w->in + chunk * n;
    CUDA_TRY(step05_scan(out, in, n, 0, w->workspace, w->stream[WORK]));
    next_carry<<<1, 1, 0, w->stream[WORK]>>>(&w->carry[chunk], out, in, n);
    add_carry<<<(n + ADDERS - 1) / ADDERS, ADDERS, 0, w->stream[WORK]>>>(out, &w->carry[chunk], n);
    return cudaGetLastError();
}

// Lets the three streams start when `timed` has reached this point. (join lets `timed` continue
// when they have ended.)
static cudaError_t fork(struct work *w, cudaStream_t timed)
{
    CUDA_TRY(cudaEventRecord(w->fork, timed));
    for (int i = IN; i <= OUT; i++) CUDA_TRY(cudaStreamWaitEvent(w->stream[i], w->fork, 0));
    return cudaSuccess;
}

static cudaError_t join(struct work *w, cudaStream_t timed)
{
    for (int i = IN; i <= OUT; i++) {
        CUDA_TRY(cudaEventRecord(w->join[i], w->stream[i]));
        CUDA_TRY(cudaStreamWaitEvent(timed, w->join[i], 0));
    }
    return cudaSuccess;
}

static cudaError_t copy(void *context, cudaStream_t timed)
{
    struct work *w = (struct work *)context;
    size_t bytes = w->n * sizeof(float);
    CUDA_TRY(fork(w, timed));
    if (w->to_device)
        CUDA_TRY(cudaMemcpyAsync(w->in, w->host_in, bytes, cudaMemcpyHostToDevice, w->stream[IN]));
    if (w->to_host)
        CUDA_TRY(
            cudaMemcpyAsync(w->host_out, w->out, bytes, cudaMemcpyDeviceToHost, w->stream[OUT]));
    return join(w, timed);
}

static cudaError_t copy_scan_copy(void *context, cudaStream_t timed)
{
    struct work *w = (struct work *)context;
    size_t n = w->n / w->chunks, bytes = n * sizeof(float);
    CUDA_TRY(fork(w, timed));
    for (int c = 0; c < w->chunks; c++) {
        CUDA_TRY(cudaMemcpyAsync(w->in + c * n, w->host_in + c * n, bytes, cudaMemcpyHostToDevice,
                                 w->stream[IN]));
        CUDA_TRY(cudaEventRecord(w->loaded[c], w->stream[IN]));
        CUDA_TRY(cudaStreamWaitEvent(w->stream[WORK], w->loaded[c], 0));
        CUDA_TRY(scan_chunk(w, c, n));
        CUDA_TRY(cudaEventRecord(w->scanned[c], w->stream[WORK]));
        CUDA_TRY(cudaStreamWaitEvent(w->stream[OUT], w->scanned[c], 0));
        CUDA_TRY(cudaMemcpyAsync(w->host_out + c * n, w->out + c * n, bytes, cudaMemcpyDeviceToHost,
                                 w->stream[OUT]));
    }
    return join(w, timed);
}

static int measure_copies(struct experiment *e, struct work *w, const char *kind,
                          struct fault *fault)
{
    static const char *const names[] = {"", "to-device", "to-host", "both"};
    for (int way = 1; way <= 3; way++) {
        double seconds, bytes = (double)w->n * sizeof(float);
        w->to_device = way & 1, w->to_host = way & 2;
        experiment_at(e, kind, "%s", names[way]);
        if (experiment_measure(e, copy, w, &seconds, fault)) return fault->code;
        if (!e->emulated) experiment_value(e, "rate", (way == 3 ? 2 : 1) * bytes / seconds, "B/s");
    }
    return 0;
}

static int measure_scans(struct experiment *e, struct work *w, struct fault *fault)
{
    for (w->chunks = 1; w->chunks <= CHUNKS; w->chunks *= 2) {
        for (size_t i = 0; i < w->n; i++) w->host_in[i] = i % 16 == 0, w->host_out[i] = -1;
        experiment_at(e, "scan", "%d", w->chunks);
        if (experiment_measure(e, copy_scan_copy, w, NULL, fault)) return fault->code;
        for (size_t i = 0; i < w->n; i++)
            if (w->host_out[i] != (i + 15) / 16)
                return fail(fault, EXIT_WRONG, "%d chunks: out[%zu] is %g.", w->chunks, i,
                            w->host_out[i]);
    }
    return 0;
}

static int run(struct experiment *e, struct fault *fault)
{
    e->lesson = "copies take longer than the scan, and chunks let both go on at the same time.";
    struct work w = {};
    w.n = e->emulated ? 1 << 13 : 1 << 26;
    size_t bytes = w.n * sizeof(float);
    CUDA_CHECK(fault, cudaMalloc(&w.in, bytes));
    CUDA_CHECK(fault, cudaMalloc(&w.out, bytes));
    // Room for the sums of the blocks and of all levels above, which are fewer.
    CUDA_CHECK(fault, cudaMalloc(&w.workspace, w.n / B * 2 * sizeof(float)));
    CUDA_CHECK(fault, cudaMalloc(&w.carry, (CHUNKS + 1) * sizeof(float)));
    CUDA_CHECK(fault, cudaMemset(w.carry, 0, (CHUNKS + 1) * sizeof(float)));
    CUDA_CHECK(fault, cudaMemset(w.out, 0, bytes));
    CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.fork, cudaEventDisableTiming));
    for (int i = IN; i <= OUT; i++) {
        CUDA_CHECK(fault, cudaStreamCreateWithFlags(&w.stream[i], cudaStreamNonBlocking));
        CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.join[i], cudaEventDisableTiming));
    }
    for (int i = 0; i < CHUNKS; i++) {
        CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.loaded[i], cudaEventDisableTiming));
        CUDA_CHECK(fault, cudaEventCreateWithFlags(&w.scanned[i], cudaEventDisableTiming));
    }
    w.host_in = (float *)calloc(w.n, sizeof(float));
    w.host_out = (float *)calloc(w.n, sizeof(float));
    if (measure_copies(e, &w, "pageable", fault)) return fault->code;
    free(w.host_in);
    free(w.host_out);
    CUDA_CHECK(fault, cudaMallocHost(&w.host_in, bytes));
    CUDA_CHECK(fault, cudaMallocHost(&w.host_out, bytes));
    if (measure_copies(e, &w, "pinned", fault)) return fault->code;
    if (measure_scans(e, &w, fault)) return fault->code;
    if (e->emulated) return 0;
    experiment_at(e, "scan-only", "%d", 1);
    return experiment_measure(
        e,
        [](void *context, cudaStream_t stream) {
            struct work *w = (struct work *)context;
            return step05_scan(w->out, w->in, w->n, 0, w->workspace, stream);
        },
        &w, NULL, fault);
}

int main(int argc, char **argv)
{
    return experiment_main("05-transfers",
                           "From the host to the GPU and back, and scanning meanwhile", run, argc,
                           argv);
}
