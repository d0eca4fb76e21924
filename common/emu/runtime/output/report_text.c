/*
 * report_text.c — the counters of launches as tables for people.
 *
 * A program may launch a kernel thousands of times. So the launches of a kernel are printed as one
 * table: of each metric the value over all of them, and the largest value of one launch with the
 * number of that launch. EMU_LAUNCHES=1 prints each launch by itself.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common/files/visible.h"
#include "report.h"
#include "common/emu/report/work_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sums ------------------------------------------------------------------------------------ */

/* What launches, or a source line in them, have counted together. */
struct launch_sum {
    const struct emu_line *line; /* NULL: all lines */
    struct emu_counts total;
    struct {
        double value;
        size_t launch; /* its row */
    } largest[MAX_METRICS];
};

/* Every member of struct emu_counts is a uint64_t, or consists of such. */
static void add_counts(struct emu_counts *to, const struct emu_counts *from)
{
    enum { MEMBERS = sizeof *to / sizeof(uint64_t) };
    _Static_assert(sizeof *to == MEMBERS * sizeof(uint64_t), "counts are 64-bit numbers");
    uint64_t *sums = (uint64_t *)to;
    const uint64_t *counts = (const uint64_t *)from;
    for (size_t i = 0; i < MEMBERS; i++) sums[i] += counts[i];
}

