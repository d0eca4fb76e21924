/* stencil.cu — neighbours: a 1-D stencil with a halo in shared memory, and heat that spreads on a
 * 2-D plate for some steps, two buffers in turn. */
#include "check.cuh"

static const int RADIUS = 3, THREADS = 128;

static __global__ void window_sum(const int *in, int *out, int n)
{
    __shared__ int s[THREADS + 2 * RADIUS];
    int i = blockIdx.x * THREADS + threadIdx.x, at = threadIdx.x + RADIUS;
    s[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        s[at - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        s[at + THREADS] = i + THREADS < n ? in[i + THREADS] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++) sum += s[at + k];
    if (i < n) out[i] = sum;
}

static __host__ __device__ float relaxed(const float *t, int i, int width)
{
    return 0.25f * (t[i - 1] + t[i + 1] + t[i - width] + t[i + width]);
}

static __global__ void spread(const float *from, float *to, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
    to[y * width + x] = relaxed(from, y * width + x, width);
}

int main()
{
    const int N = 3001;
    std::vector<int> in = random_values<int>(N, 100), sums(N, 0);
    for (int i = 0; i < N; i++)
        for (int k = i - RADIUS; k <= i + RADIUS; k++) sums[i] += k >= 0 && k < N ? in[k] : 0;
    int *out = device_array<int>(N);
    window_sum<<<blocks_for(N, THREADS), THREADS>>>(device_copy(in), out, N);
    CUDA_LAUNCHED();
    expect_same("sum", host_copy(out, N), sums);

    const int WIDTH = 65, HEIGHT = 40, STEPS = 20;
    std::vector<float> plate(WIDTH * HEIGHT, 0.0f);
    for (int x = 0; x < WIDTH; x++) plate[x] = 100; /* one edge is hot, and stays so */
    float *from = device_copy(plate), *to = device_copy(plate);
    dim3 block(32, 8), grid(blocks_for(WIDTH, 32), blocks_for(HEIGHT, 8));
    std::vector<float> next = plate;
    for (int step = 0; step < STEPS; step++) {
        spread<<<grid, block>>>(from, to, WIDTH, HEIGHT);
        std::swap(from, to);
        for (int y = 1; y < HEIGHT - 1; y++)
            for (int x = 1; x < WIDTH - 1; x++)
                next[y * WIDTH + x] = relaxed(plate.data(), y * WIDTH + x, WIDTH);
        plate = next;
    }
    CUDA_LAUNCHED();
    expect_same("heat", host_copy(from, WIDTH * HEIGHT), plate, 1e-5);
    return right("a window sum and %d steps of heat", STEPS);
}
