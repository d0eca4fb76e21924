/* cublas_gemm.c — cuBLAS: products of matrices. */
#include "libs.h"
#include "common/tools/emu/ptx/half.h"
#include <stdlib.h>
#include <string.h>

/* Elements of 16 bits are converted to float, and the results are rounded to nearest. */

/* Bytes of an element; 0: the type is not offered. */
static size_t gemm_element_bytes(cudaDataType type)
{
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F: return sizeof(float);
    case CUDA_R_64F: return sizeof(double);
    default: return 0;
    }
}

/* ---- 16 bits --------------------------------------------------------------------------------- */

static double load(cudaDataType type, const void *from, size_t i)
{
    switch (type) {
    case CUDA_R_16F: return f32_of_f16(((const uint16_t *)from)[i]);
    case CUDA_R_16BF: return f32_of_bits((uint32_t)((const uint16_t *)from)[i] << 16);
    case CUDA_R_32F: return ((const float *)from)[i];
    default: return ((const double *)from)[i];
    }
}

static void store(cudaDataType type, float value, void *to, size_t i)
{
    if (type == CUDA_R_32F)
        ((float *)to)[i] = value;
    else if (type == CUDA_R_16F)
        ((uint16_t *)to)[i] = f16_of_f64(value, ROUND_NEAREST);
    else
        ((uint16_t *)to)[i] = bf16_of_f64(value, ROUND_NEAREST);
}

/* A matrix in float, without gaps; NULL: out of memory. */
static float *convert(cudaDataType type, const void *from, int rows, int columns, int ld)
{
    float *to = malloc((size_t)rows * (size_t)columns * sizeof *to);
    for (int j = 0; to != NULL && j < columns; j++)
        for (int i = 0; i < rows; i++)
            to[(size_t)j * rows + i] = (float)load(type, from, (size_t)j * ld + i);
    return to;
}

/* ---- one product ----------------------------------------------------------------------------- */

static int rows_of(cublasOperation_t op, int rows, int columns)
{
    return op == CUBLAS_OP_N ? rows : columns;
}

