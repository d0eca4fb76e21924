/* children.c — the launches that kernels make. */
#include "schedule.h"
#include "events.h"

/* Memory for the parameters of one launch, on average. */
enum { PARAMETER_BYTES = 512, ALIGNMENT = 16 };

/* ---- a device's family ----------------------------------------------------------------------- */

static struct descendants *descendants_open(struct emu *emu)
{
    struct descendants *family = allocated(calloc(1, sizeof *family));
    family->most_pending = emu->pending_limit ? emu->pending_limit : CHILDREN_PENDING;
    family->bytes = CHILDREN_TEXTS + family->most_pending * PARAMETER_BYTES;
    family->used = CHILDREN_TEXTS;
    if (memory_alloc(&emu->memory, family->bytes, &family->memory)) {
        free(family);
        return NULL;
    }
    pthread_mutex_init(&family->lock, NULL);
    return family;
}

void descendants_close(struct emu *emu)
{
    struct descendants *family = emu->descendants;
    if (!family) return;
    children_drop(emu);
    memory_free(&emu->memory, family->memory);
    pthread_mutex_destroy(&family->lock);
    free(family->grids);
    free(family);
    emu->descendants = NULL;
}

/* ---- a launch's children --------------------------------------------------------------------- */

int children_open(struct emu *emu, struct launch *launch)
{
    char name[EMU_NAME_SIZE];
    kernel_base_name(launch->kernel->info.name, name, sizeof name);
    if (!emu->descendants) emu->descendants = descendants_open(emu);
    if (!emu->descendants)
        return device_failed(emu, EMU_OUT_OF_MEMORY,
                             "no device memory for what kernel %s launches; cudaDeviceSetLimit("
                             "cudaLimitDevRuntimePendingLaunchCount, …) allows fewer launches",
                             name);
    struct children *children = allocated(calloc(1, sizeof *children));
    children->end = &children->first;
    launch->children = children;
    return EMU_OK;
}

static void child_free(struct child *child)
{
    event_child_free(child);
    free(child->params);
    free(child);
}

static void free_list(struct child *child)
{
    for (struct child *next; child; child = next) {
        next = child->next;
        child_free(child);
    }
}

static void free_children(struct emu *emu, struct children *children)
{
    if (!children) return;
    emu->descendants->pending -= children->count;
    free_list(children->first);
    free_list(children->buffers);
    free(children->queues);
    free(children);
}

void children_free(struct launch *launch)
{
    free_children(launch->emu, launch->children);
    launch->children = NULL;
}

struct child *child_new(struct warp *w, enum child_kind kind, int *error)
{
    const struct descendants *family = w->block->launch->emu->descendants;
    if (kind != CHILD_MARK && family->pending >= family->most_pending) {
        *error = EMU_TOO_MANY_PENDING;
        return NULL;
    }
    struct child *child = allocated(calloc(1, sizeof *child));
    child->kind = kind;
    return child;
}

emu_addr child_buffer(struct descendants *family, size_t bytes)
{
    bytes = (bytes / ALIGNMENT + 1) * ALIGNMENT;
    if (bytes > family->bytes - family->used) return 0;
    family->used += bytes;
    return family->memory + family->used - bytes;
}

/* With a random schedule, work that nothing orders comes in a random order, which repeats. */
static uint64_t key_of(const struct warp *w, const struct children *children)
{
    const struct launch *launch = w->block->launch;
    uint64_t place = w->block->index;
    return launch->random ? random_mixed(launch->emu->schedule + launch->id + children->count)
                          : place;
}

/* Children are carried out in the order of their keys, and those with one key by their numbers. If
 * a child has to come after another one, the other one was submitted before, so its number is
 * lower; and the child gets a key that is at least as high. */
void child_submit(struct warp *w, int lane, struct child *child, struct child **last)
{
    struct children *children = w->block->launch->children;
    child->key = key_of(w, children);
    child->number = children->count++;
    if (last) child->needs[0] = *last;
    if (last) *last = child;
    for (int k = 0; k < 2; k++)
        if (child->needs[k] && child->needs[k]->key > child->key) child->key = child->needs[k]->key;
    *children->end = child;
    children->end = &child->next;
    w->block->launch->emu->descendants->pending++;
    if (announces(w->block, ANNOUNCE_ORDER)) event_child(w, lane, child);
}

/* ---- the order ------------------------------------------------------------------------------- */

