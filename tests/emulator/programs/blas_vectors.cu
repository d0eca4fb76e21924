/* blas_vectors.cu — levels 1 and 2 of cuBLAS in float and double: increments of both signs, results
 * on the host and on the device, general, symmetric and triangular matrices. Most values are small
 * integers, so that sums are exact in any order. */
#include "check.cuh"

#include <cublas_v2.h>

#define BLAS(call) EXPECT((call) == CUBLAS_STATUS_SUCCESS)

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

int main()
{
    BLAS(cublasCreate(&handle));
    try_all<float>();
    try_all<double>();
    try_copies();
    BLAS(cublasDestroy(handle));
    return right("levels 1 and 2 in float and double");
}
