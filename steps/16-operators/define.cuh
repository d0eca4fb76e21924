/* define.cuh — defines one function of scan.h. One file for each operator includes it, so that they
 * are compiled side by side. sum and max take all kinds of heads, and have two files each. */
#ifndef STEP16_DEFINE_CUH
#define STEP16_DEFINE_CUH

#include "scan.cuh"

/* OP: an operator. HEADS: true for all kinds of heads. */
#define DEFINE_SCAN(name, OP, HEADS)                                                               \
    cudaError_t scan_##name(void *workspace, size_t *bytes, OP::Out *out, const OP::In *in,        \
                            size_t n, const struct scan_options *options, cudaStream_t stream)     \
    {                                                                                              \
        return scan<OP, HEADS>(OP(), workspace, bytes, out, in, NULL, n, options, stream);         \
    }

#endif
