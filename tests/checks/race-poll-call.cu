/* race-poll-call.cu — a thread polls a word by a function, as an unoptimised build calls a
 * library's load. The load must be volatile. */
#include "pair.h"

template <typename T> static __device__ __noinline__ void load_into(int *to, T *from)
{
    *to = *from;
}

template <bool right> __global__ void poll(int *slot, volatile int *flag, int *out)
{
    if (blockIdx.x == 0) {
        *(volatile int *)slot = 1;
        *flag = 1;
    } else {
        int value;
        while (!*flag) continue;
        do
            if (right)
                load_into(&value, (volatile int *)slot);
            else
                load_into(&value, slot);
        while (!value);
        out[blockIdx.x] = value;
    }
}

PAIR(poll<right>, 4, 1, zeros<int>(1), zeros<int>(1), zeros<int>(4))
