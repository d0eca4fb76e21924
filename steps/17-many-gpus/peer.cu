/*
 * peer.cu — the exchange of step 17 without the host: see part.h. Each GPU maps the memory of the
 * others, and stores its sums there over NVLink or PCIe. It polls its own memory only, so that
 * waiting uses no link.
 *
 * Simpler: store the sums, then a flag with release semantics, and poll the ranks' flags. But a
 * release waits until all stores before have arrived, and the flag crosses the link after that.
 * Here each word has the epoch beside its 32 bits of a sum (words.cuh), and is polled itself. A sum
 * crosses the link once. Only its own thread waits for a sum, so a warp's sums are scanned as soon
 * as they have arrived.
 */
#include "parts/part.h"
#include "parts/words.cuh"
#include "part.cuh"

#define POLLS 64 /* between two readings of the clock */

/* Which entries there are, and which of them this rank sends. */
struct entries {
    unsigned all, first, own;
    unsigned nodes;  // of this rank: `own`, or 0
    unsigned others; // the number of other ranks
};

/* Waits for an entry. Returns false if it takes too long. */
template <typename State>
static __device__ bool wait_for(State &x, const uint64_t *entry, uint32_t epoch, uint64_t wait_ns)
{
    uint64_t start = 0;
    for (unsigned polls = 1; !load_state(x, entry, epoch); polls++) {
        if (polls % POLLS != 0) continue;
        uint64_t now = clock_ns();
        if (start == 0) start = now;
        if (now - start > wait_ns) return false;
    }
    return true;
}

/* Stores a state into the mailboxes of all other ranks. */
template <typename State>
static __device__ void send(const struct peers &peers, unsigned others, State x, unsigned entry,
                            uint32_t epoch)
{
    uint64_t word[STATE_WORDS(State)];
    make_words(word, x, epoch);
#pragma unroll 1 // copies of the loop for many ranks would only be in the way of few
    for (unsigned r = 1; r <= others; r++)
        store_words(&peers.mailbox[r]->half[epoch % 2][entry * STATE_WORDS(State)], word);
}

/* One block, with a thread for each entry. Thread i sends entry i if it is of this rank, and
 * otherwise waits for it. */
template <typename Op>
static __global__ void __launch_bounds__(MANY_SUM_THREADS)
    exchange_nodes(Op op, struct entries e, const typename Op::State *node_sums,
                   typename Op::State *node_prefix, const __grid_constant__ struct peers peers)
{
    typedef typename Op::State State;
    __shared__ State sums[SUM_WARPS];
    struct mailbox *mine = peers.mailbox[0];
    unsigned i = threadIdx.x, own = i - e.first; // if i < e.first, an unsigned wrap makes it large
    State total, x = own < e.nodes ? node_sums[own] : op.identity();
    uint2 progress = *(const uint2 *)&mine->progress;
    uint32_t epoch = progress.x + 1;
    bool failed = progress.y; // then the ranks' epochs may differ

    if (own < e.own) send(peers, e.others, x, i, epoch);
    // No thread may wait before all threads of its warp have sent: ranks would wait for each other.
    __syncwarp();
    if (own >= e.own && i < e.all && !failed &&
        !wait_for(x, &mine->half[epoch % 2][i * STATE_WORDS(State)], epoch, peers.wait_ns))
        atomicCAS(&mine->progress.failed, 0, i + 1);

    // What stands before a node does not depend on entries of ranks without nodes: they are behind.
    auto before = block_scan(op, x, sums, &total);
    if (own < e.nodes) node_prefix[own] = before;
    if (i == 0) mine->progress.epoch = epoch; // after a barrier: all threads have loaded it
}

template <typename Op>
static cudaError_t launch(const struct part *p, const struct peers *peers, cudaStream_t stream)
{
    typedef typename Op::State State;
    struct many_part own = peer_entries_of(p->shape, p->ranks, p->rank);
    struct entries e = {peer_entries(p->shape, p->ranks), (unsigned)own.begin, (unsigned)own.count,
                        (unsigned)many_nodes_of(p->shape, p->ranks, p->rank).count,
                        (unsigned)p->ranks - 1};
    unsigned threads = (e.all + LANES - 1) / LANES * LANES;
    return launch_kernel(exchange_nodes<Op>, 1, threads, 0, stream, Op(), e,
                         (const State *)p->node_sums, (State *)p->node_prefix, *peers);
}

cudaError_t peer_exchange(const struct part *p, const struct peers *peers, cudaStream_t stream)
{
    if (p->ranks > MANY_PEERS) return cudaErrorInvalidValue;
    RETURN_FOR_OPERATOR(p->op, launch, (p, peers, stream));
}
