/* race-slot-ring.cu — a ring of 4 slots between two blocks. At most 4 values may be in the ring,
 * not 5. */
#include "pair.h"

#define SLOTS 4

template <bool right>
__global__ void hand_on(int *slots, volatile int *head, volatile int *tail, int *out)
{
    for (int i = 0; i < 16; i++)
        if (blockIdx.x == 0) {
            while (i - *tail >= (right ? SLOTS : SLOTS + 1)) continue;
            __threadfence();
            slots[i % SLOTS] = i;
            __threadfence();
            *head = i + 1;
        } else {
            while (*head <= i) continue;
            __threadfence();
            out[i] = slots[i % SLOTS];
            __threadfence();
            *tail = i + 1;
        }
}

PAIR(hand_on<right>, 2, 1, zeros<int>(SLOTS), zeros<int>(1), zeros<int>(1), zeros<int>(16))
