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

PAIR(add_up<right>, 1, 1, zeros<struct node>(16), zeros<int>(1), 16)
