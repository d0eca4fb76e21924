/* race-mixed-sizes.cu — one store of 64 bits publishes a flag and a value, and two loads of 32 bits
 * read them. Accesses of different sizes do not overlap completely, so to PTX they are a race even
 * if both are volatile: the loads may find the flag and not the value. */
#include "pair.h"

template <bool right> __global__ void pass_on(unsigned long long *word, int *out)
{
    if (blockIdx.x == 0) {
        *(volatile unsigned long long *)word = 7ull << 32 | 1;
    } else if (right) {
        unsigned long long both;
        do both = *(volatile unsigned long long *)word;
        while (!(unsigned)both);
        *out = both >> 32;
    } else {
        const volatile unsigned *half = (unsigned *)word;
        while (!half[0]) continue;
        *out = half[1];
    }
}

PAIR(pass_on<right>, 2, 1, zeros<unsigned long long>(1), zeros<int>(1))
