/* init-member.cu — a kernel reads a member that was never set. The right version does not set the
 * padding, which is not a mistake. */
#include "pair.h"

struct item {
    char kind; // 3 bytes of padding follow
    int weight;
    short rank; // and 2 here
};

template <bool right> __global__ void make(struct item *items)
{
    struct item *item = &items[threadIdx.x];
    item->kind = 'a';
    item->rank = threadIdx.x;
    if (right) item->weight = 1;
}

__global__ void weigh(const struct item *items, int *out)
{
    struct item item = items[threadIdx.x]; /* initcheck: Uninitialized __global__ memory read */
    out[threadIdx.x] = item.kind + item.weight + item.rank;
}

HOST
{
    struct item *items = unwritten<struct item>(32);
    int *out = zeros<int>(32);
    make<right><<<1, 32>>>(items);
    weigh<<<1, 32>>>(items, out);
}
