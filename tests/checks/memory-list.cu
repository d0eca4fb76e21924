/* memory-list.cu — a thread reads a member of the node behind the last one of a list. */
#include "pair.h"

struct node {
    long padding;
    int value;
    struct node *next;
};

template <bool right> __global__ void add_up(struct node *nodes, int *out, int n)
{
    for (int i = 0; i < n; i++) nodes[i] = {0, i, i + 1 < n ? &nodes[i + 1] : nullptr};
    int sum = 0;
    struct node *node = nodes;
    for (int i = 0; right ? node != nullptr : i <= n; i++, node = node->next)
        sum += node->value; /* memcheck: 0x8 is out of bounds: 8 bytes from a null pointer */
    *out = sum;
}

int main(int argc, char **argv)
{
    struct node *nodes = zeros<struct node>(16);
    int *out = zeros<int>(1);
    LAUNCH(add_up, is_right(argc, argv), 1, 1, nodes, out, 16);
    cudaDeviceSynchronize();
    cudaFree(nodes);
    cudaFree(out);
}
