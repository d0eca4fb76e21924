#include "sums.h"
#include "common/emu/ptx/kernel_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct emu_counts) % sizeof(uint64_t) == 0, "emu_counts: uint64_t only");

void sum_add(struct emu_counts *to, const struct emu_counts *counts)
{
    uint64_t sum[sizeof *to / sizeof(uint64_t)], more[sizeof *to / sizeof(uint64_t)];
    memcpy(sum, to, sizeof sum);
    memcpy(more, counts, sizeof more);
    for (size_t i = 0; i < sizeof sum / sizeof *sum; i++) sum[i] += more[i];
    memcpy(to, sum, sizeof sum);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct line_sum *x = a, *y = b;
    int files = strcmp(x->file, y->file);
    return files != 0 ? files : x->line < y->line ? -1 : x->line > y->line;
}

/* The lines of all launches, one after the other. */
static struct line_sum *all_lines(const struct document *d, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < d->launch_count; i++) *count += d->launches[i].record.line_count;
    struct line_sum *lines = *count > 0 ? malloc(*count * sizeof *lines) : NULL;
    if (lines == NULL) *count = 0;
    size_t at = 0;
    for (size_t i = 0; i < d->launch_count && lines != NULL; i++)
        for (size_t k = 0; k < d->launches[i].record.line_count; k++) {
            const struct emu_line *line = &d->launches[i].record.lines[k];
            lines[at++] = (struct line_sum){line->file, line->line, line->counts};
        }
    return lines;
}

struct line_sum *line_sums(const struct document *d, size_t *count)
{
    size_t all, kept = 0;
    struct line_sum *lines = all_lines(d, &all);
    if (lines != NULL) qsort(lines, all, sizeof *lines, by_place);
    for (size_t i = 0; i < all; i++)
        if (kept > 0 && by_place(&lines[kept - 1], &lines[i]) == 0)
            sum_add(&lines[kept - 1].counts, &lines[i].counts);
        else
            lines[kept++] = lines[i];
    *count = kept;
    return lines;
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct kernel_sum *kernel_sums(const struct document *d, size_t *count)
{
    struct kernel_sum *kernels =
        d->launch_count > 0 ? calloc(d->launch_count, sizeof *kernels) : NULL;
    *count = 0;
    for (size_t i = 0; i < d->launch_count && kernels != NULL; i++) {
        struct kernel_sum kernel = {.launches = 0};
        size_t at = 0;
        kernel_base_name(d->launches[i].record.kernel, kernel.name, sizeof kernel.name);
        while (at < *count && strcmp(kernels[at].name, kernel.name) != 0) at++;
        if (at == *count) kernels[(*count)++] = kernel;
        if (d->launches[i].error != NULL) continue;
        kernels[at].launches++;
        sum_add(&kernels[at].counts, &d->launches[i].record.total);
    }
    return kernels;
}

/* ---- what is bad about memory accesses ------------------------------------------------------- */

uint64_t sum_wavefronts(const struct emu_counts *c)
{
    return c->shared_ld.wavefronts + c->shared_st.wavefronts + c->shared_atom.wavefronts +
           c->shared_copy.wavefronts;
}

static uint64_t ideal(const struct emu_counts *c)
{
    return c->shared_ld.ideal + c->shared_st.ideal + c->shared_atom.ideal + c->shared_copy.ideal;
}

uint64_t sum_conflicts(const struct emu_counts *c) { return sum_wavefronts(c) - ideal(c); }

uint64_t sum_sectors(const struct emu_counts *c)
{
    return c->global_ld.sectors + c->global_st.sectors + c->global_atom.sectors +
           c->global_red.sectors;
}

static uint64_t excess(const struct emu_global *g)
{
    enum { SECTOR_BYTES = 32 };
    uint64_t needed = (g->bytes + SECTOR_BYTES - 1) / SECTOR_BYTES;
    return g->sectors > needed ? g->sectors - needed : 0;
}

uint64_t sum_excess_sectors(const struct emu_counts *c)
{
    return excess(&c->global_ld) + excess(&c->global_st) + excess(&c->global_atom) +
           excess(&c->global_red);
}

static uint64_t badness(const struct line_sum *l)
{
    return sum_conflicts(&l->counts) + sum_excess_sectors(&l->counts);
}

static int by_badness(const void *a, const void *b)
{
    uint64_t x = badness(a), y = badness(b);
    return x != y ? (x > y ? -1 : 1) : by_place(a, b);
}

struct line_sum *worst_lines(const struct document *d, size_t most, size_t *count)
{
    struct line_sum *lines = line_sums(d, count);
    if (lines != NULL) qsort(lines, *count, sizeof *lines, by_badness);
    if (*count > most) *count = most;
    while (*count > 0 && badness(&lines[*count - 1]) == 0) (*count)--;
    return lines;
}

void describe_line_sum(const struct emu_counts *c, char *text, size_t size)
{
    uint64_t conflicts = sum_conflicts(c), sectors = sum_excess_sectors(c);
    int used = 0;
    *text = '\0';
    if (conflicts > 0)
        used = snprintf(text, size,
                        "%" PRIu64 " bank conflicts: shared memory takes %" PRIu64
                        " wavefronts, and %" PRIu64 " would do",
                        conflicts, sum_wavefronts(c), ideal(c));
    if (sectors > 0 && used >= 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used,
                 "%s%" PRIu64 " excess sectors: global memory moves %" PRIu64
                 " sectors, and the bytes fill %" PRIu64,
                 used > 0 ? "; " : "", sectors, sum_sectors(c), sum_sectors(c) - sectors);
}
