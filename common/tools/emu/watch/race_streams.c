/* race_streams.c — racecheck between operations: which memory they access, and whether something
 * orders two that access the same.
 *
 * A launch's accesses are in the shadow until another launch takes its place. If the host has not
 * waited for it by then, they go into the history: for each granule the last write and two reads,
 * each with its operation. Accesses of the host's side (copies, fills, allocations) are ranges. An
 * operation is compared with the others when it ends, or when the access is made, and only if some
 * operation is neither before it nor after it: programs with one stream pay only for the history.
 *
 * It is incomplete like the shadow: what a granule does not keep is missed, and no hazard is
 * invented.
 *
 * Strong accesses (volatile, relaxed, atomic) of two kernels do not race with each other. A kernel
 * that reads by a strong load what another has written so may have waited for it, by a flag or a
 * lock, although no stream orders the two. From then on it counts as ordered after the other
 * one.
 *
 * Threads of a kernel that begins early are also compared with kernels that the streams order
 * before it, until they have waited for them. */
#include "race.h"

enum { MOST_RANGES = 4096 };

/* ---- the devices ----------------------------------------------------------------------------- */

void race_ops_join(struct race *race, struct stream_ops *ops)
{
    for (int i = 0; ops && i < MOST_RACES && !race->ops; i++) {
        if (ops->races[i]) continue;
        ops->races[i] = race;
        race->ops = ops;
    }
}

void race_ops_leave(struct race *race)
{
    for (int i = 0; race->ops && i < MOST_RACES; i++)
        if (race->ops->races[i] == race) race->ops->races[i] = NULL;
    race->ops = NULL;
}

/* ---- cells of the history -------------------------------------------------------------------- */

record op_cell(const struct record_layout *layout, record v, stream_op op)
{
    if (!record_bytes(v)) return 0;
    return (record)op << OP_AT | (record)record_place(layout, v) << OP_PLACE_AT |
           (v & (RECORD_BYTES | RECORD_KIND));
}

static struct granule cells_of(const struct race *race, const struct shadow_page *page, size_t k)
{
    struct granule g = shadow_granule(&race->shadow.planes, page, k);
    for (int which = 0; which < RECORDS; which++)
        g.access[which] = op_cell(&race->layout, g.access[which], race->ended);
    return g;
}

bool op_is_strong(record v)
{
    return (record_kind(v) & KIND_MASK) != KIND_WEAK && !(record_kind(v) & KIND_NARROW);
}

