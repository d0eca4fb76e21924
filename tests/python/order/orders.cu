// orders.cu — kernels with barriers, fences and waits: --tool order says what each is for.
// A comment at each says what is expected. An argument chooses the kernel.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cstdio>
#include <cstdlib>
#include <csignal>
#include <sys/time.h>
#include <sys/wait.h>
#include <thread>

__global__ void scan(int *out, const int *in, int n)
{
    __shared__ int temp[64];
    int t = threadIdx.x;
    temp[t] = in[t];
    __syncthreads(); // needed
    for (int d = 1; d < n; d *= 2) {
        int left = t >= d ? temp[t - d] : 0;
        __syncthreads(); // needed
        temp[t] += left;
        __syncthreads(); // needed
    }
    out[t] = temp[t];
    __syncthreads(); // not needed
    if (n > 64) __syncthreads(); // never executed
}

__global__ void twice(int *out)
{
    __shared__ int temp[64];
    temp[threadIdx.x] = threadIdx.x;
    __syncthreads(); // not needed, doubled
    __syncthreads(); // not needed, doubled
    out[threadIdx.x] = temp[63 - threadIdx.x];
}

__global__ void lanes(int *out)
{
    __shared__ int temp[32];
    temp[threadIdx.x] = threadIdx.x;
    __syncwarp(); // needed
    out[threadIdx.x] = temp[31 - threadIdx.x];
    __syncwarp(); // not needed
}

__global__ void racy(int *out)
{
    __shared__ int temp[32];
    temp[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = temp[31 - threadIdx.x];
    __syncwarp(); // not needed
}

__device__ int data, flag;
__global__ void publish(int *out)
{
    if (blockIdx.x == 0) {
        data = 1;
        __threadfence(); // needed
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {}
        __threadfence(); // needed
        *out = data;
    }
}

__global__ void half_fenced(int *out)
{
    if (blockIdx.x == 0) {
        data = 1;
        __threadfence(); // needed
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {}
        *out = data;
    }
}

__global__ void hand_over(int *out)
{
    if (blockIdx.x == 0) {
        data = 1;
        __nv_atomic_store_n(&flag, 1, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE); // needed
    } else {
        while (!__nv_atomic_load_n(&flag, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE)) // needed
            continue;
        *out = data;
    }
}

__global__ void whole_grid(int *out)
{
    out[blockIdx.x] = blockIdx.x;
    cooperative_groups::this_grid().sync(); // needed
    out[2 + blockIdx.x] = out[1 - blockIdx.x];
}

__global__ void copies(int *out, const int *in)
{
    __shared__ int temp[32];
    __pipeline_memcpy_async(&temp[threadIdx.x], &in[threadIdx.x], sizeof *in);
    __pipeline_commit();
    __pipeline_wait_prior(0); // needed
    out[threadIdx.x] = temp[threadIdx.x];
}

__global__ void no_barrier(int *out) { out[threadIdx.x] = threadIdx.x; }

__global__ void often(int *out, int times)
{
    __shared__ int temp[2];
    for (int k = 0; k < times; k++) {
        temp[threadIdx.x / 32] = k;
        __syncthreads(); // needed
        out[threadIdx.x] = temp[1 - threadIdx.x / 32];
        __syncthreads(); // needed
    }
}

static void on_alarm(int) {}

int main(int argc, char **argv)
{
    int *in, *out;
    cudaMalloc(&in, 256 * sizeof(int));
    cudaMalloc(&out, 256 * sizeof(int));
    cudaMemset(in, 0, 256 * sizeof(int));
    switch (atoi(argv[1])) {
    case 0: scan<<<1, 64>>>(out, in, 64); break;
    case 1: twice<<<1, 64>>>(out); break;
    case 2: lanes<<<1, 32>>>(out); break;
    case 3: publish<<<2, 1>>>(out); break;
    case 4: {
        void *arguments[] = {&out};
        cudaLaunchCooperativeKernel((void *)whole_grid, 2, 1, arguments, 0, 0);
        break;
    }
    case 5: copies<<<1, 32>>>(out, in); break;
    case 6: no_barrier<<<1, 64>>>(out); break;
    case 7: often<<<1, 64>>>(out, argc > 2 ? atoi(argv[2]) : 100); break;
    case 8: hand_over<<<2, 1>>>(out); break;
    case 20: // the smaller launch is the one to be named
        for (int blocks = 4; blocks > 0; blocks--) scan<<<blocks, 64>>>(out, in, 64);
        break;
    case 21: racy<<<1, 32>>>(out); break;
    case 22: half_fenced<<<2, 1>>>(out); break;
    case 24: // only the fifth launch of one shape comes to the last barrier
        for (int k = 0; k < 5; k++) scan<<<1, 64>>>(out, in, k < 4 ? 64 : 65);
        break;
    case 23: { // a timer interrupts every wait, and no child may be left to a wait of the program
        struct itimerval often_now = {{0, 1000}, {0, 1000}};
        struct sigaction action = {};
        action.sa_handler = on_alarm;
        sigaction(SIGALRM, &action, nullptr);
        setitimer(ITIMER_REAL, &often_now, nullptr);
        often<<<1, 64>>>(out, 500);
        if (waitpid(-1, nullptr, WNOHANG) != -1) printf("a child, ");
        break;
    }
    case 25: { // another thread holds locks of the emulator again and again
        volatile bool has_ended = false;
        std::thread other([&] { while (!has_ended) cudaMemset(in + 128, 0, 4); });
        for (int blocks = 40; blocks > 0; blocks--) scan<<<blocks, 64>>>(out, in, 64);
        has_ended = true;
        other.join();
        break;
    }
    case 26: // of two devices, only the second one comes to the last barrier
        for (int k = 0; k < 2; k++) {
            cudaSetDevice(k);
            cudaMalloc(&out, 256 * sizeof(int));
            scan<<<1, 64>>>(out, out + 128, 64 + k);
        }
    }
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
