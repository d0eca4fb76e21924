/* quiz.c — questions to work out, and their answers. */
#define _GNU_SOURCE
#include "traced.h"
#include "common/files/visible.h"
#include "common/harness/print/print.h"
#include "common/harness/report/report.h"
#include "common/step/element.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* A number below this one. */
static size_t quiz_draw(struct quiz *, size_t below);

/* ---- questions ------------------------------------------------------------------------------- */

enum {
    BANKS = 32,
    WORD = 4,                       /* bytes */
    FIRST_WORDS = 2 * QUIZ_NUMBERS, /* of shared memory, about which a question of values is */
    FEW_LANES = 4,                  /* of an access that a question is about, at least */
    TRIES = 100,                    /* to find one that can be named */
    CODE_BYTES = 120,               /* of a source line */
};

#define PUT(to, ...) snprintf((to), QUIZ_TEXT, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static void append(char to[QUIZ_TEXT], const char *format,
                                                         ...)
{
    size_t used = strlen(to);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(to + used, QUIZ_TEXT - used, format, arguments);
    va_end(arguments);
}

/* ---- barriers and source lines --------------------------------------------------------------- */

static unsigned last_epoch(const struct accesses *all)
{
    unsigned last = 0;
    for (size_t i = 0; i < all->count; i++)
        if (all->of[i].epoch > last) last = all->of[i].epoch;
    return last;
}

/* "after barrier 3 and before barrier 4"; a block counts its barriers from 1. */
static void append_when(char *to, const struct accesses *all, unsigned epoch)
{
    if (epoch) append(to, "after barrier %u", epoch);
    append(to, "%s", epoch && epoch < last_epoch(all) ? " and " : "");
    if (epoch < last_epoch(all)) append(to, "before barrier %u", epoch + 1);
}

/* The code in "scan.cu:43", without its comment; returns the line's number. `file` is its path. */
static unsigned source_of(const struct step *step, const char *place, char file[CODE_BYTES],
                          char code[CODE_BYTES])
{
    const char *colon = strchr(place, ':');
    unsigned line = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
    snprintf(file, CODE_BYTES, "steps/%02d-%s/%.*s", step->number, step->name,
             (int)strcspn(place, ":"), place);
    source_text(file, line, code, CODE_BYTES);
    char *comment = strstr(code, " //");
    if (comment) *comment = '\0';
    return line;
}

/* "line 43 of steps/03-work-efficient/scan.cu, `temp[bi] += temp[ai];`" */
static void append_line(char *to, const struct step *step, const char *place)
{
    char file[CODE_BYTES], code[CODE_BYTES];
    unsigned line = source_of(step, place, file, code);
    append(to, "line %u of %s", line, file);
    if (*code) append(to, ", `%s`", code);
}

/* Does the line name this access, and no other of the kind? `a[i] += b[k]` loads two words. (A
 * compiler that moves an access may give it a line that names another one, or none.) */
static bool is_named(const struct step *step, const struct access *a)
{
    char file[CODE_BYTES], code[CODE_BYTES];
    source_of(step, a->line, file, code);
    const char *bracket = strchr(code, '['), *equals = strchr(code, '=');
    if (!bracket || !equals) return false;
    if (strcmp(a->operation, "st") == 0) return bracket < equals;
    unsigned loads = equals[-1] == '+';
    for (const char *c = equals; *c; c++) loads += *c == '[';
    return loads == 1;
}

/* ---- choosing -------------------------------------------------------------------------------- */

typedef bool fits_fn(const struct accesses *, const struct access *);

/* One of the accesses that fit, or NULL. */
static const struct access *pick(struct quiz *q, const struct accesses *all, fits_fn *fits)
{
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += fits(all, &all->of[i]);
    if (!count) return NULL;
    size_t chosen = quiz_draw(q, count);
    for (size_t i = 0;; i++)
        if (fits(all, &all->of[i]) && chosen-- == 0) return &all->of[i];
}

static unsigned pick_lane(struct quiz *q, uint32_t mask)
{
    size_t chosen = quiz_draw(q, (size_t)__builtin_popcount(mask));
    unsigned lane = 0;
    while (!(mask >> lane & 1) || chosen--) lane++;
    return lane;
}

/* ---- what is in this word? ------------------------------------------------------------------- */

