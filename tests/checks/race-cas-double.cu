/* race-cas-double.cu — a sum of doubles by compare and swap, as in the CUDA programming guide.
 * The wrong version compares and stores in two steps. */
#include "pair.h"

template <bool right>
__device__ bool swap(unsigned long long *word, unsigned long long assumed, unsigned long long value,
                     unsigned long long *old)
{
    if (right) {
        *old = atomicCAS(word, assumed, value);
    } else {
        *old = *(volatile unsigned long long *)word;
        if (*old == assumed) *word = value;
    }
    return *old == assumed;
}

template <bool right> __global__ void add(double *sum)
{
    unsigned long long *word = (unsigned long long *)sum, old = *word, assumed;
    do {
        assumed = old;
    } while (
        !swap<right>(word, assumed, __double_as_longlong(1 + __longlong_as_double(assumed)), &old));
}

PAIR(add<right>, 8, 32, zeros<double>(1))
