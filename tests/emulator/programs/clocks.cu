/* clocks.cu — time as a kernel sees it: clock, clock64 and the global timer only go forward, and a
 * kernel can wait by them. */
#include "check.cuh"
#include <chrono>

static __global__ void read_clocks(long long *cycles, unsigned long long *nanoseconds, float *data)
{
    unsigned long long begin, end;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    long long start = clock64();
    clock_t short_start = clock();
    float sum = threadIdx.x;
    for (int i = 0; i < 200; i++) sum = sum * 0.5f + 1;
    data[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    __syncthreads();
    cycles[2 * blockIdx.x] = clock64() - start;
    cycles[2 * blockIdx.x + 1] = (unsigned)(clock() - short_start);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    nanoseconds[blockIdx.x] = end - begin;
}

static __global__ void wait_for(unsigned long long nanoseconds)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do {
        __nanosleep(1000);
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    } while (now - begin < nanoseconds);
}

int main()
{
    const int BLOCKS = 8, THREADS = 64;
    long long *cycles = device_array<long long>(2 * BLOCKS);
    unsigned long long *nanoseconds = device_array<unsigned long long>(BLOCKS);
    float *data = device_array<float>(BLOCKS * THREADS);
    read_clocks<<<BLOCKS, THREADS>>>(cycles, nanoseconds, data);
    CUDA_LAUNCHED();
    for (long long c : host_copy(cycles, 2 * BLOCKS)) EXPECT(c > 0 && c < 10000000000);
    for (unsigned long long t : host_copy(nanoseconds, BLOCKS)) EXPECT(t < 10000000000);
    expect_same("data", host_copy(data, BLOCKS * THREADS),
                std::vector<float>(BLOCKS * THREADS, 2.0f), 1e-6);

    const unsigned long long MILLISECOND = 1000000;
    auto before = std::chrono::steady_clock::now();
    wait_for<<<1, 1>>>(5 * MILLISECOND);
    CUDA_LAUNCHED();
    std::chrono::duration<double> passed = std::chrono::steady_clock::now() - before;
    EXPECT(passed.count() > 4e-3);
    return right("clocks of %d blocks, and a wait of 5 ms", BLOCKS);
}
