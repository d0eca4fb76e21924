/*
 * score.c — from results to points: the score, weights, texts of reasons, counts.
 */
#include "score.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from results to points ------------------------------------------------------------------ */

/* score_sizes.c judges outputs, and score_criteria.c compares counters. */

static void begin_verdict(const struct lab *lab, const struct lab_weights *weights,
                          struct lab_verdict *v)
{
    *v = (struct lab_verdict){.lab = lab};
    for (int c = 0; c < LAB_CRITERIA; c++) {
        v->weight[c] = weights->points[c];
        v->most += weights->points[c];
    }
}

struct verdict_line *add_line(struct lab_verdict *v, enum lab_criterion criterion, double lost,
                              const char *format, ...)
{
    static struct verdict_line dropped;
    struct verdict_line *line = &dropped;
    if (v->line_count < VERDICT_LINES) line = &v->lines[v->line_count++];
    *line = (struct verdict_line){.criterion = criterion, .lost = lost, .chapter = v->lab->chapter};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line->text, sizeof line->text, format, arguments);
    va_end(arguments);
    return line;
}

static int unjudged(struct lab_verdict *v, const char *why)
{
    v->status = VERDICT_UNJUDGED;
    snprintf(v->failure, sizeof v->failure, "%s", why);
    return -1;
}

static bool is_same_case(const struct lab_case *a, const struct lab_case *b)
{
    return a->n == b->n && a->input == b->input && a->schedule == b->schedule &&
           a->clock == b->clock && a->boundary == b->boundary && a->exponent == b->exponent &&
           a->descending == b->descending && a->share == b->share;
}

/* Are the results those of the lab's cases with this seed? Cases at the end may be missing. */
static bool belong(const struct lab *lab, const struct lab_results *r, uint64_t seed,
                   bool handed_out)
{
    struct lab_case cases[LAB_CASES];
    size_t count = lab_cases(lab, seed, handed_out, cases);
    if (r->lab != lab->number || r->seed != seed || r->handed_out != handed_out) return false;
    if (r->case_count > count) return false;
    for (size_t i = 0; i < r->case_count; i++)
        if (!is_same_case(&r->cases[i].is, &cases[i])) return false;
    return true;
}

static bool is_reference(const struct lab *lab, const struct lab_results *r)
{
    struct lab_case cases[LAB_CASES];
    if (!r->complete || r->case_count != lab_cases(lab, r->seed, r->handed_out, cases))
        return false;
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].end != LAB_RAN) return false;
    return true;
}

/* A limit on seconds was exceeded: the machine was too busy. */
static const char *machine_failure(const struct lab_results *r)
{
    for (size_t i = 0; i < r->case_count; i++)
        if (r->cases[i].end == LAB_SECONDS) return r->cases[i].message;
    return NULL;
}

static double fraction_of(unsigned part, unsigned all) { return all ? (double)part / all : 0; }

/* Students know the edges, which are among the graded sizes. Answers for these alone are worth
 * nothing. If all sizes are handed out, all cases count. */
static void find_correctness(struct lab_verdict *v)
{
    double all = fraction_of(v->right_cases, v->cases);
    double unseen = v->unseen ? fraction_of(v->right_unseen, v->unseen) : all;
    v->correctness = unseen < all ? unseen : all;
    if (v->correctness < all)
        add_line(v, LAB_CRITERIA, v->most * (all - unseen),
                 "%u of %u runs at sizes that are not handed out are right. This fraction is less "
                 "than that of all runs, so it multiplies the points.",
                 v->right_unseen, v->unseen);
}

static void add_points(struct lab_verdict *v)
{
    double sum = 0;
    for (int c = 0; c < LAB_CRITERIA; c++) sum += v->weight[c] * v->fraction[c];
    v->points = v->correctness * sum;
}

/* A report does not show what kernels print, as `make check` does. */
static void note_printed(struct lab_verdict *v, const struct lab_results *results)
{
    uint64_t lines = 0;
    for (size_t i = 0; i < results->case_count; i++) lines += results->cases[i].printed;
    if (lines == 0) return;
    add_line(
        v, LAB_CRITERIA, 0,
        "The kernels have printed %llu line%s in all runs; `make check%d` shows the first ones.",
        (unsigned long long)lines, lines == 1 ? "" : "s", v->lab->number)
        ->chapter = "notes/labs.md";
}

