/* transpose.cu — three ways to transpose a matrix: directly, through a tile in shared memory (each
 * column of which lies in one bank), and through a tile with one more column. */
#include "check.cuh"

static const int TILE = 32, ROWS = 8; /* a block of 32 x 8 threads moves a tile of 32 x 32 */

static __global__ void straight(const int *in, int *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    for (int y = blockIdx.y * TILE + threadIdx.y, end = y + TILE; y < end; y += ROWS)
        if (x < width && y < height) out[x * height + y] = in[y * width + x];
}

template <int PADDING>
static __global__ void through_tile(const int *in, int *out, int width, int height)
{
    __shared__ int tile[TILE][TILE + PADDING];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < width && y + i < height)
            tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int i = 0; i < TILE; i += ROWS)
        if (x < height && y + i < width)
            out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];
}

int main()
{
    const int WIDTH = 150, HEIGHT = 101, N = WIDTH * HEIGHT;
    std::vector<int> in = random_values<int>(N, 1u << 31), expected(N);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) expected[x * HEIGHT + y] = in[y * WIDTH + x];

    int *device_in = device_copy(in), *device_out = device_array<int>(N);
    void (*kernels[])(const int *, int *, int, int) = {straight, through_tile<0>, through_tile<1>};
    const char *names[] = {"straight", "tile", "padded tile"};
    dim3 grid(blocks_for(WIDTH, TILE), blocks_for(HEIGHT, TILE)), block(TILE, ROWS);
    for (int i = 0; i < 3; i++) {
        CUDA(cudaMemset(device_out, 0, N * sizeof(int)));
        kernels[i]<<<grid, block>>>(device_in, device_out, WIDTH, HEIGHT);
        CUDA_LAUNCHED();
        expect_same(names[i], host_copy(device_out, N), expected);
    }
    return right("transpose of %dx%d, three ways", WIDTH, HEIGHT);
}
