/* race_children.c — racecheck: grids that kernels launch, conditions of graphs, rows of
 * matrices. */
#include "race.h"
#include "common/tools/emu/machine/schedule.h"

/* ---- grids that kernels launch --------------------------------------------------------------- */

/* Racecheck between a grid and what it launches.
 *
 * A grid's accesses before a launch come before the new grid's, if they come before the launching
 * thread's call: that thread's clock says which they are (event_child). All others, which are made
 * after the launch or by threads that nothing orders with it, may run at the same time as the new
 * grid. So a grid's shadow is kept until all that it has launched is over (struct race_family), and
 * the accesses of each grid below it are compared with it. A grid of the tail stream begins after
 * all of them.
 *
 * For other operations, a launch in a kernel is an operation that begins after the grid that
 * launched it. Its streams, events and the tail stream order it with its siblings
 * (race_streams.c). */

/* The accesses of a grid that has ended, as they were in struct race. */
struct race_family {
    struct race_family *outer; /* of the grid that has launched this one */
    struct shadow shadow;
    struct record_rows rows;
    struct record_layout layout;
    struct vclock_space space;
    stream_op operation;
    const struct child *running; /* what it has launched, and runs now; NULL: nothing, or a tail */
};

static struct race *race_of(const struct emu *emu) { return emu->checkers->race; }

/* ---- a launch -------------------------------------------------------------------------------- */

void event_child(struct warp *w, int lane, struct child *child)
{
    struct race_block *race = w->block->racecheck;
    if (!race) return;
    child->before = lane_clock(w, lane);
    child->before_levels = race->device->space.levels;
    clock_tick(race);
}

void event_child_free(struct child *child)
{
    struct vclock_space space = {.levels = child->before_levels};
    if (child->before) vclock_drop(&space, &child->before);
}

/* ---- a grid has ended ------------------------------------------------------------------------ */

void event_children_begin(const struct launch *launch, struct ended_grid *grid)
{
    struct race *race = race_of(launch->emu);
    if (!race || !race->ops || !grid->first_tail) return;
    struct race_family *family = allocated(malloc(sizeof *family));
    race_ops_begin_launch(race);
    *family = (struct race_family){.outer = race->families,
                                   .shadow = race->shadow,
                                   .rows = race->rows,
                                   .layout = race->layout,
                                   .space = race->space,
                                   .operation = launch->operation};
    family->shadow.planes.rows = &family->rows;
    uint64_t number = race->shadow.launch;
    race->rows = (struct record_rows){0};
    shadow_open(&race->shadow, &race->rows);
    race->shadow.launch = number;
    grid->race = race->families = family;
}

static stream_op begin(struct emu *emu, enum stream_op_kind kind, stream_op launcher,
                       const stream_op *needs, size_t count)
{
    struct stream_op_info info = {.kind = kind,
                                  .stream_kind = STREAM_ALONE,
                                  .device = (int)emu->number,
                                  .launcher = launcher};
    return stream_op_begin(race_of(emu)->ops, &info, needs, count);
}

/* One that comes after several, which are NULL or have ended. */
static stream_op after_all(struct emu *emu, stream_op first, struct child *const *all, size_t count)
{
    stream_op *needs = allocated(calloc(count + 1, sizeof *needs));
    for (size_t k = 0; k < count; k++) needs[k] = all[k]->ended;
    needs[count] = first;
    stream_op op = begin(emu, STREAM_OP_MARK, 0, needs, count + 1);
    free(needs);
    return op;
}

