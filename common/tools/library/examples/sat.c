/* sat.c — a program that uses sat.h: a picture of one white pixel is blurred. Built by make
 * example; build/example14 runs it on a GPU, and build/emu/emu build/example14 without one. */
#include "check.h"
#include "steps/14-summed-area-table/sat.h"

#include <stdio.h>

int main(void)
{
    enum { WIDTH = 9, HEIGHT = 5, PIXELS = WIDTH * HEIGHT };
    struct sat_size size = {WIDTH, HEIGHT, 1};
    uint8_t host[PIXELS] = {[2 * WIDTH + 4] = 225}, *pixels;
    uint32_t *table;
    void *workspace;
    size_t bytes;

    CHECK(sat_u8(NULL, &bytes, NULL, NULL, size, NULL)); /* how large a workspace? */
    CHECK(cudaMalloc(&workspace, bytes));
    CHECK(cudaMalloc((void **)&pixels, PIXELS));
    CHECK(cudaMalloc((void **)&table, PIXELS * sizeof *table));
    CHECK(cudaMemcpy(pixels, host, PIXELS, cudaMemcpyHostToDevice));
    CHECK(sat_u8(workspace, &bytes, table, pixels, size, NULL));
    CHECK(sat_box_u8(pixels, table, size, 3, NULL)); /* the table has all that is needed */
    CHECK(cudaMemcpy(host, pixels, PIXELS, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(table));
    CHECK(cudaFree(pixels));
    CHECK(cudaFree(workspace));
    for (int i = 0; i < PIXELS; i++) printf("%3d%s", host[i], i % WIDTH == WIDTH - 1 ? "\n" : " ");
    return 0;
}
