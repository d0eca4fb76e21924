/* cublas.c — cuBLAS: handles, copies, and what is not offered. */
#include "libs.h"
#include <stdlib.h>
#include <string.h>

/* ---- handles --------------------------------------------------------------------------------- */

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    if (handle == NULL) return CUBLAS_STATUS_INVALID_VALUE;
    if (!stand_in_introduce("libcublas.so.13") || cudaFree(NULL) != cudaSuccess)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    *handle = stand_in_kept(calloc(1, sizeof **handle));
    stand_in_add(&(*handle)->listed);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    if (!stand_in_remove(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- what they keep -------------------------------------------------------------------------- */

#define SETTING(Set, Get, type, field, is_valid)                                                   \
    cublasStatus_t Set(cublasHandle_t handle, type value)                                          \
    {                                                                                              \
        NEED_HANDLE(handle);                                                                       \
        NEED(#Set, is_valid, "the value is none of the type's, " #type);                           \
        handle->field = value;                                                                     \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    cublasStatus_t Get(cublasHandle_t handle, type *value)                                         \
    {                                                                                              \
        NEED_HANDLE(handle);                                                                       \
        NEED(#Get, value != NULL, "the pointer is NULL");                                          \
        *value = handle->field;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

SETTING(cublasSetStream_v2, cublasGetStream_v2, cudaStream_t, stream, true)
SETTING(cublasSetPointerMode_v2, cublasGetPointerMode_v2, cublasPointerMode_t, pointer_mode,
        value <= CUBLAS_POINTER_MODE_DEVICE)
SETTING(cublasSetMathMode, cublasGetMathMode, cublasMath_t, math_mode, true)
SETTING(cublasSetAtomicsMode, cublasGetAtomicsMode, cublasAtomicsMode_t, atomics_mode,
        value <= CUBLAS_ATOMICS_ALLOWED)

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    NEED_HANDLE(handle);
    NEED(__func__, workspace != NULL || bytes == 0, "the workspace is NULL");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    NEED(__func__, version != NULL, "the pointer is NULL");
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    static const int values[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
    NEED(__func__, type <= PATCH_LEVEL && value != NULL, "there is no such property");
    *value = values[type];
    return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion(void) { return CUDART_VERSION; }

/* ---- statuses -------------------------------------------------------------------------------- */

/* clang-format off */
#define STATUSES(S)                                                                                \
    S(SUCCESS, "success")                                                                          \
    S(NOT_INITIALIZED, "there is no such handle")                                                  \
    S(ALLOC_FAILED, "out of memory")                                                               \
    S(INVALID_VALUE, "an argument is wrong")                                                       \
    S(ARCH_MISMATCH, "the GPU is too old")                                                         \
    S(MAPPING_ERROR, "memory cannot be accessed")                                                  \
    S(EXECUTION_FAILED, "the work failed in its stream")                                           \
    S(INTERNAL_ERROR, "internal error")                                                            \
    S(NOT_SUPPORTED, "not supported")                                                              \
    S(LICENSE_ERROR, "licence error")
#define STATUS_NAME(name, text)                                                                    \
    case CUBLAS_STATUS_##name: return "CUBLAS_STATUS_" #name;
#define STATUS_TEXT(name, text)                                                                    \
    case CUBLAS_STATUS_##name: return text;
/* clang-format on */
#define TOLD(function, ROW)                                                                        \
    const char *function(cublasStatus_t status)                                                    \
    {                                                                                              \
        switch (status) {                                                                          \
            STATUSES(ROW)                                                                          \
        }                                                                                          \
        return "unknown cublasStatus_t";                                                           \
    }
TOLD(cublasGetStatusName, STATUS_NAME)
TOLD(cublasGetStatusString, STATUS_TEXT)

/* ---- arguments, memory ----------------------------------------------------------------------- */

cublasStatus_t blas_invalid(const char *name, const char *what)
{
    const char *suffix = strstr(name, "_v2");
    int length = (int)(suffix != NULL ? (size_t)(suffix - name) : strlen(name));
    stand_in_say("%.*s: %s", length, name, what);
    return CUBLAS_STATUS_INVALID_VALUE;
}

static struct emu_area area(const void *address, struct emu_rows rows, int use)
{
    return (struct emu_area){address, rows, use & READS, use & WRITES, NULL};
}

struct emu_area blas_matrix(const void *a, int rows, int columns, int ld, size_t size, int use)
{
    return area(a,
                (struct emu_rows){.bytes = (size_t)rows * size,
                                  .rows = (size_t)columns,
                                  .slices = 1,
                                  .from_row = (size_t)ld * size},
                use);
}

struct emu_area blas_vector(const void *x, int n, int increment, size_t size, int use)
{
    int distance = abs(increment);
    return distance == 1 ? blas_matrix(x, n, 1, n, size, use)
                         : blas_matrix(x, 1, n, distance, size, use);
}

cublasStatus_t blas_begin(cublasHandle_t handle, const char *name, struct emu_area *areas,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        NEED(name, areas[i].address != NULL, "a matrix, a vector or a scalar is NULL");
    switch (emu_library_work(handle->stream, name, areas, count)) {
    case cudaSuccess: return CUBLAS_STATUS_SUCCESS;
    case cudaErrorStreamCaptureUnsupported: return CUBLAS_STATUS_NOT_SUPPORTED;
    default: return CUBLAS_STATUS_EXECUTION_FAILED;
    }
}

static cublasStatus_t check_host(const char *name, const void *scalar)
{
    NEED(name, scalar != NULL, "a scalar is NULL");
    NEED(name, !stand_in_is_device(scalar),
         "a scalar is in the device's memory, and the pointer mode is that of the host; see "
         "cublasSetPointerMode");
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t blas_get(cublasHandle_t handle, const char *name, const void *from, size_t bytes,
                        void *to)
{
    struct emu_area area = blas_vector(from, 1, 1, bytes, READS);
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
        RETURN_IF_FAILED(check_host(name, from));
        area.host = (void *)from;
    } else {
        RETURN_IF_FAILED(blas_begin(handle, name, &area, 1));
    }
    memcpy(to, area.host, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t blas_put(cublasHandle_t handle, const char *name, void *to, const void *from,
                        size_t bytes)
{
    struct emu_area area = blas_vector(to, 1, 1, bytes, WRITES);
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
        RETURN_IF_FAILED(check_host(name, to));
        if (cudaStreamSynchronize(handle->stream) != cudaSuccess)
            return CUBLAS_STATUS_EXECUTION_FAILED;
        area.host = to;
    } else {
        RETURN_IF_FAILED(blas_begin(handle, name, &area, 1));
    }
    memcpy(area.host, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- vectors and matrices between the host and the device, by the runtime's copies ----------- */

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

/* ---- the functions of NVIDIA's library that this one does not offer (library_names.sh) ------- */

/* A call says so, once for each, and returns CUBLAS_STATUS_NOT_SUPPORTED. */

static int refuse(const char *name)
{
    if (stand_in_introduce("libcublas.so.13"))
        emu_library_refuse(
            name, "the emulator's cuBLAS has levels 1 and 2 in part, gemm, geam and dgmm, in "
                  "float and double (gemm also in half and bfloat16), by cublas_v2.h; use "
                  "these, write a kernel, or run the program on a GPU");
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

/* The compiler gets another name than the assembler, because it has seen the declaration. */
#define REFUSED(name, called)                                                                      \
    int refused_##name(void) __asm__(#name);                                                       \
    int refused_##name(void) { return refuse(called); }
#include <refused.inc>
