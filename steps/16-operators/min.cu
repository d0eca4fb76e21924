/* min.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(min_f32, min_operator<float>, false)
DEFINE_SCAN(min_f64, min_operator<double>, false)
DEFINE_SCAN(min_i32, min_operator<int32_t>, false)
DEFINE_SCAN(min_i64, min_operator<int64_t>, false)
