/*
 * launch_kernel.cuh — kernel<<<blocks, threads, shared, stream>>>(arguments...), returning only the
 * error of this launch.
 *
 * After <<<>>>, cudaGetLastError would also return an error of the caller's own calls before, and
 * clear it. Then a call of several launches would end after the first one.
 */
#ifndef LAUNCH_KERNEL_CUH
#define LAUNCH_KERNEL_CUH

#include <cuda_runtime.h>

template <typename... Parameters, typename... Arguments>
static cudaError_t launch_kernel(void (*kernel)(Parameters...), dim3 blocks, dim3 threads,
                                 size_t shared, cudaStream_t stream, const Arguments &...arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = blocks;
    config.blockDim = threads;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
