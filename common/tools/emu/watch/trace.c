/* trace.c — a line of text for each access, and what pictures show of a run. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "trace.h"
#include "count.h"
#include "common/tools/emu/machine/device.h"
#include "common/files/visible.h"
#include <inttypes.h>

/* ---- lines of text --------------------------------------------------------------------------- */

struct emu_trace {
    FILE *file;
    uint64_t lines, limit; /* lines: without the header */
};

static const char header[] = "launch\tkernel\tblock\twarp\tepoch\tline\toperation\tspace\tbytes\t"
                             "mask\twavefronts\tideal\tsectors\taddresses\tvalues\n";

struct emu_trace *trace_open(FILE *file, uint64_t limit)
{
    struct emu_trace *trace = allocated(malloc(sizeof *trace));
    *trace = (struct emu_trace){.file = file, .limit = limit};
    return trace;
}

void trace_close(struct emu_trace *trace) { free(trace); }

uint64_t emu_traced(const struct emu *emu) { return emu->trace ? emu->trace->lines : 0; }

/* Counts a line, and writes the header before the first one. False: it is beyond the limit. */
static bool adds_line(struct emu_trace *trace)
{
    if (!trace->lines++) fputs(header, trace->file);
    return !trace->limit || trace->lines <= trace->limit;
}

/* Prints what this access alone adds to the counters. */
static void print_counts(FILE *file, const struct warp *w, const struct insn *i,
                         const struct access *access)
{
    struct insn_counts counts = {0};
    count_access(&counts, w, i, access);
    if (access->space == PTX_SHARED)
        fprintf(file, "%" PRIu64 "\t%" PRIu64 "\t-\t", counts.wavefronts, counts.ideal);
    else
        fprintf(file, "-\t-\t%" PRIu64 "\t", counts.sectors);
}

/* Prints one lane's value. Before the access is carried out, a store's value is in registers; other
 * values are in memory. */
static void print_value(FILE *file, const struct warp *w, const struct insn *i, int lane,
                        const void *memory, unsigned bytes)
{
    bool plain = i->tally == TALLY_LOAD || i->tally == TALLY_STORE || i->tally == TALLY_ATOMIC;
    unsigned size = plain ? i->element_bytes : (unsigned)sizeof(uint32_t);
    for (unsigned k = 0; k * size < bytes; k++) {
        unsigned left = bytes - k * size; /* fewer than 4 at the edge of a tensor */
        uint64_t value = 0;
        if (i->tally == TALLY_STORE)
            memcpy(&value, (const uint8_t *)slot_at(w, i->memory.value[k]) + lane * i->lane_bytes,
                   size);
        else
            memcpy(&value, (const uint8_t *)memory + k * size, left < size ? left : size);
        fprintf(file, "%s%0*" PRIx64, k ? "," : "", (int)(2 * size), value);
    }
}

static void print_values(FILE *file, const struct warp *w, const struct insn *i,
                         const struct access *access)
{
    bool store = access->operation == OPERATION_STORE;
    for (uint32_t left = access->mask; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        const void *memory = (const void *)(uintptr_t)(access->host + access->address[lane]);
        if (store && i->tally != TALLY_STORE)
            fputc('-', file);
        else
            print_value(file, w, i, lane, memory, access->bytes);
        fputc(left & (left - 1) ? ' ' : '\n', file);
    }
}

/* Prints the columns up to the source line. */
static void print_place(FILE *file, const struct warp *w, const struct insn *i)
{
    const struct launch *launch = w->block->launch;
    const struct ptx_text *text = &launch->kernel->module->text;
    const char *path = i->source->file < text->file_count ? text->files[i->source->file] : NULL;
    const char *name = path && strrchr(path, '/') ? strrchr(path, '/') + 1 : path ? path : "";
    fprintf(file, "%u\t%s\t%" PRIu64 "\t%u\t%u\t", launch->id, launch->kernel->info.name,
            w->block->index, w->index, w->block->epoch);
    visible_print(file, name, strlen(name));
    fprintf(file, ":%u\t", i->source->source_line);
}

void trace_access(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                  const struct access *access)
{
    static const char *const operations[] = {"ld", "st", "atom"};
    FILE *file = trace->file;
    if (!adds_line(trace)) return;
    print_place(file, w, i);
    fprintf(file, "%s\t%s\t%u\t%08" PRIx32 "\t", operations[access->operation],
            ptx_space_name(access->space), access->bytes, access->mask);
    print_counts(file, w, i, access);
    for (uint32_t left = access->mask; left; left &= left - 1)
        fprintf(file, "%" PRIx64 "%c", access->address[__builtin_ctz(left)],
                left & (left - 1) ? ' ' : '\t');
    print_values(file, w, i, access);
}

/* ---- barriers and warp-wide operations ------------------------------------------------------- */

