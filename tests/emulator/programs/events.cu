/* events.cu — asynchronous calls timed with events: the host continues while the device works, and
 * an event shows when the work is done. */
#include "check.cuh"

static __global__ void increment(int *value, int by)
{
    value[blockIdx.x * blockDim.x + threadIdx.x] += by;
}

int main()
{
    const int N = 1 << 15, THREADS = 512;
    int *host, *device;
    CUDA(cudaMallocHost((void **)&host, N * sizeof(int)));
    CUDA(cudaMalloc((void **)&device, N * sizeof(int)));
    for (int i = 0; i < N; i++) host[i] = i;

    cudaEvent_t start, middle, stop, never;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&middle));
    CUDA(cudaEventCreateWithFlags(&stop, cudaEventBlockingSync));
    CUDA(cudaEventCreate(&never));

    CUDA(cudaEventRecord(start));
    CUDA(cudaMemcpyAsync(device, host, N * sizeof(int), cudaMemcpyHostToDevice));
    CUDA(cudaEventRecord(middle));
    increment<<<N / THREADS, THREADS>>>(device, 26);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpyAsync(host, device, N * sizeof(int), cudaMemcpyDeviceToHost));
    CUDA(cudaEventRecord(stop));
    cudaError_t state;
    while ((state = cudaEventQuery(stop)) == cudaErrorNotReady) continue;
    EXPECT(state == cudaSuccess);
    for (int i = 0; i < N; i++) EXPECT(host[i] == i + 26);

    float first, second, whole;
    CUDA(cudaEventSynchronize(stop));
    CUDA(cudaEventElapsedTime(&first, start, middle));
    CUDA(cudaEventElapsedTime(&second, middle, stop));
    CUDA(cudaEventElapsedTime(&whole, start, stop));
    EXPECT(first >= 0 && second >= 0 && fabs(whole - (first + second)) <= 0.01 * whole + 0.01);
    EXPECT(cudaEventElapsedTime(&first, start, never) == cudaErrorInvalidResourceHandle);
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    return right("asynchronous calls timed with events");
}
