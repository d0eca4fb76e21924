/* separate_compilation.part.cu — the functions that separate_compilation.cu calls. */
typedef int (*operation)(int);

__device__ int shared_counter;
__constant__ int offsets[4];

__device__ __noinline__ int far_away(int x) { return x * x + 1; }

static __device__ int twice(int x) { return 2 * x; }
static __device__ int negative(int x) { return -x; }
__device__ operation operations[2] = {twice, negative};

static __global__ void read_counter(int *out) { out[threadIdx.x] = shared_counter; }

void launch_other(int *out, int n) { read_counter<<<1, n>>>(out); }
