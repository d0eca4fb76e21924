/* text.c — a document as tables: for people, and as CSV in ncu's layout. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "report.h"
#include "common/files/visible.h"
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* ---- the PTX instructions of launches in two lines ------------------------------------------- */

/* See report.h. */

enum { COLUMNS = 100, INDENT = 4 };

static struct emu_operation *find(struct work_sum *sum, const struct emu_operation *operation)
{
    for (size_t i = 0; i < sum->count; i++)
        if (strcmp(sum->all[i].name, operation->name) == 0 &&
            strcmp(sum->all[i].type, operation->type) == 0)
            return &sum->all[i];
    return NULL;
}

void work_sum_add(struct work_sum *sum, const struct emu_operation *operations, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct emu_operation *to = find(sum, &operations[i]);
        if (to != NULL) {
            to->instructions += operations[i].instructions;
            to->lanes += operations[i].lanes;
            to->elements += operations[i].elements;
            continue;
        }
        sum->all = grown(sum->all, sum->count, sizeof *sum->all);
        sum->all[sum->count++] = operations[i];
    }
}

/* What computes, wherever it stands: also reductions of a warp, of barriers and of copies. */
static bool is_arithmetic(const struct emu_operation *o)
{
    static const char *const others[] = {"redux.", "vote.", "bar.red", "barrier.red", "cp.reduce"};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strncmp(o->name, others[k], strlen(others[k])) == 0) return true;
    return o->work_class == EMU_CLASS_INTEGER || o->work_class == EMU_CLASS_F16 ||
           o->work_class == EMU_CLASS_F32 || o->work_class == EMU_CLASS_F64 ||
           o->work_class == EMU_CLASS_ATOMIC || o->work_class == EMU_CLASS_MATRIX;
}

/* A line that goes on below itself. */
struct text_line {
    FILE *out;
    const char *title;
    int column; /* 0: nothing is printed yet */
};

static void print_item(struct text_line *line, const char *name, uint64_t number)
{
    char item[128];
    int length = snprintf(item, sizeof item, " %s %" PRIu64, name, number);
    if (line->column == 0)
        line->column = fprintf(line->out, "%*s%s:", INDENT, "", line->title);
    else
        line->column += fprintf(line->out, ",");
    if (line->column + length + 1 > COLUMNS)
        line->column = fprintf(line->out, "\n%*s", 2 * INDENT - 1, "") - 1;
    line->column += fprintf(line->out, "%s", item);
}

static void end_line(const struct text_line *line)
{
    if (line->column > 0) fputc('\n', line->out);
}

static int by_elements(const void *a, const void *b)
{
    const struct emu_operation *x = a, *y = b;
    if (x->elements != y->elements) return x->elements > y->elements ? -1 : 1;
    int names = strcmp(x->name, y->name);
    return names != 0 ? names : strcmp(x->type, y->type);
}

void work_text_print(FILE *out, const struct work_sum *sum)
{
    uint64_t classes[EMU_CLASSES] = {0};
    struct text_line by_class = {.out = out, .title = "PTX instructions by class"},
                     arithmetic = {.out = out, .title = "arithmetic, in elements of all threads"};
    for (size_t i = 0; i < sum->count; i++)
        classes[sum->all[i].work_class] += sum->all[i].instructions;
    for (int c = 0; c < EMU_CLASSES; c++)
        if (classes[c] > 0) print_item(&by_class, emu_class_name((enum emu_class)c), classes[c]);
    end_line(&by_class);
    if (sum->count > 0) qsort(sum->all, sum->count, sizeof *sum->all, by_elements);
    for (size_t i = 0; i < sum->count; i++) {
        const struct emu_operation *o = &sum->all[i];
        char name[110];
        snprintf(name, sizeof name, "%s%s%s", o->name, *o->type != '\0' ? "." : "", o->type);
        if (is_arithmetic(o) && o->elements > 0) print_item(&arithmetic, name, o->elements);
    }
    end_line(&arithmetic);
}

/* ---- the counters of launches as tables for people ------------------------------------------- */

/* A program may launch a kernel thousands of times. So the launches of a kernel are printed as one
 * table: of each metric the value over all of them, and the largest value of one launch with the
 * number of that launch. EMU_LAUNCHES=1 prints each launch by itself. */

