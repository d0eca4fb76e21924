/* deadlock-roles.cu — two warps wait at two barriers, in opposite order. */
#include "pair.h"

template <bool right> __global__ void hand_over(int *out)
{
    __shared__ int words[32];
    if (threadIdx.x < 32) {
        words[threadIdx.x] = threadIdx.x;
        asm volatile("bar.sync 1, 64;" ::: "memory"); /* synccheck, memcheck: deadlock */
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        if (right) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[threadIdx.x] = words[threadIdx.x - 32];
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[threadIdx.x] = words[threadIdx.x - 32];
            asm volatile("bar.sync 1, 64;" ::: "memory");
        }
    }
}

PAIR(hand_over<right>, 1, 64, zeros<int>(64))
