/*
 * csv.c — the counters of launches in the layout of `ncu --csv --page raw`, a row per launch, or a
 * row per source line.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "common/emu/ptx/kernel_name.h"
#include "common/files/visible.h"
#include "writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
