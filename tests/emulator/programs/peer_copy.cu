/* peer_copy.cu — every GPU works on its part; parts travel from one GPU to the next, and where
 * peers may access each other, a kernel reads its neighbour's memory. One GPU is enough. */
#include "check.cuh"

static const int PART = 2048, THREADS = 128;

static __global__ void add_constant(const int *in, int *out, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + value;
}

int main()
{
    int devices;
    CUDA(cudaGetDeviceCount(&devices));
    EXPECT(devices >= 1);
    std::vector<int *> part(devices), received(devices);
    std::vector<cudaStream_t> stream(devices);
    std::vector<int> values = random_values<int>(PART * devices, 1000);
    for (int d = 0; d < devices; d++) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaStreamCreate(&stream[d]));
        part[d] = device_array<int>(PART);
        received[d] = device_array<int>(PART);
        CUDA(cudaMemcpyAsync(part[d], &values[d * PART], PART * sizeof(int), cudaMemcpyHostToDevice,
                             stream[d]));
        add_constant<<<PART / THREADS, THREADS, 0, stream[d]>>>(part[d], part[d], d + 1);
        CUDA(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaStreamSynchronize(stream[d]));
        int current;
        CUDA(cudaGetDevice(&current));
        EXPECT(current == d);
    }

    int peers = 0;
    for (int d = 0; d < devices; d++) {
        int next = (d + 1) % devices, can = 0;
        CUDA(cudaSetDevice(d));
        CUDA(cudaMemcpyPeer(received[d], d, part[next], next, PART * sizeof(int)));
        std::vector<int> got = host_copy(received[d], PART);
        for (int i = 0; i < PART; i++) EXPECT(got[i] == values[next * PART + i] + next + 1);
        if (next != d) CUDA(cudaDeviceCanAccessPeer(&can, d, next));
        if (!can) continue;
        CUDA(cudaDeviceEnablePeerAccess(next, 0));
        add_constant<<<PART / THREADS, THREADS>>>(part[next], received[d], 5);
        CUDA_LAUNCHED();
        got = host_copy(received[d], PART);
        for (int i = 0; i < PART; i++) EXPECT(got[i] == values[next * PART + i] + next + 6);
        peers++;
    }
    EXPECT(cudaSetDevice(devices) == cudaErrorInvalidDevice);
    return right("parts passed around %d GPU(s), %d read from a neighbour", devices, peers);
}
