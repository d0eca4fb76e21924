/*
 * The product of two square matrices of 16-bit floats, by nine kernels: C = A Bᵀ, so that k
 * runs along the rows of A and of B. notes/more/ldmatrix.md explains the kernels. They need compute
 * capability 7.5.
 *
 *     matrix-product [N]     N is a multiple of 64 up to 1024 (default: 64)
 *
 * Each result is compared with a product in double. The exit code is 0 if all are right.
 */
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* A block computes SIDE x SIDE elements. A warp is one row of its threads. */
enum { SIDE = 32, WARP = 32 };

/* ldmatrix reads rows of 16 bytes: a chunk of 8 elements. A tile has WIDE elements in each row. */
enum { CHUNK = 8, WIDE = 64, NARROW = 32 };

// ---- one element a thread -----------------------------------------------------------------------

/* Loops over k are not unrolled, so that ptxas does not make one load of several. */
static __global__ void plain(float *c, const __half *a, const __half *b, int n)
{
    int row = blockIdx.y * SIDE + threadIdx.y, column = blockIdx.x * SIDE + threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        float from_a = __half2float(a[row * n + k]);
        float from_b = __half2float(b[column * n + k]);
        sum += from_a * from_b;
    }
    c[row * n + column] = sum;
}

/* Rows of tiles are PITCH elements apart. */
template <int PITCH>
static __device__ void by_tiles(float *c, const __half *a, const __half *b, int n)
{
    __shared__ __half tile_a[SIDE][PITCH], tile_b[SIDE][PITCH];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * SIDE + y, column = blockIdx.x * SIDE;
    float sum = 0;
    for (int start = 0; start < n; start += WIDE) {
        for (int k = x; k < WIDE; k += WARP) {
            tile_a[y][k] = a[row * n + start + k];
            tile_b[y][k] = b[(column + y) * n + start + k];
        }
        __syncthreads(); // other threads stored what is loaded next
#pragma unroll 1
        for (int k = 0; k < WIDE; k++) {
            float from_a = __half2float(tile_a[y][k]);
            float from_b = __half2float(tile_b[x][k]);
            sum += from_a * from_b;
        }
        __syncthreads(); // other threads may still load what is overwritten next
    }
    c[row * n + column + x] = sum;
}

static __global__ void tiled(float *c, const __half *a, const __half *b, int n)
{
    by_tiles<WIDE>(c, a, b, n);
}

static __global__ void tiled_padded(float *c, const __half *a, const __half *b, int n)
{
    by_tiles<WIDE + 2>(c, a, b, n); // one word of 4 bytes
}

// ---- a block of elements a warp -----------------------------------------------------------------

/* Loads four 8 x 8 matrices, one below the other. Lane i gives the address of row i. */
static __device__ void load_matrices(unsigned m[4], const __half *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(at) // ldmatrix
                 : "memory");
}

/* sum += a b, of 16 x 8 and 8 x 8 elements. */
static __device__ void multiply_add(float sum[4], const unsigned a[2], unsigned b)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "
                 "{%6}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
}

/* Which chunk of its row a chunk is stored in. */
static __device__ int as_it_is(int, int chunk) { return chunk; }
static __device__ int xor_8(int row, int chunk) { return chunk ^ row % 8; }
static __device__ int xor_4(int row, int chunk) { return chunk ^ row % 4; }

/* A lane has four elements of mma's result: two neighbours in each half of the rows. */
static __device__ void store_result(float *c, int n, const float sum[4])
{
    int lane = threadIdx.x, at = lane / 4 * n + lane % 4 * 2;
    *(float2 *)(c + at) = make_float2(sum[0], sum[1]);
    *(float2 *)(c + at + 8 * n) = make_float2(sum[2], sum[3]);
}

template <int WIDTH, int PITCH, int swizzle(int row, int chunk)>
static __device__ void by_ldmatrix(float *c, const __half *a, const __half *b, int n)
{
    __shared__ __align__(128) __half tile_a[SIDE][PITCH], tile_b[SIDE][PITCH];
    int lane = threadIdx.x, row = blockIdx.y * SIDE, column = blockIdx.x * SIDE;
    float sum[2][4][4] = {};
    for (int start = 0; start < n; start += WIDTH) {
        for (int i = lane; i < SIDE * WIDTH / CHUNK; i += WARP) {
            int y = i / (WIDTH / CHUNK), chunk = i % (WIDTH / CHUNK);
            int to = swizzle(y, chunk) * CHUNK, from = start + chunk * CHUNK;
            *(uint4 *)&tile_a[y][to] = *(const uint4 *)&a[(row + y) * n + from];
            *(uint4 *)&tile_b[y][to] = *(const uint4 *)&b[(column + y) * n + from];
        }
        __syncwarp(); // other lanes stored what is loaded next
        for (int chunk = 0; chunk < WIDTH / CHUNK; chunk++) {
            unsigned of_a[4], of_b[4];
            load_matrices(of_a, &tile_a[lane][swizzle(lane, chunk) * CHUNK]);
            load_matrices(of_b, &tile_b[lane][swizzle(lane, chunk) * CHUNK]);
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 4; j++) multiply_add(sum[i][j], of_a + 2 * i, of_b[j]);
        }
        __syncwarp(); // other lanes may still load what is overwritten next
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 4; j++)
            store_result(c + (row + 16 * i) * n + column + 8 * j, n, sum[i][j]);
}

