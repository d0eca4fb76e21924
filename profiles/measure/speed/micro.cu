/* micro.cu — kernels of one kind of work each, for the emulator's bench. Their results are not
 * used. They store them so that the compiler keeps the computation. */
#include "bench.h"

enum { ROUNDS = 64, BINS = 256, WORDS = 64 };

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

static __global__ void empty() {}

static __global__ void arithmetic(unsigned *data)
{
    unsigned a = THREAD, b = a + 1;
    for (int i = 0; i < 16 * ROUNDS; i++) a = a * b + (a >> 3 ^ i);
    data[THREAD] = a;
}

/* Collatz: every lane has a different number of rounds, and different branches in each. */
static __global__ void divergence(unsigned *data)
{
    unsigned rounds = 0;
    for (unsigned a = THREAD % 1024 + 1; a != 1; rounds++)
        if (a % 2)
            a = 3 * a + 1;
        else
            a /= 2;
    data[THREAD] = rounds;
}

static __global__ void histogram(unsigned *data)
{
    __shared__ unsigned bins[BINS];
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x) bins[i] = 0;
    __syncthreads();
    unsigned random = THREAD;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1664525 + 1013904223;
        atomicAdd(&bins[random >> 28], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&data[i], bins[i]);
}

static __global__ void one_counter(unsigned *data)
{
    for (int i = 0; i < ROUNDS; i++) atomicAdd(data, 1);
}

static __global__ void bytes(unsigned char *data)
{
    for (int i = 0; i < ROUNDS; i++) data[THREAD] = (unsigned char)(data[THREAD ^ i] + 1);
}

static __global__ void doubles(double *data)
{
    double a = THREAD + 1;
    for (int i = 0; i < ROUNDS; i++) a = sqrt(a) * 1.5 + sin(a) / (a + 2);
    data[THREAD] = a;
}

/* An array that is indexed by a number known only at run time lies in local memory. */
static __global__ void local_array(unsigned *data)
{
    unsigned array[WORDS], at = THREAD;
    for (int i = 0; i < WORDS; i++) array[i] = at * i;
    for (int i = 0; i < 4 * ROUNDS; i++) {
        at = array[at % WORDS] + i;
        array[at % WORDS] ^= i;
    }
    data[THREAD] = at;
}

static __global__ void generic(unsigned *data)
{
    __shared__ unsigned shared[1024];
    shared[threadIdx.x] = threadIdx.x;
    __syncthreads();
    volatile unsigned *from = THREAD % 64 < 32 ? shared + threadIdx.x : data + THREAD;
    unsigned sum = 0;
    for (int i = 0; i < ROUNDS; i++) sum += *from;
    data[THREAD] = sum;
}

static __device__ __noinline__ unsigned fibonacci(unsigned n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static __global__ void calls(unsigned *data) { data[THREAD] = fibonacci(10 + THREAD % 2); }

/* A stride of 33 words in memory: every lane has a sector of its own. */
static __global__ void scattered(unsigned *data)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++)
        sum += data[(THREAD * 33 + i * 4099) % (MICRO_BUFFER / 4)];
    data[THREAD] = sum;
}

/* A stride of 32 words in shared memory: all lanes in one bank. */
static __global__ void conflicts(unsigned *data)
{
    __shared__ unsigned shared[32 * 32];
    unsigned lane = threadIdx.x % 32, sum = 0;
    for (unsigned i = 0; i < 32; i++) shared[lane * 32 + i] = i;
    __syncwarp();
    for (unsigned i = 0; i < ROUNDS; i++) sum += shared[lane * 32 + i % 32];
    data[THREAD] = sum;
}

