/*
 * part.h — how elements are divided among tiles, nodes and ranks; and the kernels of a rank, for
 * programs in C. None of them waits for another rank, but that of peer.cu.
 *
 * The tree of combinations. In each of its levels parts are combined in the order of the elements,
 * so that operators need not commute. n and the type alone fix it. The number of ranks does not
 * change it, because a rank has whole nodes.
 *   vector   16 bytes of one array: 4 elements of 4 bytes or 2 of 8, which a lane loads at a time
 *   row      the vectors of the 32 lanes of a warp
 *   segment  512 elements, 4 or 8 rows: what a warp scans
 *   tile     8 segments, 4096 elements: what a block scans
 *   node     2^k tiles, with the smallest k that gives at most MANY_NODES nodes. The ranks
 *            exchange the sums of nodes
 *
 * What is still bad: the parts of the ranks differ by up to one node. A scan of more than 1024
 * tiles has 513 to 1024 nodes. For 100 ranks one node is 10 % of a part (20 % with 513 nodes). For
 * 1000 ranks, some parts are twice as long as others, or some ranks have no elements.
 */
#ifndef STEP17_PART_H
#define STEP17_PART_H

#include <cuda_runtime.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MANY_SEGMENT  512
#define MANY_SEGMENTS 8 /* in a tile */
#define MANY_TILE     ((size_t)MANY_SEGMENTS * MANY_SEGMENT)
#define MANY_NODES    1024 /* at most: one block combines their sums, a thread for each */
#define MANY_RANKS    1024 /* at most */
#define MANY_PEERS    32   /* ranks at most that exchange by peer memory */
/* Threads at most of a block that scans sums. It scans this many tiles of a node at a time. */
#define MANY_SUM_THREADS 1024

/* The tree of n elements. */
struct many_shape {
    size_t n, tiles, node_tiles; /* the last node, and the last tile, may be shorter */
    unsigned nodes;
};

static inline struct many_shape many_shape_of(size_t n)
{
    struct many_shape s = {n, n / MANY_TILE + (n % MANY_TILE > 0), 1, 0};
    while ((s.tiles + s.node_tiles - 1) / s.node_tiles > MANY_NODES) s.node_tiles *= 2;
    s.nodes = (unsigned)((s.tiles + s.node_tiles - 1) / s.node_tiles);
    return s;
}

/* Neighbours: of all nodes, of all tiles or of all elements. */
struct many_part {
    size_t begin, count;
};

/* The nodes of a rank. There may be none. */
static inline struct many_part many_nodes_of(struct many_shape s, int ranks, int rank)
{
    size_t begin = (size_t)s.nodes * (size_t)rank / (size_t)ranks;
    size_t end = (size_t)s.nodes * ((size_t)rank + 1) / (size_t)ranks;
    struct many_part part = {begin, end - begin};
    return part;
}

/* The tiles, or the elements, of some nodes: `per_node` of them are in a node, `all` in all. */
static inline struct many_part many_within(struct many_part nodes, size_t per_node, size_t all)
{
    size_t begin = nodes.begin * per_node, end = (nodes.begin + nodes.count) * per_node;
    if (begin > all) begin = all;
    if (end > all) end = all;
    struct many_part part = {begin, end - begin};
    return part;
}

/* The tiles of a rank. */
static inline struct many_part many_tiles_of(struct many_shape s, int ranks, int rank)
{
    return many_within(many_nodes_of(s, ranks, rank), s.node_tiles, s.tiles);
}

/* The elements of a rank. */
static inline struct many_part many_part_of(size_t n, int ranks, int rank)
{
    struct many_shape s = many_shape_of(n);
    return many_within(many_nodes_of(s, ranks, rank), s.node_tiles * MANY_TILE, n);
}

/* The most combinations between an element and a result, for bounds of rounding errors. Each sum is
 * combined up to the next one: the sum of the tile, the sum of the tiles before a tile in its node,
 * the sum of the nodes before a node, the result. A node is scanned MANY_SUM_THREADS tiles at a
 * time, and each time adds a combination. */
static inline int many_depth(size_t n)
{
    const int to_tile = 13, to_tiles_before = 11, to_nodes_before = 11, to_result = 7;
    size_t times = (many_shape_of(n).node_tiles + MANY_SUM_THREADS - 1) / MANY_SUM_THREADS;
    return to_tile + to_tiles_before + (int)times + to_nodes_before + to_result;
}

/* Where the sums of all nodes lie side by side, each rank has as many slots as the rank with the
 * most nodes. */
static inline unsigned many_slots(unsigned nodes, int ranks)
{
    return (nodes + (unsigned)ranks - 1) / (unsigned)ranks;
}

/* How the ranks exchange the sums of their nodes. */
enum many_exchange {
    EXCHANGE_MPI,    /* an all-gather by MPI, through the host's memory */
    EXCHANGE_NCCL,   /* ncclAllGather. Only if the program was built with NCCL */
    EXCHANGE_PEER,   /* stores into other GPUs' memory. At most MANY_PEERS ranks, on one machine */
    EXCHANGE_EXSCAN, /* MPI_Exscan of one sum per rank: sums of floats then depend on the ranks */
    EXCHANGE_ANY     /* ./step17 chooses; no exchange of the library */
};

/* ---- operators ------------------------------------------------------------------------------- */

/* What an operator does, on the CPU. The kernels use step 16's operators.cuh. */

/* Sums; and h = a h + b, from h = 0 on, with two inputs a and b. */
enum many_op { MANY_SUM_F32, MANY_SUM_F64, MANY_SUM_I32, MANY_SUM_I64, MANY_AFFINE_F32, MANY_OPS };

