/* async_barrier.cu — barriers in two halves, cuda::barrier: arrive, do something else, then wait.
 * Producer warps fill a buffer while consumer warps use the other one. */
#include "check.cuh"
#include <cuda/barrier>

/* Barriers in shared memory are initialised by init(), not by their constructor. */
#pragma nv_diag_suppress static_var_with_dynamic_init

typedef cuda::barrier<cuda::thread_scope_block> barrier;

static const int HALF = 64, THREADS = 2 * HALF, ROUNDS = 10;

/* A sum over the block: each thread arrives after writing and does its own work before waiting. */
static __global__ void split(const int *in, int *out)
{
    __shared__ barrier ready;
    __shared__ int value[THREADS];
    if (threadIdx.x == 0) init(&ready, THREADS);
    __syncthreads();
    int own = 0;
    for (int round = 0; round < ROUNDS; round++) {
        value[threadIdx.x] = in[threadIdx.x] + round;
        barrier::arrival_token token = ready.arrive();
        own += round * (int)threadIdx.x; /* needs no other thread */
        ready.wait(std::move(token));
        own += value[(threadIdx.x + 33) % THREADS];
        ready.arrive_and_wait(); /* before the next round overwrites */
    }
    out[threadIdx.x] = own;
}

/* Two buffers, each with a barrier for "full" and one for "free". */
static __global__ void produce_and_consume(const int *in, int *out)
{
    __shared__ barrier full[2], empty[2];
    __shared__ int buffer[2][HALF];
    if (threadIdx.x < 2) {
        init(&full[threadIdx.x], THREADS);
        init(&empty[threadIdx.x], THREADS);
    }
    __syncthreads();
    int i = threadIdx.x % HALF;
    if (threadIdx.x < HALF) {
        for (int round = 0; round < ROUNDS; round++) {
            empty[round % 2].arrive_and_wait();
            buffer[round % 2][i] = in[round * HALF + i] * 3;
            (void)full[round % 2].arrive();
        }
        return;
    }
    (void)empty[0].arrive();
    (void)empty[1].arrive();
    for (int round = 0; round < ROUNDS; round++) {
        full[round % 2].arrive_and_wait();
        out[round * HALF + i] = buffer[round % 2][HALF - 1 - i];
        (void)empty[round % 2].arrive();
    }
}

int main()
{
    const int N = ROUNDS * HALF;
    std::vector<int> in = random_values<int>(N, 1000), own(THREADS, 0), out(N);
    int *device_in = device_copy(in), *device_out = device_array<int>(N);
    split<<<1, THREADS>>>(device_in, device_out);
    CUDA_LAUNCHED();
    for (int i = 0; i < THREADS; i++)
        for (int round = 0; round < ROUNDS; round++)
            own[i] += round * i + in[(i + 33) % THREADS] + round;
    expect_same("split", host_copy(device_out, THREADS), own);

    produce_and_consume<<<1, THREADS>>>(device_in, device_out);
    CUDA_LAUNCHED();
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < HALF; i++) out[round * HALF + i] = in[round * HALF + HALF - 1 - i] * 3;
    expect_same("consumed", host_copy(device_out, N), out);
    return right("barriers in two halves, producer and consumer");
}
