/* constant_memory.cu — a filter in constant memory, set with cudaMemcpyToSymbol; a separable
 * convolution, rows then columns; device variables read back. */
#include "check.cuh"

static const int RADIUS = 4, LENGTH = 2 * RADIUS + 1, TILE = 64;

__constant__ float filter[LENGTH];
__device__ int calls;
static __device__ const char tag[] = "filtered";

static __global__ void rows(const float *in, float *out, int width)
{
    __shared__ float s[TILE + 2 * RADIUS];
    int start = blockIdx.x * TILE, y = blockIdx.y;
    for (int i = threadIdx.x; i < TILE + 2 * RADIUS; i += blockDim.x) {
        int x = start + i - RADIUS;
        s[i] = x >= 0 && x < width ? in[y * width + x] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < LENGTH; k++) sum += filter[k] * s[threadIdx.x + k];
    if (start + threadIdx.x < width) out[y * width + start + threadIdx.x] = sum;
    if (start + threadIdx.x == 0) atomicAdd(&calls, 1);
}

static __global__ void columns(const float *in, float *out, int width, int height, char *text)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y;
    if (x < (int)sizeof tag && y == 0) text[x] = tag[x];
    if (x >= width) return;
    float sum = 0;
    for (int k = -RADIUS; k <= RADIUS; k++)
        if (y + k >= 0 && y + k < height) sum += filter[k + RADIUS] * in[(y + k) * width + x];
    out[y * width + x] = sum;
}

int main()
{
    const int WIDTH = 150, HEIGHT = 40, N = WIDTH * HEIGHT;
    std::vector<float> picture = random_values<float>(N, 16), middle(N, 0.0f), expected(N, 0.0f);
    float host_filter[LENGTH], back[LENGTH];
    for (int k = 0; k < LENGTH; k++) host_filter[k] = (float)(k * k % 5);
    CUDA(cudaMemcpyToSymbol(filter, host_filter, sizeof host_filter));
    CUDA(cudaMemcpyFromSymbol(back, filter, sizeof back));
    expect_same("filter", back, host_filter, LENGTH);
    float two = 2;
    host_filter[1] = two; /* one element of it, through an offset */
    CUDA(cudaMemcpyToSymbol(filter, &two, sizeof two, sizeof(float)));

    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = -RADIUS; k <= RADIUS; k++)
                if (x + k >= 0 && x + k < WIDTH)
                    middle[y * WIDTH + x] += host_filter[k + RADIUS] * picture[y * WIDTH + x + k];
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int k = -RADIUS; k <= RADIUS; k++)
                if (y + k >= 0 && y + k < HEIGHT)
                    expected[y * WIDTH + x] +=
                        host_filter[k + RADIUS] * middle[(y + k) * WIDTH + x];

    float *in = device_copy(picture), *between = device_array<float>(N),
          *out = device_array<float>(N);
    char *text = device_array<char>(sizeof tag);
    dim3 grid(blocks_for(WIDTH, TILE), HEIGHT);
    rows<<<grid, TILE>>>(in, between, WIDTH);
    columns<<<grid, TILE>>>(between, out, WIDTH, HEIGHT, text);
    CUDA_LAUNCHED();
    expect_same("out", host_copy(out, N), expected);
    EXPECT(host_copy(text, sizeof tag)[0] == 'f' && host_copy(text, sizeof tag)[7] == 'd');
    int count;
    void *address;
    size_t size;
    CUDA(cudaMemcpyFromSymbol(&count, calls, sizeof count));
    EXPECT(count == HEIGHT);
    CUDA(cudaGetSymbolAddress(&address, filter));
    CUDA(cudaGetSymbolSize(&size, filter));
    EXPECT(address != NULL && size == sizeof host_filter);
    return right("separable convolution of %dx%d", WIDTH, HEIGHT);
}
