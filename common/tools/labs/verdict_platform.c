/* verdict_platform.c — a verdict as platforms for courses take it: a list of tests, of which some
 * are hidden. The list is made once; the platforms differ in a table of keys. */
#define _GNU_SOURCE /* open_memstream */
#include "common/tools/emu/report/report.h"
#include "common/files/visible.h"
#include "score.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct platform {
    const char *name;
    const char *points, *most, *text; /* keys of a test in JSON; NULL: the format is Markdown */
    bool has_status;                  /* a test passes or fails, and may be hidden */
    bool of_one;                      /* the score is a fraction */
    bool as_html; /* texts may be shown as HTML: what begins a tag there is replaced */
};
static const struct platform platforms[] = {
    {.name = "gradescope",
     .points = "score",
     .most = "max_score",
     .text = "output",
     .has_status = true},
    {.name = "prairielearn",
     .points = "points",
     .most = "max_points",
     .text = "message",
     .of_one = true,
     .as_html = true},
    {.name = "summary"},
};

const struct platform *lab_platform(const char *name)
{
    for (size_t i = 0; i < sizeof platforms / sizeof *platforms; i++)
        if (!strcmp(name, platforms[i].name)) return &platforms[i];
    return NULL;
}

/* Has the submission been judged, and not only refused, as a file that does not compile is? */
static bool is_gradable(const struct lab_verdict *v)
{
    return v->status == VERDICT_JUDGED && v->cases > 0;
}

/* ---- what is hidden -------------------------------------------------------------------------- */

static bool hide(struct verdict_hidden *hidden, const char *word)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    for (int c = 0; c <= LAB_CRITERIA; c++)
        if (!strcmp(word, lab_criterion_name((enum lab_criterion)c)))
            return hidden->criteria[c] = true;
    if (!strcmp(word, "sizes")) return hidden->all_sizes = true;
    if (!isdigit((unsigned char)*word) || *end || errno || hidden->size_count == LAB_SIZES)
        return false;
    hidden->sizes[hidden->size_count++] = (size_t)n;
    return true;
}

int verdict_hidden_read(const char *list, struct verdict_hidden *hidden, struct fault *fault)
{
    char *words = strdup(list), *rest = words, *word;
    int code = 0;
    if (!words) abort();
    *hidden = (struct verdict_hidden){.all_sizes = false};
    while (!code && (word = strsep(&rest, ", ")) != NULL)
        if (*word && !hide(hidden, word))
            code = fail(fault, EXIT_USAGE,
                        "\"%s\" cannot be hidden; give correctness, work, conflicts, sectors, "
                        "hazards, sizes, or a size such as 2048, with commas between them.",
                        word);
    free(words);
    return code;
}

static bool hides_size(const struct verdict_hidden *hidden, size_t n)
{
    for (size_t i = 0; i < hidden->size_count; i++)
        if (hidden->sizes[i] == n) return true;
    return hidden->all_sizes;
}

/* Does a reason name a hidden size? It may be about several, so every number counts. */
static bool names_hidden(const struct verdict_hidden *hidden, const char *text)
{
    if (hidden->all_sizes && strstr(text, "n = ")) return true;
    for (const char *at = text; hidden->size_count > 0 && *at;) {
        char *end = (char *)(uintptr_t)at + 1;
        if (isdigit((unsigned char)*at) && hides_size(hidden, strtoull(at, &end, 10))) return true;
        at = end;
    }
    return false;
}

/* ---- tests ----------------------------------------------------------------------------------- */

enum { TESTS = LAB_CRITERIA + 1 + LAB_SIZES, NAME = 64 };

struct test {
    char name[NAME];
    double points, most; /* most 0: it has none of its own, and passes or fails */
    bool passed, hidden;
    char *text; /* ends with NUL */
    size_t size;
};

struct list {
    const struct lab_verdict *verdict;
    const struct verdict_hidden *hidden;
    const char *source;
    struct test tests[TESTS];
    size_t count;
    double before; /* points of the criteria before */
};

/* The points that are shown everywhere. */
static double rounded(double points)
{
    static const double hundred = 100;
    return round(points * hundred) / hundred;
}

/* Begins a test; its text is written to the stream, which the caller closes. */
static FILE *add_test(struct list *list, bool hidden, bool passed)
{
    struct test *test = &list->tests[list->count++];
    *test = (struct test){.passed = passed, .hidden = hidden};
    FILE *text = open_memstream(&test->text, &test->size);
    if (!text) abort();
    return text;
}

/* Where hazards are hidden, a wrong size has no line, which may be that of a checker's finding, and
 * no cause that is a finding. */
static struct verdict_line without_findings(struct verdict_line line)
{
    char *cause = strstr(line.text, "; " LAB_FINDING_CAUSE);
    if (cause) *cause = '\0';
    line.line = 0;
    return line;
}

