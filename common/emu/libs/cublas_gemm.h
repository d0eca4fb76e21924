/*
 * cublas_gemm.h — a product of matrices as all functions describe it: cublas_gemm_names.c has the
 * functions.
 */
#ifndef EMU_CUBLAS_GEMM_H
#define EMU_CUBLAS_GEMM_H

#include "cublas_inside.h"

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

/* Bytes of an element; 0: the type is not offered. */
size_t gemm_element_bytes(cudaDataType);
/* Checks the arguments and makes the products of all batches. */
cublasStatus_t gemm_run(cublasHandle_t, const struct gemm *);

#endif