static bool is_exchange(const struct insn *i)
{
    const char *word = i->source->words[0];
    return !strcmp(word, "shfl") || !strcmp(word, "vote");
}

/* Prints the line of a barrier or of a warp-wide operation, up to its lists. */
static void print_step(FILE *file, const struct warp *w, const struct insn *i, uint32_t lanes)
{
    print_place(file, w, i);
    const struct ptx_instruction *source = i->source;
    fputs(source->words[0], file);
    for (unsigned k = 1; k < source->word_count; k++) /* .up of a shuffle, .warp of a barrier */
        if (strcmp(source->words[k], "sync")) {
            fprintf(file, ".%s", source->words[k]);
            break;
        }
    fprintf(file, "\t-\t0\t%08" PRIx32 "\t-\t-\t-\t", lanes);
}

void trace_step(struct emu_trace *trace, const struct warp *w, const struct insn *i, uint32_t lanes)
{
    if (is_exchange(i) || !adds_line(trace)) return;
    print_step(trace->file, w, i, lanes);
    fputs("-\t-\n", trace->file);
}

void trace_exchange(struct emu_trace *trace, const struct warp *w, const struct insn *i,
                    const struct exchange *e)
{
    FILE *file = trace->file;
    if (!adds_line(trace)) return;
    print_step(file, w, i, e->lanes);
    if (!e->from) fputs("-\t", file);
    for (uint32_t left = e->from ? e->lanes : 0; left; left &= left - 1)
        fprintf(file, "%x%c", e->from[__builtin_ctz(left)], left & (left - 1) ? ' ' : '\t');
    for (uint32_t left = e->lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        fprintf(file, "%08" PRIx32 ",%08" PRIx32 "%c", e->given[lane], e->received[lane],
                left & (left - 1) ? ' ' : '\n');
    }
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Several host threads may run blocks. So accesses are kept under a lock, and of equally bad ones
 * that of the lowest block and warp, so that pictures do not depend on the order of blocks. A
 * timeline is of one block, which one host thread runs at a time. */

enum { MOST_TIMELINES = 16, MOST_TURNS = 2000 };

struct pictures {
    pthread_mutex_t lock; /* of the accesses */
    struct emu_bank_picture *lines;
    size_t line_count;
    struct emu_timeline timelines[MOST_TIMELINES];
    size_t timeline_count;
    struct emu_timeline *current; /* of the launch that runs; NULL: it has none */
    struct emu_turn *turns;       /* of the current one */
    uint64_t begun;               /* the current turn: the block's instructions less the warp's */
};

struct pictures *pictures_open(void)
{
    struct pictures *p = allocated(calloc(1, sizeof *p));
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void pictures_close(struct pictures *p)
{
    if (!p) return;
    for (size_t i = 0; i < p->line_count; i++) {
        free((char *)p->lines[i].kernel);
        free((char *)p->lines[i].file);
    }
    for (size_t i = 0; i < p->timeline_count; i++) {
        free((char *)p->timelines[i].kernel);
        free((struct emu_turn *)p->timelines[i].turns);
    }
    free(p->lines);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static uint64_t conflicts(const struct emu_bank_picture *b) { return b->wavefronts - b->ideal; }

/* Does `a` come before `b`, as the example of a line? */
static bool is_better(const struct emu_bank_picture *a, const struct emu_bank_picture *b)
{
    if (conflicts(a) != conflicts(b)) return conflicts(a) > conflicts(b);
    if (a->launch != b->launch) return a->launch < b->launch;
    return a->block != b->block ? a->block < b->block : a->warp < b->warp;
}

/* The picture of a line, or a new one. The pictures are locked. */
static struct emu_bank_picture *find_line(struct pictures *p, const char *file, unsigned line)
{
    for (size_t i = 0; i < p->line_count; i++)
        if (p->lines[i].line == line && !strcmp(p->lines[i].file, file)) return &p->lines[i];
    p->lines = grown(p->lines, p->line_count, sizeof *p->lines);
    p->lines[p->line_count] =
        (struct emu_bank_picture){.file = allocated(strdup(file)), .line = line};
    return &p->lines[p->line_count++];
}

static void keep(struct pictures *p, const struct emu_bank_picture *new)
{
    pthread_mutex_lock(&p->lock);
    struct emu_bank_picture *old = find_line(p, new->file, new->line);
    if (!old->kernel || is_better(new, old)) {
        const char *file = old->file;
        free((char *)old->kernel);
        *old = *new;
        old->file = file;
        old->kernel = allocated(strdup(new->kernel));
    }
    pthread_mutex_unlock(&p->lock);
}

void picture_access(struct pictures *p, const struct warp *w, const struct insn *i,
                    const struct access *access)
{
    const struct launch *launch = w->block->launch;
    const struct ptx_text *text = &launch->kernel->module->text;
    const char *file = i->source->file < text->file_count ? text->files[i->source->file] : NULL;
    struct insn_counts counts = {0};
    if (access->space != PTX_SHARED || !file || !i->source->source_line) return;
    count_access(&counts, w, i, access);
    if (counts.wavefronts <= counts.ideal) return;
    struct emu_bank_picture new = {.kernel = launch->kernel->info.name,
                                   .launch = launch->id,
                                   .file = file,
                                   .line = i->source->source_line,
                                   .block = w->block->index,
                                   .warp = w->index,
                                   .is_load = access->operation == OPERATION_LOAD,
                                   .is_atomic = access->operation == OPERATION_ATOMIC,
                                   .bytes = access->bytes,
                                   .mask = access->mask,
                                   .wavefronts = counts.wavefronts,
                                   .ideal = counts.ideal};
    for (unsigned l = 0; l < WARP; l++) new.address[l] = (uint32_t)access->address[l];
    keep(p, &new);
}

/* ---- timelines ------------------------------------------------------------------------------- */

void picture_launch(struct pictures *p, const struct launch *launch)
{
    p->current = NULL;
    for (size_t i = 0; i < p->timeline_count; i++)
        if (!strcmp(p->timelines[i].kernel, launch->kernel->info.name)) return;
    if (p->timeline_count == MOST_TIMELINES) return;
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    p->turns = allocated(calloc(MOST_TURNS, sizeof *p->turns));
    p->current = &p->timelines[p->timeline_count++];
    *p->current = (struct emu_timeline){.kernel = allocated(strdup(launch->kernel->info.name)),
                                        .warps = (unsigned)((threads + WARP - 1) / WARP),
                                        .turns = p->turns};
}

void picture_launch_end(struct pictures *p) { p->current = NULL; }

/* NULL: the warp's turns are in no timeline. */
static struct emu_timeline *timeline_of(const struct pictures *p, const struct warp *w)
{
    return w->block->index == 0 ? p->current : NULL;
}

/* How many instructions the block's warps have executed. */
static uint64_t steps(const struct pictures *p, const struct warp *w)
{
    return p->begun + w->clock - w->fuel;
}

static void begin_part(struct pictures *p, const struct warp *w, uint64_t at)
{
    if (p->current->turn_count == MOST_TURNS)
        p->current->is_cut = true;
    else
        p->turns[p->current->turn_count++] = (struct emu_turn){
            .warp = w->index, .from = at, .to = at, .is_divergent = w->fragment_count > 1};
}

/* Ends the last part, and removes it if nothing was executed in it. NULL: no part is there. */
static struct emu_turn *end_part(struct pictures *p, const struct warp *w)
{
    struct emu_timeline *t = timeline_of(p, w);
    if (!t || !t->turn_count || t->is_cut) return NULL;
    struct emu_turn *part = &p->turns[t->turn_count - 1];
    part->to = steps(p, w);
    if (part->to > t->steps) t->steps = part->to;
    if (part->to == part->from) t->turn_count--;
    return part;
}

void picture_turn(struct pictures *p, const struct warp *w)
{
    if (!timeline_of(p, w)) return;
    p->begun = w->block->executed - (w->clock - w->fuel);
    begin_part(p, w, steps(p, w));
}

void picture_lanes(struct pictures *p, const struct warp *w)
{
    const struct emu_timeline *t = timeline_of(p, w);
    bool is_divergent = w->fragment_count > 1;
    if (!t || !t->turn_count || p->turns[t->turn_count - 1].is_divergent == is_divergent) return;
    if (end_part(p, w)) begin_part(p, w, steps(p, w));
}

static enum emu_turn_end end_of(const struct warp *w)
{
    enum emu_turn_end end = w->fragment_count ? EMU_TURN_OVER : EMU_TURN_EXITED;
    for (unsigned i = 0; i < w->fragment_count; i++) {
        if (w->fragments[i].state == FRAGMENT_AT_BARRIER) return EMU_TURN_AT_BARRIER;
        if (w->fragments[i].state == FRAGMENT_WAITING_FOR_PHASE) end = EMU_TURN_WAITS;
    }
    return end;
}

void picture_turn_end(struct pictures *p, const struct warp *w)
{
    struct emu_turn *part = end_part(p, w);
    if (part) part->end = end_of(w);
}

/* ---- reading --------------------------------------------------------------------------------- */

const struct emu_bank_picture *emu_bank_pictures(const struct emu *emu, size_t *count)
{
    *count = emu->pictures ? emu->pictures->line_count : 0;
    return emu->pictures ? emu->pictures->lines : NULL;
}

const struct emu_timeline *emu_timelines(const struct emu *emu, size_t *count)
{
    *count = emu->pictures ? emu->pictures->timeline_count : 0;
    return emu->pictures ? emu->pictures->timelines : NULL;
}