/* What is printed of what. */
struct text_report {
    FILE *out;
    const struct document *document;
    const struct tables *tables;
};

/* ---- sums ------------------------------------------------------------------------------------ */

/* What launches, or a source line in them, have counted together. */
struct launch_sum {
    const struct emu_line *line; /* NULL: all lines */
    struct emu_counts total;
    struct {
        double value;
        size_t launch;
    } largest[MAX_METRICS];
};

static void add(const struct tables *tables, struct launch_sum *sum,
                const struct emu_counts *counts, size_t launch)
{
    static const struct emu_counts nothing;
    bool is_first = memcmp(&sum->total, &nothing, sizeof nothing) == 0;
    sum_add(&sum->total, counts);
    for (size_t i = 0; i < tables->metric_count; i++) {
        double value = tables->metrics[i]->value(counts);
        if (!is_first && value <= sum->largest[i].value) continue;
        sum->largest[i].value = value;
        sum->largest[i].launch = launch;
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int widest_name(const struct tables *tables)
{
    int widest = 0;
    for (size_t i = 0; i < tables->metric_count; i++) {
        int width = (int)strlen(tables->metrics[i]->name);
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

static void print_table(const struct text_report *r, const struct emu_counts *counts)
{
    int width = widest_name(r->tables);
    for (size_t i = 0; i < r->tables->metric_count; i++) {
        print_metric(r->out, r->tables->metrics[i], width, counts);
        fputc('\n', r->out);
    }
}

static void print_sum(const struct text_report *r, const struct launch_sum *sum)
{
    const struct tables *tables = r->tables;
    int width = widest_name(tables);
    fprintf(r->out, "    %-*s  %-14s  %12s  %12s  %s\n", width, "", "", "all launches", "largest",
            "in launch");
    for (size_t i = 0; i < tables->metric_count; i++) {
        print_metric(r->out, tables->metrics[i], width, &sum->total);
        fprintf(r->out, "  %12.*f  %9zu\n", tables->metrics[i]->is_ratio ? 2 : 0,
                sum->largest[i].value, sum->largest[i].launch);
    }
}

static void print_line(FILE *out, const struct emu_line *line)
{
    fputs("   ", out);
    visible_print(out, line->file, strlen(line->file));
    fprintf(out, ":%u\n", line->line);
}

static void print_name(FILE *out, const struct document_launch *l)
{
    char name[256];
    kernel_base_name(l->record.kernel, name, sizeof name);
    fprintf(out, "  %s", name);
}

static void print_shape(FILE *out, const struct document_launch *l)
{
    const struct emu_dim grid = l->record.grid, block = l->record.block;
    fprintf(out, " (%u, %u, %u)x(%u, %u, %u)", grid.x, grid.y, grid.z, block.x, block.y, block.z);
}

/* The kernels that have launched a kernel; nothing if only the host has. */
struct launchers {
    bool has_host;
    size_t kernels;
    const char *kernel; /* one of them, mangled */
};

static void add_launcher(struct launchers *l, const struct emu_launch_record *r)
{
    if (r->launched_by == NULL) l->has_host = true;
    if (r->launched_by == NULL || (l->kernels > 0 && strcmp(l->kernel, r->launched_by) == 0))
        return;
    l->kernel = r->launched_by;
    l->kernels++;
}

static void print_launchers(FILE *out, const struct launchers *l)
{
    char name[256];
    if (l->kernels == 0) return;
    kernel_base_name(l->kernel, name, sizeof name);
    fprintf(out, ", launched by %s%s", l->has_host ? "the host and by " : "",
            l->kernels == 1 ? name : "several kernels");
}

static void print_agreement(FILE *out, const struct emu_agreement *agreement)
{
    fprintf(out, "    counters: %s", agreement->text);
    if (agreement->arch != 0) fprintf(out, " (sm_%u)", agreement->arch);
    fputc('\n', out);
}

/* The operations of one launch, or of all of its kernel from it on. */
static void print_work(const struct text_report *r, size_t first, bool of_kernel)
{
    const struct document_launch *launches = r->document->launches;
    struct work_sum sum = {.count = 0};
    size_t end = of_kernel ? r->document->launch_count : first + 1;
    for (size_t i = first; i < end && r->tables->is_default; i++)
        if (launches[i].kernel == launches[first].kernel)
            work_sum_add(&sum, launches[i].record.operations, launches[i].record.operation_count);
    work_text_print(r->out, &sum);
    free(sum.all);
}

#define NO_LINES "    no source lines: compile with -lineinfo\n"

/* ---- one launch ------------------------------------------------------------------------------ */

static void print_failure(FILE *out, const struct document_launch *l)
{
    fprintf(out, "    the kernel failed: %s; what it counted until then is not kept\n",
            l->error_text);
}

static void print_launch(const struct text_report *r, size_t index)
{
    const struct emu_gpu *gpu = r->document->gpu;
    const struct document_launch *l = &r->document->launches[index];
    print_name(r->out, l);
    print_shape(r->out, l);
    struct launchers launchers = {0};
    add_launcher(&launchers, &l->record);
    fprintf(r->out, ", Context 1, Stream %llu, Device %d, CC %d.%d", l->stream, l->device,
            gpu->major, gpu->minor);
    print_launchers(r->out, &launchers);
    fputc('\n', r->out);
    if (l->error != NULL) {
        print_failure(r->out, l);
        return;
    }
    print_agreement(r->out, &l->record.agreement);
    if (!r->tables->by_line) {
        print_table(r, &l->record.total);
        print_work(r, index, false);
        return;
    }
    if (l->record.line_count == 0) fputs(NO_LINES, r->out);
    for (size_t k = 0; k < l->record.line_count; k++) {
        print_line(r->out, &l->record.lines[k]);
        print_table(r, &l->record.lines[k].counts);
    }
}

/* ---- the launches of one kernel -------------------------------------------------------------- */

/* The launches of one kernel, as indices. */
struct launch_group {
    size_t first, complete; /* the first, and the first that did not fail */
    size_t count, failed;
    bool has_one_shape;
    struct launchers launchers;
};

static bool is_same_dim(struct emu_dim a, struct emu_dim b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static struct launch_group find_group(const struct document *d, size_t first)
{
    struct launch_group group = {.first = first, .has_one_shape = true};
    const struct document_launch *begin = &d->launches[first];
    for (size_t i = first; i < d->launch_count; i++) {
        const struct document_launch *l = &d->launches[i];
        if (l->kernel != begin->kernel) continue;
        if (l->error == NULL && group.failed == group.count) group.complete = i;
        add_launcher(&group.launchers, &l->record);
        group.count++;
        group.failed += l->error != NULL;
        if (!is_same_dim(l->record.grid, begin->record.grid) ||
            !is_same_dim(l->record.block, begin->record.block))
            group.has_one_shape = false;
    }
    return group;
}

static bool is_first_of_kernel(const struct document *d, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (d->launches[i].kernel == d->launches[index].kernel) return false;
    return true;
}

/* The sum of a source line, made if it is new. */
static struct launch_sum *sum_of(struct launch_sum **sums, size_t *count,
                                 const struct emu_line *line)
{
    for (size_t i = 0; i < *count; i++) {
        const struct emu_line *other = (*sums)[i].line;
        if (other->line == line->line && strcmp(other->file, line->file) == 0) return &(*sums)[i];
    }
    *sums = grown(*sums, *count, sizeof **sums);
    struct launch_sum *new = &(*sums)[(*count)++];
    *new = (struct launch_sum){.line = line};
    return new;
}

static int by_place(const void *a, const void *b)
{
    const struct emu_line *x = ((const struct launch_sum *)a)->line,
                          *y = ((const struct launch_sum *)b)->line;
    int order = strcmp(x->file, y->file);
    return order != 0 ? order : (x->line > y->line) - (x->line < y->line);
}

static void print_lines_of(const struct text_report *r, const struct launch_group *group)
{
    const struct document *d = r->document;
    struct launch_sum *sums = NULL;
    size_t count = 0;
    for (size_t i = group->first; i < d->launch_count; i++) {
        const struct document_launch *l = &d->launches[i];
        if (l->kernel != d->launches[group->first].kernel) continue;
        for (size_t k = 0; k < l->record.line_count; k++) {
            struct launch_sum *sum = sum_of(&sums, &count, &l->record.lines[k]);
            add(r->tables, sum, &l->record.lines[k].counts, i);
        }
    }
    if (count == 0) fputs(NO_LINES, r->out);
    if (count > 0) qsort(sums, count, sizeof *sums, by_place);
    for (size_t i = 0; i < count; i++) {
        print_line(r->out, sums[i].line);
        print_sum(r, &sums[i]);
    }
    free(sums);
}

static void print_total_of(const struct text_report *r, const struct launch_group *group)
{
    const struct document *d = r->document;
    struct launch_sum sum = {.line = NULL};
    for (size_t i = group->first; i < d->launch_count; i++)
        if (d->launches[i].kernel == d->launches[group->first].kernel &&
            d->launches[i].error == NULL)
            add(r->tables, &sum, &d->launches[i].record.total, i);
    print_sum(r, &sum);
    print_work(r, group->first, true);
}

static void print_kernel(const struct text_report *r, const struct launch_group *group)
{
    const struct document *d = r->document;
    const struct document_launch *first = &d->launches[group->first];
    print_name(r->out, first);
    if (group->has_one_shape) print_shape(r->out, first);
    fprintf(r->out, ", %zu launches%s, Device %d, CC %d.%d", group->count,
            group->has_one_shape ? "" : " of several shapes", first->device, d->gpu->major,
            d->gpu->minor);
    print_launchers(r->out, &group->launchers);
    fputc('\n', r->out);
    if (group->failed < group->count) {
        print_agreement(r->out, &d->launches[group->complete].record.agreement);
        (r->tables->by_line ? print_lines_of : print_total_of)(r, group);
    }
    for (size_t i = group->first; i < d->launch_count && group->failed > 0; i++)
        if (d->launches[i].kernel == first->kernel && d->launches[i].error != NULL)
            print_failure(r->out, &d->launches[i]);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void print_head(FILE *out, const struct document *d)
{
    fprintf(out, "  emulated: %s\n", d->gpu->name);
    if (d->rules != NULL)
        fprintf(out, "  rules: %s; wavefronts are passes, sectors are transactions\n", d->rules);
}

static void print_summary(FILE *out, const struct document *d)
{
    struct emu_counts total = {0};
    size_t failed = 0;
    for (size_t i = 0; i < d->launch_count; i++) {
        failed += d->launches[i].error != NULL;
        if (d->launches[i].error == NULL) sum_add(&total, &d->launches[i].record.total);
    }
    fprintf(out, ": %zu launch%s", d->launch_count, d->launch_count == 1 ? "" : "es");
    if (failed > 0) fprintf(out, " (%zu failed)", failed);
    fprintf(out,
            " on an emulated %s; %" PRIu64 " bank conflicts, %" PRIu64
            " sectors of global memory (emu --page raw: all counters)\n",
            d->gpu->name, sum_conflicts(&total), sum_sectors(&total));
}

void tables_write_text(FILE *out, const struct document *d, const struct tables *tables)
{
    const struct text_report report = {out, d, tables};
    bool is_short = false;
    fprintf(out, "[%ld] ", (long)getpid());
    visible_print(out, program_invocation_short_name, strlen(program_invocation_short_name));
    if (tables->is_summary && d->launch_count > 0) {
        print_summary(out, d);
        return;
    }
    fputc('\n', out);
    if (d->launch_count == 0) {
        fprintf(out, "  no kernel was launched%s\n",
                tables->kernel != NULL ? " that has the name asked for" : "");
        return;
    }
    print_head(out, d);
    for (size_t i = 0; i < d->launch_count; i++) {
        struct launch_group group = {.count = 1};
        if (!tables->all_launches && !is_first_of_kernel(d, i)) continue;
        if (!tables->all_launches) group = find_group(d, i);
        if (group.count == 1)
            print_launch(&report, i);
        else
            print_kernel(&report, &group);
        is_short |= group.count > 1;
    }
    if (is_short) fputs("  each launch by itself: emu --launches, or EMU_LAUNCHES=1\n", out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

/* The counters of launches in the layout of `ncu --csv --page raw`, a row per launch, or a
 * row per source line. */

enum { KERNEL_NAME = 256 };

/* Prints a field in quotes; quotes inside are doubled. */
static void print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    for (;;) {
        size_t length = strcspn(text, "\"");
        visible_print(out, text, length);
        text += length;
        if (*text++ == '\0') break;
        fputs("\"\"", out);
    }
    fputc('"', out);
}

static void print_kernel_row(FILE *out, const struct document_launch *launch)
{
    char name[KERNEL_NAME];
    kernel_base_name(launch->record.kernel, name, sizeof name);
    print_quoted(out, name);
}

static void print_metrics(FILE *out, const struct tables *t, const struct emu_counts *counts)
{
    for (size_t i = 0; i < t->metric_count; i++)
        fprintf(out, ",\"%.*f\"", t->metrics[i]->is_ratio ? 2 : 0, t->metrics[i]->value(counts));
}

/* Prints the two rows above the values: names, then units. */
static void print_head_row(FILE *out, const struct tables *t, const char *const *leading,
                           const char *last)
{
    if (!t->has_head) return;
    for (size_t i = 0; leading[i] != NULL; i++) fprintf(out, "%s\"%s\"", i ? "," : "", leading[i]);
    for (size_t i = 0; i < t->metric_count; i++) fprintf(out, ",\"%s\"", t->metrics[i]->name);
    if (last != NULL) fprintf(out, ",\"%s\"", last);
    fputc('\n', out);
    for (size_t i = 0; leading[i] != NULL; i++) fprintf(out, "%s\"\"", i ? "," : "");
    for (size_t i = 0; i < t->metric_count; i++) fprintf(out, ",\"%s\"", t->metrics[i]->unit);
    if (last != NULL) fprintf(out, ",\"\"");
    fputc('\n', out);
}

/* ncu's columns. Context, device and host name have the values that ncu shows for one local GPU. */
static const char *const raw_columns[] = {"ID",          "Process ID", "Process Name", "Host Name",
                                          "Kernel Name", "Context",    "Stream",       "Block Size",
                                          "Grid Size",   "Device",     "CC",           NULL};
#define HOST_NAME "127.0.0.1"
/* The emulator's own column, behind ncu's and the metrics: see emu_agreement in emu.h. */
#define AGREEMENT "emu__machine_code"

static void print_launches(FILE *out, const struct document *d, const struct tables *t)
{
    print_head_row(out, t, raw_columns, t->is_default ? AGREEMENT : NULL);
    for (size_t i = 0; i < d->launch_count; i++) {
        const struct document_launch *l = &d->launches[i];
        const struct emu_dim block = l->record.block, grid = l->record.grid;
        if (l->error != NULL) continue;
        fprintf(out, "\"%zu\",\"%ld\",", i, (long)getpid());
        print_quoted(out, program_invocation_short_name);
        fprintf(out, ",\"%s\",", HOST_NAME);
        print_kernel_row(out, l);
        fprintf(out, ",\"1\",\"%llu\",\"(%u, %u, %u)\",\"(%u, %u, %u)\",\"%d\",\"%d.%d\"",
                l->stream, block.x, block.y, block.z, grid.x, grid.y, grid.z, l->device,
                d->gpu->major, d->gpu->minor);
        print_metrics(out, t, &l->record.total);
        if (t->is_default) {
            fputc(',', out);
            print_quoted(out, l->record.agreement.text);
        }
        fputc('\n', out);
    }
}

static const char *const source_columns[] = {"ID", "Kernel Name", "File", "Line", NULL};

static void print_lines(FILE *out, const struct document *d, const struct tables *t)
{
    print_head_row(out, t, source_columns, NULL);
    for (size_t i = 0; i < d->launch_count; i++) {
        const struct emu_launch_record *r = &d->launches[i].record;
        for (size_t k = 0; k < r->line_count; k++) {
            fprintf(out, "\"%zu\",", i);
            print_kernel_row(out, &d->launches[i]);
            fputc(',', out);
            print_quoted(out, r->lines[k].file);
            fprintf(out, ",\"%u\"", r->lines[k].line);
            print_metrics(out, t, &r->lines[k].counts);
            fputc('\n', out);
        }
    }
}

void tables_write_csv(FILE *out, const struct document *d, const struct tables *t)
{
    (t->by_line ? print_lines : print_launches)(out, d, t);
}
