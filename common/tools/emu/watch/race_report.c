/* race_report.c — racecheck: hazards as text, between accesses and between operations. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "race.h"
#include <inttypes.h>

/* ---- hazards between accesses ---------------------------------------------------------------- */

/* Hazards as text. A finding is a pair of source lines and a count.
 *
 * Hazards are collected until the launch ends. Of all hazards between the same two lines, the
 * reported one is the first between the threads that are farthest apart: its advice helps the
 * others, too. */

/* How far apart two threads are: in one instruction, warp, block, cluster, or grid. The others are
 * for hazards whose advice does not depend on the distance. */
enum distance {
    SAME_INSTRUCTION,
    SAME_WARP,
    SAME_BLOCK,
    SAME_CLUSTER,
    SAME_GRID,
    COPY_BEFORE,
    UNSEEN,
    UNFENCED,
    LOST,
    EXIT,
    MIXED,
    UNFENCED_READER,
    CONDITION,
    CONSTANT,
    UPDATE,
    IN_PLACE /* one block reads what another writes */
};

static const struct {
    const char *kind, *name, *then, *now;
    enum distance distance; /* SAME_INSTRUCTION: the distance of the two threads */
} hazard_words[HAZARDS] = {
    [READ_AFTER_WRITE] = {"read-after-write", "RAW", "wrote it", "reads it", SAME_INSTRUCTION},
    [WRITE_AFTER_READ] = {"write-after-read", "WAR", "read it", "writes it", SAME_INSTRUCTION},
    [WRITE_AFTER_WRITE] = {"write-after-write", "WAW", "wrote it", "writes it", SAME_INSTRUCTION},
    [UNSEEN_BY_COPY] = {"unseen-by-copy", "RAW", "wrote it", "reads it", UNSEEN},
    [UNSEEN_UNDER_COPY] = {"unseen-by-copy", "WAW", "wrote it", "writes it", UNSEEN},
    [CONSTANT_WRITTEN] = {"written-constant", "RAW", "wrote it", "reads it as constant", CONSTANT},
    [WRITTEN_CONSTANT] = {"written-constant", "WAR", "read it as constant", "writes it", CONSTANT},
    [UNFENCED_READ] = {"unfenced-read", "RAW", "wrote it", "reads it", UNFENCED},
    [UNFENCED_WRITE] = {"unfenced-write", "WAR", "read it", "writes it", UNFENCED},
    [LOST_UPDATE] = {"lost-update", "WAW", "wrote it", "has read it, and writes it", LOST},
    [USE_BEFORE_EXIT] = {"use-before-exit", "WAR", "used it", "exits", EXIT},
    [USE_AFTER_EXIT] = {"use-after-exit", "RAW", "has exited", "uses it", EXIT},
    [SET_DIFFERENTLY] = {"write-after-write", "WAW", "set it", "sets it to another value",
                         CONDITION},
};

struct hazard_report {
    const struct insn *now,
        *before; /* the first of their source lines; now NULL: this row is free */
    enum hazard hazard;
    enum ptx_space space;
    uint64_t count, order; /* order: 0 for the first of the launch, … */
    enum distance distance;
    const struct insn *load; /* a plain load that conflicts with an atomic; NULL: other accesses */
    bool updates;            /* all of them are between one thread's `x += …` and another's */
    struct check_place place, other;
    uint64_t address;
};

struct race_reports {
    struct hazard_report *table; /* a hash table */
    size_t size, count;
    uint32_t *first; /* by instruction: the first of its line; NULL: no hazard yet */
};

struct race_reports *race_reports_open(void)
{
    return allocated(calloc(1, sizeof(struct race_reports)));
}

void race_reports_close(struct race_reports *reports)
{
    free(reports->table);
    free(reports->first);
    free(reports);
}

/* ---- collecting ------------------------------------------------------------------------------ */

