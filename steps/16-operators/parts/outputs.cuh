/*
 * outputs.cuh — where results go: to an array of them; or, if they have indices, to an array of
 * values and one of indices.
 */
#ifndef STEP16_OUTPUTS_CUH
#define STEP16_OUTPUTS_CUH

#include "with_index.cuh"

#include <stddef.h>

/* A place in both arrays. */
template <typename T> struct two_places {
    T *values;
    int64_t *indices;
    __host__ __device__ two_places operator+(size_t i) const { return {values + i, indices + i}; }
    __host__ __device__ two_places &operator+=(ptrdiff_t i) { return *this = *this + (size_t)i; }
};

/* For going on by `step` results, again and again: a place that grows by `stride_of`. To add bytes
 * is faster than to multiply. */
template <typename T> static __device__ char *growing(T *to) { return (char *)to; }
template <typename T> static __device__ two_places<T> growing(two_places<T> to) { return to; }
template <typename T> static __device__ size_t stride_of(const T *, size_t step)
{
    return step * sizeof(T);
}
template <typename T> static __device__ size_t stride_of(two_places<T>, size_t step)
{
    return step;
}

/* The type of a place for results of type Out, and the bytes of an element of the widest array. */
template <typename Out> struct outputs {
    typedef Out *place;
    enum { WIDEST = sizeof(Out) };
};
template <typename T> struct outputs<with_index<T>> {
    typedef two_places<T> place;
    enum { WIDEST = sizeof(int64_t) };
};

template <typename T> static __host__ __device__ void put_one(T *to, T x) { *to = x; }
template <typename T> static __device__ void put_one(char *to, T x) { *(T *)to = x; }
template <typename T> static __host__ __device__ void put_one(two_places<T> to, with_index<T> x)
{
    *to.values = x.value, *to.indices = x.index;
}

#endif
