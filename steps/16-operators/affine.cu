/* affine.cu — see scan.h. */
#include "define.cuh"

#define DEFINE_AFFINE(name, T)                                                                     \
    cudaError_t scan_affine_##name(void *workspace, size_t *bytes, T *out, const T *a, const T *b, \
                                   size_t n, const struct scan_options *options,                   \
                                   cudaStream_t stream)                                            \
    {                                                                                              \
        return scan<affine_operator<T>>({}, workspace, bytes, out, a, b, n, options, stream);      \
    }                                                                                              \
    cudaError_t scan_decay_##name(void *workspace, size_t *bytes, T *out, const T *in, T keep,     \
                                  T take, size_t n, const struct scan_options *options,            \
                                  cudaStream_t stream)                                             \
    {                                                                                              \
        decay_operator<T> op;                                                                      \
        op.keep = keep, op.take = take;                                                            \
        return scan(op, workspace, bytes, out, in, NULL, n, options, stream);                      \
    }

DEFINE_AFFINE(f32, float)
DEFINE_AFFINE(f64, double)