static void add_reasons(const struct list *list, enum lab_criterion criterion, FILE *text)
{
    const struct lab_verdict *v = list->verdict;
    for (size_t i = 0; i < v->line_count; i++) {
        struct verdict_line line = v->lines[i];
        if (line.criterion != criterion) continue;
        if (criterion == LAB_CRITERIA && list->hidden->criteria[LAB_HAZARDS])
            line = without_findings(line);
        if (names_hidden(list->hidden, line.text))
            fputs("A reason at a hidden size is not shown.\n", text);
        else
            lab_verdict_line(text, &line, list->source);
    }
}

static void add_criterion(struct list *list, enum lab_criterion c)
{
    const struct lab_verdict *v = list->verdict;
    bool is_criterion = c != LAB_CRITERIA;
    double fraction = v->correctness * (is_criterion ? v->fraction[c] : 1);
    FILE *text = add_test(list, list->hidden->criteria[c], fraction >= 1);
    struct test *test = &list->tests[list->count - 1];
    snprintf(test->name, sizeof test->name, "%s", lab_criterion_name(c));
    if (is_criterion) {
        test->most = v->weight[c];
        /* Each is rounded so that together they are the rounded sum. */
        double after = list->before + fraction * v->weight[c];
        test->points = rounded(rounded(after) - rounded(list->before));
        list->before = after;
    } else {
        fprintf(text, "%u of %u runs are right. This fraction multiplies all points.\n",
                v->right_cases, v->cases);
    }
    add_reasons(list, c, text);
    fclose(text);
}

/* What has been counted at a size, without what belongs to a hidden criterion. */
static void print_counts(FILE *text, const struct verdict_hidden *hidden,
                         const struct verdict_size *s)
{
    const struct {
        enum lab_criterion of;
        const char *name;
        uint64_t yours, solution;
    } counts[] = {{LAB_WORK, "additions", s->adds, s->expected_adds},
                  {LAB_CONFLICTS, "bank conflicts", s->conflicts, s->expected_conflicts},
                  {LAB_SECTORS, "sectors", s->sectors, s->expected_sectors}};
    const char *before = "Yours, and the solution's: ", *end = "";
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (hidden->criteria[counts[i].of]) continue;
        fprintf(text, "%s%" PRIu64 " and %" PRIu64 " %s", before, counts[i].yours,
                counts[i].solution, counts[i].name);
        before = ", ";
        end = ".\n";
    }
    fputs(end, text);
    if (!hidden->criteria[LAB_HAZARDS])
        fprintf(text, "Findings of the checkers: %" PRIu64 ".\n", s->errors);
}

static void add_size(struct list *list, const struct verdict_size *s)
{
    bool hides_cause = list->hidden->criteria[LAB_HAZARDS] &&
                       !strncmp(s->cause, LAB_FINDING_CAUSE, strlen(LAB_FINDING_CAUSE));
    const char *cause = hides_cause ? "" : s->cause;
    FILE *text = add_test(list, hides_size(list->hidden, s->n), s->right);
    struct test *test = &list->tests[list->count - 1];
    snprintf(test->name, sizeof test->name, "n = %zu: %s", s->n, s->right ? "right" : "wrong");
    if (!s->right) {
        visible_print(text, s->wrong, strlen(s->wrong));
        fputs(*cause ? "\n" : "", text);
        visible_print(text, cause, strlen(cause));
        fputc('\n', text);
    }
    print_counts(text, list->hidden, s);
    fclose(text);
}

static void make_list(struct list *list)
{
    const struct lab_verdict *v = list->verdict;
    add_criterion(list, LAB_CRITERIA);
    for (int c = 0; c < LAB_CRITERIA; c++) add_criterion(list, (enum lab_criterion)c);
    for (size_t i = 0; i < v->size_count; i++) add_size(list, &v->sizes[i]);
}

