/* annotate.c — source files with the counters of each line beside it, for people.
 *
 * A file is found by the path that nvcc has put into the program. Lines without a number have no
 * instructions. Lines with bank conflicts or excess sectors are coloured on a terminal. */
#define _GNU_SOURCE /* getline, realpath */
#include "common/files/visible.h"
#include "report.h"

#include <errno.h>
#include <inttypes.h>

enum { TAB = 8, LEAST_WIDTH = 9 };

/* The lines of one file, and how wide their columns are. */
struct source_page {
    const struct line_sum *lines;
    size_t count;
    int width[LINE_COLUMNS];
    bool colour;
};

static void measure(struct source_page *page)
{
    for (size_t k = 0; k < LINE_COLUMNS; k++) {
        page->width[k] = (int)strlen(line_columns[k].title);
        if (page->width[k] < LEAST_WIDTH) page->width[k] = LEAST_WIDTH;
        for (size_t i = 0; i < page->count; i++) {
            uint64_t value = line_columns[k].value(&page->lines[i].counts);
            int digits = snprintf(NULL, 0, "%" PRIu64, value);
            if (digits > page->width[k]) page->width[k] = digits;
        }
    }
}

static void print_head(FILE *out, const struct source_page *page)
{
    fprintf(out, "%5s", "line");
    for (size_t k = 0; k < LINE_COLUMNS; k++)
        fprintf(out, "  %*s", page->width[k], line_columns[k].title);
    fputc('\n', out);
}

/* The counters of a line, or blanks. */
static void print_counters(FILE *out, const struct source_page *page,
                           const struct emu_counts *counts)
{
    for (size_t k = 0; k < LINE_COLUMNS; k++) {
        uint64_t value = counts != NULL ? line_columns[k].value(counts) : 0;
        bool is_marked = page->colour && value > 0 && line_columns[k].is_bad;
        if (value > 0)
            fprintf(out, "  %s%*" PRIu64 "%s", is_marked ? "\033[31m" : "", page->width[k], value,
                    is_marked ? "\033[0m" : "");
        else
            fprintf(out, "  %*s", page->width[k], counts != NULL && k == 0 ? "0" : "");
    }
}

/* With tabs as blanks, and nothing that a terminal would obey. */
static void print_source(FILE *out, const char *text, size_t length)
{
    size_t column = 0;
    for (size_t at = 0; at < length;) {
        size_t plain = strcspn(text + at, "\t");
        if (plain > length - at) plain = length - at;
        visible_print(out, text + at, plain);
        column += plain;
        at += plain;
        if (at == length) break;
        size_t blanks = TAB - column % TAB;
        fprintf(out, "%*s", (int)blanks, "");
        column += blanks;
        at++;
    }
}

static void print_lines(FILE *out, const struct source_page *page, FILE *source)
{
    char *text = NULL;
    size_t room = 0, next = 0;
    ssize_t length;
    for (unsigned line = 1; (length = getline(&text, &room, source)) >= 0; line++) {
        if (length > 0 && text[length - 1] == '\n') length--;
        while (next < page->count && page->lines[next].line < line) next++;
        bool has_counts = next < page->count && page->lines[next].line == line;
        fprintf(out, "%5u", line);
        print_counters(out, page, has_counts ? &page->lines[next].counts : NULL);
        fputs(" | ", out);
        print_source(out, text, (size_t)length);
        fputc('\n', out);
    }
    free(text);
}

static void print_file(FILE *out, const struct document *d, const char *path,
                       const struct line_sum *lines, size_t count)
{
    struct source_page page = {.lines = lines, .count = count, .colour = d->colour};
    char name[PATH_MAX];
    FILE *source = fopen(path, "r");
    source_path(path, d->root, name);
    visible_print(out, name, strlen(name));
    if (source == NULL) {
        fprintf(out, ": cannot be read: %s\n\n", strerror(errno));
        return;
    }
    fputs(":\n", out);
    measure(&page);
    print_head(out, &page);
    print_lines(out, &page, source);
    fputc('\n', out);
    fclose(source);
}

/* Is it the file that is asked for, or a file in that folder? A program that was built elsewhere
 * names paths that are not here: then the file of the same name is meant. */
static bool is_wanted(const char *file, const char *wanted)
{
    char real[PATH_MAX];
    const char *name = strrchr(file, '/'), *last = strrchr(wanted, '/');
    if (realpath(file, real) != NULL)
        return strcmp(real, wanted) == 0 || source_path_is_in(real, wanted);
    return strcmp(name != NULL ? name + 1 : file, last != NULL ? last + 1 : wanted) == 0;
}

void document_write_annotated(FILE *out, const struct document *d)
{
    char wanted[PATH_MAX];
    size_t count, printed = 0;
    struct line_sum *lines = line_sums(d, &count);
    if (realpath(d->annotated, wanted) == NULL) snprintf(wanted, sizeof wanted, "%s", d->annotated);
    for (size_t first = 0, end; first < count; first = end) {
        const char *file = lines[first].file;
        char real[PATH_MAX];
        for (end = first; end < count && strcmp(lines[end].file, file) == 0;) end++;
        if (!is_wanted(file, wanted)) continue;
        bool is_here = realpath(file, real) != NULL;
        print_file(out, d, is_here ? file : d->annotated, lines + first, end - first);
        printed++;
    }
    free(lines);
    if (printed > 0) return;
    fputs("no kernel has counted a line of ", out);
    visible_print(out, d->annotated, strlen(d->annotated));
    fputs("; was the program compiled with -lineinfo?\n", out);
}