/* Lanes that store another number than 0 in one of the first words. */
static uint32_t not_zero(const struct access *a)
{
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < TRACED_LANES; lane++)
        if (access_has(a, lane) && a->value[lane] && a->address[lane] < WORD * FIRST_WORDS)
            lanes |= 1U << lane;
    return lanes;
}

static bool stores_value(const struct accesses *all, const struct access *a)
{
    return access_is(a, "st", "shared") && a->bytes == WORD && not_zero(a) &&
           a->epoch < last_epoch(all);
}

/* The numbers that were loaded are no question. */
static bool stores_later_value(const struct accesses *all, const struct access *a)
{
    return a->epoch > 0 && stores_value(all, a);
}

/* The last store to this word up to the next barrier; lane is one of it. */
static const struct access *last_store(const struct accesses *all, const struct access *chosen,
                                       unsigned *lane)
{
    uint64_t address = chosen->address[*lane];
    for (size_t i = 0; i < all->count; i++) {
        const struct access *a = &all->of[i];
        if (!access_is(a, "st", "shared") || a->epoch != chosen->epoch) continue;
        for (unsigned k = 0; k < TRACED_LANES; k++)
            if (access_has(a, k) && a->address[k] == address) chosen = a, *lane = k;
    }
    return chosen;
}

static bool ask_value(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->small, stores_later_value);
    if (!a) a = pick(q, &q->small, stores_value);
    if (!a || step_element(q->step, q->options->variant) != ELEMENT_F32) return false;
    unsigned lane = pick_lane(q, not_zero(a));
    uint64_t word = a->address[lane] / WORD;
    a = last_store(&q->small, a, &lane);
    float value;
    memcpy(&value, &a->value[lane], sizeof value);
    PUT(to->text,
        "The input is %s. Every thread of the block has come to barrier %u, and none has passed "
        "it. Which number is in word %" PRIu64 " of shared memory?",
        q->numbers, a->epoch + 1, word);
    PUT(to->answer, "%g", value);
    PUT(to->why, "lane %u of warp %u stores it in ", lane, a->warp);
    append_line(to->why, q->step, a->line);
    return true;
}

/* ---- how much is done between two barriers? -------------------------------------------------- */

static bool uses_shared(const struct accesses *all, const struct access *a)
{
    (void)all;
    return strcmp(a->space, "shared") == 0;
}

static unsigned warps_of(const struct quiz *q)
{
    unsigned most = 0;
    for (size_t i = 0; i < q->large.count; i++)
        if (q->large.of[i].warp > most) most = q->large.of[i].warp;
    return most + 1;
}

static unsigned warps_using(const struct accesses *all, unsigned epoch)
{
    uint64_t seen = 0; /* a block has at most 32 warps */
    for (size_t i = 0; i < all->count; i++)
        if (uses_shared(all, &all->of[i]) && all->of[i].epoch == epoch)
            seen |= UINT64_C(1) << all->of[i].warp;
    return (unsigned)__builtin_popcountll(seen);
}

static unsigned words_loaded(const struct accesses *all, unsigned epoch)
{
    unsigned words = 0;
    for (size_t i = 0; i < all->count; i++)
        if (access_is(&all->of[i], "ld", "shared") && all->of[i].epoch == epoch)
            words += access_lanes(&all->of[i]) * (all->of[i].bytes / WORD);
    return words;
}

static bool ask_level(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->large, uses_shared);
    if (!a) return false;
    unsigned words = words_loaded(&q->large, a->epoch);
    bool ask_words = words && quiz_draw(q, 2);
    PUT(to->text, "n = %zu. ", q->n);
    if (ask_words)
        append(to->text, "How many words do the threads of block 0, all together, load from shared "
                         "memory ");
    else
        append(to->text, "Block 0 has %u warps. How many of them use shared memory ", warps_of(q));
    append_when(to->text, &q->large, a->epoch);
    append(to->text, "?");
    PUT(to->answer, "%u", ask_words ? words : warps_using(&q->large, a->epoch));
    PUT(to->why, "%s --levels shows it for all blocks", q->command);
    return true;
}

/* ---- how do lanes share the banks? ----------------------------------------------------------- */

static bool has_lanes(const struct accesses *all, const struct access *a)
{
    return uses_shared(all, a) && a->bytes == WORD && access_lanes(a) >= FEW_LANES;
}

static bool has_conflicts(const struct accesses *all, const struct access *a)
{
    return has_lanes(all, a) && a->wavefronts > a->ideal;
}