void event_children_end(struct emu *emu, struct ended_grid *grid)
{
    struct race_family *family = grid->race;
    if (race_of(emu) && race_of(emu)->ops && grid->operation && grid->ended)
        *grid->ended = after_all(emu, grid->operation, grid->order, grid->next);
    if (!family) return;
    race_of(emu)->families = family->outer;
    shadow_close(&family->shadow);
    record_rows_free(&family->rows);
    free(family);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_comparable(const struct op_comparison *c, const struct race_family *f)
{
    return f->running && f->running->before && op_at(c->ops, f->operation);
}

/* Does an access of the older grid come before the launch? Copies are taken for ordered. */
static bool is_before(const struct race_family *family, record v)
{
    if (agent_of(record_kind(v)) != BY_THREAD) return true;
    return record_time(&family->layout, v) <=
           vclock_time_of_thread(&family->space, family->running->before,
                                 record_block(&family->layout, v), record_thread(v));
}

static void compare_granule(struct op_comparison *c, const struct race *race,
                            const struct race_family *family, uint64_t address,
                            const struct granule *now, const struct granule *before)
{
    for (int k = 0; k < RECORDS; k++) {
        record b = before->access[k];
        if (!record_bytes(b) || is_before(family, b)) continue;
        for (int i = 0; i < RECORDS; i++) {
            record a = now->access[i];
            unsigned both = record_bytes(a) & record_bytes(b);
            bool now_writes = op_writes(i, a), before_wrote = op_writes(k, b);
            if (!both || !(now_writes || before_wrote) || (op_is_strong(a) && op_is_strong(b)))
                continue;
            op_add_conflict(c, (struct op_conflict){op_cell(&race->layout, a, c->op),
                                                    op_cell(&family->layout, b, family->operation),
                                                    now_writes, before_wrote,
                                                    address + (unsigned)__builtin_ctz(both), 0});
        }
    }
}

static void compare_page(struct op_comparison *c, struct race *race, struct race_family *family,
                         const struct page *now)
{
    const struct page *before = pages_find(&family->shadow.pages, now->number);
    if (!before) return;
    const struct shadow_page *a = (const struct shadow_page *)now->content,
                             *b = (const struct shadow_page *)before->content;
    if (b->launch != family->shadow.launch) return;
    for (size_t k = 0; k < PAGE_GRANULES; k++) {
        struct granule mine = shadow_granule(&race->shadow.planes, a, k),
                       theirs = shadow_granule(&family->shadow.planes, b, k);
        compare_granule(c, race, family, (now->number << PAGE_BITS) + k * GRANULE, &mine, &theirs);
    }
}

void race_families_compare(struct op_comparison *c, struct race *race)
{
    for (struct race_family *f = race->families; f; f = f->outer) {
        if (!is_comparable(c, f)) continue;
        for (size_t n = 0; n < race->shadow.touched_count; n++) {
            const struct page *page = pages_find(&race->shadow.pages, race->shadow.touched[n]);
            if (page && ((const struct shadow_page *)page->content)->launch == race->shadow.launch)
                compare_page(c, race, f, page);
        }
    }
}

void race_families_forget(struct race *race, uint64_t address, uint64_t bytes)
{
    for (struct race_family *f = race->families; f; f = f->outer)
        shadow_forget(&f->shadow, address, bytes);
}

/* ---- comparing a copy or a fill -------------------------------------------------------------- */

/* The accesses of older grids to one granule, of which a row has some bytes. */
static void compare_granule_with_row(struct op_comparison *c, struct race *race, uint64_t address,
                                     unsigned bytes, bool writes)
{
    for (struct race_family *f = race->families; f; f = f->outer) {
        const struct page *page = pages_find(&f->shadow.pages, address >> PAGE_BITS);
        const struct shadow_page *content = page ? (const struct shadow_page *)page->content : NULL;
        if (!is_comparable(c, f) || !content || content->launch != f->shadow.launch) continue;
        struct granule theirs =
            shadow_granule(&f->shadow.planes, content, address % PAGE_BYTES / GRANULE);
        struct granule mine = {{0}};
        mine.access[writes ? LAST_WRITE : READ] = bytes;
        compare_granule(c, race, f, address, &mine, &theirs);
    }
}

static void compare_row(struct op_comparison *c, struct race *race, uint64_t address, size_t bytes,
                        bool writes)
{
    const unsigned all = (1u << GRANULE) - 1;
    uint64_t end = address + bytes;
    for (uint64_t at = address / GRANULE * GRANULE; at < end && race->families; at += GRANULE) {
        unsigned part = all;
        if (at < address) part &= all << (address - at);
        if (at + GRANULE > end) part &= all >> (at + GRANULE - end);
        compare_granule_with_row(c, race, at, part, writes);
    }
}

/* ---- its children ---------------------------------------------------------------------------- */

static enum stream_op_kind kind_of(const struct child *child)
{
    switch (child->kind) {
    case CHILD_GRID: return STREAM_OP_KERNEL;
    case CHILD_COPY: return STREAM_OP_COPY;
    case CHILD_FILL: return STREAM_OP_FILL;
    default: return STREAM_OP_MARK;
    }
}

/* A copy or a fill accesses rows of memory. */
static void access_rows(struct emu *emu, stream_op op, uint64_t address, struct emu_rows rows,
                        bool writes)
{
    struct race *race = race_of(emu);
    struct op_comparison c = {.ops = race->ops, .op = op};
    if (writes) {
        rows.from_row = rows.to_row;
        rows.from_slice = rows.to_slice;
    }
    stream_op_access_locked(race->ops, emu, op, address, &rows, writes);
    pthread_mutex_lock(&race->ops->lock);
    for (size_t k = 0; k < rows.rows * rows.slices; k++)
        compare_row(&c, race,
                    address + k / rows.rows * rows.from_slice + k % rows.rows * rows.from_row,
                    rows.bytes, writes);
    for (size_t k = 0; k < c.count; k++) op_report(race->ops, emu, NULL, &c.conflicts[k]);
    pthread_mutex_unlock(&race->ops->lock);
}

uint64_t event_child_begin(struct emu *emu, const struct ended_grid *grid,
                           const struct child *child)
{
    if (!race_of(emu) || !race_of(emu)->ops || !grid->operation) return 0;
    stream_op needs[] = {grid->operation, child->needs[0] ? child->needs[0]->ended : 0,
                         child->needs[1] ? child->needs[1]->ended : 0};
    if (child->is_tail && !child->needs[0])
        needs[1] = after_all(emu, grid->operation, grid->order, grid->first_tail);
    if (grid->race) grid->race->running = child->is_tail ? NULL : child;
    stream_op op = begin(emu, kind_of(child), grid->operation, needs, 3);
    if (child->kind == CHILD_COPY) access_rows(emu, op, child->from, child->rows, false);
    if (child->kind == CHILD_COPY || child->kind == CHILD_FILL)
        access_rows(emu, op, child->to, child->rows, true);
    return op;
}

/* ---- conditions of graphs -------------------------------------------------------------------- */

/* Threads of one launch that set the condition of a graph's conditional node to different values.
 * The node acts on the last value, so something must order the threads. */

/* What this launch has set a condition to; a new entry is not set yet. */
static struct condition_set *entry_of(struct race *race, uint64_t handle)
{
    for (size_t k = 0; k < race->condition_count; k++)
        if (race->conditions[k].handle == handle) return &race->conditions[k];
    race->conditions = grown(race->conditions, race->condition_count, sizeof *race->conditions);
    struct condition_set *new = &race->conditions[race->condition_count++];
    *new = (struct condition_set){.handle = handle};
    return new;
}

void event_condition(struct warp *w, const struct insn *i, int lane, uint64_t handle,
                     unsigned value)
{
    struct race_block *block = w->block->racecheck;
    struct race *race = block->device;
    if (block->now >= race->layout.last_time) return;
    struct condition_set *entry = entry_of(race, handle);
    unsigned place = (unsigned)(i - w->block->launch->kernel->code);
    if (entry->is_set && entry->value != value && !lane_is_after(w, lane, entry->last))
        race_report(w, i, lane,
                    &(struct conflict){.hazard = SET_DIFFERENTLY,
                                       .before = entry->last,
                                       .before_place = race_place_of(race, entry->last)});
    struct record_parts parts = {
        .block = w->block->index,
        .thread = w->index * WARP + (unsigned)lane,
        .time = block->now,
        .place = race_number_of_place(race, place < UNKNOWN_PLACE ? place : UNKNOWN_PLACE),
        .bytes = 1};
    entry->last = record_of(layout_of(w), parts);
    entry->value = value;
    entry->is_set = true;
}

/* ---- rows of matrices ------------------------------------------------------------------------ */

/* Rows that ldmatrix, stmatrix or wmma move are accessed by the lanes whose
 * registers hold the elements, and not by the lanes that give the rows' addresses. */

enum { ROWS = 8, LANES_OF_ROW = 4, WORD_BYTES = 4, PARTS = 2, MATRICES = WARP / ROWS };

/* The lanes' accesses of one matrix: lane 8 * matrix + r gives the address of its row r. A lane
 * holds two elements that are neighbours in a row, which is one access; or, if the matrix is
 * transposed, in a column, which is two, and `part` says which of them. */
static struct access of_lanes(const struct access *rows, unsigned matrix, bool is_transposed,
                              unsigned part)
{
    struct access a = *rows;
    a.mask = 0;
    a.bytes = a.checked = is_transposed ? WORD_BYTES / PARTS : WORD_BYTES;
    for (unsigned l = 0; l < WARP; l++) {
        unsigned outer = l / LANES_OF_ROW, inner = l % LANES_OF_ROW;
        unsigned from = matrix * ROWS + (is_transposed ? inner * PARTS + part : outer);
        a.address[l] = rows->address[from] + (is_transposed ? outer : inner) * a.bytes;
        a.mask |= (rows->mask >> from & 1) << l;
    }
    return a;
}

void race_matrix_access(struct warp *w, const struct insn *i, const struct access *rows)
{
    unsigned parts = i->matrix->is_transposed ? PARTS : 1;
    for (unsigned k = 0; k < MATRICES * parts; k++) {
        struct access a = of_lanes(rows, k / parts, i->matrix->is_transposed, k % parts);
        if (!a.mask) continue;
        const char *values = slot_at(w, i->matrix->d.slot[k / parts]);
        if (i->matrix->stores)
            a.stored = (struct stored_values){values + k % parts * a.bytes, WORD_BYTES};
        race_threads_access(w, i, &a);
    }
}
