/*
 * peer.cu — the exchange of step 17 without the host: see part.h. Each GPU maps the memory of the
 * others, and stores its sums there over NVLink or PCIe. It polls its own memory only, so that
 * waiting uses no link.
 *
 * Simpler: store the sums, then a flag with release semantics, and poll the ranks' flags. But a
 * release waits until all stores before have arrived, and the flag crosses the link after that.
 * Here each word has the epoch beside its 32 bits of a sum, and is polled itself. A sum crosses the
 * link once. Only its own thread waits for a sum, so a warp's sums are scanned as soon as they have
 * arrived.
 */
#include "steps/17-many-gpus/part.cuh"
#include "steps/17-many-gpus/parts/part.h"

#define POLLS 64 /* between two readings of the clock */

/* ---- words that carry their own flag: 32 bits of a state, and the epoch ---------------------- */

/*
 * Step 12 stores its states in the same way. Here other GPUs store them, so the scope is the
 * system. A word is stored and loaded by one access, also over NVLink and PCIe. So a thread that
 * finds the epoch in a word also finds the value, and neither side needs a fence. NCCL's protocol
 * LL does the same.
 */

static __device__ uint64_t clock_ns(void)
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* A state of 4 bytes has one word, a state of 8 bytes has two. */
#define STATE_WORDS(State) ((int)(sizeof(State) / sizeof(uint32_t)))

static inline __device__ void store_words(uint64_t *to, const uint64_t (&word)[1])
{
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word[0])
                 : "memory");
}

/* Two words with one access. Each of them has its epoch, so they may become visible one after the
 * other. */
static inline __device__ void store_words(uint64_t *to, const uint64_t (&word)[2])
{
    asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word[0]), "l"(word[1])
                 : "memory");
}

static inline __device__ void load_words(uint64_t (&word)[1], const uint64_t *from)
{
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];"
                 : "=l"(word[0])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}
static inline __device__ void load_words(uint64_t (&word)[2], const uint64_t *from)
{
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(word[0]), "=l"(word[1])
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
}

template <int W, typename State>
static __device__ void make_words(uint64_t (&word)[W], State x, uint32_t epoch)
{
    uint32_t part[W];
    memcpy(part, &x, sizeof part);
#pragma unroll
    for (int i = 0; i < W; i++) word[i] = (uint64_t)epoch << 32 | part[i];
}

/* Loads a state. Returns whether it is that of this epoch. */
template <typename State>
static __device__ bool load_state(State &x, const uint64_t *from, uint32_t epoch)
{
    const int W = STATE_WORDS(State);
    uint64_t word[W];
    uint32_t part[W];
    bool is = true;
    load_words(word, from);
#pragma unroll
    for (int i = 0; i < W; i++) {
        part[i] = (uint32_t)word[i];
        is &= (uint32_t)(word[i] >> 32) == epoch;
    }
    memcpy(&x, part, sizeof x);
    return is;
}

/* ---- the kernel ------------------------------------------------------------------------------ */

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

cudaError_t peer_exchange(const struct part *p, const struct peers *peers, cudaStream_t stream)
{
    if (p->ranks > MANY_PEERS) return cudaErrorInvalidValue;
    struct many_part own = peer_entries_of(p->shape, p->ranks, p->rank);
    struct entries e = {peer_entries(p->shape, p->ranks), (unsigned)own.begin, (unsigned)own.count,
                        (unsigned)many_nodes_of(p->shape, p->ranks, p->rank).count,
                        (unsigned)p->ranks - 1};
    unsigned threads = (e.all + LANES - 1) / LANES * LANES;
    return launch_for(p->op, [&](auto op) {
        typedef typename decltype(op)::State State;
        return launch_kernel(exchange_nodes<decltype(op)>, 1, threads, 0, stream, op, e,
                             (const State *)p->node_sums, (State *)p->node_prefix, *peers);
    });
}
