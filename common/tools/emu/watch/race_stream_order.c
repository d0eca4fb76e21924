/* race_stream_order.c — the order of operations of streams and graphs. */
#include "race.h"

/* More chains than this make the clocks too large, and more operations that the host has not waited
 * for take too much memory: the oldest are dropped as if it had. */
enum { MOST_CHAINS = 1024, MOST_OPS = 1 << 16, FIRST_ROOM = 64 };

/* ---- clocks ---------------------------------------------------------------------------------- */

static uint32_t time_of(const struct op_clock *clock, size_t chain)
{
    return chain < clock->chains ? clock->time[chain] : 0;
}

static void set_time(struct op_clock *clock, size_t chain, uint32_t time)
{
    if (chain >= clock->chains) {
        uint32_t *grown = allocated(realloc(clock->time, (chain + 1) * sizeof *grown));
        memset(grown + clock->chains, 0, (chain + 1 - clock->chains) * sizeof *grown);
        *clock = (struct op_clock){grown, chain + 1};
    }
    if (clock->time[chain] < time) clock->time[chain] = time;
}

static void join(struct op_clock *into, const struct op_clock *more)
{
    for (size_t chain = more->chains; chain-- > 0;) set_time(into, chain, more->time[chain]);
}

/* ---- the operations -------------------------------------------------------------------------- */

struct op_state *op_at(const struct stream_ops *ops, stream_op number)
{
    return number >= ops->first && number < ops->first + ops->count ? &ops->ops[number - ops->first]
                                                                    : NULL;
}

bool op_is_before(const struct stream_ops *ops, stream_op before, stream_op number)
{
    const struct op_state *a = op_at(ops, before), *b = op_at(ops, number);
    return !a || (b && time_of(&b->clock, a->chain) >= a->time);
}

bool op_is_ordered(const struct stream_ops *ops, stream_op a, stream_op b)
{
    return op_is_before(ops, a, b) || op_is_before(ops, b, a);
}

bool op_has_rivals(const struct stream_ops *ops, stream_op number)
{
    const struct op_state *op = op_at(ops, number);
    for (size_t chain = 0; op && chain < ops->chain_count; chain++)
        if (!op_is_ordered(ops, ops->chains[chain].last, number)) return true;
    return false;
}

void op_connect(struct stream_ops *ops, stream_op before, stream_op number)
{
    const struct op_state *a = op_at(ops, before);
    struct op_state *b = op_at(ops, number);
    if (a && b) join(&b->clock, &a->clock);
    if (a && b && b->early) join(&b->early->begun, &a->clock);
}

static void op_free(struct op_state *op)
{
    free(op->clock.time);
    if (op->early) free(op->early->begun.time);
    free(op->early);
    if (op->code) free(op->code->kernel);
    free(op->code);
}

static void drop_first(struct stream_ops *ops, size_t count)
{
    for (size_t i = 0; i < count; i++) op_free(&ops->ops[i]);
    memmove(ops->ops, ops->ops + count, (ops->count - count) * sizeof *ops->ops);
    ops->count -= count;
    ops->first += count;
    if (!ops->count) race_ops_drop_all(ops);
}

/* Drops the oldest operations, as far as the host has waited for them. */
static void drop_over(struct stream_ops *ops)
{
    size_t over = 0;
    while (over < ops->count && time_of(&ops->host, ops->ops[over].chain) >= ops->ops[over].time)
        over++;
    if (over) drop_first(ops, over);
}