static struct hazard_report *place_of(const struct race_reports *reports,
                                      const struct hazard_report *wanted)
{
    uint64_t hash = (uintptr_t)wanted->now * 31 + (uintptr_t)wanted->before;
    hash = (hash + wanted->hazard * 2 + wanted->space) * UINT64_C(0x9E3779B97F4A7C15);
    for (size_t at = hash >> 20;; at++) {
        struct hazard_report *r = &reports->table[at & (reports->size - 1)];
        if (!r->now || (r->now == wanted->now && r->before == wanted->before &&
                        r->hazard == wanted->hazard && r->space == wanted->space))
            return r;
    }
}

static void grow(struct race_reports *reports)
{
    enum { FIRST_SIZE = 64 };
    struct race_reports old = *reports;
    reports->size = old.size ? 2 * old.size : FIRST_SIZE;
    reports->table = allocated(calloc(reports->size, sizeof *reports->table));
    for (size_t i = 0; i < old.size; i++)
        if (old.table[i].now) *place_of(reports, &old.table[i]) = old.table[i];
    free(old.table);
}

static struct check_place place_before(const struct warp *w, const struct insn *insn, record before)
{
    const struct launch *launch = w->block->launch;
    struct emu_dim size = launch->block, grid = launch->grid;
    uint64_t block = record_block(layout_of(w), before);
    unsigned t = record_thread(before);
    return (struct check_place){.is_known = true,
                                .has_thread = true,
                                .insn = insn,
                                .block = {(unsigned)(block % grid.x),
                                          (unsigned)(block / grid.x % grid.y),
                                          (unsigned)(block / grid.x / grid.y)},
                                .thread = {t % size.x, t / size.x % size.y, t / size.x / size.y}};
}

static enum distance distance_to(const struct warp *w, unsigned thread, const struct conflict *c)
{
    if (c->before_agent != BY_THREAD) return COPY_BEFORE;
    if (record_block(layout_of(w), c->before) != w->block->index)
        return c->space == PTX_SHARED ? SAME_CLUSTER : SAME_GRID;
    if (record_thread(c->before) / WARP != thread / WARP) return SAME_BLOCK;
    return record_time(layout_of(w), c->before) != AT_ONCE ? SAME_WARP : SAME_INSTRUCTION;
}

/* Does one statement load that word, change it and store it again? Of the two threads, one has come
 * to its load and the other to its store. */
static bool is_update(const struct warp *w, const struct insn *i, const struct conflict *c)
{
    const struct emu_kernel *kernel = w->block->launch->kernel;
    if (c->before_place == UNKNOWN_PLACE || c->agent != BY_THREAD || c->before_agent != BY_THREAD)
        return false;
    const struct insn *then = &kernel->code[c->before_place];
    const struct insn *load = i->tally == TALLY_LOAD ? i : then, *store = load == i ? then : i;
    return load->tally == TALLY_LOAD && store->tally == TALLY_STORE && load->line == store->line &&
           load->family == FAMILY_MEMORY && store->family == FAMILY_MEMORY &&
           load->address.base == store->address.base &&
           load->address.offset == store->address.offset &&
           race_feeds(w->block->racecheck->device, kernel, (size_t)(load - kernel->code),
                      (size_t)(store - kernel->code));
}

static const char *name_of_access(const struct insn *insn, bool is_copy)
{
    if (!insn) return "some access";
    if (is_copy) return "Copy access";
    if (insn->control == CONTROL_EXIT) return "Exit";
    enum tally tally = check_tally(insn);
    return tally == TALLY_LOAD    ? "Read access"
           : tally == TALLY_STORE ? "Write access"
                                  : "Atomic access";
}

