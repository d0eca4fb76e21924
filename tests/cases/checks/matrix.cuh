/* matrix.cuh — tiles of 16 x 16 halves, and instructions of tensor cores. They are macros, so that
 * a finding names the pair's line. */
#ifndef MATRIX_CUH
#define MATRIX_CUH

#include "pair.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

/* Elements: of a side of a tile, of a tile, of a row of ldmatrix. */
enum { SIDE = 16, TILE = SIDE * SIDE, ROW = 8 };

typedef wmma::fragment<wmma::matrix_a, SIDE, SIDE, SIDE, __half, wmma::row_major> fragment_a;
typedef wmma::fragment<wmma::matrix_b, SIDE, SIDE, SIDE, __half, wmma::row_major> fragment_b;
typedef wmma::fragment<wmma::accumulator, SIDE, SIDE, SIDE, float> fragment_c;

/* Four matrices of 8 x 8 elements, a register of each. Each lane has the address of a row. */
#define LOAD_MATRICES(registers, row)                                                              \
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"                \
                 : "=r"((registers)[0]), "=r"((registers)[1]), "=r"((registers)[2]),               \
                   "=r"((registers)[3])                                                            \
                 : "r"((unsigned)__cvta_generic_to_shared(row))                                    \
                 : "memory")
#define STORE_MATRICES(row, registers)                                                             \
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(         \
                     (unsigned)__cvta_generic_to_shared(row)),                                     \
                 "r"((registers)[0]), "r"((registers)[1]), "r"((registers)[2]),                    \
                 "r"((registers)[3])                                                               \
                 : "memory")

/* d += a b: 16 x 8 elements, of 16 x 16 and 16 x 8. */
#define MULTIPLY_ADD(d, a, b)                                                                      \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, "  \
                 "{%6, %7}, {%0, %1};"                                                             \
                 : "+r"((d)[0]), "+r"((d)[1])                                                      \
                 : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"((b)[0]), "r"((b)[1]))

/* Where the row of this lane begins in a tile. */
static __device__ __forceinline__ int own_row()
{
    int lane = threadIdx.x % 32;
    return lane % SIDE * SIDE + lane / SIDE * ROW;
}

/* Stores the thread's registers of a tile. */
static __device__ __forceinline__ void put(int *out, const unsigned *registers)
{
    *(uint4 *)&out[4 * threadIdx.x] =
        make_uint4(registers[0], registers[1], registers[2], registers[3]);
}

#endif
