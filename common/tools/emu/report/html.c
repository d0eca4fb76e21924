/* html.c — a document as one page for a browser, with pictures of banks and of warps. */
#define _GNU_SOURCE /* getline */
#include "report.h"
#include "common/files/visible.h"
#include <inttypes.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* What HTML reads as a mark is escaped. What is no visible character is written as C does. */
static void put_text(FILE *out, const char *text, size_t length)
{
    char *seen;
    size_t size;
    FILE *memory = allocated(open_memstream(&seen, &size));
    visible_print(memory, text, length);
    fclose(memory);
    for (const char *c = seen; *c != '\0'; c++)
        if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
    free(seen);
}

static void html_text(FILE *out, const char *text) { put_text(out, text, strlen(text)); }

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

/* ---- pictures of banks ----------------------------------------------------------------------- */

/* The worst access to shared memory of each source line as a picture: a column for each bank, with
 * a square for each word that lanes access. A bank serves one word in a wavefront. */

enum { LANES = 32, WORD = 4, MOST = 20, NAME = 256 };
enum { CELL = 22, BANK_ROW = 16, TOP = 16 }; /* pixels */

/* A word that lanes access. */
struct bank_word {
    uint32_t word;
    unsigned lane, lanes; /* the first of these lanes, and their number */
};

struct bank_column {
    struct bank_word words[LANES];
    unsigned count;
};

static void add_word(struct bank_column *column, uint32_t word, unsigned lane)
{
    unsigned i = 0;
    while (i < column->count && column->words[i].word != word) i++;
    if (i == LANES) return;
    if (i == column->count) column->words[column->count++] = (struct bank_word){word, lane, 0};
    column->words[i].lanes++;
}

/* An access is aligned, so a lane has at most one word in each bank. */
static unsigned fill_columns(const struct emu_bank_picture *p, struct bank_column columns[BANKS])
{
    unsigned rows = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        for (uint32_t at = 0; (p->mask >> lane & 1) && at < p->bytes; at += WORD) {
            uint32_t word = (p->address[lane] + at) / WORD;
            add_word(&columns[word % BANKS], word, lane);
        }
    for (unsigned b = 0; b < BANKS; b++)
        if (columns[b].count > rows) rows = columns[b].count;
    return rows;
}

static void put_cell(FILE *out, unsigned bank, unsigned row, const struct bank_word *w)
{
    unsigned x = bank * CELL, y = TOP + row * BANK_ROW;
    fprintf(out,
            "<rect x=\"%u\" y=\"%u\" width=\"%d\" height=\"%d\" fill=\"%s\"/>"
            "<text x=\"%u\" y=\"%u\" fill=\"#000\">%u%s</text>",
            x, y, CELL - 1, BANK_ROW - 1, row == 0 ? "#9cd" : "#e99", x + CELL / 2,
            y + BANK_ROW - 4, w->lane, w->lanes > 1 ? "+" : "");
}

static void put_svg(FILE *out, const struct emu_bank_picture *p)
{
    struct bank_column *columns = allocated(calloc(BANKS, sizeof *columns));
    unsigned rows = fill_columns(p, columns);
    fprintf(out,
            "<svg width=\"%d\" height=\"%u\" font-size=\"10\" text-anchor=\"middle\""
            " fill=\"currentColor\">",
            BANKS * CELL, TOP + rows * BANK_ROW);
    for (unsigned b = 0; b < BANKS; b++)
        fprintf(out, "<text x=\"%u\" y=\"11\">%u</text>", b * CELL + CELL / 2, b);
    for (unsigned b = 0; b < BANKS; b++)
        for (unsigned i = 0; i < columns[b].count; i++) put_cell(out, b, i, &columns[b].words[i]);
    fputs("</svg>", out);
    free(columns);
}

