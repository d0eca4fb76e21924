/* blas.cu — cuBLAS: vectors, matrices with vectors, products of matrices. */
#include "check.cuh"
#include <cstring>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

/* Levels 1 and 2 of cuBLAS in float and double: increments of both signs, results on the host and
 * on the device, general, symmetric and triangular matrices. Most values are small integers, so
 * that sums are exact in any order. */
namespace blas_vectors
{
static cublasHandle_t handle;

/* The functions of one type. */
template <typename T> struct blas;
#define FUNCTIONS(T, L, l)                                                                         \
    template <> struct blas<T> {                                                                   \
        static constexpr auto amax = cublasI##l##amax_v2, amin = cublasI##l##amin_v2;              \
        static constexpr auto asum = cublas##L##asum_v2, nrm2 = cublas##L##nrm2_v2;                \
        static constexpr auto dot = cublas##L##dot_v2;                                             \
        static constexpr auto axpy = cublas##L##axpy_v2;                                           \
        static constexpr auto copy = cublas##L##copy_v2;                                           \
        static constexpr auto swap = cublas##L##swap_v2;                                           \
        static constexpr auto scal = cublas##L##scal_v2;                                           \
        static constexpr auto rot = cublas##L##rot_v2;                                             \
        static constexpr auto rotg = cublas##L##rotg_v2;                                           \
        static constexpr auto gemv = cublas##L##gemv_v2;                                           \
        static constexpr auto ger = cublas##L##ger_v2;                                             \
        static constexpr auto symv = cublas##L##symv_v2;                                           \
        static constexpr auto trmv = cublas##L##trmv_v2, trsv = cublas##L##trsv_v2;                \
    };
FUNCTIONS(float, S, s)
FUNCTIONS(double, D, d)

/* A vector of n elements, |step| apart, in reverse if step is negative. The others are 99. */
template <typename T> struct vec {
    int n, step;
    std::vector<T> host;
    T *device;

    vec(int n_, int step_, int spread = 19) : n(n_), step(step_), host(n_ * abs(step_), T(99))
    {
        for (int i = 0; i < n; i++) (*this)[i] = T((int)(next_random() % spread) - spread / 2);
        device = device_copy(host);
    }
    ~vec() { CUDA(cudaFree(device)); }
    /* What is only written may hold anything before. */
    void forget()
    {
        for (int i = 0; i < n; i++) (*this)[i] = NAN;
        CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    T &operator[](int i) { return host[step > 0 ? i * step : (i - n + 1) * step]; }
    void expect(const char *what, double tolerance = 0)
    {
        expect_same(what, host_copy(device, host.size()), host, tolerance);
    }
};

template <typename T> static void try_numbers()
{
    for (int step : {1, 3}) {
        vec<T> x(41, step), y(41, -2);
        T sum = 0, squares = 0, dot = 0, got;
        int largest = 0, smallest = 0, at;
        for (int i = 0; i < x.n; i++) {
            sum += fabs(x[i]);
            squares += x[i] * x[i];
            dot += x[i] * y[i];
            if (fabs(x[i]) > fabs(x[largest])) largest = i;
            if (fabs(x[i]) < fabs(x[smallest])) smallest = i;
        }
        BLAS(blas<T>::amax(handle, x.n, x.device, step, &at));
        EXPECT(at == largest + 1);
        BLAS(blas<T>::amin(handle, x.n, x.device, step, &at));
        EXPECT(at == smallest + 1);
        BLAS(blas<T>::asum(handle, x.n, x.device, step, &got));
        EXPECT(got == sum);
        BLAS(blas<T>::nrm2(handle, x.n, x.device, step, &got));
        EXPECT(fabs(got - sqrt(squares)) < 1e-5 * got);
        BLAS(blas<T>::dot(handle, x.n, x.device, step, y.device, y.step, &got));
        EXPECT(got == dot);

        /* Results on the device; an empty vector has the sum 0. */
        T *there = device_array<T>(2), both[2];
        BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
        BLAS(blas<T>::dot(handle, x.n, x.device, step, y.device, y.step, there));
        BLAS(blas<T>::asum(handle, 0, x.device, step, there + 1));
        BLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
        CUDA(cudaMemcpy(both, there, sizeof both, cudaMemcpyDeviceToHost));
        EXPECT(both[0] == dot && both[1] == 0);
        CUDA(cudaFree(there));
    }
    /* No square overflows. */
    T large = std::is_same<T, float>::value ? T(1e30) : T(1e300), got;
    T *x = device_copy<T>({3 * large, -4 * large});
    BLAS(blas<T>::nrm2(handle, 2, x, 1, &got));
    EXPECT(fabs(got / large - 5) < 1e-5);
    CUDA(cudaFree(x));
}

template <typename T> static void try_vectors()
{
    for (int step : {1, -3}) {
        vec<T> x(50, 2), y(50, step);
        T alpha = 3;
        BLAS(blas<T>::axpy(handle, x.n, &alpha, x.device, x.step, y.device, y.step));
        for (int i = 0; i < x.n; i++) y[i] += alpha * x[i];
        y.expect("axpy");
        BLAS(blas<T>::swap(handle, x.n, x.device, x.step, y.device, y.step));
        for (int i = 0; i < x.n; i++) std::swap(x[i], y[i]);
        x.expect("swap: x");
        y.expect("swap: y");
        T c = 2, s = -1;
        BLAS(blas<T>::rot(handle, x.n, x.device, x.step, y.device, y.step, &c, &s));
        for (int i = 0; i < x.n; i++) {
            T a = x[i], b = y[i];
            x[i] = c * a + s * b;
            y[i] = c * b - s * a;
        }
        x.expect("rot: x");
        y.expect("rot: y");
        BLAS(blas<T>::scal(handle, x.n, &alpha, x.device, x.step));
        for (int i = 0; i < x.n; i++) x[i] *= alpha;
        x.expect("scal");
        BLAS(blas<T>::copy(handle, x.n, x.device, x.step, y.device, y.step));
        for (int i = 0; i < x.n; i++) y[i] = x[i];
        y.expect("copy");
        BLAS(blas<T>::copy(handle, 0, x.device, 1, y.device, 1));
        y.expect("nothing copied");
        BLAS(blas<T>::copy(handle, x.n, x.device + 2, 0, y.device, y.step));
        for (int i = 0; i < x.n; i++) y[i] = x[1];
        y.expect("one element copied");
    }
    T a = 3, b = -4, c, s;
    BLAS(blas<T>::rotg(handle, &a, &b, &c, &s));
    EXPECT(fabs(c * 3 + s * -4 - a) < 1e-5 && fabs(c * -4 - s * 3) < 1e-5 &&
           fabs(fabs(a) - 5) < 1e-5);
}

/* Small integers by columns, with 2 rows more than are used. */
template <typename T> struct square {
    int rows, columns, ld;
    std::vector<T> host;
    T *device;
    square(int rows_, int columns_) : rows(rows_), columns(columns_), ld(rows_ + 2)
    {
        for (T x : random_values<int>((size_t)ld * columns, 9)) host.push_back(x - 4);
        for (int i = 0; i < rows && i < columns; i++) host[i + i * ld] = i % 2 ? 2 : -1;
        device = device_copy(host);
    }
    ~square() { CUDA(cudaFree(device)); }
    T at(int i, int j) const { return host[i + (size_t)j * ld]; }
};

template <typename T> static void try_general()
{
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C})
        for (T beta : {T(0), T(-2)}) {
            square<T> a(23, 31);
            int rows = op == CUBLAS_OP_N ? a.rows : a.columns;
            vec<T> x(a.rows + a.columns - rows, -2), y(rows, 3);
            T alpha = 2;
            if (beta == 0) y.forget();
            BLAS(blas<T>::gemv(handle, op, a.rows, a.columns, &alpha, a.device, a.ld, x.device,
                               x.step, &beta, y.device, y.step));
            for (int i = 0; i < rows; i++) {
                T sum = 0;
                for (int j = 0; j < x.n; j++)
                    sum += (op == CUBLAS_OP_N ? a.at(i, j) : a.at(j, i)) * x[j];
                y[i] = alpha * sum + (beta == 0 ? 0 : beta * y[i]);
            }
            y.expect("gemv");
        }
    square<T> a(12, 17);
    vec<T> x(12, 1), y(17, -1);
    T alpha = -3;
    BLAS(blas<T>::ger(handle, 12, 17, &alpha, x.device, 1, y.device, -1, a.device, a.ld));
    for (int j = 0; j < 17; j++)
        for (int i = 0; i < 12; i++) a.host[i + j * a.ld] += alpha * x[i] * y[j];
    expect_same("ger", host_copy(a.device, a.host.size()), a.host);
}