/* Tells a debugger of the first race between two lines. */
static void announce(const struct warp *w, const struct conflict *c, const struct hazard_report *r)
{
    char other[100], place[200], text[CHECK_TEXT];
    const struct launch *launch = w->block->launch;
    if (!launch->emu->debugger) return;
    check_describe_thread(&r->other, other, sizeof other);
    describe_place(launch->kernel, r->before, place, sizeof place);
    snprintf(text, sizeof text,
             "Race (%s) on %s memory at 0x%" PRIx64 ": this thread %s; %s %s, at %s",
             hazard_words[r->hazard].name, ptx_space_name(c->space), c->address,
             hazard_words[r->hazard].now, other, hazard_words[r->hazard].then, place);
    launch->emu->debugger->finding(launch, &(struct found){.text = text,
                                                           .block = r->place.block,
                                                           .thread = r->place.thread,
                                                           .has_other = r->other.has_thread,
                                                           .other_block = r->other.block,
                                                           .other_thread = r->other.thread,
                                                           .is_shared = c->space == PTX_SHARED,
                                                           .address = c->address,
                                                           .owner = w->block->index});
}

void race_report(struct warp *w, const struct insn *i, int lane, const struct conflict *c)
{
    unsigned before_place = c->before_place;
    struct race_reports *reports = w->block->racecheck->device->reports;
    const struct emu_kernel *kernel = w->block->launch->kernel;
    if (2 * reports->count >= reports->size) grow(reports);
    if (!reports->first) reports->first = check_first_of_lines(kernel);
    const struct insn *now = &kernel->code[reports->first[i - kernel->code]],
                      *then = before_place == UNKNOWN_PLACE
                                  ? NULL
                                  : &kernel->code[reports->first[before_place]];
    unsigned thread = w->index * WARP + (unsigned)lane;
    struct hazard_report new = {.now = now,
                                .before = then,
                                .hazard = c->hazard,
                                .space = c->space,
                                .order = reports->count,
                                .place = check_place(w, now, lane),
                                .other = place_before(w, then, c->before),
                                .address = c->address};
    /* It is unknown which thread began a copy that arrives at an mbarrier. */
    new.place.is_copy = c->agent != BY_THREAD;
    new.other.is_copy = c->before_agent != BY_THREAD;
    new.other.has_thread = c->before_agent != BY_BARRIER;
    new.place.access = name_of_access(now, new.place.is_copy);
    new.other.access = name_of_access(then, new.other.is_copy);
    if (c->hazard == SET_DIFFERENTLY) new.place.access = new.other.access = "Write access";
    if (now->tally == TALLY_LOAD && then && then->tally == TALLY_ATOMIC) new.load = i;
    if (then && then->tally == TALLY_LOAD && now->tally == TALLY_ATOMIC)
        new.load = &kernel->code[before_place];
    new.distance = c->is_mixed                        ? MIXED
                   : c->reader_unfenced               ? UNFENCED_READER
                   : hazard_words[c->hazard].distance ? hazard_words[c->hazard].distance
                                                      : distance_to(w, thread, c);
    struct hazard_report *r = place_of(reports, &new);
    new.updates = new.distance <= SAME_GRID && (!r->now || r->updates) && is_update(w, i, c);
    r->updates = new.updates;
    uint64_t count = r->count;
    if (!r->now) {
        *r = new;
        reports->count++;
        announce(w, c, r);
    } else if (new.distance > r->distance) {
        new.order = r->order;
        *r = new;
    }
    r->count = count + 1;
}

/* ---- reporting ------------------------------------------------------------------------------- */

static const char *const advice[] = {
    "Lanes write it in one instruction, and different values: which of them stays is chance",
    "Nothing orders these two lanes, which need not run in step: is a __syncwarp() missing "
    "between them, or a __syncthreads(), if other warps use this memory, too?",
    "No barrier orders these two warps: is a __syncthreads() missing between them?",
    "Nothing orders these two blocks of a cluster: is a cluster.sync() missing between them?",
    "Nothing orders these two blocks: it takes atomics, a flag that is stored behind a "
    "__threadfence(), or a second launch",
    "No wait for that copy comes before: at the mbarrier it arrives at, or for its group by the "
    "thread that began it, and then a barrier",
    "Bulk copies need not see what threads have stored: is a fence.proxy.async missing between "
    "them?",
    "Volatile and relaxed accesses order nothing: is a __threadfence() missing between each of "
    "them "
    "and the flag or lock beside it?",
    "Between this thread's load and its store another may store, which is lost: it takes an "
    "atomic, "
    "or a lock with a __threadfence() behind and before it",
    "Nothing makes that block wait until the other has used its shared memory: is a cluster.sync() "
    "missing before its end?",
    "Volatile and relaxed accesses, and atomics, of different sizes are no flags to each other: "
    "both must access the same bytes",
    "The flag between them was read without a fence: it takes a __threadfence() or an acquire "
    "after "
    "the read (--strict-readers)",
    "Which of the two values stays is chance: one thread must decide, after a barrier or in a "
    "node of its own",
    "A load by __ldg(), const __restrict__ or a texture, or of __constant__ memory, takes it for "
    "constant while the kernel runs, and a barrier does not help: load by a plain pointer, or "
    "write to another array",
    "Both load this word, change it and store it, and one of the changes may be lost: it takes an "
    "atomic, such as atomicAdd(), a lock with fences, or a barrier if they take turns",
    "Nothing orders these two blocks: write to another array; else it takes atomics, a flag that "
    "is stored behind a __threadfence(), or a second launch"};

