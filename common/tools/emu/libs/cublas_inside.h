/* cublas_inside.h — what the files of the emulator's cuBLAS share. */
#ifndef EMU_CUBLAS_INSIDE_H
#define EMU_CUBLAS_INSIDE_H

#include "stand_in.h"
#include "common/tools/emu/libs/include/cublas_v2.h"
#include <stdbool.h>

/* ---- what the files of the emulator's cuBLAS share ------------------------------------------- */

/* A function checks its arguments, begins its work in the handle's stream with the areas of memory
 * that it reads and writes (emu_library_work), and computes on the host's addresses of these
 * areas. */

struct cublasContext {
    struct stand_in_handle listed; /* must be first */
    cudaStream_t stream;
    cublasPointerMode_t pointer_mode;
    cublasMath_t math_mode;
    cublasAtomicsMode_t atomics_mode;
};

/* ---- arguments (cublas.c) -------------------------------------------------------------------- */

/* Says what is wrong with an argument of the function `name`. Returns
 * CUBLAS_STATUS_INVALID_VALUE. */
cublasStatus_t blas_invalid(const char *name, const char *what);

#define NEED_HANDLE(handle)                                                                        \
    do {                                                                                           \
        if (!stand_in_has(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;                           \
    } while (0)
#define NEED(name, condition, what)                                                                \
    do {                                                                                           \
        if (!(condition)) return blas_invalid(name, what);                                         \
    } while (0)
#define RETURN_IF_FAILED(call)                                                                     \
    do {                                                                                           \
        cublasStatus_t status_ = (call);                                                           \
        if (status_ != CUBLAS_STATUS_SUCCESS) return status_;                                      \
    } while (0)

static inline bool blas_is_operation(cublasOperation_t o)
{
    return o == CUBLAS_OP_N || o == CUBLAS_OP_T || o == CUBLAS_OP_C;
}

static inline int blas_max(int a, int b) { return a > b ? a : b; }

/* ---- memory (cublas.c) ----------------------------------------------------------------------- */

enum { READS = 1, WRITES = 2 };

/* The elements of a vector, whose order a negative increment reverses; of a matrix; of the triangle
 * of one column. n, rows, columns: at least 1. */
struct emu_area blas_vector(const void *x, int n, int increment, size_t size, int use);
struct emu_area blas_matrix(const void *a, int rows, int columns, int ld, size_t size, int use);

/* Begins work on these areas. */
cublasStatus_t blas_begin(cublasHandle_t, const char *name, struct emu_area *, size_t count);
/* Gets a scalar of `bytes` bytes from where the pointer mode says, and puts one there; in host mode
 * the host waits for the stream. */
cublasStatus_t blas_get(cublasHandle_t, const char *name, const void *from, size_t bytes, void *to);
cublasStatus_t blas_put(cublasHandle_t, const char *name, void *to, const void *from, size_t bytes);

/* ---- products of matrices (cublas_product.c) ------------------------------------------------- */

/* Compiled also for CPUs with AVX2; the program chooses when it starts. Both give the same bits:
 * nothing is contracted to fma. */
#if defined(__x86_64__) && !defined(__clang__)
#define FOR_EACH_CPU __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define FOR_EACH_CPU
#endif

/* A matrix as a product reads it: element (i, k) is at first[i * row + k * column]. */
struct factor_float {
    const float *first;
    size_t row, column;
};
struct factor_double {
    const double *first;
    size_t row, column;
};

/* C = alpha a b + beta C, by columns; a is m×k, b is k×n. With beta 0, C is not read. False: out of
 * memory. */
bool blas_product_float(int m, int n, int k, float alpha, struct factor_float a,
                        struct factor_float b, float beta, float *c, size_t ldc);
bool blas_product_double(int m, int n, int k, double alpha, struct factor_double a,
                         struct factor_double b, double beta, double *c, size_t ldc);

/* ---- a product of matrices as all functions describe it -------------------------------------- */

/* One operand: its type, and its batches, a constant distance apart or at given addresses. */
struct operand {
    const void *at; /* or an array of pointers, in the device's memory */
    cudaDataType type;
    int ld;
    long long stride;
};

struct gemm {
    const char *name;
    cublasOperation_t op_a, op_b;
    int m, n, k;
    const void *alpha, *beta;
    cudaDataType scalars;
    struct operand a, b, c;
    int batches;
    bool has_pointers;
};

#endif
