/*
 * A load of one warp from shared memory: lane k takes the word at place k * DISTANCE, and with
 * PADDING there is an unused word after every PADDING words. Only LANES of the lanes have places of
 * their own; then they begin again.
 *
 *     ways DISTANCE [PADDING [LANES]]
 *
 * For answers of notes/04-conflict-free.md and 09-warp-shuffle.md.
 */
#include <stdlib.h>

#define WARP  32
#define WORDS 2048

__global__ void load(float *out, int distance, int padding, int lanes)
{
    __shared__ float words[WORDS];
    int place = threadIdx.x % lanes * distance;

    for (int i = threadIdx.x; i < WORDS; i += WARP) words[i] = i;
    __syncwarp();
    out[threadIdx.x] = words[padding ? place + place / padding : place];
}

int main(int count, char **words)
{
    int distance = count > 1 ? atoi(words[1]) : 1;
    int padding = count > 2 ? atoi(words[2]) : 0;
    int lanes = count > 3 ? atoi(words[3]) : WARP;
    float *out;

    cudaMalloc(&out, WARP * sizeof(float));
    load<<<1, WARP>>>(out, distance, padding, lanes);
    return cudaDeviceSynchronize();
}
