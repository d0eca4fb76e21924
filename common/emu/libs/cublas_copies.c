/* cublas_copies.c — vectors and matrices between the host and the device, by the runtime's copies.
 * */
#include "cublas_inside.h"

/* Rows of bytes, as cudaMemcpy2D takes them. */
struct pitched_rows {
    size_t bytes, count, from_pitch, to_pitch;
};

static cublasStatus_t copy(const void *from, void *to, const struct pitched_rows *rows,
                           enum cudaMemcpyKind kind, bool waits, cudaStream_t stream)
{
    if (rows->count == 0 || rows->bytes == 0) return CUBLAS_STATUS_SUCCESS;
    cudaError_t error = waits ? cudaMemcpy2D(to, rows->to_pitch, from, rows->from_pitch,
                                             rows->bytes, rows->count, kind)
                              : cudaMemcpy2DAsync(to, rows->to_pitch, from, rows->from_pitch,
                                                  rows->bytes, rows->count, kind, stream);
    return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

static cublasStatus_t copy_vector(const char *name, int n, int size, const void *from,
                                  int from_step, void *to, int to_step, enum cudaMemcpyKind kind,
                                  bool waits, cudaStream_t stream)
{
    NEED(name, n >= 0 && size > 0,
         "the number of elements is negative, or their size is not 1 or "
         "more bytes");
    NEED(name, from_step > 0 && to_step > 0, "an increment is not 1 or more");
    size_t bytes = (size_t)size;
    bool is_dense = from_step == 1 && to_step == 1;
    struct pitched_rows rows = {bytes, (size_t)n, (size_t)from_step * bytes,
                                (size_t)to_step * bytes};
    if (is_dense)
        rows = (struct pitched_rows){bytes * (size_t)n, 1, bytes * (size_t)n, bytes * (size_t)n};
    return copy(from, to, &rows, kind, waits, stream);
}

static cublasStatus_t copy_matrix(const char *name, int rows, int columns, int size,
                                  const void *from, int from_ld, void *to, int to_ld,
                                  enum cudaMemcpyKind kind, bool waits, cudaStream_t stream)
{
    NEED(name, rows >= 0 && columns >= 0 && size > 0,
         "the number of rows or columns is negative, or the size of elements is not 1 or more "
         "bytes");
    NEED(name, from_ld >= blas_max(1, rows) && to_ld >= blas_max(1, rows),
         "a leading dimension is less than the number of rows");
    size_t bytes = (size_t)size;
    return copy(from, to,
                &(struct pitched_rows){(size_t)rows * bytes, (size_t)columns,
                                       (size_t)from_ld * bytes, (size_t)to_ld * bytes},
                kind, waits, stream);
}

#define COPIES(Set, kind)                                                                          \
    cublasStatus_t cublas##Set##Vector(int n, int size, const void *from, int from_step, void *to, \
                                       int to_step)                                                \
    {                                                                                              \
        return copy_vector(__func__, n, size, from, from_step, to, to_step, kind, true, NULL);     \
    }                                                                                              \
    cublasStatus_t cublas##Set##VectorAsync(int n, int size, const void *from, int from_step,      \
                                            void *to, int to_step, cudaStream_t stream)            \
    {                                                                                              \
        return copy_vector(__func__, n, size, from, from_step, to, to_step, kind, false, stream);  \
    }                                                                                              \
    cublasStatus_t cublas##Set##Matrix(int rows, int columns, int size, const void *from,          \
                                       int from_ld, void *to, int to_ld)                           \
    {                                                                                              \
        return copy_matrix(__func__, rows, columns, size, from, from_ld, to, to_ld, kind, true,    \
                           NULL);                                                                  \
    }                                                                                              \
    cublasStatus_t cublas##Set##MatrixAsync(int rows, int columns, int size, const void *from,     \
                                            int from_ld, void *to, int to_ld, cudaStream_t stream) \
    {                                                                                              \
        return copy_matrix(__func__, rows, columns, size, from, from_ld, to, to_ld, kind, false,   \
                           stream);                                                                \
    }

COPIES(Set, cudaMemcpyHostToDevice)
COPIES(Get, cudaMemcpyDeviceToHost)
