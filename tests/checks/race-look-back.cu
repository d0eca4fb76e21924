/* race-look-back.cu — a chained scan: each block waits for the prefix of the one before. Value and
 * flag in one 64-bit word need no fence; in two words they do. */
#include "pair.h"

template <bool right>
__global__ void chain(unsigned long long *state, int *value, int *flag, int *out)
{
    int before = 0, block = blockIdx.x;
    if (right) {
        if (block > 0) {
            unsigned long long word;
            while (((word = atomicAdd(&state[block - 1], 0)) >> 32) == 0) continue;
            before = (int)word;
        }
        atomicExch(&state[block], 1ull << 32 | (unsigned)(before + block));
    } else {
        if (block > 0) {
            while (atomicAdd(&flag[block - 1], 0) == 0) continue;
            before = value[block - 1];
        }
        value[block] = before + block;
        atomicExch(&flag[block], 1);
    }
    out[block] = before;
}

PAIR(chain<right>, 64, 1, zeros<unsigned long long>(64), zeros<int>(64), zeros<int>(64),
     zeros<int>(64))
