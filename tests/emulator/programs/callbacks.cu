/* callbacks.cu — the host's functions in a stream's order: cudaLaunchHostFunc and the older
 * cudaStreamAddCallback, between two kernels that depend on them. */
#include "check.cuh"

static const int N = 1000, WORKERS = 3;

struct workload {
    cudaStream_t stream;
    int *host, *device; /* pinned; on the device */
    int stages;         /* host functions that have run */
    bool in_order;
};

static __global__ void add_one(int *value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) value[i]++;
}

/* Checks the output of the first kernel, and changes the input of the second one. */
static void CUDART_CB double_all(void *data)
{
    workload *work = (workload *)data;
    for (int i = 0; i < N; i++) {
        work->in_order &= work->host[i] == i + 1;
        work->host[i] *= 2;
    }
    work->stages++;
}

static void CUDART_CB finish(cudaStream_t stream, cudaError_t status, void *data)
{
    workload *work = (workload *)data;
    work->in_order &= stream == work->stream && status == cudaSuccess && work->stages == 1;
    for (int i = 0; i < N; i++) work->in_order &= work->host[i] == 2 * (i + 1) + 1;
    work->stages++;
}

int main()
{
    workload works[WORKERS];
    size_t bytes = N * sizeof(int);
    for (workload &work : works) {
        work.stages = 0;
        work.in_order = true;
        CUDA(cudaStreamCreate(&work.stream));
        CUDA(cudaMallocHost((void **)&work.host, bytes));
        work.device = device_array<int>(N);
        for (int i = 0; i < N; i++) work.host[i] = i;
    }
    for (workload &work : works) {
        cudaStream_t stream = work.stream;
        for (int round = 0; round < 2; round++) {
            CUDA(cudaMemcpyAsync(work.device, work.host, bytes, cudaMemcpyHostToDevice, stream));
            add_one<<<blocks_for(N, 128), 128, 0, stream>>>(work.device);
            CUDA(cudaGetLastError());
            CUDA(cudaMemcpyAsync(work.host, work.device, bytes, cudaMemcpyDeviceToHost, stream));
            if (round == 0)
                CUDA(cudaLaunchHostFunc(stream, double_all, &work));
            else
                CUDA(cudaStreamAddCallback(stream, finish, &work, 0));
        }
    }
    CUDA(cudaDeviceSynchronize());
    for (workload &work : works) EXPECT(work.stages == 2 && work.in_order);
    return right("host functions between kernels, in %d streams", WORKERS);
}
