/*
 * html.c — a document as one page for a browser, which needs no other file: kernels with their
 * counters, findings, the source with a bar for bank conflicts and excess sectors, and pictures.
 */
#define _GNU_SOURCE /* getline */
#include "common/emu/ptx/kernel_name.h"
#include "common/files/visible.h"
#include "writers.h"
#include "source_path.h"
#include "sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char style[] =
    "body{font:15px/1.4 sans-serif;margin:2em;max-width:75em}"
    "table{border-collapse:collapse}td,th{padding:.1em .7em;text-align:right;white-space:pre}"
    "th{border-bottom:1px solid;position:sticky;top:0;background:Canvas}"
    ".s{text-align:left;font-family:monospace}"
    ".b{display:inline-block;height:.7em;background:#c33}"
    "figure{margin:1em 0;overflow-x:auto}figcaption{font-family:monospace}"
    "pre{overflow-x:auto}.error{border-left:.3em solid #c33;padding-left:1em}"
    ".warning{border-left:.3em solid #c93;padding-left:1em}:root{color-scheme:light dark}";

/* ---- text ------------------------------------------------------------------------------------ */

/* What HTML reads as a mark is escaped. What is no visible character is written as C does. */
static void put_text(FILE *out, const char *text, size_t length)
{
    char *seen = NULL;
    size_t size;
    FILE *memory = open_memstream(&seen, &size);
    if (memory == NULL) return;
    visible_print(memory, text, length);
    fclose(memory);
    for (const char *c = seen; *c != '\0'; c++)
        if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
    free(seen);
}

void html_text(FILE *out, const char *text) { put_text(out, text, strlen(text)); }

/* Newlines stay as they are. */
static void put_lines(FILE *out, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        put_text(out, text, length);
        text += length;
        if (*text == '\n') fputc(*text++, out);
    }
}

/* ---- numbers --------------------------------------------------------------------------------- */

static uint64_t instructions(const struct emu_counts *c) { return c->instructions; }
static uint64_t barriers(const struct emu_counts *c) { return c->barriers; }

static const struct {
    const char *title, *help;
    uint64_t (*value)(const struct emu_counts *);
} columns[] = {{"PTX inst.", "warp instructions of PTX", instructions},
               {"wavefronts", "of shared memory", sum_wavefronts},
               {"conflicts", "wavefronts beyond the ideal", sum_conflicts},
               {"sectors", "of global memory", sum_sectors},
               {"excess", "sectors beyond those that the bytes would fill", sum_excess_sectors},
               {"barriers", "warp instructions that are barriers", barriers}};
enum { COLUMNS = sizeof columns / sizeof *columns };

static void put_heads(FILE *out)
{
    for (size_t k = 0; k < COLUMNS; k++)
        fprintf(out, "<th title=\"%s\">%s</th>", columns[k].help, columns[k].title);
}

static void put_numbers(FILE *out, const struct emu_counts *counts)
{
    for (size_t k = 0; k < COLUMNS; k++) {
        uint64_t value = columns[k].value(counts);
        if (value > 0)
            fprintf(out, "<td>%" PRIu64 "</td>", value);
        else
            fputs("<td></td>", out);
    }
}

/* ---- parts of the page ----------------------------------------------------------------------- */

/* Operations of all launches of kernels with one base name. */
static void put_work(FILE *out, const struct document *d, const char *kernel)
{
    struct work_sum sum = {.count = 0};
    char name[256], *text = NULL;
    size_t size;
    for (size_t i = 0; i < d->launch_count; i++) {
        const struct emu_launch_record *r = &d->launches[i].record;
        kernel_base_name(r->kernel, name, sizeof name);
        if (strcmp(name, kernel) == 0) work_sum_add(&sum, r->operations, r->operation_count);
    }
    FILE *memory = open_memstream(&text, &size);
    if (memory != NULL) {
        work_text_print(memory, &sum);
        fclose(memory);
        fputs("<pre>", out);
        put_lines(out, text);
        fputs("</pre>\n", out);
    }
    free(text);
    free(sum.all);
}

static void put_kernels(FILE *out, const struct document *d)
{
    size_t count;
    struct kernel_sum *kernels = kernel_sums(d, &count);
    fputs("<h2>Kernels</h2>\n<table><tr><th class=\"s\">kernel</th><th>launches</th>", out);
    put_heads(out);
    fputs("</tr>\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("<tr><td class=\"s\">", out);
        html_text(out, kernels[i].name);
        fprintf(out, "</td><td>%zu</td>", kernels[i].launches);
        put_numbers(out, &kernels[i].counts);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
    for (size_t i = 0; i < count; i++) {
        fputs("<h3>", out);
        html_text(out, kernels[i].name);
        fputs("</h3>\n", out);
        put_work(out, d, kernels[i].name);
    }
    free(kernels);
}