void note_order(struct lab_verdict *v, const struct lab_results *results)
{
    for (size_t i = 0; results->case_count == 1 && i < results->cases[0].finding_count; i++) {
        const struct lab_finding *f = &results->cases[0].findings[i];
        const char *what = strstr(f->text, ": ");
        if (f->tool != EMU_CHECK_ORDER || !what) continue;
        struct verdict_line *line = add_line(
            v, LAB_HAZARDS, 0,
            "n = %zu: %s that this run does not need: if it alone is missing, there is no hazard.",
            results->cases[0].is.n, what + strlen(": "));
        line->chapter = "notes/checks.md#which-of-my-barriers-do-i-need";
        line->line = f->line;
        memcpy(line->file, f->file, sizeof line->file);
    }
}

int score_lab(const struct lab *lab, const struct lab_results *results,
              const struct lab_results *reference, const struct lab_weights *weights,
              struct lab_verdict *v)
{
    begin_verdict(lab, weights, v);
    v->seed = reference->seed;
    v->handed_out = reference->handed_out;
    if (!belong(lab, reference, reference->seed, reference->handed_out) ||
        !is_reference(lab, reference))
        return unjudged(v, "The results of the step's own solution are not complete.");
    if (!belong(lab, results, reference->seed, reference->handed_out))
        return unjudged(v, "The results are not those of this lab's cases.");
    const char *failure = machine_failure(results);
    if (failure) return unjudged(v, failure);

    score_sizes(v, results, reference);
    find_correctness(v);
    score_criteria(v, results, reference);
    if (!v->handed_out) note_printed(v, results);
    add_points(v);
    return 0;
}

void score_nothing(const struct lab *lab, const struct lab_weights *weights, const char *why,
                   struct lab_verdict *v)
{
    begin_verdict(lab, weights, v);
    snprintf(v->failure, sizeof v->failure, "%s", why);
    add_line(v, LAB_CRITERIA, v->most, "%s", why)->chapter = "notes/labs.md";
}

void leave_open(const struct lab *lab, const struct lab_weights *weights, const char *why,
                struct lab_verdict *v)
{
    begin_verdict(lab, weights, v);
    unjudged(v, why);
}

/* ---- reads the points that each criterion is worth. weights.txt says how --------------------- */

enum { LINE_BYTES = 200, LAB_MOST = 99 };
static const double points_most = 1000;

const char *lab_criterion_name(enum lab_criterion criterion)
{
    static const char *const names[] = {[LAB_WORK] = "work",
                                        [LAB_CONFLICTS] = "conflicts",
                                        [LAB_SECTORS] = "sectors",
                                        [LAB_HAZARDS] = "hazards",
                                        [LAB_CRITERIA] = "correctness"};
    return criterion <= LAB_CRITERIA ? names[criterion] : "";
}

/* A line of the file: a lab's number, or 0 for all, and a criterion with its points. */
struct weight {
    int lab;
    enum lab_criterion criterion;
    double points;
};

static bool read_criterion(const char *name, enum lab_criterion *criterion)
{
    for (int c = 0; c < LAB_CRITERIA; c++) {
        *criterion = (enum lab_criterion)c;
        if (!strcmp(name, lab_criterion_name(*criterion))) return true;
    }
    return false;
}

/* Returns what is wrong with the line, or NULL. */
static const char *read_line(const char *text, struct weight *weight)
{
    char name[LINE_BYTES], number[LINE_BYTES], rest[2], *end;
    const char *criterion = name;
    if (sscanf(text, "%199s %199s %1s", name, number, rest) != 2)
        return "has no criterion with its points";
    weight->lab = 0;
    if (!strncmp(name, "lab", 3)) {
        weight->lab = (int)strtol(name + 3, &end, 10);
        if (*end != '.' || weight->lab < 1 || weight->lab > LAB_MOST)
            return "names no lab, as lab3.work does";
        criterion = end + 1;
    }
    if (!read_criterion(criterion, &weight->criterion))
        return "names none of work, conflicts, sectors and hazards";
    weight->points = strtod(number, &end);
    if (*end || !(weight->points >= 0 && weight->points <= points_most))
        return "has points that are not a number from 0 to 1000";
    return NULL;
}

