/*
 * banks.cu — kernels of which students predict or recognise the counters. Nothing is computed: the
 * kernels access shared memory as written, which `volatile` keeps the compiler from changing.
 */
extern __shared__ volatile float temp[];

/* One level of step 3's up-sweep. */
__global__ void level(int d, int offset)
{
    int thid = threadIdx.x;
    if (thid < d) {
        int ai = offset * (2 * thid + 1) - 1;
        int bi = offset * (2 * thid + 2) - 1;
        temp[bi] = temp[bi] + temp[ai];
    }
}

/* The kernels of the bank detective. bank_lab.c prints these lines. */
__global__ void suspect_a(int, int) { temp[threadIdx.x] = temp[2 * threadIdx.x]; }
__global__ void suspect_b(int, int) { temp[2 * threadIdx.x] = temp[threadIdx.x]; }
__global__ void suspect_c(int, int) { temp[33 * threadIdx.x] = temp[32 * threadIdx.x]; }
__global__ void suspect_d(int, int)
{
    temp[32 * (threadIdx.x % 32) + threadIdx.x / 32] = temp[threadIdx.x];
}
__global__ void suspect_e(int, int) { temp[threadIdx.x] = temp[threadIdx.x / 2]; }
__global__ void suspect_f(int, int) { temp[threadIdx.x] = temp[4 * threadIdx.x % 1024]; }