/* "thread (0,0,0) in block (0,0,0)", or "a copy of" this thread. */
static void describe_agent(const struct check_place *place, char *text, size_t size)
{
    int length =
        place->is_copy ? snprintf(text, size, "a copy%s", place->has_thread ? " of " : "") : 0;
    if (place->has_thread) check_describe_thread(place, text + length, size - (size_t)length);
}

/* "0x300000001200 (index 128 of 256 elements of 4 bytes in the allocation at 0x…)" */
static void describe_address(const struct launch *launch, const struct hazard_report *r, char *text,
                             size_t size)
{
    struct range range;
    unsigned bytes = r->place.insn ? r->place.insn->element_bytes : 0;
    snprintf(text, size, " 0x%" PRIx64, r->address);
    if (r->space == PTX_SHARED || !bytes || !device_range(launch->emu, r->address, &range)) return;
    device_append(text, size,
                  " (index %" PRIu64 " of %" PRIu64 " elements of %u bytes in the allocation at"
                  " 0x%" PRIx64 ")",
                  (r->address - range.base) / bytes, range.bytes / bytes, bytes, range.base);
}

static void report_hazard(const struct launch *launch, const struct hazard_report *r)
{
    bool has_address = r->hazard != SET_DIFFERENTLY,
         in_place = r->distance == SAME_GRID && r->hazard != WRITE_AFTER_WRITE;
    char title[60], address[200] = "", detail[CHECK_TEXT], me[99], they[99];
    describe_agent(&r->place, me, sizeof me);
    describe_agent(&r->other, they, sizeof they);
    snprintf(title, sizeof title, "%s hazard at %s", hazard_words[r->hazard].name,
             !has_address             ? "the condition of a graph"
             : r->space == PTX_SHARED ? "__shared__ address"
                                      : "__global__ address");
    if (has_address) describe_address(launch, r, address, sizeof address);
    snprintf(detail, sizeof detail, "    %s%s: %s %s, %s %s\n    %s", title, address, they,
             hazard_words[r->hazard].then, me, hazard_words[r->hazard].now,
             advice[r->updates ? UPDATE
                    : in_place ? IN_PLACE
                               : r->distance]);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_RACE,
                                        .severity = EMU_FINDING_ERROR,
                                        .kind = hazard_words[r->hazard].kind,
                                        .title = title,
                                        .place = r->place,
                                        .other = r->other,
                                        .by_reader = r->distance == UNFENCED_READER,
                                        .times = r->count,
                                        .has_address = has_address,
                                        .space = r->space,
                                        .address = r->address,
                                        .unit = "hazards",
                                        .detail = detail});
}

