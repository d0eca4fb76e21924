/* verdict_json.c — a verdict for programs: one JSON object. */
#include "common/emu/report/report.h"
#include "score.h"

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

void lab_verdict_json(FILE *out, const struct lab_verdict *v, const char *source)
{
    struct json j = {.out = out};
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