static int by_order(const void *a, const void *b)
{
    const struct child *x = *(struct child *const *)a, *y = *(struct child *const *)b;
    if (x->is_tail != y->is_tail) return x->is_tail - y->is_tail;
    if (x->key != y->key && !x->is_tail) return x->key < y->key ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static struct child **sorted(const struct children *children)
{
    struct child **order = allocated(calloc(children->count + 1, sizeof *order));
    size_t count = 0;
    for (struct child *c = children->first; c; c = c->next) order[count++] = c;
    qsort(order, count, sizeof *order, by_order);
    return order;
}

/* The grid that stored parameters here has ended, and its children have copies of them. */
static void reuse_buffers(struct emu *emu)
{
    struct descendants *family = emu->descendants;
    if (family->used > CHILDREN_TEXTS)
        event_drop(emu, family->memory + CHILDREN_TEXTS, family->used - CHILDREN_TEXTS);
    family->used = CHILDREN_TEXTS;
}

int children_take(struct emu *emu, struct launch *launch)
{
    struct descendants *family = emu->descendants;
    struct children *children = launch->children;
    if (!family) return EMU_OK;
    if (!launch->launched_by) family->ended = 0;
    uint64_t *ended = launch->ended ? launch->ended : &family->ended;
    *ended = launch->operation;
    if (!children || !children->first) return EMU_OK;
    struct child **order = sorted(children);
    size_t first_tail = 0;
    while (first_tail < children->count && !order[first_tail]->is_tail) first_tail++;
    family->grids = grown(family->grids, family->count, sizeof *family->grids);
    struct ended_grid *grid = &family->grids[family->count++];
    *grid = (struct ended_grid){.kernel = launch->kernel,
                                .launch = launch->id,
                                .depth = launch->depth,
                                .operation = launch->operation,
                                .children = children,
                                .order = order,
                                .count = children->count,
                                .first_tail = first_tail,
                                .ended = ended};
    event_children_begin(launch, grid);
    launch->children = NULL;
    reuse_buffers(emu);
    return EMU_OK;
}

static void drop_last(struct emu *emu)
{
    struct ended_grid *grid = &emu->descendants->grids[--emu->descendants->count];
    event_children_end(emu, grid);
    free_children(emu, grid->children);
    free(grid->order);
}

void children_drop(struct emu *emu)
{
    while (emu->descendants && emu->descendants->count) drop_last(emu);
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static int failed_copy(struct emu *emu, const struct ended_grid *grid, const struct child *child,
                       uint64_t address)
{
    char where[200], name[EMU_NAME_SIZE];
    kernel_base_name(grid->kernel->info.name, name, sizeof name);
    device_describe_address(emu, address, where, sizeof where);
    return device_failed(emu, EMU_ILLEGAL_ADDRESS,
                         "a %s of %zu bytes that kernel %s has put into a stream accesses "
                         "0x%llx, %s",
                         child->kind == CHILD_COPY ? "copy" : "fill",
                         child->rows.bytes * child->rows.rows * child->rows.slices, name,
                         (unsigned long long)address, where);
}

/* The host's address of the first row; NULL: the rows are not in one range that kernels may
 * access. */
static uint8_t *host_address(const struct emu *emu, uint64_t address, size_t row, size_t slice,
                             const struct emu_rows *rows)
{
    size_t bytes = (rows->slices - 1) * slice + (rows->rows - 1) * row + rows->bytes;
    struct range range;
    if (!device_range(emu, address, &range) || bytes > range.bytes - (address - range.base))
        return NULL;
    return (uint8_t *)(uintptr_t)(address + (uint64_t)range.delta);
}

static int run_copy(struct emu *emu, const struct ended_grid *grid, const struct child *child)
{
    const struct emu_rows *r = &child->rows;
    uint8_t *to = host_address(emu, child->to, r->to_row, r->to_slice, r), *from = to;
    if (!to) return failed_copy(emu, grid, child, child->to);
    if (child->kind == CHILD_COPY)
        from = host_address(emu, child->from, r->from_row, r->from_slice, r);
    if (!from) return failed_copy(emu, grid, child, child->from);
    for (size_t z = 0; z < r->slices; z++)
        for (size_t y = 0; y < r->rows; y++) {
            uint64_t there = z * r->to_slice + y * r->to_row,
                     here = z * r->from_slice + y * r->from_row;
            if (child->kind == CHILD_FILL) {
                memset(to + there, child->value, r->bytes);
                event_host_write(emu, child->to + there, r->bytes);
            } else {
                memmove(to + there, from + here, r->bytes);
                event_host_copy(emu, child->to + there, emu, child->from + here, r->bytes);
            }
        }
    return EMU_OK;
}

/* Makes the launch of a grid. */
static struct launch *start(struct emu *emu, const struct ended_grid *grid, struct child *child,
                            int *error)
{
    const struct emu_kernel_info *info = &child->kernel->info;
    void **args = allocated(calloc(info->params + 1, sizeof *args));
    for (unsigned i = 0; i < info->params; i++)
        args[i] = child->params + info->param_offset[i];
    const struct launch_origin origin = {.kernel = grid->kernel,
                                         .launch = grid->launch,
                                         .depth = grid->depth + !child->is_tail,
                                         .ended = &child->ended};
    struct launch *launch = NULL;
    child->shape.operation = event_child_begin(emu, grid, child);
    *error = launch_start(emu, child->kernel, &child->shape, args, &origin, &launch);
    free(args);
    return launch;
}

/* The last grid of a tail stream takes the place of the one that has launched it, so that a chain
 * of such launches may be long. */
static struct launch *start_last(struct emu *emu, struct child *child, int *error)
{
    struct ended_grid *grid = &emu->descendants->grids[emu->descendants->count - 1];
    struct launch *launch = start(emu, grid, child, error);
    if (!launch || !child->is_tail) return launch;
    launch->ended = grid->ended;
    grid->ended = NULL;
    drop_last(emu);
    return launch;
}

struct launch *children_next(struct emu *emu, int *error)
{
    struct descendants *family = emu->descendants;
    *error = EMU_OK;
    while (family && family->count && !*error) {
        struct ended_grid *grid = &family->grids[family->count - 1];
        if (grid->next == grid->count) {
            drop_last(emu);
            continue;
        }
        struct child *child = grid->order[grid->next++];
        family->pending--;
        grid->children->count--;
        bool is_last = grid->next == grid->count;
        if (child->kind == CHILD_GRID)
            return is_last ? start_last(emu, child, error) : start(emu, grid, child, error);
        child->ended = event_child_begin(emu, grid, child);
        if (child->kind != CHILD_MARK) *error = run_copy(emu, grid, child);
    }
    return NULL;
}