/* Atomics are kept among the reads. */
bool op_writes(int which, record v)
{
    return which == LAST_WRITE || (record_kind(v) & KIND_MASK) == KIND_ATOMIC;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* The accesses of an operation go into the history. */
struct keeping {
    struct stream_ops *ops;
    const struct race *race;
    stream_op asked; /* the operation that was asked for last, */
    bool is_before;  /* and whether it comes before this one */
};

/* Does the operation of a cell come before the one whose accesses are kept? */
static bool is_past(struct keeping *keeping, record v)
{
    if (keeping->asked != op_of(v)) {
        keeping->asked = op_of(v);
        keeping->is_before = op_is_before(keeping->ops, op_of(v), keeping->race->ended);
    }
    return keeping->is_before;
}

static void keep_writes(struct keeping *keeping, const record *from, struct shadow_page *to)
{
    record *plane = shadow_plane(&keeping->ops->history.planes, to, LAST_WRITE);
    for (size_t k = 0; k < PAGE_GRANULES; k++) {
        if (!from[k]) continue;
        plane[k] = op_cell(&keeping->race->layout, from[k], keeping->race->ended);
        for (int which = READ; which < RECORDS; which++) {
            record *reads = to->plane[which];
            if (reads && reads[k] && is_past(keeping, reads[k]))
                reads[k] = record_without(reads[k], record_bytes(plane[k]));
        }
    }
}

/* Is it enough to keep the read `now` of the two? Atomics are among the reads. */
static bool replaces(struct keeping *keeping, record now, record before)
{
    return !before || (is_past(keeping, before) && !(record_bytes(before) & ~record_bytes(now)) &&
                       (op_writes(READ, now) || !op_writes(READ, before)));
}

static void keep_read(struct keeping *keeping, struct shadow_page *to, record *plane, size_t k,
                      record v)
{
    record now = op_cell(&keeping->race->layout, v, keeping->race->ended);
    if (replaces(keeping, now, plane[k]))
        plane[k] = now;
    else
        shadow_put_other(&keeping->ops->history.planes, to, k, now);
}

static void keep_reads(struct keeping *keeping, const struct shadow_page *from,
                       struct shadow_page *to)
{
    const struct planes *planes = &keeping->race->shadow.planes;
    bool has_other = from->plane[OTHER_READ] || from->short_reads;
    record *plane = shadow_plane(&keeping->ops->history.planes, to, READ);
    for (size_t k = 0; k < PAGE_GRANULES; k++) {
        record read = shadow_record(from, READ, k),
               other = has_other ? shadow_other(planes, from, k) : 0;
        if (read) keep_read(keeping, to, plane, k, read);
        if (other) keep_read(keeping, to, plane, k, other);
    }
}

static bool is_empty(const struct shadow_page *page)
{
    return !page->plane[LAST_WRITE] && !page->plane[READ] && !page->plane[OTHER_READ];
}

/* page->launch is an operation that comes after all others of the page; 0: there is none. */
static void note_page(struct stream_ops *ops, struct page *there, stream_op op)
{
    struct shadow_page *page = (struct shadow_page *)there->content;
    if (is_empty(page)) {
        shadow_note_touched(&ops->history, there->number);
        page->launch = op;
    } else {
        page->launch = page->launch && op_is_before(ops, page->launch, op) ? op : 0;
    }
}

static void keep_page(struct stream_ops *ops, struct race *race, const struct page *page)
{
    const struct shadow_page *from = (const struct shadow_page *)page->content;
    struct keeping keeping = {.ops = ops, .race = race};
    struct page *there = pages_touch(&ops->history.pages, page->number);
    struct shadow_page *to = (struct shadow_page *)there->content;
    note_page(ops, there, race->ended);
    const record *written = from->plane[LAST_WRITE];
    if (written) keep_writes(&keeping, written, to);
    if (from->plane[READ] || from->plane[OTHER_READ] || from->short_reads)
        keep_reads(&keeping, from, to);
}

/* The k-th page that the last launch has accessed; NULL: it has been dropped since. */
static struct page *touched_page(struct race *race, size_t k)
{
    struct page *page = pages_find(&race->shadow.pages, race->shadow.touched[k]);
    bool is_current = page && ((struct shadow_page *)page->content)->launch == race->shadow.launch;
    return is_current ? page : NULL;
}

static void keep_launch(struct stream_ops *ops, struct race *race)
{
    bool is_over = !op_at(ops, race->ended);
    ops->has_atomics = ops->has_atomics || (!is_over && race->has_atomics);
    for (size_t k = 0; k < race->shadow.touched_count && !is_over && !ops->off; k++) {
        const struct page *page = touched_page(race, k);
        if (page) keep_page(ops, race, page);
    }
    race->ended = 0;
}

static void keep_launches(struct stream_ops *ops)
{
    for (int i = 0; i < MOST_RACES; i++)
        if (ops->races[i] && ops->races[i]->ended) keep_launch(ops, ops->races[i]);
}

void race_ops_begin_launch(struct race *race)
{
    pthread_mutex_lock(&race->ops->lock);
    if (race->ended) keep_launch(race->ops, race);
    pthread_mutex_unlock(&race->ops->lock);
}

void race_ops_drop_all(struct stream_ops *ops)
{
    struct shadow *history = &ops->history;
    ops->range_count = 0;
    ops->has_atomics = false;
    for (size_t i = 0; i < history->touched_count; i++) {
        struct page *page = pages_find(&history->pages, history->touched[i]);
        if (page) shadow_page_clear(&history->planes, (struct shadow_page *)page->content);
    }
    history->touched_count = 0;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* Does a row of the range overlap these bytes? Returns the overlap's first address; 0: none. */
static uint64_t overlap(const struct op_range *range, uint64_t address, uint64_t bytes)
{
    const struct emu_rows *rows = &range->rows;
    for (size_t z = 0; z < rows->slices; z++) {
        uint64_t first = range->address + z * rows->from_slice,
                 end = first + (rows->rows - 1) * rows->from_row + rows->bytes;
        if (address >= end || first >= address + bytes) continue;
        size_t y = address > first && rows->rows > 1 ? (address - first) / rows->from_row : 0;
        for (; y < rows->rows; y++) {
            uint64_t row = first + y * rows->from_row, from = row > address ? row : address;
            if (row >= address + bytes) break;
            if (from < row + rows->bytes) return from;
        }
    }
    return 0;
}

static bool same_rows(const struct emu_rows *a, const struct emu_rows *b)
{
    return a->bytes == b->bytes && a->rows == b->rows && a->slices == b->slices &&
           a->from_row == b->from_row && a->from_slice == b->from_slice;
}

/* Drops ranges of operations that are over; and the oldest half, if none is. */
static void thin_out(struct stream_ops *ops)
{
    size_t kept = 0, all = ops->range_count;
    for (size_t i = 0; i < all; i++)
        if (op_at(ops, ops->ranges[i].op)) ops->ranges[kept++] = ops->ranges[i];
    if (kept == MOST_RANGES) {
        kept /= 2;
        memmove(ops->ranges, ops->ranges + kept, kept * sizeof *ops->ranges);
    }
    ops->range_count = kept;
}

static void keep_range(struct stream_ops *ops, const struct op_range *new)
{
    for (size_t i = 0; i < ops->range_count; i++) {
        struct op_range *r = &ops->ranges[i];
        if (r->address != new->address || r->writes != new->writes ||
            !same_rows(&r->rows, &new->rows) || !op_is_before(ops, r->op, new->op))
            continue;
        *r = *new;
        return;
    }
    if (ops->range_count == MOST_RANGES) thin_out(ops);
    ops->ranges = grown(ops->ranges, ops->range_count, sizeof *ops->ranges);
    ops->ranges[ops->range_count++] = *new;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_unordered(struct op_comparison *c, stream_op other)
{
    if (c->asked != other) {
        c->asked = other;
        c->is_ordered = c->is_early ? op_is_over(c->ops, other, c->op, c->has_waited)
                                    : op_is_ordered(c->ops, other, c->op);
    }
    return !c->is_ordered;
}

void op_add_conflict(struct op_comparison *c, struct op_conflict new)
{
    new.now &= ~RECORD_BYTES;
    new.before &= ~RECORD_BYTES;
    for (size_t i = 0; i < c->count; i++) {
        struct op_conflict *known = &c->conflicts[i];
        if (known->now != new.now || known->before != new.before ||
            known->now_writes != new.now_writes || known->before_wrote != new.before_wrote)
            continue;
        known->count++;
        return;
    }
    new.count = 1;
    if (c->count < MOST_CONFLICTS) c->conflicts[c->count++] = new;
}

static void compare_cells(struct op_comparison *c, uint64_t address, const struct granule *now,
                          const struct granule *before)
{
    for (int k = 0; k < RECORDS; k++) {
        record b = before->access[k];
        bool before_wrote = op_writes(k, b);
        if (!record_bytes(b) || !is_unordered(c, op_of(b))) continue;
        for (int i = 0; i < RECORDS; i++) {
            record a = now->access[i];
            unsigned both = record_bytes(a) & record_bytes(b);
            bool now_writes = op_writes(i, a);
            if (both && (now_writes || before_wrote) && !(op_is_strong(a) && op_is_strong(b)))
                op_add_conflict(c,
                                (struct op_conflict){a, b, now_writes, before_wrote,
                                                     address + (unsigned)__builtin_ctz(both), 0});
        }
    }
}

/* The bytes of a granule that a range accesses. */
static unsigned bytes_in(const struct op_range *range, uint64_t address)
{
    unsigned bytes = 0;
    for (unsigned k = 0; k < GRANULE; k++)
        if (overlap(range, address + k, 1)) bytes |= 1u << k;
    return bytes;
}

/* A granule as the range accesses it. */
static struct granule cells_of_range(const struct op_range *range, uint64_t address)
{
    struct granule g = {{0}};
    record v = (record)range->op << OP_AT | bytes_in(range, address);
    if (record_bytes(v)) g.access[range->writes ? LAST_WRITE : READ] = v;
    return g;
}

/* ---- kernels that wait for a flag ------------------------------------------------------------ */

static bool is_strong_code(const struct insn *i) { return (i->order & ORDER_KIND) != ORDER_WEAK; }

/* Has the kernel a strong load, or an atomic? */
static bool may_wait(const struct race *race, const struct emu_kernel *kernel)
{
    bool loads = false;
    for (size_t n = 0; n < kernel->code_count; n++)
        loads |= kernel->code[n].tally == TALLY_LOAD && is_strong_code(&kernel->code[n]);
    return loads || race->has_atomics;
}

/* Does the kernel act on what an atomic returns, as a lock or a ticket does? */
static bool acts_on_atomics(struct race *race, const struct emu_kernel *kernel)
{
    for (size_t n = 0; n < kernel->code_count && n < UNKNOWN_PLACE; n++)
        if (kernel->code[n].tally == TALLY_ATOMIC &&
            (race_tries_again(race, kernel, n) || race_compares(race, kernel, n)))
            return true;
    return false;
}

/* Orders the launch after kernels that it may have waited for in this granule. */
static void order_by_flag(struct op_comparison *c, bool by_atomics, const struct granule *now,
                          const struct granule *before)
{
    for (int i = READ; i < RECORDS; i++)
        for (int k = 0; k < RECORDS; k++) {
            record read = now->access[i], wrote = before->access[k];
            if (!record_bytes(read) || !record_bytes(wrote) || !op_writes(k, wrote) ||
                !op_is_strong(read) || !op_is_strong(wrote) ||
                (op_writes(i, read) && !by_atomics) || !is_unordered(c, op_of(wrote)))
                continue;
            op_connect(c->ops, op_of(wrote), c->op);
            c->asked = 0;
        }
}

/* ---- a launch that begins early -------------------------------------------------------------- */

/* Its accesses are compared with the history when they are made, since their order with earlier
 * kernels changes when a thread waits. */

void race_early_begin(struct race *race, const struct launch *launch)
{
    struct stream_ops *ops = race->ops;
    free(race->early);
    race->early = NULL;
    race->has_waited = false;
    pthread_mutex_lock(&ops->lock);
    const struct op_state *op = op_at(ops, launch->operation);
    if (op && op->early && !ops->off) {
        race->early = allocated(malloc(sizeof *race->early));
        *race->early = (struct op_comparison){.ops = ops,
                                              .op = launch->operation,
                                              .is_early = true,
                                              .has_gap = op->early->has_gap,
                                              .by_atomics = acts_on_atomics(race, launch->kernel)};
    }
    pthread_mutex_unlock(&ops->lock);
}

bool race_early_matters(const struct warp *w, uint32_t lanes)
{
    bool matters = w->block->racecheck->device->early->has_gap;
    for (; lanes && !matters; lanes &= lanes - 1)
        matters = !lane_has_waited(w, __builtin_ctz(lanes));
    return matters;
}

void race_early_access(const struct lane_access *t)
{
    struct op_comparison *c = t->owner->device->early;
    bool has_waited = lane_has_waited(t->w, t->lane);
    if (has_waited && !c->has_gap) return;
    pthread_mutex_lock(&c->ops->lock);
    const struct page *page = pages_find(&c->ops->history.pages, t->address >> PAGE_BITS);
    if (page) {
        const struct shadow_page *content = (const struct shadow_page *)page->content;
        struct granule now = {{0}}, before = shadow_granule(&c->ops->history.planes, content,
                                                            t->address % PAGE_BYTES / GRANULE);
        now.access[t->reads ? READ : LAST_WRITE] = op_cell(t->layout, t->record, c->op);
        c->asked = 0;
        c->has_waited = has_waited;
        order_by_flag(c, c->by_atomics, &now, &before);
        compare_cells(c, t->address, &now, &before);
    }
    pthread_mutex_unlock(&c->ops->lock);
}

/* Reports what it has found, unless a flag has ordered the two since. */
static void end_early(struct race *race, struct op_state *op, const struct launch *launch)
{
    const struct op_comparison *c = race->early;
    if (!c) return;
    op->early->never_waited = !race->has_waited;
    for (size_t i = 0; i < c->count; i++)
        if (!op_is_over(c->ops, op_of(c->conflicts[i].before), c->op, false))
            op_report(c->ops, launch->emu, launch, &c->conflicts[i]);
}

/* ---- a launch that has ended ----------------------------------------------------------------- */

/* A page of the launch, with the same one of the history. */
struct two_pages {
    const struct shadow_page *now, *before;
    uint64_t address;
};

/* False: they have no accesses in common that could be without an order. */
static bool find_pages(struct op_comparison *c, struct race *race, size_t k,
                       struct two_pages *pages)
{
    const struct page *now = touched_page(race, k);
    const struct page *before = now ? pages_find(&c->ops->history.pages, now->number) : NULL;
    if (!before) return false;
    const struct shadow_page *a = (const struct shadow_page *)now->content,
                             *b = (const struct shadow_page *)before->content;
    bool is_written =
        a->plane[LAST_WRITE] || b->plane[LAST_WRITE] || race->has_atomics || c->ops->has_atomics;
    if (!is_written || (b->launch && !is_unordered(c, b->launch))) return false;
    *pages =
        (struct two_pages){(const struct shadow_page *)now->content,
                           (const struct shadow_page *)before->content, now->number << PAGE_BITS};
    return true;
}

static void look_for_flags(struct op_comparison *c, struct race *race, const struct launch *launch)
{
    struct two_pages pages;
    if (!may_wait(race, launch->kernel)) return;
    bool by_atomics = acts_on_atomics(race, launch->kernel);
    for (size_t n = 0; n < race->shadow.touched_count; n++) {
        bool is_in_both = find_pages(c, race, n, &pages);
        for (size_t k = 0; is_in_both && k < PAGE_GRANULES; k++) {
            struct granule now = cells_of(race, pages.now, k),
                           before = shadow_granule(&c->ops->history.planes, pages.before, k);
            order_by_flag(c, by_atomics, &now, &before);
        }
    }
}

/* Does the launch load the first word of the range by a strong load? */
static bool polls(struct race *race, const struct op_range *range)
{
    const struct page *page = pages_find(&race->shadow.pages, range->address >> PAGE_BITS);
    const struct shadow_page *content = page ? (const struct shadow_page *)page->content : NULL;
    if (!content || content->launch != race->shadow.launch) return false;
    struct granule cells = cells_of(race, content, range->address % PAGE_BYTES / GRANULE);
    for (int i = READ; i < RECORDS; i++) {
        record v = cells.access[i];
        if (record_bytes(v) && op_is_strong(v) && !op_writes(i, v)) return true;
    }
    return false;
}

/* Orders the launch after copies that came while it was suspended, and set a flag which it has
 * polled. A fill or copy from before the launch is no such flag. */
static void order_by_copied_flags(struct op_comparison *c, struct race *race)
{
    for (size_t i = 0; i < c->ops->range_count; i++) {
        const struct op_range *range = &c->ops->ranges[i];
        const struct emu_rows *rows = &range->rows;
        bool is_word = rows->bytes <= sizeof(uint64_t) && rows->rows == 1 && rows->slices == 1;
        if (range->op <= c->op || !range->writes || !is_word || !polls(race, range)) continue;
        op_connect(c->ops, range->op, c->op);
        c->asked = 0;
    }
}

static void compare_with_kernels(struct op_comparison *c, struct race *race)
{
    struct two_pages pages;
    for (size_t n = 0; n < race->shadow.touched_count; n++) {
        if (!find_pages(c, race, n, &pages)) continue;
        for (size_t k = 0; k < PAGE_GRANULES; k++) {
            struct granule now = cells_of(race, pages.now, k),
                           before = shadow_granule(&c->ops->history.planes, pages.before, k);
            compare_cells(c, pages.address + k * GRANULE, &now, &before);
        }
    }
}

static void compare_with_range(struct op_comparison *c, struct race *race,
                               const struct op_range *range)
{
    for (size_t n = 0; n < race->shadow.touched_count; n++) {
        const struct page *page = touched_page(race, n);
        uint64_t address = race->shadow.touched[n] << PAGE_BITS;
        if (!page || !overlap(range, address, PAGE_BYTES)) continue;
        for (size_t k = 0; k < PAGE_GRANULES; k++) {
            struct granule now = cells_of(race, (const struct shadow_page *)page->content, k);
            if (!(now.access[LAST_WRITE] | now.access[READ] | now.access[OTHER_READ])) continue;
            struct granule before = cells_of_range(range, address + k * GRANULE);
            compare_cells(c, address + k * GRANULE, &now, &before);
        }
    }
}

static void report_all(struct op_comparison *c, struct emu *emu, const struct launch *launch)
{
    for (size_t i = 0; i < c->count; i++) op_report(c->ops, emu, launch, &c->conflicts[i]);
}

/* `has_rivals`: with other operations; in any case with the grids that have launched this one. */
static void compare_launch(struct stream_ops *ops, struct race *race, const struct launch *launch,
                           bool has_rivals)
{
    struct op_comparison c = {.ops = ops, .op = launch->operation};
    if (has_rivals) {
        look_for_flags(&c, race, launch);
        order_by_copied_flags(&c, race);
        compare_with_kernels(&c, race);
    }
    for (size_t i = 0; i < ops->range_count && has_rivals; i++)
        if (is_unordered(&c, ops->ranges[i].op)) compare_with_range(&c, race, &ops->ranges[i]);
    if (race->families) race_families_compare(&c, race);
    report_all(&c, launch->emu, launch);
}

/* Has the launch stored to a flag in memory of the host? Then the host may have polled it, and so
 * have waited for the launch. */
static bool tells_the_host(struct race *race, const struct emu *emu)
{
    for (size_t n = 0; n < race->shadow.touched_count; n++) {
        uint64_t address = race->shadow.touched[n] << PAGE_BITS;
        struct range range;
        const struct page *page = emu_is_device(emu, address) ? NULL : touched_page(race, n);
        if (!page) continue;
        const struct shadow_page *content = (const struct shadow_page *)page->content;
        for (size_t k = 0; k < PAGE_GRANULES; k++)
            for (int which = 0; which < RECORDS; which++) {
                record v = cells_of(race, content, k).access[which];
                if (record_bytes(v) && op_is_strong(v) && op_writes(which, v) &&
                    device_range(emu, address + k * GRANULE, &range) && !range.delta)
                    return true;
            }
    }
    return false;
}

void race_ops_end_launch(struct race *race, const struct launch *launch)
{
    struct stream_ops *ops = race->ops;
    pthread_mutex_lock(&ops->lock);
    struct op_state *op = op_at(ops, launch->operation);
    bool has_rivals = op && op_has_rivals(ops, launch->operation);
    if (has_rivals) keep_launches(ops); /* of other devices */
    race->ended = op ? launch->operation : 0;
    if (op) op->code = op_code_of(ops, race, launch);
    if (op) end_early(race, op, launch);
    if (op && (has_rivals || race->families) && !ops->off)
        compare_launch(ops, race, launch, has_rivals);
    if (op && tells_the_host(race, launch->emu)) op_wait(ops, launch->operation);
    pthread_mutex_unlock(&ops->lock);
}

/* ---- the host's side ------------------------------------------------------------------------- */

static void compare_range_with_page(struct op_comparison *c, const struct op_range *range,
                                    uint64_t number)
{
    const struct page *page = pages_find(&c->ops->history.pages, number);
    uint64_t address = number << PAGE_BITS;
    if (!page || !overlap(range, address, PAGE_BYTES)) return;
    for (size_t k = 0; k < PAGE_GRANULES; k++) {
        struct granule before =
            shadow_granule(&c->ops->history.planes, (const struct shadow_page *)page->content, k);
        if (!(before.access[LAST_WRITE] | before.access[READ] | before.access[OTHER_READ]))
            continue;
        struct granule now = cells_of_range(range, address + k * GRANULE);
        compare_cells(c, address + k * GRANULE, &now, &before);
    }
}

static uint64_t end_of(const struct op_range *range)
{
    const struct emu_rows *rows = &range->rows;
    return range->address + (rows->slices - 1) * rows->from_slice +
           (rows->rows - 1) * rows->from_row + rows->bytes;
}

static bool is_use(const struct stream_ops *ops, stream_op op)
{
    return op_at(ops, op)->info.kind < STREAM_OP_ALLOC;
}

static record cell_of_range(const struct op_range *range)
{
    return (record)range->op << OP_AT | (record)range->place << OP_PLACE_AT;
}

/* Two ranges overlap if a row of one does with the other. Memory that is freed in no order with its
 * allocation does no harm if nothing uses it between the two. Kernels may set a condition to equal
 * values. */
static void compare_ranges(struct op_comparison *c, const struct op_range *now,
                           const struct op_range *before)
{
    const struct emu_rows *rows = &now->rows;
    bool are_sets = now->writes && before->writes && now->address >= STREAM_CONDITIONS;
    if (!(now->writes || before->writes) || are_sets || !is_unordered(c, before->op)) return;
    if (!is_use(c->ops, now->op) && !is_use(c->ops, before->op)) return;
    for (size_t k = 0; k < rows->rows * rows->slices; k++) {
        uint64_t row = now->address + k / rows->rows * rows->from_slice +
                       k % rows->rows * rows->from_row,
                 at = overlap(before, row, rows->bytes);
        if (!at) continue;
        op_add_conflict(c, (struct op_conflict){.now = cell_of_range(now),
                                                .before = cell_of_range(before),
                                                .now_writes = now->writes,
                                                .before_wrote = before->writes,
                                                .address = at});
        return;
    }
}

static void compare_range(struct stream_ops *ops, struct emu *emu, const struct op_range *range)
{
    struct op_comparison c = {.ops = ops, .op = range->op};
    const struct pages *pages = &ops->history.pages;
    uint64_t first = range->address >> PAGE_BITS, last = (end_of(range) - 1) >> PAGE_BITS;
    if (last - first < pages->table.size)
        for (uint64_t number = first; number <= last; number++)
            compare_range_with_page(&c, range, number);
    else
        for (size_t i = 0; i < pages->table.size; i++)
            if (pages_at(pages, i)) compare_range_with_page(&c, range, pages_at(pages, i)->number);
    for (size_t i = 0; i < ops->range_count; i++) compare_ranges(&c, range, &ops->ranges[i]);
    report_all(&c, emu, NULL);
}

void stream_op_access(struct stream_ops *ops, struct emu *emu, stream_op op, uint64_t address,
                      const struct emu_rows *rows, bool writes_it)
{
    pthread_mutex_lock(&emu->lock);
    stream_op_access_locked(ops, emu, op, address, rows, writes_it);
    pthread_mutex_unlock(&emu->lock);
}

static void access_range(struct stream_ops *ops, struct emu *emu, const struct op_range *range)
{
    pthread_mutex_lock(&ops->lock);
    if (!ops->off && op_at(ops, range->op)) {
        bool has_rivals = op_has_rivals(ops, range->op);
        if (has_rivals) keep_launches(ops);
        if (has_rivals && !ops->off) compare_range(ops, emu, range);
        keep_range(ops, range);
    }
    pthread_mutex_unlock(&ops->lock);
}

void stream_op_access_locked(struct stream_ops *ops, struct emu *emu, stream_op op,
                             uint64_t address, const struct emu_rows *rows, bool writes_it)
{
    access_range(ops, emu, &(struct op_range){op, address, *rows, writes_it, 0});
}

void race_ops_end_conditions(struct race *race, const struct launch *launch)
{
    for (size_t k = 0; k < race->condition_count; k++) {
        const struct condition_set *c = &race->conditions[k];
        access_range(race->ops, launch->emu,
                     &(struct op_range){launch->operation,
                                        STREAM_CONDITIONS + STREAM_CONDITION_BYTES * c->handle,
                                        {.bytes = STREAM_CONDITION_BYTES, .rows = 1, .slices = 1},
                                        true,
                                        record_place(&race->layout, c->last)});
    }
}

/* Kernels of other devices may have accessed the memory, too. */
void race_ops_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    struct stream_ops *ops = race->ops;
    size_t kept = 0;
    pthread_mutex_lock(&ops->lock);
    for (int i = 0; i < MOST_RACES; i++)
        if (ops->races[i] && (ops->races[i] == race || ops->races[i]->ended))
            shadow_forget(&ops->races[i]->shadow, address, bytes);
    shadow_forget(&ops->history, address, bytes);
    if (race->families) race_families_forget(race, address, bytes);
    for (size_t i = 0; i < ops->range_count; i++)
        if (!overlap(&ops->ranges[i], address, bytes)) ops->ranges[kept++] = ops->ranges[i];
    ops->range_count = kept;
    pthread_mutex_unlock(&ops->lock);
}
