/* race-semaphore.cu — a semaphore of libcu++ that admits one block. The counter must be stored
 * before the semaphore is released. */
#include "pair.h"
#include <cuda/semaphore>

using semaphore = cuda::binary_semaphore<cuda::thread_scope_device>;
__device__ semaphore door{1};

template <bool right> __global__ void count(int *counter)
{
    door.acquire();
    int now = *counter + 1;
    if (right) *counter = now;
    door.release();
    if (!right) *counter = now;
}

PAIR(count<right>, 8, 1, zeros<int>(1))