/* What is said of the whole submission. */
static void print_whole(FILE *out, const struct list *list, const char *messages)
{
    const struct lab_verdict *v = list->verdict;
    size_t hidden = 0;
    for (size_t i = 0; i < list->count; i++) hidden += list->tests[i].hidden;
    fprintf(out, "Lab %d: %s\n", v->lab->number, v->lab->title);
    if (v->own_compiler && is_gradable(v))
        fputs("Compiled without nvcc, as the step's solution is.\n", out);
    if (!is_gradable(v)) {
        fputs(v->status == VERDICT_JUDGED ? "" : "Not judged: ", out);
        visible_print(out, v->failure, strlen(v->failure));
        fputc('\n', out);
    } else {
        fprintf(out, "%.2f of %g points", v->points, v->most);
        if (!list->hidden->criteria[LAB_CRITERIA])
            fprintf(out, ", %u of %u runs right", v->right_cases, v->cases);
        fprintf(out, ". Below, your file is called %s.\n", list->source);
    }
    for (size_t i = 0; i < v->gap_count; i++)
        fprintf(out, "Line %u: gap %u is still empty.\n", v->gaps[i].line, v->gaps[i].number);
    if (hidden > 0) fprintf(out, "Tests that are not shown: %zu.\n", hidden);
    if (*messages)
        fprintf(out, "The compiler's messages%s, where your file is called %s:\n",
                v->own_compiler ? " (it is not nvcc)" : "", list->source);
    while (*messages) {
        size_t length = strcspn(messages, "\n");
        visible_print(out, messages, length);
        fputc('\n', out);
        messages += length + (messages[length] == '\n');
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Where a text may be taken for HTML, no < begins a tag: it becomes a single quotation mark. */
static void put(struct json *j, const struct platform *platform, const char *key, const char *text)
{
    char *safe = malloc(3 * strlen(text) + 1), *to = safe;
    if (!safe) abort();
    for (; *text; text++)
        if (platform->as_html && (*text == '<' || *text == '>'))
            to += sprintf(to, "%s", *text == '<' ? "\u2039" : "\u203a");
        else
            *to++ = *text;
    *to = '\0';
    json_text(j, key, safe);
    free(safe);
}

static void put_test(struct json *j, const struct platform *p, const struct test *test)
{
    if (test->hidden && !p->has_status) return;
    json_open(j, NULL, '{');
    put(j, p, "name", test->name);
    if (test->most > 0) json_real(j, p->points, test->points);
    if (test->most > 0) json_real(j, p->most, test->most);
    if (p->has_status) {
        json_text(j, "status", test->passed ? "passed" : "failed");
        json_text(j, "output_format", "text");
        json_text(j, "visibility", test->hidden ? "hidden" : "visible");
    }
    put(j, p, p->text, test->text);
    json_close(j, '}');
}

static void put_json(FILE *out, const struct platform *p, const struct list *list,
                     const char *whole)
{
    const struct lab_verdict *v = list->verdict;
    bool gradable = is_gradable(v);
    double points = gradable ? rounded(v->points) : 0;
    struct json j = {.out = out};
    json_open(&j, NULL, '{');
    if (p->of_one) json_bool(&j, "gradable", gradable);
    if (p->of_one && !gradable) put(&j, p, "format_errors", whole);
    if (!p->of_one || gradable) json_real(&j, "score", p->of_one ? points / v->most : points);
    if (!p->of_one) {
        json_text(&j, "output_format", "text");
        json_text(&j, "visibility", "visible");
        json_text(&j, "stdout_visibility", "hidden");
    }
    if (!p->of_one || gradable) put(&j, p, p->of_one ? "message" : "output", whole);
    json_open(&j, "tests", '[');
    for (size_t i = 0; i < list->count; i++) put_test(&j, p, &list->tests[i]);
    json_close(&j, ']');
    json_close(&j, '}');
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* In a block of code, whose lines are indented, no line of a submission can end the block. */
static void put_block(FILE *out, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(out, "    %.*s\n", length, text);
        text += length + (text[length] == '\n');
    }
}

static void put_markdown(FILE *out, const struct list *list, const char *whole)
{
    const struct lab_verdict *v = list->verdict;
    fprintf(out, "## Lab %d: %.2f of %g points\n\n", v->lab->number,
            is_gradable(v) ? rounded(v->points) : 0, v->most);
    put_block(out, whole);
    for (size_t i = 0; i < list->count; i++) {
        const struct test *test = &list->tests[i];
        if (test->hidden) continue;
        fprintf(out, "\n**%s**", test->name);
        if (test->most > 0) fprintf(out, ": %.2f of %g", test->points, test->most);
        fputs("\n\n", out);
        put_block(out, test->text);
    }
}

bool lab_verdict_platform(FILE *out, const struct platform *platform, const struct lab_verdict *v,
                          const struct verdict_hidden *hidden, const char *source,
                          const char *messages)
{
    struct list list = {.verdict = v, .hidden = hidden, .source = source};
    char *whole;
    size_t size;
    if (v->status != VERDICT_JUDGED && platform->has_status) return false;
    if (is_gradable(v)) make_list(&list);
    FILE *text = open_memstream(&whole, &size);
    if (!text) abort();
    print_whole(text, &list, messages);
    fclose(text);
    if (platform->points)
        put_json(out, platform, &list, whole);
    else
        put_markdown(out, &list, whole);
    free(whole);
    for (size_t i = 0; i < list.count; i++) free(list.tests[i].text);
    return true;
}
