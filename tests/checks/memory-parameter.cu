/* memory-parameter.cu — a kernel reads an array among its own parameters by an index that is beyond
 * all parameters. */
#include "pair.h"

struct many {
    int values[16];
};

__global__ void pick(const __grid_constant__ many all, int *out, int index)
{
    const int *from = all.values;
    *out = from[index]; /* memcheck: Invalid parameter read of size 4 bytes */
}

PAIR(pick, 1, 1, many(), zeros<int>(1), right ? 15 : 1000)