/* Has an earlier line given this weight? The later one would be taken without a word. */
static bool is_second(const struct weight *weight, bool given[LAB_MOST + 1][LAB_CRITERIA])
{
    bool before = given[weight->lab][weight->criterion];
    given[weight->lab][weight->criterion] = true;
    return before;
}

/* A lab's own weight counts, wherever it stands in the file. */
static void take_weight(const struct weight *weight, const struct lab *lab, bool *own,
                        struct lab_weights *weights)
{
    if (weight->lab ? weight->lab != lab->number : own[weight->criterion]) return;
    own[weight->criterion] |= weight->lab != 0;
    weights->points[weight->criterion] = weight->points;
}

static bool is_empty(char *text)
{
    text[strcspn(text, "#\n")] = '\0';
    return text[strspn(text, " \t\r")] == '\0';
}

static int read_lines(FILE *file, const char *path, const struct lab *lab,
                      struct lab_weights *weights, char *why, size_t why_size)
{
    char text[LINE_BYTES];
    bool own[LAB_CRITERIA] = {false}, given[LAB_MOST + 1][LAB_CRITERIA] = {{false}};
    struct weight weight;
    for (unsigned line = 1; fgets(text, sizeof text, file); line++) {
        if (is_empty(text)) continue;
        const char *wrong = read_line(text, &weight);
        if (!wrong && is_second(&weight, given)) wrong = "gives a weight for a second time";
        if (wrong) {
            snprintf(why, why_size, "Line %u of %s %s.", line, path, wrong);
            return -1;
        }
        take_weight(&weight, lab, own, weights);
    }
    return 0;
}

static bool have_points(const struct lab_weights *weights)
{
    double sum = 0;
    for (int c = 0; c < LAB_CRITERIA; c++) sum += weights->points[c];
    return sum > 0;
}

int lab_weights_take(FILE *file, const char *path, const struct lab *lab,
                     struct lab_weights *weights, char *why, size_t why_size)
{
    *weights = (struct lab_weights){{0}};
    int code = read_lines(file, path, lab, weights, why, why_size);
    if (code || have_points(weights)) return code;
    snprintf(why, why_size, "%s gives no points to lab %d.", path, lab->number);
    return -1;
}

int lab_weights_read(const char *path, const struct lab *lab, struct lab_weights *weights,
                     char *why, size_t why_size)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        *weights = (struct lab_weights){{0}};
        snprintf(why, why_size, "The weights in %s cannot be read: %s.", path, strerror(errno));
        return -1;
    }
    int code = lab_weights_take(file, path, lab, weights, why, why_size);
    fclose(file);
    return code;
}

/* ---- texts of reasons: are two the same but for their numbers? And places in them ------------ */

static const char *after_number(const char *text)
{
    bool begins = isdigit((unsigned char)text[*text == '-']);
    char *end = (char *)(uintptr_t)text;
    if (begins) strtod(text, &end);
    return end;
}

static bool is_end(const char *text, const char *end)
{
    return !*text || (*end && !strncmp(text, end, strlen(end)));
}

bool same_but_numbers(const char *a, const char *b, const char *end)
{
    while (!is_end(a, end) && !is_end(b, end)) {
        const char *next_a = after_number(a), *next_b = after_number(b);
        if ((next_a == a) != (next_b == b) || (next_a == a && *a != *b)) return false;
        a = next_a == a ? a + 1 : next_a;
        b = next_b == b ? b + 1 : next_b;
    }
    return is_end(a, end) && is_end(b, end);
}

#define PTX_LINE  " (PTX line "
#define AT_A_LINE ", at "

/* Where the file's path begins in "… at labs/lab3.cu:52 (PTX line 79)", and the number of the line.
 * NULL: it is another file. */
static char *place_before(char *text, char *ptx_line, const char *file, unsigned *line)
{
    char *colon = ptx_line, *at = NULL;
    while (colon > text && isdigit((unsigned char)colon[-1])) colon--;
    if (colon == text || *--colon != ':') return NULL;
    size_t length = strlen(file);
    if ((size_t)(colon - text) < length || memcmp(colon - length, file, length) != 0) return NULL;
    for (char *c = text; (c = strstr(c, " at ")) && c < colon; c++) at = c;
    *line = (unsigned)strtoul(colon + 1, NULL, 10);
    return at ? at + strlen(" at ") : NULL;
}

