/* race-two-words-order.cu — status and sum of a tile are two words, and the sum is loaded before
 * the status. */
#include "pair.h"
#include "two_words.cuh"

template <bool right> __global__ void look_back(int *tiles, int *out)
{
    /* racecheck: is a __threadfence() missing in two_words.cuh; strict readers: hazard */
    look_back_at_two_words<right ? FENCED : SUM_FIRST>(tiles, out);
}

PAIR(look_back<right>, 20, 32, zeros<int>(40), zeros<int>(20 * 32))
