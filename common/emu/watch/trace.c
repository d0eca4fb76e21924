/*
 * Several host threads may run blocks. So accesses are kept under a lock, and of equally bad ones
 * that of the lowest block and warp, so that pictures do not depend on the order of blocks. A
 * timeline is of one block, which one host thread runs at a time.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "picture.h"
#include "counters.h"
#include "common/emu/ptx/module.h"
#include "common/emu/machine/device.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 256, MOST_TIMELINES = 16, MOST_TURNS = 2000 };

struct timeline {
    struct emu_timeline shown;
    struct emu_turn turns[MOST_TURNS];
    size_t count;
};

struct pictures {
    pthread_mutex_t lock; /* of the accesses */
    struct emu_bank_picture lines[MOST_LINES];
    size_t line_count;
    struct timeline *timelines[MOST_TIMELINES];
    size_t timeline_count;
    struct timeline *current; /* of the launch that runs; NULL: it has none */
    uint64_t begun;           /* the current turn: the block's instructions less the warp's */
};

struct pictures *pictures_open(void)
{
    struct pictures *p = calloc(1, sizeof *p);
    if (p) pthread_mutex_init(&p->lock, NULL);
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
        free((char *)p->timelines[i]->shown.kernel);
        free(p->timelines[i]);
    }
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

/* The picture of a line; a new one if there is room. The pictures are locked. */
static struct emu_bank_picture *find_line(struct pictures *p, const char *file, unsigned line)
{
    for (size_t i = 0; i < p->line_count; i++)
        if (p->lines[i].line == line && !strcmp(p->lines[i].file, file)) return &p->lines[i];
    char *copy = p->line_count < MOST_LINES ? strdup(file) : NULL;
    if (!copy) return NULL;
    p->lines[p->line_count] = (struct emu_bank_picture){.file = copy, .line = line};
    return &p->lines[p->line_count++];
}

static void keep(struct pictures *p, const struct emu_bank_picture *new)
{
    pthread_mutex_lock(&p->lock);
    struct emu_bank_picture *old = find_line(p, new->file, new->line);
    char *kernel = old && (!old->kernel || is_better(new, old)) ? strdup(new->kernel) : NULL;
    if (kernel) {
        const char *file = old->file;
        free((char *)old->kernel);
        *old = *new;
        old->file = file;
        old->kernel = kernel;
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
        if (!strcmp(p->timelines[i]->shown.kernel, launch->kernel->info.name)) return;
    struct timeline *new = p->timeline_count < MOST_TIMELINES ? calloc(1, sizeof *new) : NULL;
    char *name = new ? strdup(launch->kernel->info.name) : NULL;
    if (!name) {
        free(new);
        return;
    }
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    new->shown = (struct emu_timeline){.kernel = name,
                                       .launch = launch->id,
                                       .warps = (unsigned)((threads + WARP - 1) / WARP),
                                       .turns = new->turns};
    p->timelines[p->timeline_count++] = p->current = new;
}

void picture_launch_end(struct pictures *p) { p->current = NULL; }

static struct timeline *timeline_of(const struct pictures *p, const struct warp *w)
{
    return w->block->index == 0 ? p->current : NULL;
}

/* How many instructions the block's warps have executed. */
static uint64_t steps(const struct pictures *p, const struct warp *w)
{
    return p->begun + w->clock - w->fuel;
}

static void begin_part(struct timeline *t, const struct warp *w, uint64_t at)
{
    if (t->count == MOST_TURNS) {
        t->shown.is_cut = true;
        return;
    }
    t->turns[t->count++] = (struct emu_turn){
        .warp = w->index, .from = at, .to = at, .is_divergent = w->fragment_count > 1};
}

static struct emu_turn *last_part(struct timeline *t)
{
    return t->count > 0 && !t->shown.is_cut ? &t->turns[t->count - 1] : NULL;
}

/* Turns in which the warp executes nothing are removed when they end. */
void picture_turn(struct pictures *p, const struct warp *w)
{
    struct timeline *t = timeline_of(p, w);
    if (!t) return;
    p->begun = w->block->executed - (w->clock - w->fuel);
    begin_part(t, w, steps(p, w));
}

void picture_lanes(struct pictures *p, const struct warp *w)
{
    struct timeline *t = timeline_of(p, w);
    struct emu_turn *part = t ? last_part(t) : NULL;
    if (!part || part->is_divergent == (w->fragment_count > 1)) return;
    part->to = steps(p, w);
    if (part->to == part->from) t->count--;
    begin_part(t, w, part->to);
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
    struct timeline *t = timeline_of(p, w);
    struct emu_turn *part = t ? last_part(t) : NULL;
    if (!part) return;
    part->to = steps(p, w);
    part->end = end_of(w);
    if (part->to > t->shown.steps) t->shown.steps = part->to;
    if (part->to == part->from) t->count--;
    t->shown.turn_count = t->count;
}

/* ---- reading --------------------------------------------------------------------------------- */

size_t emu_bank_pictures(const struct emu *emu)
{
    return emu->pictures ? emu->pictures->line_count : 0;
}

const struct emu_bank_picture *emu_bank_picture(const struct emu *emu, size_t index)
{
    return index < emu_bank_pictures(emu) ? &emu->pictures->lines[index] : NULL;
}

size_t emu_timelines(const struct emu *emu)
{
    return emu->pictures ? emu->pictures->timeline_count : 0;
}

const struct emu_timeline *emu_timeline(const struct emu *emu, size_t index)
{
    return index < emu_timelines(emu) ? &emu->pictures->timelines[index]->shown : NULL;
}
