/* blas_matrices.cu — products of matrices by cuBLAS in float, double, half and bfloat16: all
 * transposes, matrices inside of larger ones, batches, scalars on the host and on the device; sums
 * (geam) and scaled rows and columns (dgmm). The reference is computed in double. */
#include "check.cuh"

#include <cstring>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

static cublasHandle_t handle;

/* A matrix by columns in a larger array: ld is more than the number of rows. What lies between the
 * columns must stay as it is. */
template <typename T> struct matrix {
    int rows, columns, ld;
    std::vector<T> host;
    T *device;

    matrix(int rows_, int columns_, double only = 0)
        : rows(rows_), columns(columns_), ld(rows_ + 3), host((size_t)ld * columns_ + 1)
    {
        for (T &x : host) x = T(only != 0 ? (float)only : (int)(next_random() % 17) / 8.f - 1);
        device = device_copy(host);
    }
    ~matrix() { CUDA(cudaFree(device)); }

    double at(cublasOperation_t op, int i, int k) const
    {
        return (double)(float)(op == CUBLAS_OP_N ? host[i + (size_t)k * ld]
                                                 : host[k + (size_t)i * ld]);
    }
};

static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const float *alpha, const matrix<float> &a, const matrix<float> &b,
                           const float *beta, matrix<float> &c)
{
    return cublasSgemm(handle, p, q, m, n, k, alpha, a.device, a.ld, b.device, b.ld, beta, c.device,
                       c.ld);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const double *alpha, const matrix<double> &a, const matrix<double> &b,
                           const double *beta, matrix<double> &c)
{
    return cublasDgemm(handle, p, q, m, n, k, alpha, a.device, a.ld, b.device, b.ld, beta, c.device,
                       c.ld);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const __half *alpha, const matrix<__half> &a, const matrix<__half> &b,
                           const __half *beta, matrix<__half> &c)
{
    return cublasHgemm(handle, p, q, m, n, k, alpha, a.device, a.ld, b.device, b.ld, beta, c.device,
                       c.ld);
}
static cublasStatus_t gemm(cublasOperation_t p, cublasOperation_t q, int m, int n, int k,
                           const float *alpha, const matrix<__nv_bfloat16> &a,
                           const matrix<__nv_bfloat16> &b, const float *beta, matrix<float> &c)
{
    return cublasGemmEx(handle, p, q, m, n, k, alpha, a.device, CUDA_R_16BF, a.ld, b.device,
                        CUDA_R_16BF, b.ld, beta, c.device, CUDA_R_32F, c.ld, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
}

/* Compares C on the device with alpha op(A) op(B) + beta C of before. `unit` is the rounding of C's
 * type and of the sum: each of the k + 2 roundings adds at most one of the magnitudes' sum. */
template <typename A, typename C>
static void expect_product(cublasOperation_t p, cublasOperation_t q, int k, double alpha,
                           const matrix<A> &a, const matrix<A> &b, double beta, const matrix<C> &c,
                           double unit)
{
    std::vector<C> got = host_copy(c.device, c.host.size());
    for (int j = 0; j < c.columns; j++)
        for (int i = 0; i < c.ld; i++) {
            size_t at = i + (size_t)j * c.ld;
            double sum = 0, magnitude = 0, before = (double)(float)c.host[at];
            for (int l = 0; i < c.rows && l < k; l++) {
                sum += a.at(p, i, l) * b.at(q, l, j);
                magnitude += fabs(a.at(p, i, l) * b.at(q, l, j));
            }
            double rest = beta != 0 ? beta * before : 0, expected = alpha * sum + rest;
            double bound = unit * (k + 2) * (fabs(alpha) * magnitude + fabs(rest));
            bool is_right = i >= c.rows ? memcmp(&got[at], &c.host[at], sizeof(C)) == 0
                                        : fabs((double)got[at] - expected) <= bound;
            if (is_right) continue;
            printf("%d%d k %d: C(%d, %d) is %g, not %g\n", p, q, k, i, j, (double)got[at],
                   expected);
            exit(EXIT_WRONG);
        }
}

template <typename A, typename C, typename S>
static void try_product(int m, int n, int k, double alpha, double beta, double unit)
{
    S factor = S((float)alpha), rest = S((float)beta), *scalars = device_copy<S>({factor, rest});
    for (int turned = 0; turned < 4; turned++) {
        cublasOperation_t p = turned & 1 ? CUBLAS_OP_T : CUBLAS_OP_N,
                          q = turned & 2 ? CUBLAS_OP_C : CUBLAS_OP_N;
        matrix<A> a(turned & 1 ? k : m, turned & 1 ? m : k),
            b(turned & 2 ? n : k, turned & 2 ? k : n);
        /* With beta 0, C is not read: it may be anything. */
        matrix<C> c(m, n, beta == 0 ? NAN : 0);
        bool on_device = turned == 2;
        BLAS(cublasSetPointerMode(handle, on_device ? CUBLAS_POINTER_MODE_DEVICE
                                                    : CUBLAS_POINTER_MODE_HOST));
        BLAS(gemm(p, q, m, n, k, on_device ? scalars : &factor, a, b,
                  on_device ? scalars + 1 : &rest, c));
        expect_product(p, q, k, alpha, a, b, beta, c, unit);
    }
    BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    CUDA(cudaFree(scalars));
}

template <typename A, typename C, typename S> static void try_sizes(double unit)
{
    try_product<A, C, S>(37, 29, 61, 1, 0, unit);
    try_product<A, C, S>(1, 1, 1, 2, -0.5, unit);
    try_product<A, C, S>(5, 70, 3, -1, 1, unit);
    try_product<A, C, S>(9, 4, 7, 0, 3, unit);
    try_product<A, C, S>(130, 67, 300, 1, 0.25, unit);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void try_batches()
{
    static const int BATCHES = 5, M = 6, N = 7, K = 8, ONE_A = 50, ONE_B = 60, ONE_C = 43;
    std::vector<float> a = random_values<float>(BATCHES * ONE_A, 9),
                       b = random_values<float>(BATCHES * ONE_B, 9), c(BATCHES * ONE_C, -1.f);
    std::vector<float> expected = c;
    for (int s = 0; s < BATCHES; s++)
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++) {
                float sum = 0;
                for (int l = 0; l < K; l++)
                    sum += a[s * ONE_A + i + l * M] * b[s * ONE_B + l + j * K];
                expected[s * ONE_C + i + j * M] = sum;
            }
    float *da = device_copy(a), *db = device_copy(b), *dc = device_copy(c), alpha = 1, beta = 0;
    BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, da, M, ONE_A,
                                   db, K, ONE_B, &beta, dc, M, ONE_C, BATCHES));
    expect_same("strided", host_copy(dc, c.size()), expected);

    /* The same matrices in reverse, by pointers in the device's memory. */
    std::vector<float *> pa, pb, pc;
    for (int s = BATCHES; s-- > 0;) {
        pa.push_back(da + s * ONE_A);
        pb.push_back(db + s * ONE_B);
        pc.push_back(dc + s * ONE_C);
    }
    CUDA(cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
    float **dpa = device_copy(pa), **dpb = device_copy(pb), **dpc = device_copy(pc);
    BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, dpa, M, dpb, K,
                            &beta, dpc, M, BATCHES));
    expect_same("pointers", host_copy(dc, c.size()), expected);
    CUDA(cudaMemcpy(dc, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice));
    BLAS(cublasGemmStridedBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, da,
                                    CUDA_R_32F, M, ONE_A, db, CUDA_R_32F, K, ONE_B, &beta, dc,
                                    CUDA_R_32F, M, ONE_C, BATCHES, CUBLAS_COMPUTE_32F,
                                    CUBLAS_GEMM_DEFAULT));
    expect_same("strided, by type", host_copy(dc, c.size()), expected);
    BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, dpa, M, dpb, K,
                            &beta, dpc, M, 0));
}