static void put_picture(FILE *out, const struct document *d, const struct emu_bank_picture *p)
{
    char path[PATH_MAX], kernel[NAME];
    source_path(p->file, d->root, path);
    kernel_base_name(p->kernel, kernel, sizeof kernel);
    fputs("<figure><figcaption>", out);
    html_text(out, path);
    fprintf(out, ":%u: %s of %u bytes a lane, by warp %u of block %" PRIu64 " in kernel ", p->line,
            p->is_atomic ? "an atomic"
            : p->is_load ? "a load"
                         : "a store",
            p->bytes, p->warp, p->block);
    html_text(out, kernel);
    fprintf(out, ": %" PRIu64 " wavefronts, and %" PRIu64 " would do</figcaption>", p->wavefronts,
            p->ideal);
    put_svg(out, p);
    fputs("</figure>\n", out);
}

static int by_conflicts(const void *a, const void *b)
{
    const struct emu_bank_picture *x = a, *y = b;
    uint64_t more = x->wavefronts - x->ideal, less = y->wavefronts - y->ideal;
    if (more != less) return more > less ? -1 : 1;
    int files = strcmp(x->file, y->file);
    return files != 0 ? files : (x->line > y->line) - (x->line < y->line);
}

/* Of each device, the worst first; nothing if no access has one. */
static void html_banks(FILE *out, const struct document *d)
{
    bool has_head = false;
    for (size_t i = 0; i < d->emu_count; i++) {
        size_t count;
        const struct emu_bank_picture *kept = emu_bank_pictures(d->emus[i], &count);
        if (count == 0) continue;
        if (!has_head)
            fputs("<h2>Bank conflicts</h2>\n<p>Of each source line the worst access to shared "
                  "memory. A column is a bank, and a square is a word, with the first lane that "
                  "accesses it; + means more lanes, which share it. A wavefront serves one word of "
                  "each bank, so red squares wait.</p>\n",
                  out);
        has_head = true;
        struct emu_bank_picture *all = allocated(malloc(count * sizeof *all));
        memcpy(all, kept, count * sizeof *all);
        qsort(all, count, sizeof *all, by_conflicts);
        for (size_t k = 0; k < count && k < MOST; k++) put_picture(out, d, &all[k]);
        free(all);
    }
}

/* ---- timelines ------------------------------------------------------------------------------- */

/* When the warps of a kernel's block 0 run, as a picture: a row for each warp,
 * and from left to right the instructions that the block's warps execute, one after another. */

enum {
    WIDTH = 900,
    LEFT = 60,
    TURN_ROW = 14,
    BAR = 11,
    AXIS = 18,
    KERNEL_NAME = 256,
    TICKS = 5
}; /* pixels */

static double place_of(const struct emu_timeline *t, uint64_t step)
{
    return LEFT + (double)WIDTH * (double)step / (double)(t->steps > 0 ? t->steps : 1);
}

static void put_turn(FILE *out, const struct emu_timeline *t, const struct emu_turn *turn,
                     uint64_t from, uint64_t to, const char *colour)
{
    enum { LEAST = 1 }; /* so that short turns are seen */
    double x = place_of(t, from), width = place_of(t, to) - x;
    fprintf(out, "<rect x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>", x,
            turn->warp * TURN_ROW, width < LEAST ? LEAST : width, BAR, colour);
}

/* Until its warp runs again, or until the end. */
static uint64_t end_of_wait(const struct emu_timeline *t, size_t index)
{
    for (size_t i = index + 1; i < t->turn_count; i++)
        if (t->turns[i].warp == t->turns[index].warp) return t->turns[i].from;
    return t->steps;
}

static void put_turns(FILE *out, const struct emu_timeline *t)
{
    for (size_t i = 0; i < t->turn_count; i++) {
        const struct emu_turn *turn = &t->turns[i];
        if (turn->end == EMU_TURN_AT_BARRIER || turn->end == EMU_TURN_WAITS)
            put_turn(out, t, turn, turn->to, end_of_wait(t, i),
                     turn->end == EMU_TURN_AT_BARRIER ? "#ccc" : "#cbe");
    }
    for (size_t i = 0; i < t->turn_count; i++)
        put_turn(out, t, &t->turns[i], t->turns[i].from, t->turns[i].to,
                 t->turns[i].is_divergent ? "#e83" : "#38b");
}

