/*
 * types.cuh — what is added: elements, sums and carries.
 *
 * An element is float, double, int32_t, uint64_t, int16_t or int8_t. Its sums are of the same type,
 * except that 8 and 16 bits are summed in 32. What lies before a whole tile is carried in double
 * for sums in float, where it costs nothing (one number a tile) and keeps the rounding error of a
 * long scan as small as that of a short one; otherwise in the type of the sums.
 */
#ifndef STEP12_TYPES_CUH
#define STEP12_TYPES_CUH

#include "shape.h"

#include <stddef.h>
#include <stdint.h>

template <typename Sum> struct carry_of {
    typedef Sum type;
};
template <> struct carry_of<float> {
    typedef double type;
};

/* N neighbours that are moved by one memory access: 16 bytes at most. */
template <typename T, int N> struct __align__(sizeof(T) * N) vector { T e[N]; };

/* What a lane takes at a time: a vector of elements whose sums are Sums, and a vector of such
 * sums. */
template <typename T, typename Sum> using vector_of = vector<T, LANE_TAKES(sizeof(Sum))>;

#endif