/* Element (i, j) of op(A), where A is what `fill` and `diagonal` say of a square. */
template <typename T>
static T triangle(const square<T> &a, cublasFillMode_t fill, cublasDiagType_t diagonal,
                  cublasOperation_t op, int i, int j)
{
    if (op != CUBLAS_OP_N) std::swap(i, j);
    if (i == j && diagonal == CUBLAS_DIAG_UNIT) return 1;
    return (fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j) ? a.at(i, j) : 0;
}

template <typename T> static void try_symmetric(cublasFillMode_t fill, T beta)
{
    static const int N = 9;
    square<T> a(N, N);
    vec<T> x(N, 2), y(N, -1);
    T alpha = 2;
    if (beta == 0) y.forget();
    BLAS(blas<T>::symv(handle, fill, N, &alpha, a.device, a.ld, x.device, 2, &beta, y.device, -1));
    for (int i = 0; i < N; i++) {
        T sum = 0;
        for (int j = 0; j < N; j++) {
            bool stored = fill == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
            sum += (stored ? a.at(i, j) : a.at(j, i)) * x[j];
        }
        y[i] = alpha * sum + (beta == 0 ? 0 : beta * y[i]);
    }
    y.expect("symv");
}

template <typename T> static void try_triangles(cublasFillMode_t fill)
{
    static const int N = 9;
    square<T> a(N, N);
    try_symmetric<T>(fill, 0);
    try_symmetric<T>(fill, 3);
    for (cublasOperation_t op : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (cublasDiagType_t diagonal : {CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT}) {
            vec<T> v(N, -2), before = v;
            before.device = device_copy(before.host);
            BLAS(blas<T>::trmv(handle, fill, op, diagonal, N, a.device, a.ld, v.device, -2));
            for (int i = 0; i < N; i++) {
                v[i] = 0;
                for (int j = 0; j < N; j++)
                    v[i] += triangle(a, fill, diagonal, op, i, j) * before[j];
            }
            v.expect("trmv");
            /* The solution is what was multiplied: all is exact. */
            BLAS(blas<T>::trsv(handle, fill, op, diagonal, N, a.device, a.ld, v.device, -2));
            expect_same("trsv", host_copy(v.device, v.host.size()), before.host);
        }
}

template <typename T> static void try_all()
{
    try_numbers<T>();
    try_vectors<T>();
    try_general<T>();
    try_triangles<T>(CUBLAS_FILL_MODE_LOWER);
    try_triangles<T>(CUBLAS_FILL_MODE_UPPER);
}

/* Vectors and matrices between host and device, in part. */
static void try_copies()
{
    std::vector<float> host = random_values<float>(40, 100), back(40, -1.f), expected = back;
    float *device = device_array<float>(60);
    BLAS(cublasSetVector(10, sizeof(float), host.data(), 3, device, 2));
    BLAS(cublasGetVector(10, sizeof(float), device, 2, back.data(), 4));
    for (int i = 0; i < 10; i++) expected[4 * i] = host[3 * i];
    expect_same("vector", back, expected);
    BLAS(cublasSetMatrix(4, 5, sizeof(float), host.data(), 8, device, 4));
    BLAS(cublasGetMatrix(4, 5, sizeof(float), device, 4, back.data(), 6));
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 4; i++) expected[i + 6 * j] = host[i + 8 * j];
    expect_same("matrix", back, expected);
    CUDA(cudaFree(device));
}

static int run()
{
    BLAS(cublasCreate(&handle));
    try_all<float>();
    try_all<double>();
    try_copies();
    BLAS(cublasDestroy(handle));
    return right("levels 1 and 2 in float and double");
}
} // namespace blas_vectors

/* Products of matrices by cuBLAS in float, double, half and bfloat16: all transposes, matrices
 * inside of larger ones, batches, scalars on the host and on the device; sums (geam) and scaled
 * rows and columns (dgmm). The reference is computed in double. */
namespace blas_matrices
{
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

static int run()
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
} // namespace blas_matrices

PROGRAMS({"blas_vectors", blas_vectors::run}, {"blas_matrices", blas_matrices::run})