static void put_axes(FILE *out, const struct emu_timeline *t)
{
    for (unsigned w = 0; w < t->warps; w++)
        fprintf(out, "<text x=\"0\" y=\"%u\">warp %u</text>", w * TURN_ROW + BAR - 1, w);
    for (unsigned k = 0; k < TICKS; k++) {
        uint64_t step = t->steps * k / (TICKS - 1);
        fprintf(out, "<text x=\"%.1f\" y=\"%u\" text-anchor=\"%s\">%" PRIu64 "</text>",
                place_of(t, step), t->warps * TURN_ROW + BAR, k == TICKS - 1 ? "end" : "middle",
                step);
    }
}

static void put_timeline(FILE *out, const struct emu_timeline *t)
{
    char kernel[KERNEL_NAME];
    if (t->turn_count == 0) return;
    kernel_base_name(t->kernel, kernel, sizeof kernel);
    fputs("<figure><figcaption>", out);
    html_text(out, kernel);
    fprintf(out, ", %u warp%s, %" PRIu64 " instructions%s</figcaption>", t->warps,
            t->warps == 1 ? "" : "s", t->steps,
            t->is_cut ? "; there are more, which are not shown" : "");
    fprintf(out, "<svg width=\"%d\" height=\"%u\" font-size=\"10\" fill=\"currentColor\">",
            LEFT + WIDTH, t->warps * TURN_ROW + AXIS);
    put_turns(out, t);
    put_axes(out, t);
    fputs("</svg></figure>\n", out);
}

static void html_timelines(FILE *out, const struct document *d)
{
    bool has_head = false;
    for (size_t i = 0; i < d->emu_count; i++) {
        size_t count;
        const struct emu_timeline *timelines = emu_timelines(d->emus[i], &count);
        if (count > 0 && !has_head)
            fputs("<h2>Warps</h2>\n<p>Block 0 of the first launch of each kernel. From left to "
                  "right: the instructions that its warps execute, one after another, in the "
                  "emulator's order; a GPU has another one. Blue: the warp runs; orange: it runs, "
                  "and its lanes have diverged; grey: it waits at a barrier; violet: it waits for "
                  "an mbarrier.</p>\n",
                  out);
        has_head = has_head || count > 0;
        for (size_t k = 0; k < count; k++) put_timeline(out, &timelines[k]);
    }
}

/* ---- the page -------------------------------------------------------------------------------- */

/* A document as one page for a browser, which needs no other file: kernels with their
 * counters, findings, the source with a bar for bank conflicts and excess sectors, and pictures. */

static const char style[] =
    "body{font:15px/1.4 sans-serif;margin:2em;max-width:75em}"
    "table{border-collapse:collapse}td,th{padding:.1em .7em;text-align:right;white-space:pre}"
    "th{border-bottom:1px solid;position:sticky;top:0;background:Canvas}"
    ".s{text-align:left;font-family:monospace}"
    ".b{display:inline-block;height:.7em;background:#c33}"
    "figure{margin:1em 0;overflow-x:auto}figcaption{font-family:monospace}"
    "pre{overflow-x:auto}.error{border-left:.3em solid #c33;padding-left:1em}"
    ".warning{border-left:.3em solid #c93;padding-left:1em}:root{color-scheme:light dark}";

/* ---- numbers --------------------------------------------------------------------------------- */

static void put_heads(FILE *out)
{
    for (size_t k = 0; k < LINE_COLUMNS; k++)
        fprintf(out, "<th title=\"%s\">%s</th>", line_columns[k].help, line_columns[k].title);
}

static void put_numbers(FILE *out, const struct emu_counts *counts)
{
    for (size_t k = 0; k < LINE_COLUMNS; k++) {
        uint64_t value = line_columns[k].value(counts);
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
    char name[256], *text;
    size_t size;
    for (size_t i = 0; i < d->launch_count; i++) {
        const struct emu_launch_record *r = &d->launches[i].record;
        kernel_base_name(r->kernel, name, sizeof name);
        if (strcmp(name, kernel) == 0) work_sum_add(&sum, r->operations, r->operation_count);
    }
    FILE *memory = allocated(open_memstream(&text, &size));
    work_text_print(memory, &sum);
    fclose(memory);
    fputs("<pre>", out);
    put_lines(out, text);
    fputs("</pre>\n", out);
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
        fprintf(out, "<td colspan=\"%d\"></td>", LINE_COLUMNS);
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
