/* deadlock-stream.cu — a kernel waits for a flag that the next kernel of the same stream sets. */
#include "pair.h"

__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0) continue; /* memcheck: wait; synccheck: wait */
    *out = 1;
}

__global__ void raise(int *flag) { *flag = 1; }

HOST
{
    int *flag = zeros<int>(1), *out = zeros<int>(1);
    if (right) raise<<<1, 1>>>(flag);
    wait_for<<<1, 1>>>(flag, out);
    raise<<<1, 1>>>(flag);
}
