#define _GNU_SOURCE
#include "counters.h"

#include "common/command/fault.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The functions of emu.h, which only the emulator's runtime library has. */
#define LOOK_UP(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

struct emu *counters_emulator(void)
{
    __typeof__(&emu_runtime) runtime = LOOK_UP(emu_runtime);
    return runtime ? runtime() : NULL;
}

unsigned counters_checks(void)
{
    struct emu *emu = counters_emulator();
    return emu ? LOOK_UP(emu_checks)(emu) : 0;
}

static bool was_counting; /* before counters_begin: EMU_COUNTERS counts every launch */

bool counters_begin(void)
{
    struct emu *emu = counters_emulator();
    if (!emu) return false;
    LOOK_UP(emu_forget)(emu);
    was_counting = LOOK_UP(emu_count)(emu, true);
    return true;
}

/* Every field of emu_counts is a uint64_t, so two of them are added as arrays. */
static void add_counts(struct emu_counts *sum, const struct emu_counts *counts)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)counts;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++) to[i] += from[i];
}
_Static_assert(sizeof(struct emu_counts) % sizeof(uint64_t) == 0, "emu_counts: uint64_t only");

static void add_line(struct counters *counters, const struct emu_line *line)
{
    for (size_t i = 0; i < counters->line_count; i++) {
        struct counter_line *known = &counters->lines[i];
        if (known->line != line->line || strcmp(known->file, line->file) != 0) continue;
        add_counts(&known->counts, &line->counts);
        return;
    }
    size_t bytes = (counters->line_count + 1) * sizeof *counters->lines;
    counters->lines = allocated(realloc(counters->lines, bytes));
    counters->lines[counters->line_count++] =
        (struct counter_line){.file = allocated(strdup(line->file ? line->file : "")),
                              .line = line->line,
                              .counts = line->counts};
}

static int compare_lines(const void *left, const void *right)
{
    const struct counter_line *a = left, *b = right;
    int files = strcmp(a->file, b->file);
    return files ? files : (a->line > b->line) - (a->line < b->line);
}

void counters_end(struct counters *counters)
{
    *counters = (struct counters){0};
    struct emu *emu = counters_emulator();
    LOOK_UP(emu_count)(emu, was_counting);
    size_t records = LOOK_UP(emu_records)(emu);
    for (size_t i = 0; i < records; i++) {
        const struct emu_launch_record *record = LOOK_UP(emu_record)(emu, i);
        counters->launches++;
        counters->seconds += record->seconds;
        add_counts(&counters->total, &record->total);
        for (size_t k = 0; k < record->line_count; k++) add_line(counters, &record->lines[k]);
    }
    LOOK_UP(emu_forget)(emu);
    if (counters->line_count)
        qsort(counters->lines, counters->line_count, sizeof *counters->lines, compare_lines);
}

void counters_free(struct counters *counters)
{
    for (size_t i = 0; i < counters->line_count; i++) free(counters->lines[i].file);
    free(counters->lines);
    *counters = (struct counters){0};
}

uint64_t counters_conflicts(const struct emu_shared *shared)
{
    return shared->wavefronts - shared->ideal;
}

double counters_sectors_per_request(const struct emu_global *global)
{
    return global->requests ? (double)global->sectors / (double)global->requests : 0;
}

const struct counter_line *counters_worst_line(const struct counters *counters)
{
    const struct counter_line *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < counters->line_count; i++) {
        const struct emu_counts *c = &counters->lines[i].counts;
        uint64_t conflicts = counters_conflicts(&c->shared_ld) + counters_conflicts(&c->shared_st);
        if (conflicts <= most) continue;
        most = conflicts;
        worst = &counters->lines[i];
    }
    return worst;
}
