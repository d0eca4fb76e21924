/*
 * peer.cu — the exchange of step 17 without the host: see peer.h. Each GPU maps the memory of the
 * others, stores into it over NVLink or PCIe, and sets a flag there. It polls flags in its own
 * memory only, so that waiting uses no link.
 */
#include "peer.h"
#include "flag.cuh"
#include "nodes.cuh"

/* Waits until the flag has the epoch. Returns false if it takes too long. */
static __device__ bool wait_for(const uint32_t *flag, uint32_t epoch, uint64_t wait_ns)
{
    uint64_t start = clock_ns();
    while (get_flag(flag) != epoch)
        if (clock_ns() - start > wait_ns) return false;
    return true;
}

/* One block. Thread i stores the sums of node i of this rank, and waits for rank i. */
template <typename Op>
static __global__ void __launch_bounds__(SUM_THREADS)
    exchange_nodes(Op op, struct nodes n, unsigned rank, const typename Op::State *node_sums,
                   typename Op::State *node_prefix, struct peers peers)
{
    typedef typename Op::State State;
    struct mailbox *mine = peers.mailbox[rank];
    uint32_t epoch = mine->epoch + 1;
    unsigned i = threadIdx.x;
    bool failed = mine->failed; // then the others are no longer in step

    if (i < n.own)
        for (unsigned r = 0; r < n.ranks; r++) {
            State *sums = (State *)peers.mailbox[(rank + r) % n.ranks]->turn[epoch % 2].sums;
            sums[rank * n.slots + i] = node_sums[i];
        }
    __syncthreads(); // no flag may be set before all sums are stored
    if (i < n.ranks) {
        set_flag(&peers.mailbox[i]->turn[epoch % 2].flag[rank], epoch);
        if (!failed && !wait_for(&mine->turn[epoch % 2].flag[i], epoch, peers.wait_ns))
            atomicCAS(&mine->failed, 0, i + 1);
    }
    if (i == 0) mine->epoch = epoch;
    __syncthreads(); // no sum may be read before all flags are there
    scan_all_nodes(op, n, (const State *)mine->turn[epoch % 2].sums, node_prefix);
}

template <typename Op>
static cudaError_t launch(const struct part *p, struct peers peers, cudaStream_t stream)
{
    typedef typename Op::State State;
    exchange_nodes<<<1, SUM_THREADS, 0, stream>>>(
        Op(), nodes_of(p->shape, p->ranks, p->rank), (unsigned)p->rank,
        (const State *)p->node_sums, (State *)p->node_prefix, peers);
    return cudaGetLastError();
}

cudaError_t peer_exchange(const struct part *p, struct peers peers, cudaStream_t stream)
{
    switch (p->op) {
    case MANY_SUM_F32: return launch<sum_operator<float>>(p, peers, stream);
    case MANY_SUM_F64: return launch<sum_operator<double>>(p, peers, stream);
    case MANY_SUM_I32: return launch<sum_operator<int32_t>>(p, peers, stream);
    case MANY_SUM_I64: return launch<sum_operator<int64_t>>(p, peers, stream);
    case MANY_AFFINE_F32: return launch<affine_operator<float>>(p, peers, stream);
    default: return cudaErrorInvalidValue;
    }
}
