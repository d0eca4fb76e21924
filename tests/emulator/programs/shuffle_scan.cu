/* shuffle_scan.cu — scans by shuffles: of a warp, of a block through one word per warp, and the
 * integral image of a picture, rows by shuffles and columns by a loop. */
#include "check.cuh"

static const unsigned ALL = 0xffffffff;
static const int THREADS = 256;

static __device__ int scan_warp(int value, int width)
{
    for (int distance = 1; distance < width; distance *= 2) {
        int before = __shfl_up_sync(ALL, value, distance, width);
        if (threadIdx.x % width >= distance) value += before;
    }
    return value;
}

static __device__ int scan_block(int value)
{
    __shared__ int sums[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    value = scan_warp(value, 32);
    if (lane == 31) sums[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < blockDim.x / 32 ? sums[lane] : 0;
        sums[lane] = scan_warp(sum, 32);
    }
    __syncthreads();
    if (warp > 0) value += sums[warp - 1];
    __syncthreads(); /* sums may be used again */
    return value;
}

static __global__ void scan_widths(const int *in, int *out8, int *out32, int *out_block)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out8[i] = scan_warp(in[i], 8);
    out32[i] = scan_warp(in[i], 32);
    out_block[i] = scan_block(in[i]);
}

static __global__ void integral_rows(const unsigned char *picture, int *integral, int width)
{
    int carry = 0;
    __shared__ int last;
    for (int start = 0; start < width; start += THREADS) {
        int x = start + threadIdx.x;
        int sum = carry + scan_block(x < width ? picture[blockIdx.x * width + x] : 0);
        if (x < width) integral[blockIdx.x * width + x] = sum;
        if (threadIdx.x == THREADS - 1) last = sum;
        __syncthreads();
        carry = last;
        __syncthreads();
    }
}

static __global__ void integral_columns(int *integral, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int y = 0; x < width && y < height; y++) sum = integral[y * width + x] += sum;
}

int main()
{
    const int N = 4 * THREADS;
    std::vector<int> in = random_values<int>(N, 100), expected(N);
    int *out[3];
    for (int *&array : out) array = device_array<int>(N);
    scan_widths<<<N / THREADS, THREADS>>>(device_copy(in), out[0], out[1], out[2]);
    CUDA_LAUNCHED();
    const int widths[] = {8, 32, THREADS};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < N; i++) expected[i] = in[i] + (i % widths[k] ? expected[i - 1] : 0);
        expect_same("scan", host_copy(out[k], N), expected);
    }

    const int WIDTH = 300, HEIGHT = 70;
    std::vector<unsigned char> picture = random_values<unsigned char>(WIDTH * HEIGHT, 256);
    std::vector<int> sums(WIDTH * HEIGHT);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0, row = 0; x < WIDTH; x++) {
            row += picture[y * WIDTH + x];
            sums[y * WIDTH + x] = row + (y ? sums[(y - 1) * WIDTH + x] : 0);
        }
    int *integral = device_array<int>(WIDTH * HEIGHT);
    integral_rows<<<HEIGHT, THREADS>>>(device_copy(picture), integral, WIDTH);
    integral_columns<<<blocks_for(WIDTH, 64), 64>>>(integral, WIDTH, HEIGHT);
    CUDA_LAUNCHED();
    expect_same("integral image", host_copy(integral, WIDTH * HEIGHT), sums);
    return right("scans by shuffles, and an integral image");
}
