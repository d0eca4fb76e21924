/*
 * grade_csv.c — grades.csv: a row for each submission.
 */
#define _GNU_SOURCE
#include "grader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The greatest loss, or why there was nothing to judge. */
static const char *reason_of(const struct lab_verdict *verdict)
{
    const char *reason = verdict->failure;
    double most = 0;
    for (size_t i = 0; reason[0] == '\0' && i < verdict->line_count; i++)
        if (verdict->lines[i].lost > most) most = verdict->lines[i].lost;
    for (size_t i = 0; most > 0 && i < verdict->line_count; i++)
        if (verdict->lines[i].lost == most) return verdict->lines[i].text;
    return reason;
}

void csv_verdict(FILE *out, const struct lab_verdict *verdict)
{
    fprintf(out, "%.2f,%.2f,%u,%u", verdict->points, verdict->most, verdict->right_cases,
            verdict->cases);
    for (int i = 0; i < LAB_CRITERIA; i++) fprintf(out, ",%.4f", verdict->fraction[i]);
    fputc(',', out);
    csv_cell(out, reason_of(verdict));
}

/* ---- the same PTX ---------------------------------------------------------------------------- */

struct same {
    uint64_t bits[2];
    char name[SUBMISSION_NAME];
};

static bool equal(const struct same *left, const struct same *right)
{
    return left->bits[0] == right->bits[0] && left->bits[1] == right->bits[1] &&
           (left->bits[0] | left->bits[1]) != 0;
}

static void add_same(FILE *to, bool *first, const char *name)
{
    fprintf(to, "%s%s", *first ? "" : "; ", name);
    *first = false;
}

/* The cell with steps and other submissions of the same PTX. */
static void print_same(FILE *out, const struct same *all, size_t count, size_t of)
{
    char *text;
    size_t size;
    bool first = true;
    FILE *to = open_memstream(&text, &size);
    if (to == NULL) abort();
    for (size_t i = 0; i < count; i++)
        if (i != of && equal(&all[i], &all[of])) add_same(to, &first, all[i].name);
    fclose(to);
    csv_cell(out, text);
    free(text);
}

/* ---- the table ------------------------------------------------------------------------------- */

static void print_head(FILE *out)
{
    fputs("name,file,status,points,most,right runs,runs", out);
    for (int i = 0; i < LAB_CRITERIA; i++) fprintf(out, ",%s", lab_criterion_name(i));
    fputs(",reason,same PTX as\n", out);
}

static void print_row(FILE *out, const struct grader *grader, const struct submission *submission)
{
    char *row = state_row(grader, submission, NULL);
    csv_cell(out, submission->name);
    fputc(',', out);
    csv_cell(out, submission->path);
    if (row != NULL)
        fprintf(out, ",judged,%s,", row);
    else
        fputs(",not judged,,,,,,,,,\"the machine or the grader failed: grade again\",", out);
    free(row);
}

/* What the PTX of submissions and steps is the same as. The steps stand behind the submissions. */
static size_t find_same(const struct grader *grader, const struct submission *submissions,
                        size_t count, struct same *all)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct compiled compiled = {0};
        all[found] = (struct same){0};
        snprintf(all[found].name, sizeof all->name, "%s", submissions[i].path);
        if (state_compiled(grader, &submissions[i], &compiled))
            memcpy(all[found].bits, compiled.same, sizeof compiled.same);
        free(compiled.messages);
        found++;
    }
    for (size_t i = 0; lab_at(i) != NULL; i++)
        if (solution_bits(grader, lab_at(i), all[found].bits))
            snprintf(all[found++].name, sizeof all->name, "step %d", lab_at(i)->number);
    return found;
}

static size_t count_labs(void)
{
    size_t count = 0;
    while (lab_at(count) != NULL) count++;
    return count;
}

int csv_write(const struct grader *grader, const struct submission *submissions, size_t count,
              struct fault *fault)
{
    char path[PATH_MAX], *text;
    size_t size;
    struct same *all = calloc(count + count_labs(), sizeof *all);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL || all == NULL) abort();
    size_t found = find_same(grader, submissions, count, all);
    if (grader->bom) fputs("\uFEFF", out);
    print_head(out);
    for (size_t i = 0; i < count; i++) {
        print_row(out, grader, &submissions[i]);
        print_same(out, all, found, i);
        fputc('\n', out);
    }
    fclose(out);
    snprintf(path, sizeof path, "%s/grades.csv", grader->out);
    int code = state_write(path, text, size, fault);
    free(text);
    free(all);
    return code;
}
