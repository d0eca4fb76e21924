/*
 * breaches.c — scans whose results are right and which break the contract of step.h in another way:
 * their work is not timed, or not on the stream.
 */
#include "common/step/cuda_check.h"
#include "wrong.h"

#include <stdlib.h>

/* ---- on the CPU ------------------------------------------------------------------------------ */

static float *pinned;
static size_t pinned_n;

static void scan_pinned(void *unused)
{
    float sum = 0;
    (void)unused;
    for (size_t i = 0; i < pinned_n; i++) {
        float x = pinned[i];
        pinned[i] = sum;
        sum += x;
    }
}

static cudaError_t allocate_pinned(size_t n)
{
    pinned_n = n;
    return pinned ? cudaSuccess : cudaMallocHost((void **)&pinned, n * sizeof *pinned);
}

WRONG_SCAN(on_cpu)
{
    CUDA_TRY(allocate_pinned(n));
    CUDA_TRY(cudaMemcpy(pinned, in, n * sizeof *pinned, cudaMemcpyDeviceToHost));
    scan_pinned(NULL);
    return cudaMemcpy(out, pinned, n * sizeof *pinned, cudaMemcpyHostToDevice);
}

/* The same, with a host function in the stream. */
WRONG_SCAN(on_cpu_by_host_function)
{
    size_t bytes = n * sizeof *pinned;
    CUDA_TRY(allocate_pinned(n));
    CUDA_TRY(cudaMemcpyAsync(pinned, in, bytes, cudaMemcpyDeviceToHost, stream));
    CUDA_TRY(cudaLaunchHostFunc(stream, scan_pinned, NULL));
    return cudaMemcpyAsync(out, pinned, bytes, cudaMemcpyHostToDevice, stream);
}

/* ---- allocation and waiting ------------------------------------------------------------------ */

WRONG_SCAN(allocates)
{
    void *mine;
    CUDA_TRY(cudaMalloc(&mine, n * sizeof(float)));
    CUDA_TRY(cudaMemcpyAsync(mine, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream));
    CUDA_TRY(right_scan(out, mine, n, variant, NULL, stream));
    return cudaFree(mine);
}

WRONG_SCAN(waits_for_the_stream)
{
    CUDA_TRY(right_scan(out, in, n, variant, workspace, stream));
    return cudaStreamSynchronize(stream);
}

/* ---- other streams --------------------------------------------------------------------------- */

WRONG_SCAN(in_default_stream)
{
    return right_scan(out, in, n, variant, workspace, cudaStreamLegacy);
}

static cudaStream_t own_stream(void)
{
    static cudaStream_t own;
    if (!own) (void)cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    return own;
}

WRONG_SCAN(in_own_stream) { return right_scan(out, in, n, variant, workspace, own_stream()); }

/* The first of two parts has its own stream: only the workspace shows it. */
WRONG_SCAN(part_in_own_stream)
{
    CUDA_TRY(right_scan(workspace, in, n, variant, NULL, own_stream()));
    return cudaMemcpyAsync(out, workspace, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