static void put_failures(FILE *out, const struct document *d)
{
    for (size_t i = 0; i < d->launch_count; i++) {
        if (d->launches[i].error == NULL) continue;
        fprintf(out, "<p class=\"error\">Launch %zu of ", i);
        html_text(out, d->launches[i].record.kernel);
        fprintf(out, " failed: %s.</p>\n", d->launches[i].error);
    }
}

static void put_findings(FILE *out, const struct document *d)
{
    if (d->checks == 0 && d->errors == 0) return;
    fprintf(out, "<h2>Findings</h2>\n<p>%" PRIu64 " errors, %" PRIu64 " warnings</p>\n", d->errors,
            d->warnings);
    for (size_t i = 0; i < d->finding_count; i++) {
        const struct emu_finding *f = d->findings[i].finding;
        fprintf(out, "<pre class=\"%s\">", document_severity_name(f->severity));
        put_lines(out, f->head);
        fputc('\n', out);
        if (f->detail != NULL) put_lines(out, f->detail);
        fprintf(out, "\n(%" PRIu64 " times)</pre>\n", f->count);
    }
}

/* A bar as long as the line's part of what is bad about all lines of the file. */
static void put_bar(FILE *out, const struct emu_counts *counts, uint64_t worst)
{
    enum { LONGEST = 120 }; /* pixels */
    uint64_t bad = counts != NULL ? sum_conflicts(counts) + sum_excess_sectors(counts) : 0;
    fputs("<td class=\"s\">", out);
    if (bad > 0)
        fprintf(out, "<span class=\"b\" style=\"width:%.0fpx\"></span>",
                1 + (LONGEST - 1) * (double)bad / (double)worst);
    fputs("</td>", out);
}

static void put_line(FILE *out, unsigned number, const struct emu_counts *counts, uint64_t worst,
                     const char *text, size_t length)
{
    fprintf(out, "<tr><td>%u</td>", number);
    if (counts != NULL)
        put_numbers(out, counts);
    else
        fprintf(out, "<td colspan=\"%d\"></td>", (int)COLUMNS);
    put_bar(out, counts, worst);
    fputs("<td class=\"s\">", out);
    put_text(out, text, length);
    fputs("</td></tr>\n", out);
}

/* A source file; where it cannot be read, only its counted lines. */
static void put_file(FILE *out, const struct document *d, const struct line_sum *lines,
                     size_t count)
{
    FILE *source = fopen(lines->file, "r");
    char *text = NULL, path[PATH_MAX];
    size_t room = 0, next = 0;
    uint64_t worst = 1;
    ssize_t length = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bad = sum_conflicts(&lines[i].counts) + sum_excess_sectors(&lines[i].counts);
        if (bad > worst) worst = bad;
    }
    fputs("<details open><summary>", out);
    source_path(lines->file, d->root, path);
    html_text(out, path);
    fputs("</summary>\n<table><tr><th>line</th>", out);
    put_heads(out);
    fputs("<th></th><th class=\"s\">source</th></tr>\n", out);
    for (unsigned line = 1; source != NULL && (length = getline(&text, &room, source)) >= 0;
         line++) {
        if (length > 0 && text[length - 1] == '\n') length--;
        while (next < count && lines[next].line < line) next++;
        bool has_counts = next < count && lines[next].line == line;
        put_line(out, line, has_counts ? &lines[next].counts : NULL, worst, text, (size_t)length);
    }
    for (size_t i = 0; source == NULL && i < count; i++)
        put_line(out, lines[i].line, &lines[i].counts, worst, "", 0);
    fputs("</table></details>\n", out);
    if (source != NULL) fclose(source);
    free(text);
}

static void put_source(FILE *out, const struct document *d)
{
    size_t count;
    struct line_sum *lines = line_sums(d, &count);
    fputs("<h2>Source lines</h2>\n", out);
    if (count == 0) fputs("<p>None: compile with -lineinfo.</p>\n", out);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first; end < count && strcmp(lines[end].file, lines[first].file) == 0;) end++;
        put_file(out, d, lines + first, end - first);
    }
    free(lines);
}

void html_begin(FILE *out, const char *title)
{
    fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>emu: ");
    html_text(out, title);
    fprintf(out, "</title><style>%s</style></head><body>\n", style);
}

void html_write_part(FILE *out, const struct document *d)
{
    fputs("<h1>", out);
    html_text(out, d->program);
    fprintf(out, "</h1>\n<p>%zu launch%s on an emulated %s, compute capability %d.%d%s%s</p>\n",
            d->launch_count, d->launch_count == 1 ? "" : "es", d->gpu->name, d->gpu->major,
            d->gpu->minor, d->rules != NULL ? ", by the rules of " : "",
            d->rules != NULL ? d->rules : "");
    put_kernels(out, d);
    put_failures(out, d);
    put_findings(out, d);
    put_source(out, d);
    html_banks(out, d);
    html_timelines(out, d);
}

void html_end(FILE *out) { fputs("</body></html>\n", out); }