static void make_room(struct stream_ops *ops)
{
    if (ops->count == MOST_OPS) drop_first(ops, MOST_OPS / 2);
    if (ops->count < ops->room) return;
    ops->room = ops->room ? 2 * ops->room : FIRST_ROOM;
    ops->ops = allocated(realloc(ops->ops, ops->room * sizeof *ops->ops));
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* Does everything in a chain come before an operation with this clock? */
static bool continues(const struct stream_ops *ops, size_t chain, const struct op_clock *clock)
{
    return time_of(clock, chain) >= ops->chains[chain].time || ops->chains[chain].last < ops->first;
}

/* The chain for an operation that comes after `needs`: one of theirs, or any that it continues, or
 * a new one. False: there are too many. */
static bool find_chain(struct stream_ops *ops, const struct op_clock *clock, const stream_op *needs,
                       size_t count, size_t *chain)
{
    for (size_t i = 0; i < count; i++) {
        const struct op_state *need = op_at(ops, needs[i]);
        if (need && continues(ops, *chain = need->chain, clock)) return true;
    }
    for (*chain = 0; *chain < ops->chain_count; ++*chain)
        if (continues(ops, *chain, clock)) return true;
    if (ops->chain_count == MOST_CHAINS) return false;
    ops->chains = allocated(realloc(ops->chains, (ops->chain_count + 1) * sizeof *ops->chains));
    ops->chains[ops->chain_count++] = (struct op_chain){0, 0};
    return true;
}

/* ---- beginning ------------------------------------------------------------------------------- */

/* What an operation comes after, beyond what the program says: work in the legacy stream, and work
 * in a blocking stream, come after each other. */
static void join_before(struct stream_ops *ops, const struct stream_op_info *info,
                        const stream_op *needs, size_t count, struct op_clock *clock)
{
    join(clock, &ops->host);
    for (size_t i = 0; i < count; i++) {
        const struct op_state *need = op_at(ops, needs[i]);
        if (need) join(clock, &need->clock);
    }
    if (info->stream_kind != STREAM_ALONE) join(clock, &ops->legacy[info->device]);
    if (info->stream_kind == STREAM_LEGACY) join(clock, &ops->blocking[info->device]);
}

static void join_after(struct stream_ops *ops, const struct stream_op_info *info,
                       const struct op_clock *clock)
{
    join(&ops->all[info->device], clock);
    if (info->stream_kind == STREAM_LEGACY) join(&ops->legacy[info->device], clock);
    if (info->stream_kind == STREAM_BLOCKING) join(&ops->blocking[info->device], clock);
}

/* ---- kernels that begin early ---------------------------------------------------------------- */

/* Such a kernel waits for others by griddepcontrol.wait. It has two clocks. One is its place in the
 * order of operations, for all that comes after it. The other, in struct op_early, says what is
 * over when its first threads run: what the kernels that it waits for come after. If one of them
 * has begun early and has not waited, that is no more than what was over when that one began. */

bool op_waits_for(const struct op_state *op, stream_op other)
{
    for (size_t k = 0; k < op->early->count; k++)
        if (op->early->needs[k] == other) return true;
    return false;
}

bool op_is_over(const struct stream_ops *ops, stream_op before, stream_op number, bool has_waited)
{
    const struct op_state *a = op_at(ops, before), *b = op_at(ops, number);
    if (!a || !b || time_of(&b->clock, a->chain) < a->time) return true;
    return time_of(&b->early->begun, a->chain) >= a->time ||
           (has_waited && op_waits_for(b, before));
}

stream_op stream_op_last_kernel(struct stream_ops *ops, const struct stream_op_info *now)
{
    stream_op last = 0;
    pthread_mutex_lock(&ops->lock);
    for (size_t k = ops->count; k-- > 0;) {
        const struct stream_op_info *info = &ops->ops[k].info;
        bool is_same =
            info->stream == now->stream && info->device == now->device && !info->in_graph;
        bool may_order = info->device == now->device && info->stream_kind != now->stream_kind &&
                         info->stream_kind != STREAM_ALONE && now->stream_kind != STREAM_ALONE;
        if (is_same && info->kind == STREAM_OP_KERNEL) last = ops->first + k;
        if (is_same || may_order) break;
    }
    pthread_mutex_unlock(&ops->lock);
    return last;
}

static struct op_early *early_of(const struct stream_ops *ops, const struct stream_op_info *info,
                                 const stream_op *needs, size_t count)
{
    struct op_early *early =
        allocated(calloc(1, sizeof *early + info->early * sizeof *early->needs));
    join(&early->begun, &ops->host);
    for (size_t i = 0; i < count; i++) {
        const struct op_state *need = op_at(ops, needs[i]);
        bool is_waited_for = need && i < info->early && need->info.kind == STREAM_OP_KERNEL,
             has_gap = is_waited_for && need->early && need->early->never_waited;
        if (!need) continue;
        const struct op_clock *clock = has_gap ? &need->early->begun : &need->clock;
        for (size_t chain = clock->chains; chain-- > 0;) {
            bool is_itself = is_waited_for && chain == need->chain && !has_gap;
            set_time(&early->begun, chain, clock->time[chain] - is_itself);
        }
        if (is_waited_for) early->needs[early->count++] = needs[i];
        early->has_gap |= has_gap;
    }
    return early;
}

static bool begin(struct stream_ops *ops, const struct stream_op_info *info, const stream_op *needs,
                  size_t count)
{
    struct op_state op = {.info = *info};
    size_t chain;
    make_room(ops);
    join_before(ops, info, needs, count, &op.clock);
    if (!find_chain(ops, &op.clock, needs, count, &chain)) {
        free(op.clock.time);
        return false;
    }
    if (info->early) op.early = early_of(ops, info, needs, count);
    op.chain = (uint32_t)chain;
    op.time = ops->chains[chain].time + 1;
    set_time(&op.clock, chain, op.time);
    join_after(ops, info, &op.clock);
    ops->chains[chain] = (struct op_chain){ops->first + ops->count, op.time};
    ops->ops[ops->count++] = op;
    return true;
}

stream_op stream_op_begin(struct stream_ops *ops, const struct stream_op_info *info,
                          const stream_op *needs, size_t count)
{
    pthread_mutex_lock(&ops->lock);
    if (!ops->off && !begin(ops, info, needs, count)) ops->off = true;
    stream_op number = ops->off ? 0 : ops->first + ops->count - 1;
    pthread_mutex_unlock(&ops->lock);
    return number;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void wait_for(struct stream_ops *ops, const struct op_clock *clock)
{
    join(&ops->host, clock);
    drop_over(ops);
}

void op_wait(struct stream_ops *ops, stream_op number)
{
    const struct op_state *op = op_at(ops, number);
    if (op) wait_for(ops, &op->clock);
}

void stream_op_wait(struct stream_ops *ops, stream_op number)
{
    pthread_mutex_lock(&ops->lock);
    op_wait(ops, number);
    pthread_mutex_unlock(&ops->lock);
}

void stream_ops_wait_device(struct stream_ops *ops, int device)
{
    pthread_mutex_lock(&ops->lock);
    wait_for(ops, &ops->all[device]);
    pthread_mutex_unlock(&ops->lock);
}

/* ---- opening --------------------------------------------------------------------------------- */

struct stream_ops *stream_ops_open(void)
{
    struct stream_ops *ops = allocated(calloc(1, sizeof *ops));
    ops->first = 1;
    pthread_mutex_init(&ops->lock, NULL);
    shadow_open(&ops->history, NULL);
    return ops;
}

bool stream_ops_off(struct stream_ops *ops)
{
    pthread_mutex_lock(&ops->lock);
    bool off = ops->off;
    pthread_mutex_unlock(&ops->lock);
    return off;
}
