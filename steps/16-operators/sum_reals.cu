/* sum_reals.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(sum_f32, sum_operator<float>, true)
DEFINE_SCAN(sum_f64, sum_operator<double>, true)