static int by_order(const void *a, const void *b)
{
    const struct hazard_report *x = a, *y = b;
    if (!x->now || !y->now) return !x->now - !y->now;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* Two stores of one statement, of which the table has such a load, too. */
static bool stores_updates(const struct race_reports *reports, const struct hazard_report *r)
{
    for (size_t i = 0; i < reports->count; i++) {
        const struct hazard_report *other = &reports->table[i];
        if (other->updates && other->space == r->space && r->distance <= SAME_GRID &&
            r->now == r->before && (other->now == r->now || other->before == r->now))
            return true;
    }
    return false;
}

void race_reports_flush(struct race_reports *reports, const struct launch *launch)
{
    if (!reports->count) return;
    qsort(reports->table, reports->size, sizeof *reports->table, by_order);
    for (size_t i = 0; i < reports->count; i++) {
        struct hazard_report *r = &reports->table[i];
        r->updates = r->updates || stores_updates(reports, r);
        /* The CUDA guide's loop around atomicCAS begins with a plain load. The loop is right
         * whatever value the load finds. */
        if (!r->load || !uses_swaps(launch->kernel, (size_t)(r->load - launch->kernel->code)))
            report_hazard(launch, r);
    }
    free(reports->table);
    free(reports->first);
    *reports = (struct race_reports){0};
}

/* ---- hazards between operations -------------------------------------------------------------- */

/* Hazards between operations as text. A finding is a pair of places:
 * source lines of kernels, or calls of the runtime. */

/* ---- the code of a launch -------------------------------------------------------------------- */

/* The kept copy of a file's name; NULL: no name. */
static const char *keep_file(struct stream_ops *ops, const char *name)
{
    if (!name) return NULL;
    for (size_t i = ops->file_count; i-- > 0;)
        if (!strcmp(ops->files[i], name)) return ops->files[i];
    ops->files = grown(ops->files, ops->file_count, sizeof *ops->files);
    return ops->files[ops->file_count++] = allocated(strdup(name));
}

static struct op_place place_in_kernel(struct stream_ops *ops, const struct emu_kernel *kernel,
                                       unsigned place)
{
    const struct ptx_instruction *source =
        place == UNKNOWN_PLACE ? NULL : kernel->code[place].source;
    const struct ptx_text *text = &kernel->module->text;
    if (!source) return (struct op_place){0};
    bool has_line = source->source_line && source->file < text->file_count;
    return (struct op_place){has_line ? keep_file(ops, text->files[source->file]) : NULL,
                             has_line ? source->source_line : 0, source->line};
}

struct op_code *op_code_of(struct stream_ops *ops, const struct race *race,
                           const struct launch *launch)
{
    unsigned count = race->place_count + 1;
    struct op_code *code = allocated(calloc(1, sizeof *code + count * sizeof *code->places));
    code->place_count = count;
    for (unsigned i = 0; i < count; i++)
        code->places[i] = place_in_kernel(ops, launch->kernel, race->places[i]);
    code->kernel = allocated(strdup(launch->kernel->info.name));
    return code;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* What is said of each kind of operation. */
static const struct {
    const char *noun, *begun;
} op_words[] = {
    [STREAM_OP_KERNEL] = {"kernel", "The kernel was launched at"},
    [STREAM_OP_COPY] = {"copy", "The copy was made at"},
    [STREAM_OP_FILL] = {"fill", "The fill was made at"},
    [STREAM_OP_HOST] = {"host function", "The host function was put into the stream at"},
    [STREAM_OP_LIBRARY] = {"", "The library was called at"},
    [STREAM_OP_CONDITION] = {"conditional node", "The graph was launched at"},
    [STREAM_OP_ALLOC] = {"allocation", "The memory was allocated at"},
    [STREAM_OP_FREE] = {"free", "The memory was freed at"},
};

/* One side of a hazard. */
struct op_side {
    const struct op_state *op;
    struct op_place place;
    const char *access, *did;
    bool is_launcher; /* it has launched the other side, or what has launched that */
    bool is_early, waits_for_it; /* it begins before the other side is over; and may wait for it */
};

static struct op_side side_of(const struct stream_ops *ops, record v, bool writes, bool is_now)
{
    struct op_side side = {.op = op_at(ops, op_of(v))};
    const struct op_code *code = side.op->code;
    bool is_atomic = (record_kind(v) & KIND_MASK) == KIND_ATOMIC;
    if (code && op_place_of(v) < code->place_count) side.place = code->places[op_place_of(v)];
    side.access = is_atomic ? "Atomic access" : writes ? "Write access" : "Read access";
    switch (side.op->info.kind) {
    case STREAM_OP_ALLOC: side.did = is_now ? "allocates it" : "gives it out"; break;
    case STREAM_OP_FREE: side.did = "frees it"; break;
    default:
        side.did = writes ? (is_now ? "writes it" : "wrote it") : (is_now ? "reads it" : "read it");
    }
    return side;
}

static bool has_launched(const struct stream_ops *ops, const struct op_side *side,
                         const struct op_state *other)
{
    while (other && other->info.launcher) {
        other = op_at(ops, other->info.launcher);
        if (other == side->op) return true;
    }
    return false;
}

/* "Write access at kernel(int *) in file.cu:12 (PTX line 97)", "Read access of a copy" */
static void describe_side(const struct op_side *side, char *text, size_t size)
{
    char name[300], source[500];
    if (side->op->info.kind == STREAM_OP_KERNEL && side->op->code) {
        kernel_whole_name(side->op->code->kernel, name, sizeof name);
        describe_source(side->place.file, side->place.line, side->place.ptx_line, source,
                        sizeof source);
        snprintf(text, size, "%s at %s in %s", side->access, name, source);
    } else if (side->op->info.kind >= STREAM_OP_ALLOC) {
        snprintf(text, size, "%s of memory",
                 side->op->info.kind == STREAM_OP_ALLOC ? "Allocation" : "Free");
    } else if (side->op->info.kind == STREAM_OP_LIBRARY) {
        snprintf(text, size, "%s of %s", side->access, side->op->info.library);
    } else {
        snprintf(text, size, "%s of a %s", side->access, op_words[side->op->info.kind].noun);
    }
}

/* "the copy in stream 13 reads it" */
static void append_deed(const struct op_side *side, char *text, size_t size)
{
    const struct stream_op_info *info = &side->op->info;
    if (!info->stream && !info->launcher) {
        device_append(text, size, "cudaFree %s", side->did);
        return;
    }
    if (info->launcher) {
        device_append(text, size, "the %s that a kernel has launched %s", op_words[info->kind].noun,
                      side->did);
        return;
    }
    device_append(text, size, "%s%s in %s%llu", info->library ? "" : "the ",
                  info->library ? info->library : op_words[info->kind].noun,
                  info->in_graph ? "a graph in stream " : "stream ", info->stream);
    if (info->device) device_append(text, size, " of device %d", info->device);
    device_append(text, size, " %s", side->did);
}

static const char *advice_of(const struct op_side *before, const struct op_side *now)
{
    if (before->is_launcher)
        return "The second kernel was launched, by itself or by another one, when the first had "
               "not come to its access, or by a thread that is not ordered with it: does the "
               "access belong before the launch, or the launch into cudaStreamTailLaunch?";
    if (now->is_early)
        return now->waits_for_it
                   ? "The second kernel may begin before the first has ended: is a "
                     "cudaGridDependencySynchronize() missing before this access?"
                   : "The second kernel may begin before the first has ended, because a kernel "
                     "between them does not wait for the first: is a "
                     "cudaGridDependencySynchronize() missing there?";
    if (before->op->info.launcher && now->op->info.launcher)
        return "No stream or event in the kernels that launched them orders these two: do both "
               "belong into one stream, or the later one into cudaStreamTailLaunch?";
    if (before->op->info.kind == STREAM_OP_ALLOC)
        return "Only work behind the allocation in its stream may use the memory: is a "
               "cudaStreamWaitEvent() or a synchronisation missing?";
    if (now->op->info.kind == STREAM_OP_FREE)
        return "The memory may get another use before that work has ended: is a "
               "cudaStreamWaitEvent() or a synchronisation missing before it is freed?";
    if (before->op->info.in_graph && now->op->info.in_graph)
        return "No path of the graph, stream, event or wait of the host orders these two: is an "
               "edge of the graph missing between them?";
    return "No stream, event or wait of the host orders these two: is a cudaStreamWaitEvent() or "
           "a synchronisation missing between them?";
}

/* Of what a kernel has launched, the host knows only the kernel. */
static void append_host_place(const struct emu *emu, const struct op_side *side, char *text,
                              size_t size)
{
    if (side->op->info.launcher) return;
    check_append_host_place(emu, &side->op->info.place, op_words[side->op->info.kind].begun, text,
                            size);
}

static void describe(struct emu *emu, const struct op_conflict *c, const struct op_side *before,
                     const struct op_side *now, char *text, size_t size)
{
    struct range range;
    snprintf(text, size, "    %s hazard at ",
             !c->now_writes    ? "RAW"
             : c->before_wrote ? "WAW"
                               : "WAR");
    if (c->address >= STREAM_CONDITIONS)
        device_append(text, size, "the condition of a graph");
    else
        device_append(text, size, "address 0x%" PRIx64, c->address);
    if (device_range(emu, c->address, &range))
        device_append(text, size, " (offset %" PRIu64 " of the %" PRIu64 " bytes at 0x%" PRIx64 ")",
                      c->address - range.base, range.bytes, range.base);
    device_append(text, size, ": ");
    append_deed(before, text, size);
    device_append(text, size, ", ");
    append_deed(now, text, size);
    device_append(text, size, "\n    %s", advice_of(before, now));
    append_host_place(emu, before, text, size);
    append_host_place(emu, now, text, size);
}

/* Identifies a side of a finding: loops and streams in an array repeat it. */
static void identify(const struct op_side *side, char *text, size_t size)
{
    const struct stream_op_info *info = &side->op->info;
    device_append(text, size, "%d %s %u %u %s;", info->kind,
                  side->op->code ? side->op->code->kernel : "", side->place.line,
                  side->place.line ? 0 : side->place.ptx_line, side->access);
    if (!side->op->code)
        for (unsigned i = 0; i < info->place.count; i++)
            device_append(text, size, "%p ", info->place.frames[i]);
}

static struct emu_place emu_place_of(const struct op_side *side)
{
    return (struct emu_place){.is_known = side->op->code != NULL,
                              .file = side->place.file,
                              .line = side->place.line,
                              .ptx_line = side->place.ptx_line,
                              .access = side->access};
}

/* ---- reporting ------------------------------------------------------------------------------- */

void op_report(struct stream_ops *ops, struct emu *emu, const struct launch *launch,
               const struct op_conflict *c)
{
    char head[2 * CHECK_TEXT], detail[2 * CHECK_TEXT], same[CHECK_TEXT] = "", one[850], other[850];
    struct op_side before = side_of(ops, c->before, c->before_wrote, false),
                   now = side_of(ops, c->now, c->now_writes, true);
    before.is_launcher = has_launched(ops, &before, now.op);
    now.is_early = now.op->early && op_is_before(ops, op_of(c->before), op_of(c->now));
    now.waits_for_it = now.is_early && op_waits_for(now.op, op_of(c->before));
    describe_side(&before, one, sizeof one);
    describe_side(&now, other, sizeof other);
    snprintf(head, sizeof head, "Error: Race reported between %s\n    and %s", one, other);
    describe(emu, c, &before, &now, detail, sizeof detail);
    identify(&before, same, sizeof same);
    identify(&now, same, sizeof same);
    check_report(
        emu, launch,
        &(struct check_report){
            .tool = EMU_CHECK_RACE,
            .severity = EMU_FINDING_ERROR,
            .kind = "unordered-operations",
            .title = "Hazard between operations that nothing orders",
            .same = same,
            .head = head,
            .sources = &(struct check_sources){now.op->code ? now.op->code->kernel : NULL,
                                               before.op->code ? before.op->code->kernel : NULL,
                                               emu_place_of(&now), emu_place_of(&before)},
            .times = c->count,
            .has_address = c->address < STREAM_CONDITIONS,
            .space = PTX_GLOBAL,
            .address = c->address,
            .unit = "hazards",
            .detail = detail});
}
