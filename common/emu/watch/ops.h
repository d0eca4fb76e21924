/*
 * ops.h — what the files of racecheck between operations share: race_stream_order.c orders the
 * operations, race_streams.c keeps their accesses and compares them, ops_report.c reports.
 */
#ifndef EMU_RACE_OPS_H
#define EMU_RACE_OPS_H

#include "race.h"
#include "stream_ops.h"

/* For each chain of operations, the number of those that come before. */
struct op_clock {
    uint32_t *time;
    size_t chains;
};

/* A source line of a kernel, by the number that its places have in records. */
struct op_place {
    const char *file; /* kept in struct stream_ops; NULL: unknown */
    unsigned line, ptx_line;
};
/* A kernel's name and lines: its module may be unloaded before a finding names them. */
struct op_code {
    char *kernel;
    unsigned place_count;
    struct op_place places[];
};

struct op_state {
    struct stream_op_info info;
    uint32_t chain, time; /* it is the time-th operation of its chain, counted from 1 */
    struct op_clock clock;
    struct op_code *code; /* of a kernel that has run */
};

/* An access of the host's side: rows of bytes. Or of a condition. */
struct op_range {
    stream_op op;
    uint64_t address;
    struct emu_rows rows;
    bool writes;
    unsigned place; /* of a kernel that sets a condition: a number as in records */
};

enum { MOST_RACES = EMU_MAX_PEERS + 1, MOST_DEVICES = EMU_MAX_PEERS + 1 };

struct stream_ops {
    pthread_mutex_t lock;
    bool off; /* out of memory, or too many chains: nothing is reported any more */

    /* The operations from number `first` on. Those before are over for the host. */
    struct op_state *ops;
    size_t count, room;
    stream_op first;
    struct op_chain {
        stream_op last;
        uint32_t time; /* of the last one */
    } * chains;
    size_t chain_count;
    struct op_clock host; /* what the host has waited for */
    /* By device: all operations, those of blocking streams, those of the legacy stream. */
    struct op_clock all[MOST_DEVICES], blocking[MOST_DEVICES], legacy[MOST_DEVICES];

    struct race *races[MOST_RACES]; /* racecheck's states of the devices */
    struct shadow history;          /* of kernels that are not over: see race_streams.c */
    bool has_atomics;               /* some of them have atomics */
    struct op_range *ranges;
    size_t range_count, range_room;

    char **files; /* names of source files */
    size_t file_count;
};

/* ---- race_stream_order.c; the lock is held --------------------------------------------------- */

/* NULL: it is over. */
struct op_state *op_at(const struct stream_ops *, stream_op);
/* Does the first come before the second? Is there any order between them? */
bool op_is_before(const struct stream_ops *, stream_op, stream_op);
bool op_is_ordered(const struct stream_ops *, stream_op, stream_op);
/* Is there an operation that is neither before this one nor after it? */
bool op_has_rivals(const struct stream_ops *, stream_op);
/* Lets the second come after the first. */
void op_connect(struct stream_ops *, stream_op, stream_op);
/* The host has waited for it. */
void op_wait(struct stream_ops *, stream_op);

/* Two accesses of the same bytes that nothing orders; `count` times, first at `address`. */
struct op_conflict {
    record now, before;
    bool now_writes, before_wrote;
    uint64_t address, count;
};

/* One operation is compared with others. */
enum { MOST_CONFLICTS = 64 };
struct op_comparison {
    struct stream_ops *ops;
    stream_op op;
    stream_op asked; /* the operation that was asked for last, */
    bool is_ordered; /* and whether it is before or after `op` */
    struct op_conflict conflicts[MOST_CONFLICTS];
    size_t count;
};

/* ---- race_streams.c -------------------------------------------------------------------------- */

/* The devices that share these operations; NULL: operations are not observed. */
bool race_ops_join(struct race *, struct stream_ops *);
void race_ops_leave(struct race *);
/* A launch begins: the accesses of the last one go into the history. */
void race_ops_begin_launch(struct race *);
/* A launch has ended: compares its accesses with those of other operations. */
void race_ops_end_launch(struct race *, const struct launch *);
/* And the conditions of graphs that it has set. */
void race_ops_end_conditions(struct race *, const struct launch *);
/* Drops all accesses, since all operations are over. With the lock held. */
void race_ops_drop_all(struct stream_ops *);
/* Memory is freed. */
void race_ops_forget(struct race *, uint64_t address, uint64_t bytes);
/* The record of an access as the history keeps it. */
record op_cell(const struct record_layout *, record, stream_op);
/* Of a record: is the access strong? In the plane `which` of a granule, does it write? */
bool op_is_strong(record);
bool op_writes(int which, record);
void op_add_conflict(struct op_comparison *, struct op_conflict);

/* ---- race_children.c ------------------------------------------------------------------------- */

/* Compares the launch that has ended with the grids that have launched it. The lock is held. */
void race_families_compare(struct op_comparison *, struct race *);
void race_families_forget(struct race *, uint64_t address, uint64_t bytes);

/* ---- ops_report.c ---------------------------------------------------------------------------- */

/* An access of an operation, as the history keeps it: a record with the operation in place of
 * block, time and thread. */
enum { OP_PLACE_BITS = 16, OP_PLACE_AT = THREAD_AT, OP_AT = OP_PLACE_AT + OP_PLACE_BITS };
static inline stream_op op_of(record v) { return v >> OP_AT; }
static inline unsigned op_place_of(record v)
{
    return v >> OP_PLACE_AT & ((1u << OP_PLACE_BITS) - 1);
}

/* The code of the launch that has just ended. NULL: out of memory. */
struct op_code *op_code_of(struct stream_ops *, const struct race *, const struct launch *);
/* Reports it once for each pair of places. emu->lock is held. */
void op_report(struct stream_ops *, struct emu *, const struct launch *,
               const struct op_conflict *);

#endif
