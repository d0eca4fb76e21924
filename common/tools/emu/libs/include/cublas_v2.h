/* cublas_v2.h — what the emulator offers of cuBLAS. It is not NVIDIA's header: it declares the
 * functions of the emulator's libcublas.so.13 by the names, parameters and values that NVIDIA
 * documents. A toolkit's own header, where there is one, serves as well.
 *
 * Matrices are stored by columns: element (row, column) of A is A[row + column * lda]. Sizes and
 * distances count elements. Pointers are the device's, but for scalars by the pointer mode. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#include <cuda_runtime_api.h>
#include <library_types.h>
#include <stddef.h>
#ifdef __cplusplus
#include <cuda_fp16.h>
typedef __half cublas_half;
extern "C" {
#else
typedef unsigned short cublas_half;
#endif

typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;

typedef enum {
    CUBLAS_FILL_MODE_LOWER,
    CUBLAS_FILL_MODE_UPPER,
    CUBLAS_FILL_MODE_FULL
} cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum {
    CUBLAS_OP_N = 0,
    CUBLAS_OP_T = 1,
    CUBLAS_OP_C = 2,
    CUBLAS_OP_HERMITAN = 2,
    CUBLAS_OP_CONJG = 3
} cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32I_PEDANTIC = 73,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VER_BUILD 0
#define CUBLAS_VERSION   (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

/* The names of functions, and what is refused. */
#include <cublas_names.h>

/* ---- handles --------------------------------------------------------------------------------- */

cublasStatus_t cublasCreate(cublasHandle_t *);
cublasStatus_t cublasDestroy(cublasHandle_t);
cublasStatus_t cublasGetVersion(cublasHandle_t, int *version);
cublasStatus_t cublasGetProperty(libraryPropertyType, int *value);
size_t cublasGetCudartVersion(void);
const char *cublasGetStatusName(cublasStatus_t);
const char *cublasGetStatusString(cublasStatus_t);
cublasStatus_t cublasSetStream(cublasHandle_t, cudaStream_t);
cublasStatus_t cublasGetStream(cublasHandle_t, cudaStream_t *);
cublasStatus_t cublasSetPointerMode(cublasHandle_t, cublasPointerMode_t);
cublasStatus_t cublasGetPointerMode(cublasHandle_t, cublasPointerMode_t *);
/* Kept and given back. They change nothing: all is computed in the type of the arguments. */
cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t);
cublasStatus_t cublasGetMathMode(cublasHandle_t, cublasMath_t *);
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t);
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t, cublasAtomicsMode_t *);
cublasStatus_t cublasSetWorkspace(cublasHandle_t, void *workspace, size_t bytes);

/* ---- copies ---------------------------------------------------------------------------------- */

cublasStatus_t cublasSetVector(int n, int element_size, const void *host, int host_increment,
                               void *device, int device_increment);
cublasStatus_t cublasGetVector(int n, int element_size, const void *device, int device_increment,
                               void *host, int host_increment);
cublasStatus_t cublasSetMatrix(int rows, int columns, int element_size, const void *host,
                               int host_ld, void *device, int device_ld);
cublasStatus_t cublasGetMatrix(int rows, int columns, int element_size, const void *device,
                               int device_ld, void *host, int host_ld);
cublasStatus_t cublasSetVectorAsync(int n, int element_size, const void *host, int host_increment,
                                    void *device, int device_increment, cudaStream_t);
cublasStatus_t cublasGetVectorAsync(int n, int element_size, const void *device,
                                    int device_increment, void *host, int host_increment,
                                    cudaStream_t);
cublasStatus_t cublasSetMatrixAsync(int rows, int columns, int element_size, const void *host,
                                    int host_ld, void *device, int device_ld, cudaStream_t);
cublasStatus_t cublasGetMatrixAsync(int rows, int columns, int element_size, const void *device,
                                    int device_ld, void *host, int host_ld, cudaStream_t);

/* ---- float and double: F(S, float), F(D, double) --------------------------------------------- */

#define CUBLAS_LEVEL_1(L, l, T)                                                                    \
    cublasStatus_t cublasI##l##amax_v2(cublasHandle_t, int n, const T *x, int incx, int *result);  \
    cublasStatus_t cublasI##l##amin_v2(cublasHandle_t, int n, const T *x, int incx, int *result);  \
    cublasStatus_t cublas##L##asum_v2(cublasHandle_t, int n, const T *x, int incx, T *result);     \
    cublasStatus_t cublas##L##nrm2_v2(cublasHandle_t, int n, const T *x, int incx, T *result);     \
    cublasStatus_t cublas##L##dot_v2(cublasHandle_t, int n, const T *x, int incx, const T *y,      \
                                     int incy, T *result);                                         \
    cublasStatus_t cublas##L##axpy_v2(cublasHandle_t, int n, const T *alpha, const T *x, int incx, \
                                      T *y, int incy);                                             \
    cublasStatus_t cublas##L##copy_v2(cublasHandle_t, int n, const T *x, int incx, T *y,           \
                                      int incy);                                                   \
    cublasStatus_t cublas##L##swap_v2(cublasHandle_t, int n, T *x, int incx, T *y, int incy);      \
    cublasStatus_t cublas##L##scal_v2(cublasHandle_t, int n, const T *alpha, T *x, int incx);      \
    cublasStatus_t cublas##L##rot_v2(cublasHandle_t, int n, T *x, int incx, T *y, int incy,        \
                                     const T *c, const T *s);                                      \
    cublasStatus_t cublas##L##rotg_v2(cublasHandle_t, T *a, T *b, T *c, T *s);
