/* xor.cu — see scan.h. */
#include "define.cuh"

DEFINE_SCAN(xor_u32, xor_operator<uint32_t>, false)
DEFINE_SCAN(xor_u64, xor_operator<uint64_t>, false)
