/*
 * pair.cuh — two neighbouring floats as one access to memory where that is possible.
 */
#ifndef STEP08_PAIR_CUH
#define STEP08_PAIR_CUH

#include <stddef.h>
#include <stdint.h>

/*
 * Elements 2k and 2k + 1. Elements at n and beyond count as 0. This is one access if both are
 * there and the array is aligned to a float2, otherwise two.
 */
static __device__ float2 load_pair(const float *array, size_t k, size_t n)
{
    size_t i = 2 * k;
    if ((uintptr_t)array % sizeof(float2) == 0 && i + 2 <= n) return ((const float2 *)array)[k];

    float2 v = {0, 0};
    if (i + 0 < n) v.x = array[i + 0];
    if (i + 1 < n) v.y = array[i + 1];
    return v;
}

/* Stores v there in the same way. Elements at n and beyond are left alone. */
static __device__ void store_pair(float *array, size_t k, size_t n, float2 v)
{
    size_t i = 2 * k;
    if ((uintptr_t)array % sizeof(float2) == 0 && i + 2 <= n) {
        ((float2 *)array)[k] = v;
        return;
    }
    if (i + 0 < n) array[i + 0] = v.x;
    if (i + 1 < n) array[i + 1] = v.y;
}

#endif