/* What is combined: a sum, or the map h -> a h + b. */
union many_state {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
    struct {
        float a, b;
    } affine;
};

/* The bytes of an element, and of a state in device memory. */
static inline size_t many_element_bytes(enum many_op op)
{
    return op == MANY_SUM_F64 || op == MANY_SUM_I64 ? 8 : 4;
}

static inline size_t many_state_bytes(enum many_op op)
{
    return op == MANY_AFFINE_F32 ? 8 : many_element_bytes(op);
}

static inline union many_state many_identity(enum many_op op)
{
    union many_state s;
    s.i64 = 0;
    if (op == MANY_AFFINE_F32) s.affine.a = 1;
    return s;
}

/* Integers wrap: they are added as unsigned ones. */
static inline union many_state many_combine(enum many_op op, union many_state left,
                                            union many_state right)
{
    union many_state s = many_identity(op);
    switch (op) {
    case MANY_SUM_F32: s.f32 = left.f32 + right.f32; break;
    case MANY_SUM_F64: s.f64 = left.f64 + right.f64; break;
    case MANY_SUM_I32: s.i32 = (int32_t)((uint32_t)left.i32 + (uint32_t)right.i32); break;
    case MANY_SUM_I64: s.i64 = (int64_t)((uint64_t)left.i64 + (uint64_t)right.i64); break;
    default:
        s.affine.a = right.affine.a * left.affine.a;
        s.affine.b = fmaf(right.affine.a, left.affine.b, right.affine.b);
    }
    return s;
}

/* ---- the kernels of a rank ------------------------------------------------------------------- */

/*
 * A scan has five stages. 1, 2, 4 and 5 are here. 3 is the exchange, after which each rank has the
 * node_sums of all (exchange.h). peer_exchange does 3 and 4 in one kernel.
 *
 * All arrays are device memory, aligned to 16 bytes. Every launch goes into the stream; no call
 * waits. A part without elements launches nothing.
 */

/* A rank's part of a scan. */
struct part {
    enum many_op op;
    struct many_shape shape;
    int ranks, rank;
    void *tile_sums;   /* a state for each of its tiles */
    void *node_sums;   /* a state for each of its many_slots; those of its nodes come first */
    void *node_prefix; /* a state for each of its many_slots */
};

/* 1. tile_sums become the sums of the tiles. */
cudaError_t part_reduce(const struct part *, const void *in, const void *in2, cudaStream_t);

/* 2. tile_sums become the prefixes of the tiles in their node; node_sums the sums of the nodes. */
cudaError_t part_scan_tile_sums(const struct part *, cudaStream_t);

/* 4. After the exchange all_nodes has the node_sums of each rank side by side: node_prefix become
 * the prefixes of this rank's nodes. */
cudaError_t part_scan_nodes(const struct part *, const void *all_nodes, cudaStream_t);

/* 5. The results. */
cudaError_t part_scan(const struct part *, void *out, const void *in, const void *in2,
                      bool inclusive, cudaStream_t);

/* ---- the exchange by peer memory ------------------------------------------------------------- */

/*
 * Device memory of a rank into which the others store their sums. It is cleared at first. It has
 * two halves. Scans use them alternately, by the parity of their number. This number is the epoch,
 * which begins at 1.
 *
 * No store of scan e + 2 overwrites a word of scan e that another rank has still to read. In scan
 * e + 1 each rank sends every other rank at least one word, and waits for all words of every other
 * rank. Rank A stores words of scan e + 2 when its scan e + 1 has ended. Then A has found words of
 * scan e + 1 from each rank B. B has stored them after its scan e had ended, and with it all of B's
 * loads of scan e.
 */
struct mailbox {
    uint64_t half[2][2 * MANY_NODES]; /* an entry is a word, or two for states of 8 bytes */
    /* This rank's own. The kernel loads both numbers with one access. */
    struct progress {
        uint32_t epoch;  /* of the last scan */
        uint32_t failed; /* 1 + an entry that did not come in time; 0: none */
    } progress;
};

/* The entries that a rank sends to each other rank: one for each of its nodes. A rank without nodes
 * sends one, too, so that the others can wait for it. It lies behind those of all nodes. */
static inline struct many_part peer_entries_of(struct many_shape shape, int ranks, int rank)
{
    struct many_part own = many_nodes_of(shape, ranks, rank);
    // Of the ranks before this one, own.begin have a node each.
    if (own.count == 0) own.begin = shape.nodes + (size_t)rank - own.begin, own.count = 1;
    return own;
}

/* The rank that sends an entry. For an entry before `begin` an unsigned wrap makes the difference
 * large. */
static inline int peer_sender_of(struct many_shape shape, int ranks, size_t entry)
{
    int rank = 0;
    while (entry - peer_entries_of(shape, ranks, rank).begin >=
           peer_entries_of(shape, ranks, rank).count)
        rank++;
    return rank;
}

/* The entries of all ranks. */
static inline unsigned peer_entries(struct many_shape shape, int ranks)
{
    return shape.nodes > (unsigned)ranks ? shape.nodes : (unsigned)ranks;
}

/* What the kernel gets as arguments: the addresses need not be loaded from device memory. */
struct peers {
    struct mailbox *mailbox[MANY_PEERS]; /* [r] is that of rank (own rank + r) % ranks */
    uint64_t wait_ns;                    /* for an entry at most */
};

/* Stages 3 and 4 of part.h. Stores the node_sums into all mailboxes, waits for those of the others,
 * and makes node_prefix. A rank without nodes takes part, too. */
cudaError_t peer_exchange(const struct part *, const struct peers *, cudaStream_t);

#ifdef __cplusplus
}
#endif

#endif
