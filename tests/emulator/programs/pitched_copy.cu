/* pitched_copy.cu — 2-D memory: rows at a pitch that the device chooses, copies of whole pictures
 * and of a window, fills, and a 3-D allocation. */
#include "check.cuh"

static __global__ void invert(unsigned char *picture, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) picture[y * pitch + x] = 255 - picture[y * pitch + x];
}

static __global__ void number(cudaPitchedPtr box, int width, int height, int depth)
{
    for (int z = 0; z < depth; z++)
        for (int y = threadIdx.x; y < height; y += blockDim.x) {
            int *row = (int *)((char *)box.ptr + (z * box.ysize + y) * box.pitch);
            for (int x = 0; x < width; x++) row[x] = x + 100 * y + 10000 * z;
        }
}

int main()
{
    const int WIDTH = 333, HEIGHT = 77;
    std::vector<unsigned char> picture = random_values<unsigned char>(WIDTH * HEIGHT, 256);
    std::vector<unsigned char> back(WIDTH * HEIGHT, 0);
    unsigned char *device;
    size_t pitch;
    CUDA(cudaMallocPitch((void **)&device, &pitch, WIDTH, HEIGHT));
    EXPECT(pitch >= WIDTH && pitch % 32 == 0);
    CUDA(cudaMemcpy2D(device, pitch, picture.data(), WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    dim3 block(32, 8), grid(blocks_for(WIDTH, 32), blocks_for(HEIGHT, 8));
    invert<<<grid, block>>>(device, pitch, WIDTH, HEIGHT);
    CUDA_LAUNCHED();
    /* A window of 100 x 20 at (50, 10) is made black, and copied to the place on its right. */
    unsigned char *window = device + 10 * pitch + 50;
    CUDA(cudaMemset2D(window, pitch, 0, 100, 20));
    CUDA(cudaMemcpy2DAsync(window + 120, pitch, window, pitch, 100, 20, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy2D(back.data(), WIDTH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            bool black = y >= 10 && y < 30 && ((x >= 50 && x < 150) || (x >= 170 && x < 270));
            int i = y * WIDTH + x;
            EXPECT(back[i] == (black ? 0 : 255 - picture[i]));
        }

    const int DEPTH = 5;
    cudaExtent extent = make_cudaExtent(30 * sizeof(int), 20, DEPTH);
    cudaPitchedPtr box;
    CUDA(cudaMalloc3D(&box, extent));
    number<<<1, 32>>>(box, 30, 20, DEPTH);
    CUDA_LAUNCHED();
    std::vector<int> boxes(30 * 20 * DEPTH);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(boxes.data(), 30 * sizeof(int), 30, 20);
    copy.extent = extent;
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&copy));
    for (int i = 0; i < (int)boxes.size(); i++)
        EXPECT(boxes[i] == i % 30 + 100 * (i / 30 % 20) + 10000 * (i / 600));
    CUDA(cudaFree(device));
    return right("2-D and 3-D memory with a pitch");
}
