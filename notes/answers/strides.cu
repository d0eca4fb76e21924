/*
 * Loads of one warp whose lanes are 1, 2, 4 … 32 floats apart: a launch for each distance. For the
 * answer to the first question of notes/00-copy.md.
 */
#define WARP 32

__global__ void load_apart(float *out, const float *in, int distance)
{
    out[threadIdx.x] = in[threadIdx.x * distance];
}

int main(void)
{
    float *in, *out;

    cudaMalloc(&in, WARP * 32 * sizeof(float));
    cudaMalloc(&out, WARP * sizeof(float));
    cudaMemset(in, 0, WARP * 32 * sizeof(float));
    for (int distance = 1; distance <= 32; distance *= 2)
        load_apart<<<1, WARP>>>(out, in, distance);
    return cudaDeviceSynchronize();
}