void shorten_places(char *text, const char *file, unsigned line)
{
    for (char *ptx; *file && (ptx = strstr(text, PTX_LINE));) {
        unsigned own;
        char *behind = strchr(ptx, ')'), *path = place_before(text, ptx, file, &own), number[32];
        if (!behind) return;
        behind++;
        if (!path) {
            memmove(ptx, behind, strlen(behind) + 1);
            continue;
        }
        /* The line stands before the text already. */
        size_t before = strlen(AT_A_LINE);
        bool is_said = own == line && (size_t)(path - text) >= before &&
                       !strncmp(path - before, AT_A_LINE, before);
        char *from = is_said ? path - before : path;
        int size = is_said ? 0 : snprintf(number, sizeof number, "line %u", own);
        memcpy(from, number, (size_t)size); /* no longer than ":52 (PTX line 79)" */
        memmove(from + size, behind, strlen(behind) + 1);
    }
}

/* ---- what a run has counted, in the terms of the score --------------------------------------- */

enum { SECTOR = 32 /* bytes */, WARP_LANES = 32 };

uint64_t count_wavefronts(const struct emu_counts *c)
{
    return c->shared_ld.wavefronts + c->shared_st.wavefronts + c->shared_atom.wavefronts +
           c->shared_copy.wavefronts;
}

uint64_t count_conflicts(const struct emu_counts *c)
{
    return count_wavefronts(c) - c->shared_ld.ideal - c->shared_st.ideal - c->shared_atom.ideal -
           c->shared_copy.ideal;
}

static const struct emu_global *global_kind(const struct emu_counts *c, int kind)
{
    const struct emu_global *kinds[] = {&c->global_ld,  &c->global_st, &c->global_atom,
                                        &c->global_red, &c->local_ld,  &c->local_st};
    return kind < (int)(sizeof kinds / sizeof *kinds) ? kinds[kind] : NULL;
}

uint64_t count_sectors(const struct emu_counts *c)
{
    uint64_t sum = 0;
    for (int k = 0; global_kind(c, k); k++) sum += global_kind(c, k)->sectors;
    return sum;
}

uint64_t count_ideal_sectors(const struct emu_counts *c)
{
    uint64_t sum = 0;
    for (int k = 0; global_kind(c, k); k++) sum += (global_kind(c, k)->bytes + SECTOR - 1) / SECTOR;
    return sum;
}

static bool is_in(const char *name, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(name, *list)) return true;
    return false;
}

static bool begins_with(const char *text, const char *beginning)
{
    return !strncmp(text, beginning, strlen(beginning));
}

/* The bytes of the type that a name ends with: 4 of "add.f32". */
static unsigned bytes_of_type(const char *name)
{
    enum { BITS = 8 };
    size_t end = strlen(name);
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') end--;
    return (unsigned)atoi(name + end) / BITS;
}

/* Bulk copies are in no counter of sectors, as on a GPU. Their bytes are among the operations: the
 * elements of a copy are its bytes, those of a reduction are numbers. */
static uint64_t bulk_sectors(const struct lab_operation *o)
{
    bool reduces = begins_with(o->name, "cp.reduce.async.bulk");
    if (!reduces && !begins_with(o->name, "cp.async.bulk")) return 0;
    if (!strstr(o->name, ".global") || strstr(o->name, ".prefetch")) return 0;
    return (o->elements * (reduces ? bytes_of_type(o->name) : 1) + SECTOR - 1) / SECTOR;
}

/* Integer arithmetic that addresses and conditions are made of. A sum of floats made of it takes
 * far more instructions than the cap on all others allows. */
static bool is_plain_integer(const char *name)
{
    static const char *const plain[] = {
        "add.",      "sub.",    "mul.", "mul.lo.", "mul.wide.", "mul.hi.", "mad.", "mad.lo.",
        "mad.wide.", "mad.hi.", "neg.", "abs.",    "min.",      "max.",    "div.", "rem.",
        "bfe.",      "bfi.",    "shf.", "clz.",    "bfind.",    "brev.",   "fns.", NULL};
    for (const char *const *p = plain; *p; p++)
        if (begins_with(name, *p)) return true;
    return false;
}

