/*
 * html_banks.c — the worst access to shared memory of each source line as a picture: a column for
 * each bank, with a square for each word that lanes access. A bank serves one word in a wavefront.
 */
#include "common/emu/ptx/kernel_name.h"
#include "writers.h"
#include "source_path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    struct bank_column *columns = calloc(BANKS, sizeof *columns);
    if (columns == NULL) return;
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
    const struct emu_bank_picture *x = *(const struct emu_bank_picture *const *)a,
                                  *y = *(const struct emu_bank_picture *const *)b;
    uint64_t more = x->wavefronts - x->ideal, less = y->wavefronts - y->ideal;
    if (more != less) return more > less ? -1 : 1;
    int files = strcmp(x->file, y->file);
    return files != 0 ? files : (x->line > y->line) - (x->line < y->line);
}

/* Those of a device, the worst first. */
static void put_device(FILE *out, const struct document *d, const struct emu *emu)
{
    size_t count = emu_bank_pictures(emu);
    const struct emu_bank_picture **all = malloc((count + 1) * sizeof *all);
    if (all == NULL) return;
    for (size_t i = 0; i < count; i++) all[i] = emu_bank_picture(emu, i);
    qsort(all, count, sizeof *all, by_conflicts);
    for (size_t i = 0; i < count && i < MOST; i++) put_picture(out, d, all[i]);
    free(all);
}

void html_banks(FILE *out, const struct document *d)
{
    size_t count = 0;
    for (size_t i = 0; i < d->emu_count; i++) count += emu_bank_pictures(d->emus[i]);
    if (count == 0) return;
    fputs("<h2>Bank conflicts</h2>\n<p>Of each source line the worst access to shared memory. A "
          "column is a bank, and a square is a word, with the first lane that accesses it; + means "
          "more lanes, which share it. A wavefront serves one word of each bank, so red squares "
          "wait.</p>\n",
          out);
    for (size_t i = 0; i < d->emu_count; i++) put_device(out, d, d->emus[i]);
}
