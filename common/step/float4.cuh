/*
 * float4.cuh — four neighbouring floats as one access to memory where that is possible.
 */
#ifndef FLOAT4_CUH
#define FLOAT4_CUH

#include <stddef.h>
#include <stdint.h>

/*
 * The four elements from index i on, a multiple of 4. Elements at n and beyond count as 0. This is
 * one access if all four are there and the array is aligned to a float4, otherwise four.
 */
static __device__ float4 load4(const float *array, size_t i, size_t n)
{
    if ((uintptr_t)array % sizeof(float4) == 0 && i + 4 <= n) return *(const float4 *)(array + i);

    float4 v = {0, 0, 0, 0};
    if (i + 0 < n) v.x = array[i + 0];
    if (i + 1 < n) v.y = array[i + 1];
    if (i + 2 < n) v.z = array[i + 2];
    if (i + 3 < n) v.w = array[i + 3];
    return v;
}

/* Stores v at index i in the same way. Elements at n and beyond are left alone. */
static __device__ void store4(float *array, size_t i, size_t n, float4 v)
{
    if ((uintptr_t)array % sizeof(float4) == 0 && i + 4 <= n) {
        *(float4 *)(array + i) = v;
        return;
    }
    if (i + 0 < n) array[i + 0] = v.x;
    if (i + 1 < n) array[i + 1] = v.y;
    if (i + 2 < n) array[i + 2] = v.z;
    if (i + 3 < n) array[i + 3] = v.w;
}

#endif