/* The types of cvt include a float's: a sum may be hidden in integers. */
static bool is_real(const char *name) { return strstr(name, ".f") || strstr(name, ".bf"); }

/* Shuffles and votes move values; redux adds them. */
static bool moves_only(const char *name)
{
    return begins_with(name, "shfl") || begins_with(name, "vote") || begins_with(name, "match") ||
           begins_with(name, "activemask") || begins_with(name, "elect");
}

/* Integer atomic operations and population counts: look-back needs some, but a sum could be hidden
 * in many of them. */
static bool is_borrowed(const struct lab_operation *o)
{
    if (o->work_class == EMU_CLASS_ATOMIC) return !is_real(o->name);
    return o->work_class == EMU_CLASS_INTEGER && begins_with(o->name, "popc");
}

/* Can the operation not hide an addition? */
static bool is_harmless(const struct lab_operation *o)
{
    switch (o->work_class) {
    case EMU_CLASS_INTEGER: return is_plain_integer(o->name);
    case EMU_CLASS_LOGIC:
    case EMU_CLASS_COMPARE:
    case EMU_CLASS_MOVE:
    case EMU_CLASS_LOAD:
    case EMU_CLASS_STORE:
    case EMU_CLASS_SYNC:
    case EMU_CLASS_CONTROL:
    case EMU_CLASS_OTHER: return true;
    case EMU_CLASS_CONVERT: return !is_real(o->name);
    case EMU_CLASS_WARP: return moves_only(o->name);
    case EMU_CLASS_COPY: return !strstr(o->name, "reduce");
    default: return false; /* f16, f32, f64, matrix, atomic */
    }
}

/* Operations of one kind that may hide additions. The kind with most elements is the worst one. */
static void add_unexpected(struct lab_sums *sums, const char *name, uint32_t work_class,
                           uint64_t elements, uint64_t *most)
{
    sums->unexpected += elements;
    if (elements == 0 || elements < *most) return;
    *most = elements;
    sums->worst = name;
    sums->worst_class = work_class;
}

/* The number of elements of borrowed operations that are free: 0 if the step's own solution has
 * none of them. A 64th of the additions is too little to hide a sum in. */
static uint64_t free_loan(const struct lab_sums *reference)
{
    enum { TIMES = 2, MORE = 8, PART = 64 };
    if (reference->borrowed == 0) return 0;
    return TIMES * reference->borrowed + MORE + reference->adds / PART;
}

static void add_borrowed(struct lab_sums *sums, const struct lab_operation *worst,
                         const struct lab_sums *reference, uint64_t *most)
{
    uint64_t loan = reference ? free_loan(reference) : UINT64_MAX;
    if (sums->borrowed > loan)
        add_unexpected(sums, worst->name, worst->work_class, sums->borrowed - loan, most);
}

struct lab_sums lab_sums(const struct lab *lab, const struct lab_case_result *r,
                         const struct lab_sums *reference)
{
    struct lab_sums sums = {.wavefronts = count_wavefronts(&r->total),
                            .conflicts = count_conflicts(&r->total),
                            .sectors = count_sectors(&r->total),
                            .other = r->dropped,
                            .other_instructions = r->dropped / WARP_LANES, /* at least */
                            .longest_warps = r->longest_warps};
    uint64_t most = 0;
    const struct lab_operation *borrowed = NULL;
    for (size_t i = 0; i < r->operation_count; i++) {
        const struct lab_operation *o = &r->operations[i];
        if (is_in(o->name, lab->expected)) {
            sums.adds += o->elements;
            sums.add_instructions += o->instructions;
            continue;
        }
        sums.sectors += bulk_sectors(o);
        sums.other += o->lanes;
        sums.other_instructions += o->instructions;
        if (begins_with(o->name, "shfl")) sums.shuffles += o->instructions;
        if (is_borrowed(o)) {
            sums.borrowed += o->elements;
            if (!borrowed || o->elements > borrowed->elements) borrowed = o;
        } else if (!is_harmless(o)) {
            sums.unexpected_instructions += o->instructions;
            add_unexpected(&sums, o->name, o->work_class, o->elements, &most);
        }
    }
    add_borrowed(&sums, borrowed, reference, &most);
    add_unexpected(&sums, "too many different operations", EMU_CLASSES, r->dropped, &most);
    return sums;
}
