/*
 * verdict.c — a verdict for people, and as JSON.
 */
#include "score.h"
#include "common/tools/emu/report/report.h"
#include "common/files/visible.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- a verdict for people: a table of sizes, then a line for each lost point ----------------- */

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

static void print_line(FILE *out, const struct verdict_line *line, const char *source)
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
        fputs("Compiled without nvcc: by common/tools/cc, like the step's solution.\n",
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
    for (size_t i = 0; i < v->line_count; i++) print_line(out, &v->lines[i], source);
}

/* ---- a verdict for programs: one JSON object ------------------------------------------------- */

static void put_pair(struct json *j, const char *key, uint64_t got, uint64_t expected)
{
    json_open(j, key, '{');
    json_number(j, "got", got);
    json_number(j, "solution", expected);
    json_close(j, '}');
}

static void put_size(struct json *j, const struct verdict_size *s)
{
    json_open(j, NULL, '{');
    json_number(j, "n", s->n);
    json_bool(j, "right", s->right);
    json_text(j, "wrong", s->right ? NULL : s->wrong);
    json_text(j, "cause", *s->cause ? s->cause : NULL);
    put_pair(j, "additions", s->adds, s->expected_adds);
    put_pair(j, "conflicts", s->conflicts, s->expected_conflicts);
    put_pair(j, "sectors", s->sectors, s->expected_sectors);
    json_number(j, "findings", s->errors);
    json_number(j, "runs", s->cases);
    json_number(j, "wrong_runs", s->wrong_cases);
    json_close(j, '}');
}

static void put_line(struct json *j, const struct verdict_line *line)
{
    json_open(j, NULL, '{');
    json_text(j, "criterion", lab_criterion_name(line->criterion));
    json_real(j, "lost", line->lost);
    json_text(j, "file", line->line ? line->file : NULL);
    json_number(j, "line", line->line);
    json_text(j, "text", line->text);
    json_text(j, "chapter", line->chapter);
    json_close(j, '}');
}

static void put_criteria(struct json *j, const struct lab_verdict *v)
{
    json_open(j, "criteria", '[');
    for (int c = 0; c < LAB_CRITERIA; c++) {
        json_open(j, NULL, '{');
        json_text(j, "criterion", lab_criterion_name((enum lab_criterion)c));
        json_real(j, "weight", v->weight[c]);
        json_real(j, "fraction", v->fraction[c]);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void put_gap(struct json *j, const struct empty_gap *gap)
{
    json_open(j, NULL, '{');
    json_number(j, "gap", gap->number);
    json_number(j, "line", gap->line);
    json_close(j, '}');
}

void lab_verdict_json(FILE *out, const struct lab_verdict *v, const char *source, bool is_exact)
{
    struct json j = {.out = out, .is_exact = is_exact};
    json_open(&j, NULL, '{');
    json_number(&j, "lab", (uint64_t)v->lab->number);
    json_text(&j, "source", source);
    json_number(&j, "seed", v->seed);
    json_bool(&j, "handed_out", v->handed_out);
    json_bool(&j, "own_compiler", v->own_compiler);
    json_bool(&j, "judged", v->status == VERDICT_JUDGED);
    json_text(&j, "failure", *v->failure ? v->failure : NULL);
    json_real(&j, "points", v->points);
    json_real(&j, "most", v->most);
    json_real(&j, "correctness", v->correctness);
    json_number(&j, "runs", v->cases);
    json_number(&j, "right_runs", v->right_cases);
    put_criteria(&j, v);
    json_open(&j, "sizes", '[');
    for (size_t i = 0; i < v->size_count; i++) put_size(&j, &v->sizes[i]);
    json_close(&j, ']');
    json_open(&j, "lost", '[');
    for (size_t i = 0; i < v->line_count; i++) put_line(&j, &v->lines[i]);
    json_close(&j, ']');
    json_open(&j, "empty_gaps", '[');
    for (size_t i = 0; i < v->gap_count; i++) put_gap(&j, &v->gaps[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}
