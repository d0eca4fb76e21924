/* libs.h — what the files of the libraries share that take the place of NVIDIA's in programs that
 * `emu` starts, and compute on the CPU. */
#ifndef EMU_LIBS_H
#define EMU_LIBS_H

#include "common/tools/emu/emu.h"
#include "common/tools/emu/libs/include/cublas_v2.h"
#include "common/tools/emu/libs/include/curand.h"
#include <stdbool.h>
#include <stdint.h>

/* The emulator's runtime has these two, and NVIDIA's has not: programs are linked with either. */
#pragma weak emu_library_work
#pragma weak emu_library_refuse

/* Prints "emu: ", a sentence by a format, and a newline on stderr. */
__attribute__((format(printf, 1, 2))) void stand_in_say(const char *format, ...);
/* Says, once, that this library is not NVIDIA's. False: the program cannot use it, because it does
 * not run on the emulator's libcudart.so.13. */
bool stand_in_introduce(const char *library);
/* Is it an address of a device's own memory, which the host can neither read nor write? */
bool stand_in_is_device(const void *);

/* What malloc and its like have returned for what a library keeps about its work. The program ends
 * if that is NULL. */
void *stand_in_kept(void *memory);

/* What a program gets from a library, such as a cublasHandle_t, begins with this. All of them are
 * in a list, so that other pointers are noticed. */
struct stand_in_handle {
    struct stand_in_handle *next;
};
void stand_in_add(struct stand_in_handle *);
bool stand_in_has(const void *);
/* Takes one out of the list. False: it is not there. */
bool stand_in_remove(const void *);

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

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

/* ---- products of matrices (cublas_reals.inc) ------------------------------------------------- */

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

/* C = alpha a b + beta C, by columns; a is m×k, b is k×n. With beta 0, C is not read. */
void blas_product_float(int m, int n, int k, float alpha, struct factor_float a,
                        struct factor_float b, float beta, float *c, size_t ldc);
void blas_product_double(int m, int n, int k, double alpha, struct factor_double a,
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

/* ---- cuRAND ---------------------------------------------------------------------------------- */

/* NVIDIA's generators spread a sequence over threads: each thread has a subsequence of its own, far
 * from those of the others, and the threads write one after the other, an *item* each: one number,
 * or the two that Box and Muller make of two uniform ones. So do these. */

/* ---- engines (curand_engines.c) -------------------------------------------------------------- */

/* A thread's state. */
struct xorwow {
    uint32_t shifted[5], added;
};
struct mrg {
    uint32_t first[3], second[3];
};
union engine {
    struct xorwow xorwow;
    struct mrg mrg;
};
enum { XORWOW_THREADS = 4096, MRG_THREADS = 81920, PHILOX_THREADS = 65536 };
enum { MOST_DIMENSIONS = 21, SOBOL_BITS = 32 };

/* Sets the threads to the beginnings of their subsequences. */
void xorwow_start(union engine *threads, uint64_t seed);
void mrg_start(union engine *threads, uint64_t seed);
/* Go on by this number of steps. */
void xorwow_skip(struct xorwow *, uint64_t steps);
void mrg_skip(struct mrg *, uint64_t steps);
uint32_t xorwow_next(struct xorwow *);
/* From 1 to 4294967087. */
uint32_t mrg_next(struct mrg *);
/* The four words of a block of a subsequence. */
void philox_block(uint64_t seed, uint64_t subsequence, uint64_t block, uint32_t words[4]);
/* The direction numbers of a dimension, from 0. */
void sobol_directions(unsigned dimension, uint32_t directions[SOBOL_BITS]);
uint32_t sobol_point(const uint32_t directions[SOBOL_BITS], uint64_t index);

/* ---- distributions (curand.c) ---------------------------------------------------------------- */

/* What is generated; pairs come from one item, except of quasi-random generators. */
enum distribution { WORDS, UNIFORM, UNIFORM_DOUBLE, NORMAL, NORMAL_DOUBLE, POISSON };
/* With it: the parameters of normal and log-normal numbers, or the table of Poisson's. */
struct shape {
    enum distribution distribution;
    bool is_log;
    double mean, deviation; /* of POISSON: mean is lambda */
    const double *cumulated;
    size_t first, count; /* of the table: its first value, and how many it has */
};

static inline bool is_paired(enum distribution d) { return d == NORMAL || d == NORMAL_DOUBLE; }
static inline bool is_double(enum distribution d)
{
    return d == UNIFORM_DOUBLE || d == NORMAL_DOUBLE;
}

#endif