/* ---- sums, scaled rows and columns ----------------------------------------------------------- */

static void try_sums()
{
    static const int M = 33, N = 18;
    matrix<double> a(N, M), b(M, N), c(M, N);
    double alpha = 2, beta = -3;
    BLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, &alpha, a.device, a.ld, &beta,
                     b.device, b.ld, c.device, c.ld));
    std::vector<double> expected = c.host, factors = random_values<double>(M * 2, 8);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++)
            expected[i + j * c.ld] = alpha * a.host[j + i * a.ld] + beta * b.host[i + j * b.ld];
    expect_same("geam", host_copy(c.device, c.host.size()), expected);

    /* A transposition: the other matrix is not read. */
    double one = 1, nothing = 0;
    BLAS(cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, M, N, &one, a.device, a.ld, &nothing,
                     c.device, c.ld, c.device, c.ld));
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) expected[i + j * c.ld] = a.host[j + i * a.ld];
    expect_same("transposed", host_copy(c.device, c.host.size()), expected);

    double *x = device_copy(factors);
    for (cublasSideMode_t side : {CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT}) {
        BLAS(cublasDdgmm(handle, side, M, N, b.device, b.ld, x, 2, c.device, c.ld));
        for (int j = 0; j < N; j++)
            for (int i = 0; i < M; i++)
                expected[i + j * c.ld] =
                    b.host[i + j * b.ld] * factors[2 * (side == CUBLAS_SIDE_LEFT ? i : j)];
        expect_same("dgmm", host_copy(c.device, c.host.size()), expected);
    }
}

int main()
{
    BLAS(cublasCreate(&handle));
    try_sizes<float, float, float>(0x1p-24);
    try_sizes<double, double, double>(0x1p-53);
    try_sizes<__half, __half, __half>(0x1p-11);
    try_sizes<__nv_bfloat16, float, float>(0x1p-24);
    try_product<double, double, double>(100, 530, 20, 1, 0, 0x1p-53);
    try_batches();
    try_sums();
    BLAS(cublasDestroy(handle));
    return right("products in four types, batches, sums");
}
