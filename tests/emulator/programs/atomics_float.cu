/* atomics_float.cu — atomic sums of float, double, half2 and pairs of words; the scopes _block and
 * _system; cuda::atomic_ref. The elements are small integers, so sums are exact in any order. */
#include "check.cuh"
#include <cuda/atomic>
#include <cuda_fp16.h>

struct sums {
    float floats;
    double doubles;
    __half2 halves;
    float of_block;
    unsigned long long of_system;
    unsigned relaxed;
    int largest;
};

static __global__ void add_up(sums *sum)
{
    __shared__ float of_block;
    if (threadIdx.x == 0) of_block = 0;
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&sum->floats, (float)(i % 8));
    atomicAdd(&sum->doubles, i * 0.25);
    atomicAdd(&sum->halves, __floats2half2_rn(1, i % 2));
    atomicAdd_block(&of_block, 2.0f);
    atomicAdd_system(&sum->of_system, (unsigned long long)i << 20);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(sum->relaxed)
        .fetch_add(i, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device>(sum->largest).fetch_max((int)(i ^ 85));
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(&sum->of_block, of_block);
}

int main()
{
    const unsigned BLOCKS = 3, THREADS = 200, N = BLOCKS * THREADS;
    sums *device = device_array<sums>(1);
    CUDA(cudaMemset(device, 0, sizeof(sums)));
    add_up<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    sums got = host_copy(device, 1)[0];

    float floats = 0;
    double doubles = 0;
    unsigned total = 0;
    int largest = 0;
    for (unsigned i = 0; i < N; i++) {
        floats += i % 8;
        doubles += i * 0.25;
        total += i;
        largest = (int)(i ^ 85) > largest ? (int)(i ^ 85) : largest;
    }
    EXPECT(got.floats == floats);
    EXPECT(got.doubles == doubles);
    EXPECT(__low2float(got.halves) == N && __high2float(got.halves) == N / 2);
    EXPECT(got.of_block == 2.0f * N);
    EXPECT(got.of_system == (unsigned long long)total << 20);
    EXPECT(got.relaxed == total);
    EXPECT(got.largest == largest);
    return right("atomic sums of float, double, half2, and with scopes");
}
