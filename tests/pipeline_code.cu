/* pipeline_code.cu — see pipeline_code.h. */
#include "pipeline_code.h"
#include "steps/12-pipeline/direct.cuh"
#include "steps/12-pipeline/pipeline.cuh"

template <typename T>
static cudaError_t pipeline(T *out, const T *in, size_t n, void *workspace, unsigned blocks)
{
    const void *kernel = (const void *)scan_pipeline<false, T, T>;
    size_t shared = sizeof(ring_of<T, T>);
    cudaError_t error =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (error) return error;
    scan_pipeline<false><<<blocks, PIPELINE_THREADS, shared>>>(
        out, in, n, (unsigned)tiles_of(n, sizeof(T)), (struct workspace *)workspace);
    return cudaGetLastError();
}

template <typename T>
static cudaError_t direct(T *out, const T *in, size_t n, void *workspace, unsigned blocks)
{
    scan_direct<true, false><<<blocks, DIRECT_THREADS>>>(
        out, in, n, (unsigned)tiles_of(n, sizeof(T)), (struct workspace *)workspace);
    return cudaGetLastError();
}

cudaError_t launch_pipeline_f32(float *out, const float *in, size_t n, void *w, unsigned blocks)
{
    return pipeline(out, in, n, w, blocks);
}

cudaError_t launch_pipeline_f64(double *out, const double *in, size_t n, void *w, unsigned blocks)
{
    return pipeline(out, in, n, w, blocks);
}

cudaError_t launch_direct_f32(float *out, const float *in, size_t n, void *w, unsigned blocks)
{
    return direct(out, in, n, w, blocks);
}

cudaError_t launch_direct_f64(double *out, const double *in, size_t n, void *w, unsigned blocks)
{
    return direct(out, in, n, w, blocks);
}
