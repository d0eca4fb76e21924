/* init-padding.cu — the host gets a member that was never set. The right version does not set the
 * padding, which is not a mistake. */
#include "pair.h"

struct item {
    char kind; // 3 bytes of padding follow
    int weight;
};

template <bool right> __global__ void make(struct item *items)
{
    items[threadIdx.x].kind = 'a';
    if (right || threadIdx.x % 2) items[threadIdx.x].weight = 1;
}

HOST
{
    struct item *items = unwritten<struct item>(32), host[32];
    make<right><<<1, 32>>>(items);
    cudaMemcpy(host, items, /* initcheck: Host API uninitialized memory access */
               sizeof host, cudaMemcpyDeviceToHost);
}
