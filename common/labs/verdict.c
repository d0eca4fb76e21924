/* verdict.c — a verdict for people: a table of sizes, then a line for each lost point. */
#include "common/files/visible.h"
#include "score.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(FILE *out, const char *text) { visible_print(out, text, strlen(text)); }

/* A text with a claim in it, in one piece of a sentence. */
static void print_wrong(FILE *out, const struct verdict_size *size)
{
    if (size->right)
        fputs("right", out);
    else if (size->end != LAB_RAN)
        fputs("was stopped; the reason is below", out);
    else
        put(out, size->wrong);
}

static void print_size(FILE *out, const struct verdict_size *s)
{
    fprintf(out,
            "%6zu %9" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8" PRIu64
            " %9" PRIu64 "  ",
            s->n, s->adds, s->expected_adds, s->conflicts, s->expected_conflicts, s->sectors,
            s->expected_sectors, s->errors);
    print_wrong(out, s);
    fputc('\n', out);
}

static void print_table(FILE *out, const struct lab_verdict *v)
{
    if (v->size_count == 0) return;
    fprintf(out, "\n%6s %18s %18s %18s %9s\n", "", "additions", "bank conflicts", "sectors", "");
    fprintf(out, "%6s %9s %8s %9s %8s %9s %8s %9s  %s\n", "n", "yours", "solution", "yours",
            "solution", "yours", "solution", "findings", "result");
    for (size_t i = 0; i < v->size_count; i++) print_size(out, &v->sizes[i]);
}

/* The last part of a path. */
static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Lines of another file are named by its own name. */
static void print_place(FILE *out, const struct verdict_line *line, const char *source)
{
    if (line->line == 0) return;
    put(out, strcmp(line->file, base_of(source)) ? line->file : source);
    fprintf(out, ":%u: ", line->line);
}

void lab_verdict_line(FILE *out, const struct verdict_line *line, const char *source)
{
    fprintf(out, "  %6.2f  %-11s  ", line->lost > 0 ? -line->lost : 0.0,
            lab_criterion_name(line->criterion));
    print_place(out, line, source);
    put(out, line->text);
    bool ends = *line->text && strchr(".!?\n", line->text[strlen(line->text) - 1]);
    fprintf(out, "%s See %s.\n", ends ? "" : ".", line->chapter);
}

/* What is missing comes first: all else that is wrong may follow from it. */
static void print_gaps(FILE *out, const struct lab_verdict *v, const char *source)
{
    if (v->gap_count > 0) fputc('\n', out);
    for (size_t i = 0; i < v->gap_count; i++) {
        put(out, source);
        fprintf(out, ":%u: gap %u is still empty; `make hint%d LEVEL=1` helps.\n", v->gaps[i].line,
                v->gaps[i].number, v->lab->number);
    }
}

static void print_points(FILE *out, const struct lab_verdict *v)
{
    if (v->cases == 0) {
        fprintf(out, "\n%.2f of %g points: no kernel was run\n", v->points, v->most);
        return;
    }
    fprintf(out, "\n%u of %u runs %s right.\n%.2f of %g points", v->right_cases, v->cases,
            v->right_cases == 1 ? "is" : "are", v->points, v->most);
    for (int c = 0; c < LAB_CRITERIA; c++)
        fprintf(out, "%s %s %.2f of %g", c ? "," : ":", lab_criterion_name((enum lab_criterion)c),
                v->weight[c] * v->fraction[c], v->weight[c]);
    if (v->correctness < 1)
        fprintf(out, "; the four are multiplied by %.2f, the fraction of right runs",
                v->correctness);
    if (v->correctness < (double)v->right_cases / v->cases)
        fputs(" at sizes that are not handed out", out);
    fputc('\n', out);
}

void lab_verdict_text(FILE *out, const struct lab_verdict *v, const char *source)
{
    fprintf(out, "%s %d: %s\n", v->lab->exercise ? "Exercise" : "Lab", v->lab->number,
            v->lab->title);
    if (v->own_compiler)
        fputs("Compiled without nvcc: common/cc has compiled this file and the step's solution.\n",
              out);
    if (v->status == VERDICT_UNJUDGED) {
        fputs("Not judged: ", out);
        put(out, v->failure);
        fputc('\n', out);
        return;
    }
    print_gaps(out, v, source);
    print_table(out, v);
    print_points(out, v);
    for (size_t i = 0; i < v->line_count; i++) lab_verdict_line(out, &v->lines[i], source);
}
