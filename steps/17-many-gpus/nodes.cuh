/*
 * nodes.cuh — the scan of the sums of all nodes, the top of the tree.
 */
#ifndef STEP17_NODES_CUH
#define STEP17_NODES_CUH

#include "part.cuh"

/* Which nodes there are, and which are of this rank. */
struct nodes {
    unsigned all, first, own;
    unsigned ranks, slots; // many_slots
};

static inline struct nodes nodes_of(struct many_shape shape, int ranks, int rank)
{
    struct many_part own = many_nodes_of(shape, ranks, rank);
    return {shape.nodes, (unsigned)own.begin, (unsigned)own.count, (unsigned)ranks,
            many_slots(shape.nodes, ranks)};
}

/* Where the sum of a node lies, if those of each rank lie side by side: rank r has the nodes from
 * all * r / ranks on, rounded down. */
static __device__ unsigned slot_of(struct nodes n, unsigned node)
{
    unsigned rank = ((node + 1) * n.ranks - 1) / n.all;
    return rank * n.slots + node - n.all * rank / n.ranks;
}

/* One block of SUM_THREADS threads: node_prefix of this rank's nodes. */
template <typename Op>
static __device__ void scan_all_nodes(const Op &op, struct nodes n, const typename Op::State *all,
                                      typename Op::State *node_prefix)
{
    __shared__ typename Op::State sums[SUM_WARPS];
    typename Op::State total;
    unsigned node = threadIdx.x;
    auto x = node < n.all ? all[slot_of(n, node)] : op.identity();
    auto before = block_scan(op, x, sums, &total);
    if (node >= n.first && node < n.first + n.own) node_prefix[node - n.first] = before;
}

#endif
