/* api-pitch.cu — the pitch of an image is smaller than the width of its rows. */
#include "pair.h"

int main(int argc, char **argv)
{
    enum { WIDTH = 256, HEIGHT = 4 };
    static char host[WIDTH * HEIGHT];
    size_t pitch;
    char *image;
    cudaMallocPitch(&image, &pitch, WIDTH, HEIGHT);
    cudaMemset2D(image, pitch, 0, WIDTH, HEIGHT);
    cudaMemcpy2D(host, /* memcheck: cudaErrorInvalidPitchValue */
                 is_right(argc, argv) ? WIDTH : WIDTH / 4, image, pitch, WIDTH, HEIGHT,
                 cudaMemcpyDeviceToHost);
    cudaFree(image);
}