/* A matrix whose columns are `ld` apart, as op turns it. */
#define FACTOR(type, pointer, op, ld)                                                              \
    ((struct factor_##type){pointer, op == CUBLAS_OP_N ? 1 : ld, op == CUBLAS_OP_N ? ld : 1})

static bool multiply_converted(const struct gemm *g, const void *a, const void *b, void *c,
                               float alpha, float beta)
{
    int rows_a = rows_of(g->op_a, g->m, g->k), rows_b = rows_of(g->op_b, g->k, g->n);
    float *float_a = convert(g->a.type, a, rows_a, rows_of(g->op_a, g->k, g->m), g->a.ld);
    float *float_b = convert(g->b.type, b, rows_b, rows_of(g->op_b, g->n, g->k), g->b.ld);
    float *float_c = convert(g->c.type, c, g->m, g->n, g->c.ld);
    bool done = float_a != NULL && float_b != NULL && float_c != NULL;
    if (done)
        blas_product_float(g->m, g->n, g->k, alpha, FACTOR(float, float_a, g->op_a, rows_a),
                           FACTOR(float, float_b, g->op_b, rows_b), beta, float_c, g->m);
    for (int j = 0; done && j < g->n; j++)
        for (int i = 0; i < g->m; i++)
            store(g->c.type, float_c[(size_t)j * g->m + i], c, (size_t)j * g->c.ld + i);
    free(float_a);
    free(float_b);
    free(float_c);
    return done;
}

/* False: out of memory. */
static bool multiply(const struct gemm *g, const void *a, const void *b, void *c, double alpha,
                     double beta)
{
    if (g->c.type == CUDA_R_64F)
        blas_product_double(g->m, g->n, g->k, alpha, FACTOR(double, a, g->op_a, g->a.ld),
                            FACTOR(double, b, g->op_b, g->b.ld), beta, c, g->c.ld);
    else if (g->a.type == CUDA_R_32F)
        blas_product_float(g->m, g->n, g->k, (float)alpha, FACTOR(float, a, g->op_a, g->a.ld),
                           FACTOR(float, b, g->op_b, g->b.ld), (float)beta, c, g->c.ld);
    else
        return multiply_converted(g, a, b, c, (float)alpha, (float)beta);
    return true;
}

/* ---- the call -------------------------------------------------------------------------------- */

static cublasStatus_t check(const struct gemm *g)
{
    const char *name = g->name;
    NEED(name, blas_is_operation(g->op_a) && blas_is_operation(g->op_b),
         "an operation is none of CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C");
    NEED(name, g->m >= 0 && g->n >= 0 && g->k >= 0, "m, n or k is negative");
    NEED(name, g->batches >= 0, "the number of batches is negative");
    NEED(name, g->a.ld >= blas_max(1, rows_of(g->op_a, g->m, g->k)),
         "lda is less than the number of rows of A, which is m, or k if A is transposed");
    NEED(name, g->b.ld >= blas_max(1, rows_of(g->op_b, g->k, g->n)),
         "ldb is less than the number of rows of B, which is k, or n if B is transposed");
    NEED(name, g->c.ld >= blas_max(1, g->m), "ldc is less than m, the number of rows of C");
    NEED(name, g->alpha != NULL && g->beta != NULL, "alpha or beta is NULL");
    return CUBLAS_STATUS_SUCCESS;
}

/* The addresses of an operand's batches. */
static const void **addresses_of(const struct gemm *g, cublasHandle_t handle,
                                 const struct operand *o, cublasStatus_t *status)
{
    const void **at = stand_in_kept(malloc((size_t)g->batches * sizeof *at));
    struct emu_area area = blas_vector(o->at, g->batches, 1, sizeof *at, READS);
    if (g->has_pointers) *status = blas_begin(handle, g->name, &area, 1);
    for (int i = 0; i < g->batches && *status == CUBLAS_STATUS_SUCCESS; i++)
        at[i] = g->has_pointers
                    ? ((const void **)area.host)[i]
                    : (const char *)o->at + i * o->stride * (long long)gemm_element_bytes(o->type);
    return at;
}

/* Begins the work on all batches: `areas` has room for three of each. Areas of which nothing is
 * read are left out. */
static cublasStatus_t begin(const struct gemm *g, cublasHandle_t handle, const void **const at[3],
                            bool reads_factors, bool reads_c, struct emu_area *areas)
{
    size_t count = 0;
    int rows_a = rows_of(g->op_a, g->m, g->k), rows_b = rows_of(g->op_b, g->k, g->n);
    for (int i = 0; i < g->batches; i++) {
        areas[count++] = blas_matrix(at[2][i], g->m, g->n, g->c.ld, gemm_element_bytes(g->c.type),
                                     reads_c ? READS | WRITES : WRITES);
        if (!reads_factors) continue;
        areas[count++] = blas_matrix(at[0][i], rows_a, g->m + g->k - rows_a, g->a.ld,
                                     gemm_element_bytes(g->a.type), READS);
        areas[count++] = blas_matrix(at[1][i], rows_b, g->k + g->n - rows_b, g->b.ld,
                                     gemm_element_bytes(g->b.type), READS);
    }
    return blas_begin(handle, g->name, areas, count);
}

static cublasStatus_t run(const struct gemm *g, cublasHandle_t handle, const void **const at[3],
                          struct emu_area *areas, double alpha, double beta)
{
    bool reads = alpha != 0 && g->k > 0;
    struct gemm used = *g;
    if (!reads) used.k = 0;
    RETURN_IF_FAILED(begin(g, handle, at, reads, beta != 0, areas));
    for (int i = 0; i < g->batches; i++) {
        const struct emu_area *area = areas + (reads ? 3 : 1) * i;
        if (!multiply(&used, reads ? area[1].host : NULL, reads ? area[2].host : NULL, area[0].host,
                      alpha, beta))
            return CUBLAS_STATUS_ALLOC_FAILED;
    }
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t get_scalar(const struct gemm *g, cublasHandle_t handle, const void *from,
                                 double *to)
{
    unsigned char bytes[sizeof(double)];
    RETURN_IF_FAILED(blas_get(handle, g->name, from, gemm_element_bytes(g->scalars), bytes));
    *to = load(g->scalars, bytes, 0);
    return CUBLAS_STATUS_SUCCESS;
}

/* Checks the arguments and makes the products of all batches. */
static cublasStatus_t gemm_run(cublasHandle_t handle, const struct gemm *g)
{
    double alpha, beta;
    NEED_HANDLE(handle);
    RETURN_IF_FAILED(check(g));
    if (g->m == 0 || g->n == 0 || g->batches == 0) return CUBLAS_STATUS_SUCCESS;
    RETURN_IF_FAILED(get_scalar(g, handle, g->alpha, &alpha));
    RETURN_IF_FAILED(get_scalar(g, handle, g->beta, &beta));
    if (beta == 1 && (alpha == 0 || g->k == 0)) return CUBLAS_STATUS_SUCCESS;
    const struct operand *operands[3] = {&g->a, &g->b, &g->c};
    const void **at[3] = {NULL};
    struct emu_area *areas = stand_in_kept(malloc(3 * (size_t)g->batches * sizeof *areas));
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int i = 0; i < 3 && status == CUBLAS_STATUS_SUCCESS; i++)
        at[i] = addresses_of(g, handle, operands[i], &status);
    if (status == CUBLAS_STATUS_SUCCESS) status = run(g, handle, at, areas, alpha, beta);
    for (int i = 0; i < 3; i++) free(at[i]);
    free(areas);
    return status;
}

/* ---- the functions that multiply matrices, by types and by batches --------------------------- */

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