/* The product of two matrices of SIDE x SIDE, by tiles of TILE x TILE. */
template <int TILE, int SIDE> static __global__ void matrix_product(float *data)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    unsigned x = threadIdx.x % TILE, y = threadIdx.x / TILE, tiles = SIDE / TILE;
    unsigned row = blockIdx.x / tiles * TILE + y, column = blockIdx.x % tiles * TILE + x;
    float sum = 0;
    for (unsigned t = 0; t < SIDE; t += TILE) {
        a[y][x] = data[row * SIDE + t + x];
        b[y][x] = data[(t + y) * SIDE + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++) sum += a[y][k] * b[k][x];
        __syncthreads();
    }
    data[SIDE * SIDE + row * SIDE + column] = sum;
}

static __global__ void tree(float *data)
{
    extern __shared__ float sums[];
    sums[threadIdx.x] = data[THREAD];
    for (unsigned offset = blockDim.x / 2; offset > 0; offset /= 2) {
        __syncthreads();
        if (threadIdx.x < offset) sums[threadIdx.x] += sums[threadIdx.x + offset];
    }
    if (threadIdx.x == 0) data[blockIdx.x] = sums[0];
}

/* Every block waits for all others, so all are in memory at the same time. */
static __global__ void gather(unsigned *came)
{
    if (threadIdx.x == 0) {
        atomicAdd(came, 1);
        while (*(volatile unsigned *)came < gridDim.x) continue;
    }
    __syncthreads();
}

/* ---- launches ------------------------------------------------------------------------------ */

#define LAUNCHER(kernel, type)                                                                     \
    static cudaError_t launch_##kernel(void *buffer, size_t n, unsigned block)                     \
    {                                                                                              \
        kernel<<<(unsigned)(n / block), block>>>((type *)buffer);                                  \
        return cudaDeviceSynchronize();                                                            \
    }
LAUNCHER(arithmetic, unsigned)
LAUNCHER(divergence, unsigned)
LAUNCHER(histogram, unsigned)
LAUNCHER(one_counter, unsigned)
LAUNCHER(bytes, unsigned char)
LAUNCHER(doubles, double)
LAUNCHER(local_array, unsigned)
LAUNCHER(generic, unsigned)
LAUNCHER(calls, unsigned)
LAUNCHER(scattered, unsigned)
LAUNCHER(conflicts, unsigned)

template <int TILE, int SIDE>
static cudaError_t launch_product(void *buffer, size_t n, unsigned block)
{
    matrix_product<TILE, SIDE><<<(unsigned)(n / block), block>>>((float *)buffer);
    return cudaDeviceSynchronize();
}

static cudaError_t launch_tiny_blocks(void *, size_t n, unsigned block)
{
    return launch_empty((unsigned)(n / block), block);
}

cudaError_t launch_tree(void *buffer, size_t n, unsigned block)
{
    tree<<<(unsigned)(n / block), block, block * sizeof(float)>>>((float *)buffer);
    return cudaDeviceSynchronize();
}

cudaError_t launch_empty(unsigned grid, unsigned block)
{
    empty<<<grid, block>>>();
    return cudaDeviceSynchronize();
}

cudaError_t launch_gather(void *zero, unsigned grid, unsigned block)
{
    gather<<<grid, block>>>((unsigned *)zero);
    return cudaDeviceSynchronize();
}

const struct micro micros[] = {
    {"arithmetic", 1 << 14, 256, launch_arithmetic},
    {"divergence", 1 << 14, 256, launch_divergence},
    {"histogram", 1 << 16, 256, launch_histogram},
    {"one counter", 1 << 16, 256, launch_one_counter},
    {"bytes", 1 << 17, 256, launch_bytes},
    {"doubles", 1 << 13, 256, launch_doubles},
    {"local array", 1 << 14, 256, launch_local_array},
    {"generic", 1 << 17, 256, launch_generic},
    {"calls", 1 << 14, 256, launch_calls},
    {"scattered", 1 << 17, 256, launch_scattered},
    {"bank conflicts", 1 << 17, 256, launch_conflicts},
    {"matrix product", 256 * 256, 16 * 16, launch_product<16, 256>},
    {"tiny blocks", 1 << 22, 32, launch_tiny_blocks},
    {NULL, 0, 0, NULL},
};
