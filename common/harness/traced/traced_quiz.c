#define _GNU_SOURCE
#include "quiz.h"

#include "common/files/visible.h"
#include "common/files/wrapped.h"
#include "common/harness/print/record.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST = 64, /* elements of the larger run, */
    MOST = 2048,
    DIGITS = 10,
    OFFSETS = 8,   /* elements by which its arrays may be off: fewer than these */
    QUESTIONS = 4, /* for a word, at most */
    WIDTH = 92,    /* columns of the screen */
    MARGIN = 3,
};

/* ---- numbers from a word --------------------------------------------------------------------- */

/* FNV-1a. Another step asks other questions. */
static uint64_t seed_of(const char *word, int step)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *word; word++) hash = (hash ^ (unsigned char)*word) * UINT64_C(0x100000001b3);
    return hash + (uint64_t)step;
}

/* splitmix64 */
size_t quiz_draw(struct quiz *q, size_t below)
{
    uint64_t z = q->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ z >> 31) % below);
}

static void draw_numbers(struct quiz *q)
{
    for (size_t i = 0; i < QUIZ_NUMBERS; i++) {
        q->numbers[2 * i] = (char)('0' + quiz_draw(q, DIGITS));
        q->numbers[2 * i + 1] = i + 1 < QUIZ_NUMBERS ? ' ' : '\0';
    }
}

static size_t draw_n(struct quiz *q)
{
    size_t most = q->step->max_n && q->step->max_n < MOST ? q->step->max_n : MOST, sizes = 1;
    if (!q->step->power_of_two) return LEAST + quiz_draw(q, most - LEAST + 1);
    while ((size_t)LEAST << sizes <= most) sizes++;
    return (size_t)LEAST << quiz_draw(q, sizes);
}

/* ---- the two runs ---------------------------------------------------------------------------- */

static void keep(void *context, const struct access *a)
{
    struct accesses *all = context;
    if (a->launch || a->block) return;
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 256;
        all->of = allocated(realloc(all->of, all->room * sizeof *all->of));
    }
    all->of[all->count++] = *a;
}

static int run(const struct quiz *q, char *const *options, const char *numbers,
               struct accesses *all, struct fault *fault)
{
    char *arguments[10] = {q->options->argv[0]};
    size_t count = 1;
    while (*options) arguments[count++] = *options++;
    if (q->step->variants) {
        arguments[count++] = "--variant";
        arguments[count++] = (char *)q->step->variants[q->options->variant];
    }
    return traced(arguments, numbers, keep, all, fault);
}

static int run_both(struct quiz *q, struct fault *fault)
{
    char n[24], offset[24];
    snprintf(n, sizeof n, "%zu", q->n);
    snprintf(offset, sizeof offset, "%zu", q->offset);
    int code = run(q, (char *[]){"--input", "-", NULL}, q->numbers, &q->small, fault);
    return code ? code
                : run(q, (char *[]){"--n", n, "--offset", offset, NULL}, NULL, &q->large, fault);
}

/* As a reader types it. */
static void write_command(struct quiz *q)
{
    const int variant = q->options->variant;
    snprintf(q->command, sizeof q->command, "%s%s%s --n %zu", q->options->argv[0],
             variant ? " --variant " : "", variant ? q->step->variants[variant] : "", q->n);
}

static int open_quiz(struct quiz *q, struct fault *fault)
{
    q->random = seed_of(q->word, q->step->number);
    draw_numbers(q);
    q->n = draw_n(q);
    q->offset = 1 + quiz_draw(q, OFFSETS);
    write_command(q);
    return run_both(q, fault);
}

static void close_quiz(struct quiz *q)
{
    free(q->small.of);
    free(q->large.of);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_heading(const struct quiz *q, FILE *to)
{
    fprintf(to, "Step %d · questions for \"", q->step->number);
    visible_print(to, q->word, strlen(q->word));
    fputs("\"\n", to);
}

static void print_question(const struct quiz *q, size_t number, const struct question *asked,
                           FILE *to)
{
    fprintf(to, "\n%zu. ", number);
    wrapped_print(to, asked->text, MARGIN, WIDTH);
    if (!q->options->solve) return;
    fputs("-> ", to);
    wrapped_print(to, asked->answer, MARGIN, WIDTH);
    fputs("   ", to);
    wrapped_print(to, asked->why, MARGIN, WIDTH);
}

static void print_record(const struct quiz *q, size_t number, const struct question *asked,
                         size_t *index, FILE *to)
{
    struct record record = {0};
    record_text(&record, "word", "%s", q->word);
    record_integer(&record, "step", (uint64_t)q->step->number);
    record_integer(&record, "number", number);
    record_text(&record, "question", "%s", asked->text);
    if (q->options->solve) record_text(&record, "answer", "%s", asked->answer);
    record_print(to, q->options->format, &record, (*index)++);
}

static int ask_all(struct quiz *q, size_t *index, FILE *to, struct fault *fault)
{
    static ask_fn *const kinds[QUESTIONS] = {ask_value, ask_level, ask_banks, ask_sectors};
    bool text = q->options->format == REPORT_TEXT;
    size_t number = 0;
    if (text) print_heading(q, to);
    for (int i = 0; i < QUESTIONS; i++) {
        struct question asked = {0};
        if (!kinds[i](q, &asked)) continue;
        if (text)
            print_question(q, ++number, &asked, to);
        else
            print_record(q, ++number, &asked, index, to);
    }
    if (number == 0)
        return fail(fault, EXIT_USAGE, "--quiz: step %d (%s) gives no occasion for a question.",
                    q->step->number, q->step->name);
    return 0;
}

static int show_word(const struct step *step, const struct options *o, const char *word,
                     size_t *index, FILE *to, struct fault *fault)
{
    struct quiz q = {.step = step, .options = o, .word = word};
    int code = open_quiz(&q, fault);
    if (!code) code = ask_all(&q, index, to, fault);
    close_quiz(&q);
    return code;
}

/* A word on each line of stdin. */
static int show_class(const struct step *step, const struct options *o, size_t *index, FILE *to,
                      struct fault *fault)
{
    char *word = NULL;
    size_t size = 0;
    int code = 0;
    while (!code && getline(&word, &size, stdin) >= 0) {
        word[strcspn(word, "\r\n")] = '\0';
        if (*word) code = show_word(step, o, word, index, to, fault);
    }
    free(word);
    return code;
}

/* Another GPU may have other banks, and lanes in another order other wavefronts. */
static void forget_settings(void)
{
    unsetenv("EMU_MODEL");
    unsetenv("EMU_SCHEDULE");
}

int quiz_show(const struct step *step, const struct options *o, FILE *to, struct fault *fault)
{
    size_t index = 0;
    forget_settings();
    record_open(to, o->format, false);
    int code = strcmp(o->quiz, "-") == 0 ? show_class(step, o, &index, to, fault)
                                         : show_word(step, o, o->quiz, &index, to, fault);
    record_close(to, o->format, false);
    return code;
}
