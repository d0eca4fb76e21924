/*
 * stream_ops.h — the operations that a program puts into streams and graphs (kernels, copies,
 * fills, host functions, allocations), and which of them come before which.
 *
 * The emulator carries them out one after the other. On a GPU two of them may run at the same time
 * unless streams, events, edges of a graph or the host order them. racecheck reports accesses of
 * two such operations (race_streams.c).
 *
 * Each operation has a vector clock. Its entries stand for chains: operations of which each comes
 * after the one before. A stream is a chain, and so is a path of a graph. Operations that the host
 * has waited for come before all later ones, of whichever host thread: how host threads wait for
 * each other is not observed, so this never makes an order too short. Such operations are dropped.
 *
 * The runtime says what an operation comes after (runtime/order.c). All functions may be
 * called by several host threads at once.
 */
#ifndef EMU_STREAM_OPS_H
#define EMU_STREAM_OPS_H

#include "common/emu/emu.h"

struct stream_ops;
/* The number of an operation; 0: none. Later operations have higher numbers. */
typedef uint64_t stream_op;

/* Those of a process, until it ends. NULL: out of memory. */
struct stream_ops *stream_ops_open(void);
/* Has it stopped comparing operations, because too many could run at the same time, or memory ran
 * out? */
bool stream_ops_off(struct stream_ops *);

/* How a stream relates to the legacy default stream of its device. STREAM_ALONE: not at all, as
 * nodes of graphs and streams of cudaStreamNonBlocking. */
enum stream_kind { STREAM_LEGACY, STREAM_BLOCKING, STREAM_ALONE };

enum stream_op_kind {
    STREAM_OP_MARK, /* accesses nothing: an event, or the begin or end of a graph */
    STREAM_OP_KERNEL,
    STREAM_OP_COPY,
    STREAM_OP_FILL,
    STREAM_OP_HOST,
    STREAM_OP_LIBRARY,
    STREAM_OP_CONDITION, /* a conditional node of a graph decides */
    STREAM_OP_ALLOC,
    STREAM_OP_FREE,
};

/* An operation, as the runtime describes it. */
struct stream_op_info {
    enum stream_op_kind kind;
    enum stream_kind stream_kind;
    int device;
    unsigned long long stream; /* its number, for reports */
    bool in_graph;
    const char *library; /* of STREAM_OP_LIBRARY: the function */
    stream_op launcher;  /* the kernel that has launched it; 0: the host has */
    struct emu_host_place place; /* where the program called the runtime */
};

/* Begins an operation that comes after these (0: none) and after all that the host has waited for.
 * Returns its number; 0: out of memory, and then nothing is said about it. */
stream_op stream_op_begin(struct stream_ops *, const struct stream_op_info *,
                          const stream_op *needs, size_t count);
/* The host has waited for an operation; for all of a device. */
void stream_op_wait(struct stream_ops *, stream_op);
void stream_ops_wait_device(struct stream_ops *, int device);

/* An operation of the host's side reads or writes memory: the rows begin at `address`, as those
 * that emu_read_rows() reads (from_row, from_slice). Reports accesses of other operations that
 * nothing orders, among the findings of this device. */
void stream_op_access(struct stream_ops *, struct emu *, stream_op, uint64_t address,
                      const struct emu_rows *, bool writes);
/* The same for a caller that has the device's lock. */
void stream_op_access_locked(struct stream_ops *, struct emu *, stream_op, uint64_t address,
                             const struct emu_rows *, bool writes);

/* The condition of a graph counts as the word at STREAM_CONDITIONS +
 * STREAM_CONDITION_BYTES * handle, where no memory is. */
#define STREAM_CONDITIONS (UINT64_C(1) << 63)
enum { STREAM_CONDITION_BYTES = 4 };

#endif