/* Is it the only one of its warp in this line, between the same barriers? Others could be meant. */
static bool is_alone(const struct step *step, const struct accesses *all, const struct access *a)
{
    unsigned count = 0;
    if (!is_named(step, a)) return false;
    for (size_t i = 0; i < all->count; i++) {
        const struct access *b = &all->of[i];
        count += a->warp == b->warp && a->epoch == b->epoch && !strcmp(a->line, b->line) &&
                 access_is(b, a->operation, a->space);
    }
    return count == 1;
}

static const struct access *pick_alone(struct quiz *q, fits_fn *fits)
{
    for (int i = 0; i < TRIES; i++) {
        const struct access *a = pick(q, &q->large, fits);
        if (!a || is_alone(q->step, &q->large, a)) return a;
    }
    return NULL;
}

static void write_lanes(char *to, const struct access *a, unsigned asked)
{
    uint64_t word = a->address[asked] / WORD;
    for (unsigned lane = 0; lane < TRACED_LANES; lane++) {
        uint64_t other = a->address[lane] / WORD;
        if (access_has(a, lane) && other != word && other % BANKS == word % BANKS)
            append(to, "%s%u", *to ? " " : "", lane);
    }
    if (!*to) append(to, "none");
}

static void write_words(char *to, const struct access *a)
{
    append(to, "its lanes use the words");
    for (unsigned lane = 0; lane < TRACED_LANES; lane++)
        if (access_has(a, lane)) append(to, " %" PRIu64, a->address[lane] / WORD);
}

/* Where lanes conflict, the question is about that. */
static void ask_conflicts(struct quiz *q, const struct access *a, struct question *to)
{
    unsigned lane = pick_lane(q, a->mask);
    if (quiz_draw(q, 2)) {
        append(to->text, ". Which lanes use another word of the same bank as lane %u?", lane);
        write_lanes(to->answer, a, lane);
    } else {
        append(to->text, ". How many wavefronts does it take?");
        PUT(to->answer, "%u", a->wavefronts);
    }
}

static void ask_bank(struct quiz *q, const struct access *a, struct question *to)
{
    unsigned lane = pick_lane(q, a->mask);
    append(to->text, ". In which bank is the word of lane %u?", lane);
    PUT(to->answer, "%u", (unsigned)(a->address[lane] / WORD % BANKS));
}

static bool ask_banks(struct quiz *q, struct question *to)
{
    const struct access *meeting = pick_alone(q, has_conflicts);
    const struct access *a = meeting ? meeting : pick_alone(q, has_lanes);
    if (!a) return false;
    PUT(to->text, "n = %zu. Warp %u executes, ", q->n, a->warp);
    append_when(to->text, &q->large, a->epoch);
    append(to->text, ", the %s of ", access_is(a, "ld", a->space) ? "load" : "store");
    append_line(to->text, q->step, a->line);
    if (meeting)
        ask_conflicts(q, a, to);
    else
        ask_bank(q, a, to);
    write_words(to->why, a);
    return true;
}

/* ---- how many sectors does a warp move? ------------------------------------------------------ */

static bool is_global(const struct accesses *all, const struct access *a)
{
    (void)all;
    return access_is(a, "ld", "global") || access_is(a, "st", "global");
}

static bool ask_sectors(struct quiz *q, struct question *to)
{
    const struct access *a = pick(q, &q->large, is_global);
    unsigned sectors = 0;
    if (!a) return false;
    bool loads = access_is(a, "ld", a->space);
    for (size_t i = 0; i < q->large.count; i++) {
        const struct access *b = &q->large.of[i];
        if (b->warp != a->warp || !access_is(b, a->operation, "global")) continue;
        append(to->why, "%s%u", *to->why ? " + " : "its requests: ", b->sectors);
        sectors += b->sectors;
    }
    PUT(to->text,
        "n = %zu. With --offset %zu the arrays begin %zu element%s after a multiple of 128 bytes. "
        "How many sectors do the %s of warp %u in block 0 %s global memory request, together?",
        q->n, q->offset, q->offset, q->offset == 1 ? "" : "s", loads ? "loads" : "stores", a->warp,
        loads ? "from" : "to");
    PUT(to->answer, "%u", sectors);
    append(to->why, " (%s --offset %zu)", q->command, q->offset);
    return true;
}

/* ---- quiz ------------------------------------------------------------------------------------ */

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
static size_t quiz_draw(struct quiz *q, size_t below)
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
