/*
 * race_report.c — racecheck: hazards as text. A finding is a pair of source lines and a count.
 *
 * Hazards are collected until the launch ends. Of all hazards between the same two lines, the
 * reported one is the first between the threads that are farthest apart: its advice helps the
 * others, too.
 */
#include "race.h"
#include "check.h"
#include "common/emu/machine/device.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    UPDATE
};

static const struct {
    const char *kind, *name, *then, *now;
    enum distance distance; /* SAME_INSTRUCTION: the distance of the two threads */
} hazard_words[HAZARDS] = {
    [READ_AFTER_WRITE] = {"read-after-write", "RAW", "wrote it", "reads it", SAME_INSTRUCTION},
    [WRITE_AFTER_READ] = {"write-after-read", "WAR", "read it", "writes it", SAME_INSTRUCTION},
    [WRITE_AFTER_WRITE] = {"write-after-write", "WAW", "wrote it", "writes it", SAME_INSTRUCTION},
    [UNSEEN_BY_COPY] = {"unseen-by-copy", "RAW", "wrote it", "reads it", UNSEEN},
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

struct race_reports *race_reports_open(void) { return calloc(1, sizeof(struct race_reports)); }

void race_reports_close(struct race_reports *reports)
{
    if (reports) {
        free(reports->table);
        free(reports->first);
    }
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

static bool grow(struct race_reports *reports)
{
    enum { FIRST_SIZE = 64 };
    struct race_reports old = *reports;
    reports->size = old.size ? 2 * old.size : FIRST_SIZE;
    reports->table = calloc(reports->size, sizeof *reports->table);
    if (!reports->table) {
        *reports = old;
        return false;
    }
    for (size_t i = 0; i < old.size; i++)
        if (old.table[i].now) *place_of(reports, &old.table[i]) = old.table[i];
    free(old.table);
    return true;
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

void race_report(struct warp *w, const struct insn *i, int lane, const struct conflict *c)
{
    unsigned before_place = c->before_place;
    struct race_reports *reports = w->block->racecheck->device->reports;
    const struct emu_kernel *kernel = w->block->launch->kernel;
    if ((2 * reports->count >= reports->size && !grow(reports)) ||
        (!reports->first && !(reports->first = check_first_of_lines(kernel))))
        return; /* out of memory: the hazard is not reported */
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
    "Both load this word, change it and store it, and one of the changes may be lost: it takes an "
    "atomic, such as atomicAdd(), a lock with fences, or a barrier if they take turns"};

/* "thread (0,0,0) in block (0,0,0)", or "a copy of" this thread. */
static void describe_agent(const struct check_place *place, char *text, size_t size)
{
    int length =
        place->is_copy ? snprintf(text, size, "a copy%s", place->has_thread ? " of " : "") : 0;
    if (place->has_thread) check_describe_thread(place, text + length, size - (size_t)length);
}

static void report_hazard(const struct launch *launch, const struct hazard_report *r)
{
    bool has_address = r->hazard != SET_DIFFERENTLY;
    char title[60], address[30] = "", detail[CHECK_TEXT], me[99], they[99];
    describe_agent(&r->place, me, sizeof me);
    describe_agent(&r->other, they, sizeof they);
    snprintf(title, sizeof title, "%s hazard at %s", hazard_words[r->hazard].name,
             !has_address             ? "the condition of a graph"
             : r->space == PTX_SHARED ? "__shared__ address"
                                      : "__global__ address");
    if (has_address) snprintf(address, sizeof address, " 0x%" PRIx64, r->address);
    snprintf(detail, sizeof detail, "    %s%s: %s %s, %s %s\n    %s", title, address, they,
             hazard_words[r->hazard].then, me, hazard_words[r->hazard].now,
             advice[r->updates ? UPDATE : r->distance]);
    check_report(launch->emu, launch,
                 &(struct check_report){.tool = EMU_CHECK_RACE,
                                        .severity = EMU_FINDING_ERROR,
                                        .kind = hazard_words[r->hazard].kind,
                                        .title = title,
                                        .place = r->place,
                                        .other = r->other,
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
    if (reports->count) qsort(reports->table, reports->size, sizeof *reports->table, by_order);
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
