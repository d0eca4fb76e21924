/*
 * breaches.c — scans whose results are right and which break the contract of step.h in another way:
 * their work is not timed, or not on the stream.
 */
#include "common/step/cuda_check.h"
#include "wrong.h"

#include <stdlib.h>

/* ---- on the CPU ------------------------------------------------------------------------------ */

static void scan_on_cpu(float *numbers, size_t n)
{
    float sum = 0;
    for (size_t i = 0; i < n; i++) {
        float x = numbers[i];
        numbers[i] = sum;
        sum += x;
    }
}

static cudaError_t copy_and_scan(float *host, void *out, const void *in, size_t n)
{
    size_t bytes = n * sizeof *host;
    CUDA_TRY(cudaMemcpy(host, in, bytes, cudaMemcpyDeviceToHost));
    scan_on_cpu(host, n);
    return cudaMemcpy(out, host, bytes, cudaMemcpyHostToDevice);
}

cudaError_t on_cpu(void *out, const void *in, size_t n, int variant, void *workspace,
                   cudaStream_t stream)
{
    (void)variant, (void)workspace, (void)stream;
    float *host = malloc(n * sizeof *host);
    if (!host) return cudaErrorMemoryAllocation;
    cudaError_t error = copy_and_scan(host, out, in, n);
    free(host);
    return error;
}

/* The same, with a host function in the stream. */
static float *pinned;
static size_t pinned_n;

static void scan_pinned(void *unused)
{
    (void)unused;
    scan_on_cpu(pinned, pinned_n);
}

cudaError_t on_cpu_by_host_function(void *out, const void *in, size_t n, int variant,
                                    void *workspace, cudaStream_t stream)
{
    (void)variant, (void)workspace;
    size_t bytes = n * sizeof *pinned;
    if (!pinned) CUDA_TRY(cudaMallocHost((void **)&pinned, bytes));
    pinned_n = n;
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaLaunchHostFunc(stream, scan_pinned, NULL));
    return cudaMemcpyAsync(out, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

/* A copy to the host and back that changes nothing. */
cudaError_t detour_over_host(void *out, const void *in, size_t n, int variant, void *workspace,
                             cudaStream_t stream)
{
    size_t bytes = n * sizeof *pinned;
    if (!pinned) CUDA_TRY(cudaMallocHost((void **)&pinned, bytes));
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaMemcpyAsync(workspace, pinned, bytes, cudaMemcpyHostToDevice, stream));
    return right_scan(out, workspace, n, variant, NULL, stream);
}

/* ---- allocation and waiting ------------------------------------------------------------------ */

cudaError_t allocates(void *out, const void *in, size_t n, int variant, void *workspace,
                      cudaStream_t stream)
{
    (void)workspace;
    void *mine;
    CUDA_TRY(cudaMalloc(&mine, n * sizeof(float)));
    CUDA_TRY(cudaMemcpyAsync(mine, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(right_scan(out, mine, n, variant, NULL, stream));
    return cudaFree(mine);
}

cudaError_t waits_for_the_device(void *out, const void *in, size_t n, int variant, void *workspace,
                                 cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaDeviceSynchronize();
}

cudaError_t waits_for_the_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                                 cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaStreamSynchronize(stream);
}

/* Ignores its arguments. */
cudaError_t waits_and_hides_it(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    (void)cudaStreamSynchronize(stream);
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* ---- other streams --------------------------------------------------------------------------- */

cudaError_t in_default_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                              cudaStream_t stream)
{
    (void)stream;
    return right_scan(out, in, n, variant, workspace, cudaStreamLegacy);
}

static cudaStream_t own_stream(void)
{
    static cudaStream_t own;
    if (!own) (void)cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return own;
}

cudaError_t in_own_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                          cudaStream_t stream)
{
    (void)stream;
    return right_scan(out, in, n, variant, workspace, own_stream());
}

/* The first of two parts has its own stream: only the workspace shows it. */
cudaError_t part_in_own_stream(void *out, const void *in, size_t n, int variant, void *workspace,
                               cudaStream_t stream)
{
    CUDA_TRY(right_scan(workspace, in, n, variant, NULL, own_stream()));
    return cudaMemcpyAsync(out, workspace, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

/* ---- from the third call on, the first that is timed ----------------------------------------- */

#define FROM_THIRD_CALL_ON(name)                                                                   \
    cudaError_t from_third_call_on_##name(void *out, const void *in, size_t n, int variant,        \
                                          void *workspace, cudaStream_t stream)                    \
    {                                                                                              \
        static int call = -1; /* call 0 is captured and never runs */                              \
        scan_fn *scan = ++call >= 3 ? name : right_scan;                                           \
        return scan(out, in, n, variant, workspace, stream);                                       \
    }

FROM_THIRD_CALL_ON(in_own_stream)
