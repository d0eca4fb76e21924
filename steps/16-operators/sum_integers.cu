/* sum_integers.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(sum_i32, sum_operator<int32_t>, true)
DEFINE_SCAN(sum_i64, sum_operator<int64_t>, true)
