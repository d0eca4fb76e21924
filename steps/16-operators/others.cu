/* others.cu — brackets and sight; see scan.h. */
#include "define.cuh"

DEFINE_SCAN(brackets, brackets_operator, false)

cudaError_t scan_sight_f32(void *workspace, size_t *bytes, int32_t *out, const float *heights,
                           const float *distances, float eye, size_t n,
                           const struct scan_options *options, cudaStream_t stream)
{
    sight_operator op;
    op.height = eye;
    if (options && (options->inclusive || options->initial)) return cudaErrorInvalidValue;
    return scan(op, workspace, bytes, out, heights, distances, n, options, stream);
}

cudaError_t scan_operators_init(void *workspace, size_t bytes, cudaStream_t stream)
{
    return cudaMemsetAsync(workspace, 0, bytes, stream);
}
