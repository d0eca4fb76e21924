/* race-hint.cu — blocks load and store a volatile word. That is no mistake while the stored value
 * does not depend on the loaded one. */
#include "pair.h"

template <bool right> __global__ void look(volatile int *hint, int *out)
{
    int good = 0;
    for (int i = 0; i < 5; i++) {
        int seen = *hint;
        good += seen >= 0;
        *hint = right ? blockIdx.x * 10 + i : seen + 1; /* racecheck: has read it, and writes it */
    }
    out[blockIdx.x] = good;
}

PAIR(look<right>, 16, 1, zeros<int>(1), zeros<int>(16))
