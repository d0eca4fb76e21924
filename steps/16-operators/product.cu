/* product.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(product_f32, product_operator<float>, false)
DEFINE_SCAN(product_f64, product_operator<double>, false)
DEFINE_SCAN(product_i64, product_operator<int64_t>, false)