static void add(const struct launch_report *report, struct launch_sum *sum,
                const struct emu_counts *counts, size_t launch)
{
    static const struct emu_counts nothing;
    bool is_first = memcmp(&sum->total, &nothing, sizeof nothing) == 0;
    add_counts(&sum->total, counts);
    for (size_t i = 0; i < report->metric_count; i++) {
        double value = report->metrics[i]->value(counts);
        if (!is_first && value <= sum->largest[i].value) continue;
        sum->largest[i].value = value;
        sum->largest[i].launch = launch;
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int widest_name(const struct launch_report *report)
{
    int widest = 0;
    for (size_t i = 0; i < report->metric_count; i++) {
        int width = (int)strlen(report->metrics[i]->name);
        if (width > widest) widest = width;
    }
    return widest;
}

static void print_metric(FILE *out, const struct metric *m, int width,
                         const struct emu_counts *counts)
{
    fprintf(out, "    %-*s  %-14s  %12.*f", width, m->name, m->unit, m->is_ratio ? 2 : 0,
            m->value(counts));
}

static void print_table(FILE *out, const struct launch_report *report,
                        const struct emu_counts *counts)
{
    int width = widest_name(report);
    for (size_t i = 0; i < report->metric_count; i++) {
        print_metric(out, report->metrics[i], width, counts);
        fputc('\n', out);
    }
}

static void print_sum(FILE *out, const struct launch_report *report, const struct launch_sum *sum)
{
    int width = widest_name(report);
    fprintf(out, "    %-*s  %-14s  %12s  %12s  %s\n", width, "", "", "all launches", "largest",
            "in launch");
    for (size_t i = 0; i < report->metric_count; i++) {
        print_metric(out, report->metrics[i], width, &sum->total);
        fprintf(out, "  %12.*f  %9zu\n", report->metrics[i]->is_ratio ? 2 : 0,
                sum->largest[i].value, sum->largest[i].launch);
    }
}

static void print_line(FILE *out, const struct emu_line *line)
{
    fputs("   ", out);
    visible_print(out, line->file, strlen(line->file));
    fprintf(out, ":%u\n", line->line);
}

static void print_shape(FILE *out, const struct launch_row *row)
{
    fprintf(out, " (%u, %u, %u)x(%u, %u, %u)", row->grid.x, row->grid.y, row->grid.z, row->block.x,
            row->block.y, row->block.z);
}

static void print_agreement(FILE *out, const struct launch_row *row)
{
    fprintf(out, "    counters: %s", row->agreement.text);
    if (row->agreement.arch != 0) fprintf(out, " (sm_%u)", row->agreement.arch);
    fputc('\n', out);
}

/* The operations of one launch, or of all of its kernel from it on. */
static void print_work(FILE *out, const struct launch_report *report, size_t first, bool of_kernel)
{
    struct work_sum sum = {.count = 0};
    size_t end = of_kernel ? report->row_count : first + 1;
    for (size_t i = first; i < end; i++)
        if (report->rows[i].function == report->rows[first].function)
            work_sum_add(&sum, report->rows[i].operations, report->rows[i].operation_count);
    work_text_print(out, &sum);
    free(sum.all);
}

#define NO_LINES "    no source lines: compile with -lineinfo\n"

/* ---- one launch ------------------------------------------------------------------------------ */

static void print_failure(FILE *out, const struct launch_row *row)
{
    fprintf(out, "    the kernel failed: %s; what it counted until then is not kept\n",
            cudaGetErrorString(row->error));
}

static void print_launch(FILE *out, const struct launch_report *report,
                         const struct launch_row *row)
{
    const struct emu_gpu *gpu = emu_gpu(emu_runtime());
    fprintf(out, "  %s", row->kernel);
    print_shape(out, row);
    fprintf(out, ", Context 1, Stream %llu, Device %d, CC %d.%d\n", row->stream, row->device,
            gpu->major, gpu->minor);
    if (row->error != cudaSuccess) {
        print_failure(out, row);
        return;
    }
    print_agreement(out, row);
    if (!report->by_line) {
        print_table(out, report, &row->total);
        print_work(out, report, (size_t)(row - report->rows), false);
    }
    if (report->by_line && row->line_count == 0) fputs(NO_LINES, out);
    for (size_t k = 0; k < row->line_count; k++) {
        print_line(out, &row->lines[k]);
        print_table(out, report, &row->lines[k].counts);
    }
}

/* ---- the launches of one kernel -------------------------------------------------------------- */

/* The launches of one kernel, as indices of rows. */
struct launch_group {
    size_t first, complete; /* the first, and the first that did not fail */
    size_t count, failed;
    bool has_one_shape;
};

static bool is_same_dim(struct emu_dim a, struct emu_dim b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static struct launch_group find_group(const struct launch_report *report, size_t first)
{
    struct launch_group group = {.first = first, .has_one_shape = true};
    const struct launch_row *begin = &report->rows[first];
    for (size_t i = first; i < report->row_count; i++) {
        const struct launch_row *row = &report->rows[i];
        if (row->function != begin->function) continue;
        if (row->error == cudaSuccess && group.failed == group.count) group.complete = i;
        group.count++;
        group.failed += row->error != cudaSuccess;
        if (!is_same_dim(row->grid, begin->grid) || !is_same_dim(row->block, begin->block))
            group.has_one_shape = false;
    }
    return group;
}

static bool is_first_of_kernel(const struct launch_report *report, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (report->rows[i].function == report->rows[index].function) return false;
    return true;
}

/* The sum of a source line, made if it is new; NULL: there is no memory for it. */
static struct launch_sum *sum_of(struct launch_sum **sums, size_t *count,
                                 const struct emu_line *line)
{
    for (size_t i = 0; i < *count; i++) {
        const struct emu_line *other = (*sums)[i].line;
        if (other->line == line->line && strcmp(other->file, line->file) == 0) return &(*sums)[i];
    }
    struct launch_sum *grown = realloc(*sums, (*count + 1) * sizeof **sums);
    if (grown == NULL) return NULL;
    *sums = grown;
    grown[*count] = (struct launch_sum){.line = line};
    return &grown[(*count)++];
}

static int by_place(const void *a, const void *b)
{
    const struct emu_line *x = ((const struct launch_sum *)a)->line,
                          *y = ((const struct launch_sum *)b)->line;
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static void print_lines_of(FILE *out, const struct launch_report *report,
                           const struct launch_group *group)
{
    struct launch_sum *sums = NULL;
    size_t count = 0;
    const struct function *function = report->rows[group->first].function;
    for (size_t i = group->first; i < report->row_count; i++)
        for (size_t k = 0; report->rows[i].function == function && k < report->rows[i].line_count;
             k++) {
            const struct emu_line *line = &report->rows[i].lines[k];
            struct launch_sum *sum = sum_of(&sums, &count, line);
            if (sum != NULL) add(report, sum, &line->counts, i);
        }
    if (count == 0) fputs(NO_LINES, out);
    if (count > 0) qsort(sums, count, sizeof *sums, by_place);
    for (size_t i = 0; i < count; i++) {
        print_line(out, sums[i].line);
        print_sum(out, report, &sums[i]);
    }
    free(sums);
}

static void print_total_of(FILE *out, const struct launch_report *report,
                           const struct launch_group *group)
{
    struct launch_sum sum = {.line = NULL};
    for (size_t i = group->first; i < report->row_count; i++)
        if (report->rows[i].function == report->rows[group->first].function &&
            report->rows[i].error == cudaSuccess)
            add(report, &sum, &report->rows[i].total, i);
    print_sum(out, report, &sum);
    print_work(out, report, group->first, true);
}

static void print_kernel(FILE *out, const struct launch_report *report,
                         const struct launch_group *group)
{
    const struct launch_row *row = &report->rows[group->first];
    const struct emu_gpu *gpu = emu_gpu(emu_runtime());
    fprintf(out, "  %s", row->kernel);
    if (group->has_one_shape) print_shape(out, row);
    fprintf(out, ", %zu launches%s, Device %d, CC %d.%d\n", group->count,
            group->has_one_shape ? "" : " of several shapes", row->device, gpu->major, gpu->minor);
    if (group->failed < group->count) {
        print_agreement(out, &report->rows[group->complete]);
        (report->by_line ? print_lines_of : print_total_of)(out, report, group);
    }
    for (size_t i = group->first; i < report->row_count && group->failed > 0; i++)
        if (report->rows[i].function == row->function && report->rows[i].error != cudaSuccess)
            print_failure(out, &report->rows[i]);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void print_head(FILE *out)
{
    const struct emu_gpu *gpu = emu_gpu(emu_runtime());
    fprintf(out, "  emulated: %s\n", gpu->name);
    const struct emu_model *model = cudart_model();
    if (model != NULL)
        fprintf(out, "  rules: %s; wavefronts are passes, sectors are transactions\n",
                emu_model_info(model)->rules);
}

void cudart_report_text(FILE *out, const struct launch_report *report)
{
    fprintf(out, "[%ld] ", (long)getpid());
    visible_print(out, program_invocation_short_name, strlen(program_invocation_short_name));
    fputc('\n', out);
    if (report->row_count == 0) {
        fprintf(out, "  no kernel was launched%s\n",
                report->kernel != NULL ? " that has the name asked for" : "");
        return;
    }
    print_head(out);
    bool is_short = false;
    for (size_t i = 0; i < report->row_count; i++) {
        if (report->all_launches) {
            print_launch(out, report, &report->rows[i]);
        } else if (is_first_of_kernel(report, i)) {
            struct launch_group group = find_group(report, i);
            if (group.count == 1)
                print_launch(out, report, &report->rows[i]);
            else
                print_kernel(out, report, &group);
            is_short |= group.count > 1;
        }
    }
    if (is_short) fputs("  each launch by itself: emu --launches, or EMU_LAUNCHES=1\n", out);
}
