/* logsumexp.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(logsumexp_f32, logsumexp_operator<float>, false)
DEFINE_SCAN(logsumexp_f64, logsumexp_operator<double>, false)
