/* max_integers.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(max_i32, max_operator<int32_t>, true)
DEFINE_SCAN(max_i64, max_operator<int64_t>, true)
