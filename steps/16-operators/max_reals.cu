/* max_reals.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(max_f32, max_operator<float>, true)
DEFINE_SCAN(max_f64, max_operator<double>, true)
