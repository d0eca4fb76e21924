/*
 * merged.cu — kernels whose shared accesses ptxas merges, for test_exact.c, and one that stays as
 * it is. Each is launched once, with one block.
 */
enum { TILE = 16, BLOCK = 64, ELEMENTS = 2 * BLOCK };

/* Two neighbouring stores, on two lines, become one of 8 bytes; so do the loads at the end. */
__global__ void pairs(float *out, const float *in)
{
    __shared__ float temp[ELEMENTS];
    int t = threadIdx.x;
    temp[2 * t] = in[t];
    temp[2 * t + 1] = in[t + BLOCK];
    __syncthreads();
    int other = BLOCK - 1 - t;
    out[t] = temp[2 * other] - temp[2 * other + 1];
}

/* A row of the left tile is read 16 bytes at a time. */
__global__ void multiply(float *c, const float *a, const float *b)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    left[y][x] = a[y * TILE + x];
    right[y][x] = b[y * TILE + x];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < TILE; k++) sum += left[y][k] * right[k][x];
    c[y * TILE + x] = sum;
}

/* A bitonic sort, whose last step of each sweep compares neighbours. */
__global__ void sort(int *data)
{
    __shared__ int s[ELEMENTS];
    int t = threadIdx.x;
    s[t] = data[t];
    s[t + BLOCK] = data[t + BLOCK];
    for (int size = 2; size <= ELEMENTS; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int i = 2 * t - (t & (stride - 1)), j = i + stride;
            int low = s[i], high = s[j];
            bool swap = (low > high) == ((i & size) == 0);
            s[i] = swap ? high : low;
            s[j] = swap ? low : high;
        }
    __syncthreads();
    data[t] = s[t];
    data[t + BLOCK] = s[t + BLOCK];
}

/* Nothing to merge. */
__global__ void reverse(float *out, const float *in)
{
    __shared__ float temp[BLOCK];
    temp[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = temp[BLOCK - 1 - threadIdx.x];
}

/* A float is added in shared memory by a loop of loads and compare-and-swaps. */
__global__ void add_shared(float *out, const float *in)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

int main()
{
    float *out, *in;
    int bytes = 3 * TILE * TILE * sizeof(float);
    if (cudaMalloc((void **)&out, bytes) != cudaSuccess) return 1;
    if (cudaMalloc((void **)&in, bytes) != cudaSuccess) return 1;
    cudaMemset(in, 0, bytes);
    cudaMemset(out, 0, bytes);
    pairs<<<1, BLOCK>>>(out, in);
    multiply<<<1, dim3(TILE, TILE)>>>(out, in, in + TILE * TILE);
    sort<<<1, BLOCK>>>((int *)in);
    reverse<<<1, BLOCK>>>(out, in);
    add_shared<<<1, BLOCK>>>(out, in);
    return cudaDeviceSynchronize() != cudaSuccess;
}
