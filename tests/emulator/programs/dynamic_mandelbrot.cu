/* dynamic_mandelbrot.cu — the Mandelbrot set by the algorithm of Mariani and Silver: if all points
 * of a square's border have one value, its inside gets this value, too. Otherwise the square is
 * divided, and a kernel launched for the parts. */
#include "check.cuh"

enum { SIZE = 256, MOST = 64, DIVIDED = 4, DEEPEST = 4, SMALLEST = 8, THREADS = 64, MIXED = -1 };

static __host__ __device__ int dwell(int x, int y)
{
    float real = -2.0f + 2.5f * x / SIZE, imaginary = -1.25f + 2.5f * y / SIZE, a = 0, b = 0;
    int n = 0;
    for (; n < MOST && a * a + b * b < 4; n++) {
        float next = a * a - b * b + real;
        b = 2 * a * b + imaginary;
        a = next;
    }
    return n;
}

/* The value of all points of the block's border, or MIXED. */
static __device__ int border(int x0, int y0, int d)
{
    __shared__ int least, largest;
    if (threadIdx.x == 0) {
        least = MOST;
        largest = 0;
    }
    __syncthreads();
    for (int r = threadIdx.x; r < d; r += blockDim.x)
        for (int side = 0; side < 4; side++) {
            int x = side == 0 ? x0 + r : side == 1 ? x0 + d - 1 : side == 2 ? x0 + r : x0;
            int y = side == 0 ? y0 : side == 1 ? y0 + r : side == 2 ? y0 + d - 1 : y0 + r;
            int n = dwell(x, y);
            atomicMin(&least, n);
            atomicMax(&largest, n);
        }
    __syncthreads();
    return least == largest ? least : MIXED;
}

static __global__ void fill(int *picture, int x0, int y0, int d, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < d * d) picture[(y0 + i / d) * SIZE + x0 + i % d] = value;
}

static __global__ void each(int *picture, int x0, int y0, int d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < d * d) picture[(y0 + i / d) * SIZE + x0 + i % d] = dwell(x0 + i % d, y0 + i / d);
}

static __global__ void divide(int *picture, int x0, int y0, int d, int depth)
{
    x0 += d * blockIdx.x;
    y0 += d * blockIdx.y;
    int value = border(x0, y0, d);
    if (threadIdx.x != 0) return;
    int blocks = (d * d + THREADS - 1) / THREADS;
    if (value != MIXED)
        fill<<<blocks, THREADS>>>(picture, x0, y0, d, value);
    else if (depth + 1 < DEEPEST && d / DIVIDED >= SMALLEST)
        divide<<<dim3(DIVIDED, DIVIDED), THREADS>>>(picture, x0, y0, d / DIVIDED, depth + 1);
    else
        each<<<blocks, THREADS>>>(picture, x0, y0, d);
}

int main()
{
    int *picture = device_array<int>(SIZE * SIZE), different = 0;
    divide<<<dim3(4, 4), THREADS>>>(picture, 0, 0, SIZE / 4, 0);
    CUDA_LAUNCHED();
    std::vector<int> got = host_copy(picture, SIZE * SIZE);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++) {
            EXPECT(got[y * SIZE + x] >= 0 && got[y * SIZE + x] <= MOST);
            different += got[y * SIZE + x] != dwell(x, y);
        }
    EXPECT(different < SIZE * SIZE / 100);
    return right("a picture that kernels divide");
}
