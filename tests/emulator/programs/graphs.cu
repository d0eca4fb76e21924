/* graphs.cu — work recorded once and launched many times: a graph captured from streams that fork
 * and join, and a graph built node by node. */
#include "check.cuh"

static const int N = 4000, THREADS = 128;

static __global__ void scale(const int *in, int *out, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) out[i] = in[i] * by;
}

static __global__ void add(const int *a, const int *b, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) sum[i] += a[i] + b[i];
}

static void captured(const int *in, int *a, int *b, int *sum)
{
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    const int blocks = blocks_for(N, THREADS), ROUNDS = 5;
    CUDA(cudaStreamCreate(&first));
    CUDA(cudaStreamCreate(&second));
    CUDA(cudaEventCreate(&fork));
    CUDA(cudaEventCreate(&join));
    CUDA(cudaMemset(sum, 0, N * sizeof(int)));

    CUDA(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    CUDA(cudaEventRecord(fork, first));
    CUDA(cudaStreamWaitEvent(second, fork, 0));
    scale<<<blocks, THREADS, 0, first>>>(in, a, 2);
    scale<<<blocks, THREADS, 0, second>>>(in, b, 3);
    CUDA(cudaEventRecord(join, second));
    CUDA(cudaStreamWaitEvent(first, join, 0));
    add<<<blocks, THREADS, 0, first>>>(a, b, sum);
    CUDA(cudaStreamEndCapture(first, &graph));
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(graph, NULL, &nodes));
    EXPECT(nodes == 3);
    CUDA(cudaStreamSynchronize(first));
    EXPECT(host_copy(sum, 1)[0] == 0); /* recorded, not done */

    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < ROUNDS; round++) CUDA(cudaGraphLaunch(exec, first));
    CUDA(cudaStreamSynchronize(first));
    std::vector<int> expected = host_copy(in, N);
    for (int &value : expected) value *= 5 * ROUNDS;
    expect_same("captured", host_copy(sum, N), expected);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(first));
    CUDA(cudaStreamDestroy(second));
}

static void CUDART_CB count(void *data) { ++*(int *)data; }

static void by_hand(const int *in, int *out)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, kernel, copy, host;
    std::vector<int> result(N, 0);
    int by = 7, calls = 0;
    CUDA(cudaGraphCreate(&graph, 0));

    cudaMemsetParams memset = {};
    memset.dst = out, memset.elementSize = 4, memset.width = N, memset.height = 1;
    CUDA(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &memset));
    void *arguments[] = {&in, &out, &by};
    cudaKernelNodeParams node = {};
    node.func = (void *)scale, node.gridDim = dim3(blocks_for(N, THREADS));
    node.blockDim = dim3(THREADS), node.kernelParams = arguments;
    CUDA(cudaGraphAddKernelNode(&kernel, graph, &fill, 1, &node));
    CUDA(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, result.data(), out, N * sizeof(int),
                                  cudaMemcpyDeviceToHost));
    cudaHostNodeParams call = {count, &calls};
    CUDA(cudaGraphAddHostNode(&host, graph, &copy, 1, &call));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    std::vector<int> values = host_copy(in, N);
    for (int i = 0; i < N; i++) EXPECT(result[i] == 7 * values[i]);

    by = 11; /* another argument for the same graph */
    CUDA(cudaGraphExecKernelNodeSetParams(exec, kernel, &node));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) EXPECT(result[i] == 11 * values[i]);
    EXPECT(calls == 2);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
}

int main()
{
    int *in = device_copy(random_values<int>(N, 1000));
    int *a = device_array<int>(N), *b = device_array<int>(N), *sum = device_array<int>(N);
    captured(in, a, b, sum);
    by_hand(in, a);
    return right("graphs, captured and built by hand");
}