#define CUBLAS_LEVEL_2(L, T)                                                                       \
    cublasStatus_t cublas##L##gemv_v2(cublasHandle_t, cublasOperation_t, int m, int n,             \
                                      const T *alpha, const T *A, int lda, const T *x, int incx,   \
                                      const T *beta, T *y, int incy);                              \
    cublasStatus_t cublas##L##ger_v2(cublasHandle_t, int m, int n, const T *alpha, const T *x,     \
                                     int incx, const T *y, int incy, T *A, int lda);               \
    cublasStatus_t cublas##L##symv_v2(cublasHandle_t, cublasFillMode_t, int n, const T *alpha,     \
                                      const T *A, int lda, const T *x, int incx, const T *beta,    \
                                      T *y, int incy);                                             \
    cublasStatus_t cublas##L##trmv_v2(cublasHandle_t, cublasFillMode_t, cublasOperation_t,         \
                                      cublasDiagType_t, int n, const T *A, int lda, T *x,          \
                                      int incx);                                                   \
    cublasStatus_t cublas##L##trsv_v2(cublasHandle_t, cublasFillMode_t, cublasOperation_t,         \
                                      cublasDiagType_t, int n, const T *A, int lda, T *x,          \
                                      int incx);
#define CUBLAS_LEVEL_3(L, T)                                                                       \
    cublasStatus_t cublas##L##geam(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m,    \
                                   int n, const T *alpha, const T *A, int lda, const T *beta,      \
                                   const T *B, int ldb, T *C, int ldc);                            \
    cublasStatus_t cublas##L##dgmm(cublasHandle_t, cublasSideMode_t, int m, int n, const T *A,     \
                                   int lda, const T *x, int incx, T *C, int ldc);
#define CUBLAS_GEMM(gemm, L, T)                                                                    \
    cublasStatus_t gemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k, \
                        const T *alpha, const T *A, int lda, const T *B, int ldb, const T *beta,   \
                        T *C, int ldc);                                                            \
    cublasStatus_t cublas##L##gemmBatched(cublasHandle_t, cublasOperation_t, cublasOperation_t,    \
                                          int m, int n, int k, const T *alpha, const T *const A[], \
                                          int lda, const T *const B[], int ldb, const T *beta,     \
                                          T *const C[], int ldc, int batches);                     \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n, int k, const T *alpha, \
        const T *A, int lda, long long stride_a, const T *B, int ldb, long long stride_b,          \
        const T *beta, T *C, int ldc, long long stride_c, int batches);

CUBLAS_LEVEL_1(S, s, float)
CUBLAS_LEVEL_1(D, d, double)
CUBLAS_LEVEL_2(S, float)
CUBLAS_LEVEL_2(D, double)
CUBLAS_LEVEL_3(S, float)
CUBLAS_LEVEL_3(D, double)
CUBLAS_GEMM(cublasSgemm_v2, S, float)
CUBLAS_GEMM(cublasDgemm_v2, D, double)
CUBLAS_GEMM(cublasHgemm, H, cublas_half)

/* ---- types by name --------------------------------------------------------------------------- */

cublasStatus_t cublasSgemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                             int k, const float *alpha, const void *A, cudaDataType, int lda,
                             const void *B, cudaDataType, int ldb, const float *beta, void *C,
                             cudaDataType, int ldc);
cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m, int n,
                            int k, const void *alpha, const void *A, cudaDataType, int lda,
                            const void *B, cudaDataType, int ldb, const void *beta, void *C,
                            cudaDataType, int ldc, cublasComputeType_t, cublasGemmAlgo_t);
cublasStatus_t cublasGemmBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t, int m,
                                   int n, int k, const void *alpha, const void *const A[],
                                   cudaDataType, int lda, const void *const B[], cudaDataType,
                                   int ldb, const void *beta, void *const C[], cudaDataType,
                                   int ldc, int batches, cublasComputeType_t, cublasGemmAlgo_t);
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t, cublasOperation_t, cublasOperation_t,
                                          int m, int n, int k, const void *alpha, const void *A,
                                          cudaDataType, int lda, long long stride_a, const void *B,
                                          cudaDataType, int ldb, long long stride_b,
                                          const void *beta, void *C, cudaDataType, int ldc,
                                          long long stride_c, int batches, cublasComputeType_t,
                                          cublasGemmAlgo_t);

#ifdef __cplusplus
}
#endif

#endif
