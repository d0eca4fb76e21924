/* spin_lock.cu — mutual exclusion on a GPU: a lock that every thread of every warp takes (threads
 * of one warp too, which needs independent scheduling), a ticket lock, and a barrier between
 * blocks. */
#include "check.cuh"

static const int THREADS = 64, BLOCKS = 8;

struct account {
    int lock, balance;
    unsigned next_ticket, serving;
    int total;
    unsigned arrived;
};

static __global__ void deposit(account *a)
{
    while (atomicCAS(&a->lock, 0, 1) != 0) __nanosleep(20);
    __threadfence();
    *(volatile int *)&a->balance = *(volatile int *)&a->balance + threadIdx.x % 4;
    __threadfence();
    atomicExch(&a->lock, 0);
}

static __global__ void with_tickets(account *a)
{
    if (threadIdx.x % 32) return;
    unsigned ticket = atomicAdd(&a->next_ticket, 1);
    while (*(volatile unsigned *)&a->serving != ticket) continue;
    __threadfence();
    a->total = a->total * 3 + 1; /* any order is right, but no update may be lost */
    __threadfence();
    *(volatile unsigned *)&a->serving = ticket + 1;
}

/* All blocks are on the GPU at once: they may wait for each other. */
static __device__ void wait_for_all(account *a, unsigned round)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&a->arrived, 1);
        while (*(volatile unsigned *)&a->arrived < round * gridDim.x) continue;
        __threadfence();
    }
    __syncthreads();
}

static __global__ void rotate(account *a, volatile int *values, int *out)
{
    int n = gridDim.x * blockDim.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned round = 1; round <= 3; round++) {
        int value = values[(i + 70) % n];
        wait_for_all(a, 2 * round - 1);
        values[i] = value;
        wait_for_all(a, 2 * round);
    }
    out[i] = values[i];
}

int main()
{
    const int N = BLOCKS * THREADS;
    account *device = device_array<account>(1);
    CUDA(cudaMemset(device, 0, sizeof(account)));
    deposit<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    EXPECT(host_copy(device, 1)[0].balance == N / 4 * (0 + 1 + 2 + 3));

    with_tickets<<<BLOCKS, THREADS>>>(device);
    CUDA_LAUNCHED();
    int total = 0;
    for (int i = 0; i < N / 32; i++) total = total * 3 + 1;
    EXPECT(host_copy(device, 1)[0].total == total);

    std::vector<int> values = random_values<int>(N, 1000), expected(N);
    for (int i = 0; i < N; i++) expected[i] = values[(i + 3 * 70) % N];
    int *out = device_array<int>(N);
    rotate<<<BLOCKS, THREADS>>>(device, device_copy(values), out);
    CUDA_LAUNCHED();
    expect_same("rotated", host_copy(out, N), expected);
    return right("locks taken by %d threads, and a barrier of %d blocks", N, BLOCKS);
}