static __global__ void rows_128(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<WIDE, WIDE, as_it_is>(c, a, b, n);
}

static __global__ void rows_128_padded(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<WIDE, WIDE + CHUNK, as_it_is>(c, a, b, n);
}

static __global__ void rows_128_xor(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<WIDE, WIDE, xor_8>(c, a, b, n);
}

static __global__ void rows_64(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<NARROW, NARROW, as_it_is>(c, a, b, n);
}

static __global__ void rows_64_padded(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<NARROW, NARROW + CHUNK, as_it_is>(c, a, b, n);
}

static __global__ void rows_64_xor(float *c, const __half *a, const __half *b, int n)
{
    by_ldmatrix<NARROW, NARROW, xor_4>(c, a, b, n);
}

// ---- the program --------------------------------------------------------------------------------

typedef void kernel_fn(float *c, const __half *a, const __half *b, int n);

static const struct {
    const char *name;
    kernel_fn *kernel;
    int threads_y;
} kernels[] = {
    {"plain", plain, SIDE},
    {"tiled", tiled, SIDE},
    {"tiled_padded", tiled_padded, SIDE},
    {"rows_128", rows_128, 1},
    {"rows_128_padded", rows_128_padded, 1},
    {"rows_128_xor", rows_128_xor, 1},
    {"rows_64", rows_64, 1},
    {"rows_64_padded", rows_64_padded, 1},
    {"rows_64_xor", rows_64_xor, 1},
};

#define CUDA(call)                                                                                 \
    do {                                                                                           \
        cudaError_t error_ = (call);                                                               \
        if (error_ != cudaSuccess) {                                                               \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(error_));              \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)

/* Numbers between -1 and 1 that a 16-bit float holds exactly. The caller frees device memory. */
static __half *random_matrix(std::vector<double> *host, int n)
{
    std::vector<__half> halves;
    for (int i = 0; i < n * n; i++) {
        host->push_back((rand() % 2049 - 1024) / 1024.0);
        halves.push_back(__float2half((float)host->back()));
    }
    __half *device;
    CUDA(cudaMalloc(&device, halves.size() * sizeof(__half)));
    CUDA(cudaMemcpy(device, halves.data(), halves.size() * sizeof(__half), cudaMemcpyHostToDevice));
    return device;
}

static std::vector<double> product(const std::vector<double> &a, const std::vector<double> &b,
                                   int n)
{
    std::vector<double> c(n * n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[j * n + k];
    return c;
}

/* The largest error of a kernel's result; NaN if an element is a NaN. */
static double run(size_t which, const std::vector<double> &expected, const __half *a,
                  const __half *b, int n)
{
    float *device;
    std::vector<float> c(n * n);
    CUDA(cudaMalloc(&device, n * n * sizeof(float)));
    CUDA(cudaMemset(device, 0xff, n * n * sizeof(float)));
    dim3 blocks(n / SIDE, n / SIDE), threads(WARP, kernels[which].threads_y);
    kernels[which].kernel<<<blocks, threads>>>(device, a, b, n);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(c.data(), device, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    CUDA(cudaFree(device));
    double worst = 0;
    for (int i = 0; i < n * n; i++) {
        double error = fabs(c[i] - expected[i]);
        if (!(error <= worst) && !isnan(worst)) worst = error;
    }
    return worst;
}

int main(int count, char **words)
{
    int n = count > 1 ? atoi(words[1]) : WIDE, wrong = 0;
    if (count > 2 || n < WIDE || n > 1024 || n % WIDE) {
        fprintf(stderr, "Give one number at most: a multiple of %d up to 1024.\n", WIDE);
        return 2;
    }
    std::vector<double> host_a, host_b;
    __half *a = random_matrix(&host_a, n), *b = random_matrix(&host_b, n);
    std::vector<double> expected = product(host_a, host_b, n);
    /* 2n roundings or cuts of sums below n, each by 2^-23 of the sum at most */
    double bound = 2.0 * n * n / (1 << 23);
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        double error = run(i, expected, a, b, n);
        bool right = error <= bound;
        printf("%-15s %s\n", kernels[i].name, right ? "right" : "wrong");
        wrong += !right;
    }
    CUDA(cudaFree(a));
    CUDA(cudaFree(b));
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
