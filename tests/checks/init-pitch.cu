/* init-pitch.cu — the host copies the bytes between the rows of an image, too. */
#include "pair.h"

__global__ void fill(char *image, size_t pitch)
{
    ((int *)(image + threadIdx.y * pitch))[threadIdx.x] = 1;
}

int main(int argc, char **argv)
{
    enum { WIDTH = 32, HEIGHT = 4 };
    static char host[HEIGHT << 12];
    size_t pitch, width = WIDTH * sizeof(int);
    char *image;
    bool right = is_right(argc, argv);
    cudaMallocPitch(&image, &pitch, width, HEIGHT);
    fill<<<1, dim3(WIDTH, HEIGHT)>>>(image, pitch);
    if (right)
        cudaMemcpy2D(host, width, image, pitch, width, HEIGHT, cudaMemcpyDeviceToHost);
    else
        cudaMemcpy(host, image, /* initcheck: Host API uninitialized memory access */
                   HEIGHT * pitch, cudaMemcpyDeviceToHost);
    cudaFree(image);
}
