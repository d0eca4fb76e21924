/* cublas_gemm_names.c — the functions that multiply matrices, by types and by batches. */
#include "cublas_gemm.h"

/* The parameters that all of them begin with, and the description of a product. */
#define SHAPE                                                                                      \
    cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k
#define GEMM(scalars, type_a, stride_a, type_b, stride_b, type_c, stride_c, batches, has_pointers) \
    (struct gemm)                                                                                  \
    {                                                                                              \
        __func__, op_a, op_b, m, n, k, alpha, beta, scalars, {a, type_a, lda, stride_a},           \
            {b, type_b, ldb, stride_b}, {c, type_c, ldc, stride_c}, batches, has_pointers          \
    }

/* ---- one type -------------------------------------------------------------------------------- */

#define OF_TYPE(function, L, T, type)                                                              \
    cublasStatus_t function(SHAPE, const T *alpha, const T *a, int lda, const T *b, int ldb,       \
                            const T *beta, T *c, int ldc)                                          \
    {                                                                                              \
        struct gemm g = GEMM(type, type, 0, type, 0, type, 0, 1, false);                           \
        g.name = "cublas" #L "gemm";                                                               \
        return gemm_run(handle, &g);                                                               \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmBatched(SHAPE, const T *alpha, const T *const a[], int lda,      \
                                          const T *const b[], int ldb, const T *beta,              \
                                          T *const c[], int ldc, int batches)                      \
    {                                                                                              \
        return gemm_run(handle, &GEMM(type, type, 0, type, 0, type, 0, batches, true));            \
    }                                                                                              \
    cublasStatus_t cublas##L##gemmStridedBatched(                                                  \
        SHAPE, const T *alpha, const T *a, int lda, long long stride_a, const T *b, int ldb,       \
        long long stride_b, const T *beta, T *c, int ldc, long long stride_c, int batches)         \
    {                                                                                              \
        return gemm_run(                                                                           \
            handle, &GEMM(type, type, stride_a, type, stride_b, type, stride_c, batches, false));  \
    }

OF_TYPE(cublasSgemm_v2, S, float, CUDA_R_32F)
OF_TYPE(cublasDgemm_v2, D, double, CUDA_R_64F)
OF_TYPE(cublasHgemm, H, cublas_half, CUDA_R_16F)

/* ---- types by name --------------------------------------------------------------------------- */

/* Sets the type of the scalars. False: the types do not go together, or are not offered. */
static bool set_scalars(struct gemm *g, cublasComputeType_t compute)
{
    cudaDataType a = g->a.type, c = g->c.type;
    bool is_short = gemm_element_bytes(a) == 2;
    switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        g->scalars = CUDA_R_16F;
        return a == CUDA_R_16F && g->b.type == a && c == a;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
        g->scalars = CUDA_R_64F;
        return a == CUDA_R_64F && g->b.type == a && c == a;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
        g->scalars = CUDA_R_32F;
        return g->b.type == a && (is_short || a == CUDA_R_32F) && (c == a || c == CUDA_R_32F);
    default: return false;
    }
}

static cublasStatus_t gemm_ex(cublasHandle_t handle, struct gemm g, cublasComputeType_t compute)
{
    NEED_HANDLE(handle);
    if (set_scalars(&g, compute)) return gemm_run(handle, &g);
    emu_library_refuse(g.name, "with these types it is not offered by the emulator's cuBLAS, which "
                               "has float, double, and half and bfloat16 with results of the same "
                               "type or float");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasGemmEx(SHAPE, const void *alpha, const void *a, cudaDataType type_a, int lda,
                            const void *b, cudaDataType type_b, int ldb, const void *beta, void *c,
                            cudaDataType type_c, int ldc, cublasComputeType_t compute,
                            cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_ex(handle, GEMM(CUDA_R_32F, type_a, 0, type_b, 0, type_c, 0, 1, false), compute);
}

cublasStatus_t cublasSgemmEx(SHAPE, const float *alpha, const void *a, cudaDataType type_a, int lda,
                             const void *b, cudaDataType type_b, int ldb, const float *beta,
                             void *c, cudaDataType type_c, int ldc)
{
    return gemm_ex(handle, GEMM(CUDA_R_32F, type_a, 0, type_b, 0, type_c, 0, 1, false),
                   CUBLAS_COMPUTE_32F);
}

cublasStatus_t cublasGemmBatchedEx(SHAPE, const void *alpha, const void *const a[],
                                   cudaDataType type_a, int lda, const void *const b[],
                                   cudaDataType type_b, int ldb, const void *beta, void *const c[],
                                   cudaDataType type_c, int ldc, int batches,
                                   cublasComputeType_t compute, cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_ex(handle, GEMM(CUDA_R_32F, type_a, 0, type_b, 0, type_c, 0, batches, true),
                   compute);
}

cublasStatus_t cublasGemmStridedBatchedEx(SHAPE, const void *alpha, const void *a,
                                          cudaDataType type_a, int lda, long long stride_a,
                                          const void *b, cudaDataType type_b, int ldb,
                                          long long stride_b, const void *beta, void *c,
                                          cudaDataType type_c, int ldc, long long stride_c,
                                          int batches, cublasComputeType_t compute,
                                          cublasGemmAlgo_t algorithm)
{
    (void)algorithm;
    return gemm_ex(
        handle,
        GEMM(CUDA_R_32F, type_a, stride_a, type_b, stride_b, type_c, stride_c, batches, false),
        compute);
}
