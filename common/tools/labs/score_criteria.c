/*
 * score_criteria.c — compares the counters of a submission with those of the step's own solution.
 *
 * Each criterion is a fraction for each size that is right. Their mean, in which a size n counts
 * sqrt(n) times, is the criterion's. Work is a product of fractions, so that a sum that is hidden
 * from one of them is found by another: additions, additions in parallel, operations that may hide
 * additions, and everything else that is executed.
 */
#include "score.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Full points up to here beyond the reference, because right solutions differ a little. */
static const double tolerance = 1.05;
/* And this many more, for sizes of which the reference counts next to nothing. */
static const double slack = 8;
/* Lanes of other instructions may be this many times the reference's (a lab may have its own
 * number), and so may the warp instructions themselves: one thread that does all has few lanes and
 * many instructions. */
static const double other_cap = 2;
/* And so may the warp instructions that make as many additions. One thread that adds alone needs
 * many more. */
static const double serial_cap = 2;
/* And so may the instructions of the longest warp, of any kind. Where one warp or one block does
 * what many could, its warps execute many more. */
static const double longest_cap = 1.5;
/* Beyond this many times, next to nothing runs in parallel, and other criteria have no merit. A
 * block that does what a few blocks could stays below it. */
static const double serial_longest_cap = 32;
/* What a run with warnings, but without errors, counts of the hazards. */
static const double warned = 0.5;
/* Fewer lost points than this are not explained. */
static const double least_lost = 0.005;
/* With fewer wavefronts than this part of those that the reference would need without conflicts,
 * shared memory is hardly used, so that the absence of conflicts is no merit. */
static const double least_shared = 0.5;
/* Where the reference has no shuffles, more of them than this part of the same wavefronts move what
 * should go through shared memory. Loads that are not needed cannot make up for that. */
static const double most_shuffled = 0.125;

/* What share of the points a count earns: 1 up to the expected one, and then less and less. */
static double share(double expected, double got)
{
    double free = expected * tolerance + slack;
    return got <= free ? 1 : free / got;
}

/* Reasons for lost points: what each takes of a size. */
enum reason {
    ADDS, SERIAL, HIDDEN, TOO_FEW, OTHER, OTHER_ALONE, LONGEST, CONFLICTS, NO_SHARED, SHUFFLED,
    CONFLICTS_ALONE, SECTORS, SECTORS_ALONE, HAZARDS_ALONE,
    REASONS
};

/* The criteria of one size. */
struct compared {
    const struct lab_case_result *own;
    struct lab_sums got, expected;
    enum emu_add adds;    /* the expected ones */
    double weight;        /* of this size among all */
    double lost[REASONS]; /* fractions of the criterion */
};

/* Takes a share of what is left of a criterion. */
static void take(struct compared *c, enum reason reason, double *left, double share)
{
    c->lost[reason] = *left * (1 - share);
    *left *= share;
}

/* Lanes, and the warp instructions that they take. */
struct effort {
    uint64_t lanes, instructions;
};

/* What share of the solution's parallelism there is: 1 up to serial_cap times the warp instructions
 * that the solution would need for as many lanes. */
static double parallelism(struct effort expected, struct effort got)
{
    bool more = got.lanes > expected.lanes && expected.lanes > 0;
    double times = more ? (double)got.lanes / (double)expected.lanes : 1;
    return share(serial_cap * times * (double)expected.instructions, (double)got.instructions);
}

/* The share of the parallelism of the additions, whichever instructions make them. */
static double adds_parallelism(const struct compared *c)
{
    const struct lab_sums *got = &c->got, *expected = &c->expected;
    return parallelism((struct effort){expected->adds, expected->add_instructions},
                       (struct effort){got->adds + got->unexpected,
                                       got->add_instructions + got->unexpected_instructions});
}

/* How well the work is distributed over warps: 1 up to `cap` times the instructions of the
 * solution's longest warp. */
static double distribution(const struct compared *c, double cap)
{
    return share(cap * (double)c->expected.longest_warps, (double)c->got.longest_warps);
}

/* The share of the parallelism of the additions, of all other instructions, or of the longest
 * warps: the least of the three. */
static double least_parallelism(const struct compared *c)
{
    const struct lab_sums *got = &c->got, *expected = &c->expected;
    double adds = adds_parallelism(c);
    double other = parallelism((struct effort){expected->other, expected->other_instructions},
                               (struct effort){got->other, got->other_instructions});
    return fmin(fmin(adds, other), distribution(c, serial_longest_cap));
}

static double cap_of_others(const struct lab *lab)
{
    return lab->others.cap > 0 ? lab->others.cap : other_cap;
}

/* What share the other instructions earn. Where a lab is about their number, it falls faster. */
static double share_of_others(const struct lab *lab, const struct compared *c)
{
    double free = cap_of_others(lab) * (double)c->expected.other;
    unsigned power = lab->others.power ? lab->others.power : 1;
    return pow(share(free, (double)c->got.other), power);
}

static void compare_work(const struct lab *lab, struct compared *c)
{
    double left = 1, least = c->own->is.n > 2 ? (double)c->own->is.n - 2 : 0;
    double adds = (double)c->got.adds, hidden = (double)c->got.unexpected;
    double expected = (double)c->expected.adds;
    double needed = lab->adds_integers ? (double)c->own->is.n : expected;
    double visible = hidden < needed ? 1 - hidden / needed : 0;
    take(c, ADDS, &left, share(lab->adds_integers ? other_cap * expected : expected, adds));
    take(c, SERIAL, &left, adds_parallelism(c));
    take(c, HIDDEN, &left, hidden > 0 ? visible : 1);
    /* n results need n - 2 additions: with fewer, other instructions have added. */
    take(c, TOO_FEW, &left, adds < least ? adds / least : 1);
    take(c, OTHER, &left, share_of_others(lab, c));
    take(c, OTHER_ALONE, &left,
         share(other_cap * (double)c->expected.other_instructions,
               (double)c->got.other_instructions));
    /* Last, since what the reasons above name makes warps longer. */
    take(c, LONGEST, &left, distribution(c, longest_cap));
}

static void compare_memory(struct compared *c)
{
    double left = 1, wavefronts = (double)c->got.wavefronts, parallel = least_parallelism(c);
    double expected = (double)c->expected.wavefronts, shuffles = (double)c->got.shuffles;
    double ideal = (double)(c->expected.wavefronts - c->expected.conflicts);
    double least = least_shared * ideal;
    take(c, CONFLICTS, &left, share(expected, wavefronts));
    take(c, NO_SHARED, &left, wavefronts < least ? wavefronts / least : 1);
    take(c, SHUFFLED, &left, c->expected.shuffles ? 1 : share(most_shuffled * ideal, shuffles));
    take(c, CONFLICTS_ALONE, &left, parallel);
    left = 1;
    take(c, SECTORS, &left, share((double)c->expected.sectors, (double)c->got.sectors));
    take(c, SECTORS_ALONE, &left, parallel);
    left = 1;
    take(c, HAZARDS_ALONE, &left, parallel);
}

/* ---- where ----------------------------------------------------------------------------------- */

static uint64_t cost_of(const struct emu_counts *c, enum reason reason, const struct compared *of)
{
    switch (reason) {
    case ADDS:
    case SERIAL:
    case LONGEST: return c->adds[of->adds];
    case HIDDEN: return of->got.worst_class < EMU_CLASSES ? c->classes[of->got.worst_class] : 0;
    case TOO_FEW:
    case OTHER: return c->lanes;
    case OTHER_ALONE:
    case CONFLICTS_ALONE:
    case SECTORS_ALONE:
    case HAZARDS_ALONE: return c->instructions;
    case CONFLICTS: {
        uint64_t conflicts = count_conflicts(c);
        return conflicts << 20 | (count_wavefronts(c) & 0xfffff);
    }
    case SECTORS: {
        uint64_t sectors = count_sectors(c), ideal = count_ideal_sectors(c);
        return (sectors > ideal ? sectors - ideal : 0) << 20 | (sectors & 0xfffff);
    }
    default: return 0;
    }
}

/* The source line that costs most. */
static const struct lab_line *worst_line(const struct compared *c, enum reason reason)
{
    const struct lab_line *worst = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < c->own->line_count; i++) {
        const struct lab_line *line = &c->own->lines[i];
        uint64_t cost = cost_of(&line->counts, reason, c);
        if (line->line == 0 || cost <= most) continue;
        most = cost;
        worst = line;
    }
    return worst;
}

/* ---- reasons --------------------------------------------------------------------------------- */

typedef unsigned long long number;

static enum lab_criterion criterion_of(enum reason reason)
{
    if (reason <= LONGEST) return LAB_WORK;
    if (reason <= CONFLICTS_ALONE) return LAB_CONFLICTS;
    return reason <= SECTORS_ALONE ? LAB_SECTORS : LAB_HAZARDS;
}

#define COUNT(member) offsetof(struct lab_sums, member)
#define NO_MERIT                                                                                   \
    "too few lanes work at a time: where nothing runs in parallel, there is no merit in having no "

/* What is said of a reason that is about one count, of the submission and of the solution. */
static const struct {
    const char *text;
    size_t count;
} texts[REASONS] = {
    [ADDS] = {"%llu additions, where the step's solution makes %llu; this line makes most of "
              "them.",
              COUNT(adds)},
    [LONGEST] = {"the longest warps execute %llu instructions, where those of the step's solution "
                 "execute %llu and half as many more lose no points: one warp or one block does "
                 "what others could.",
                 COUNT(longest_warps)},
    [OTHER_ALONE] = {"%llu warp instructions besides the additions, where the step's solution "
                     "needs %llu and twice as many lose no points; this line executes most.",
                     COUNT(other_instructions)},
    [NO_SHARED] = {"%llu wavefronts of shared memory, where the step's solution has %llu: without "
                   "shared memory there is no merit in having no conflicts.",
                   COUNT(wavefronts)},
    [SHUFFLED] = {"%llu shuffles, where the step's solution has none: what moves by shuffles has "
                  "no conflicts to avoid.",
                  COUNT(shuffles)},
    [SECTORS] = {"%llu sectors of 32 bytes are moved, where the step's solution moves %llu; this "
                 "line wastes most.",
                 COUNT(sectors)},
    [CONFLICTS_ALONE] = {NO_MERIT "conflicts.", 0},
    [SECTORS_ALONE] = {"too few lanes work at a time: where nothing runs in parallel, there is no "
                       "merit in moving few sectors.",
                       0},
    [HAZARDS_ALONE] = {NO_MERIT "hazards.", 0},
};

static struct verdict_line *explain(struct lab_verdict *v, const struct compared *c,
                                    enum reason reason, double lost)
{
    size_t n = c->own->is.n;
    const struct lab_sums *got = &c->got, *expected = &c->expected;
    const char *saving = v->lab->others.saving ? v->lab->others.saving : "";
    char text[VERDICT_TEXT];
    switch (reason) {
    case SERIAL:
        return add_line(v, LAB_WORK, lost,
                        "n = %zu: %llu warp instructions add, where the step's solution needs "
                        "%llu and twice as many lose no points: too few lanes add at a time.",
                        n, (number)(got->add_instructions + got->unexpected_instructions),
                        (number)expected->add_instructions);
    case HIDDEN:
        return add_line(v, LAB_WORK, lost,
                        "n = %zu: %s computes %llu elements; this lab expects %s, and other "
                        "arithmetic earns no points for work.",
                        n, got->worst ? got->worst : "?", (number)got->unexpected,
                        v->lab->expected[0]);
    case TOO_FEW:
        return add_line(v, LAB_WORK, lost,
                        "n = %zu: %llu additions are too few for these results, which need at "
                        "least %zu; the others are made by other instructions, and earn no points.",
                        n, (number)got->adds, n - 2);
    case OTHER:
        return add_line(
            v, LAB_WORK, lost,
            "n = %zu: %llu instructions of lanes besides the additions, where the step's solution "
            "needs %llu and up to %g times as many lose no points; this line executes most.%s%s",
            n, (number)got->other, (number)expected->other, cap_of_others(v->lab),
            *saving ? " " : "", saving);
    case CONFLICTS:
        return add_line(v, LAB_CONFLICTS, lost,
                        "n = %zu: %llu wavefronts, %llu of them bank conflicts, where the step's "
                        "solution needs %llu; this line has most conflicts.",
                        n, (number)got->wavefronts, (number)got->conflicts,
                        (number)expected->wavefronts);
    default: break;
    }
    uint64_t own, solution;
    memcpy(&own, (const char *)got + texts[reason].count, sizeof own);
    memcpy(&solution, (const char *)expected + texts[reason].count, sizeof solution);
    snprintf(text, sizeof text, texts[reason].text, (number)own, (number)solution);
    return add_line(v, criterion_of(reason), lost, "n = %zu: %s", n, text);
}

/* One line for a reason, with the size where it costs most. */
static void explain_reason(struct lab_verdict *v, const struct compared *all, size_t count,
                           enum reason reason)
{
    const struct compared *worst = &all[0];
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += all[i].weight * all[i].lost[reason];
        if (all[i].weight * all[i].lost[reason] >= worst->weight * worst->lost[reason])
            worst = &all[i];
    }
    double lost = v->correctness * v->weight[criterion_of(reason)] * sum;
    if (lost < least_lost) return;
    struct verdict_line *line = explain(v, worst, reason, lost);
    const struct lab_line *place = worst_line(worst, reason);
    if (!place) return;
    snprintf(line->file, sizeof line->file, "%s", place->file);
    line->line = place->line;
}

/* ---- hazards --------------------------------------------------------------------------------- */

static const char *tool_name(uint32_t tool)
{
    switch (tool) {
    case EMU_CHECK_MEMORY: return "memcheck";
    case EMU_CHECK_RACE: return "racecheck";
    case EMU_CHECK_INIT: return "initcheck";
    case EMU_CHECK_SYNC: return "synccheck";
    default: return "a checker";
    }
}

/* The first error; the first warning if there is no error. */
static const struct lab_finding *finding_of(const struct lab_case_result *r)
{
    for (size_t i = 0; i < r->finding_count; i++)
        if (r->findings[i].severity == EMU_FINDING_ERROR) return &r->findings[i];
    return r->finding_count ? &r->findings[0] : NULL;
}

/* What the finding's other line is. */
static void describe_other(const struct lab_finding *f, char *text, size_t size)
{
    *text = '\0';
    if (f->other_line == 0) return;
    if (f->tool != EMU_CHECK_RACE)
        snprintf(text, size, "; other threads are at line %u", f->other_line);
    else if (f->other_line == f->line)
        snprintf(text, size, " between threads at this line");
    else
        snprintf(text, size, " between this line and line %u", f->other_line);
}

/* What a finding says. A race's title ends where emu goes on with an address. */
static void describe_finding(const struct lab_finding *f, char *text, size_t size)
{
    const char *at = strstr(f->text, " at __");
    if (!at || f->tool != EMU_CHECK_RACE)
        snprintf(text, size, "%s (%s)", f->text, f->kind);
    else
        snprintf(text, size, "%.*s (%s) in %s memory", (int)(at - f->text), f->text, f->kind,
                 strstr(at, "__shared__") ? "shared" : "global");
}

/* Is the finding why the kernel was stopped, as the line for wrong runs says already? */
static bool is_said(const struct lab_case_result *r, const struct lab_finding *f)
{
    return r->end != LAB_RAN && f && (f->tool == EMU_CHECK_MEMORY || !strcmp(f->kind, "endless"));
}

static void explain_hazard(struct lab_verdict *v, const struct lab_case_result *r, unsigned found,
                           double lost)
{
    const struct lab_finding *f = finding_of(r);
    struct verdict_line *line;
    if (is_said(r, f) && lost < least_lost) return;
    if (!f) {
        add_line(v, LAB_HAZARDS, lost, "the checkers found something in %u of %u runs.", found,
                 v->cases);
        return;
    }
    if (!strcmp(f->kind, "endless")) {
        add_line(v, LAB_HAZARDS, lost,
                 "n = %zu: a kernel was stopped, as said above; the checkers found something in %u "
                 "of %u runs.",
                 r->is.n, found, v->cases);
        return;
    }
    char what[2 * RESULTS_TEXT], other[60];
    describe_finding(f, what, sizeof what);
    describe_other(f, other, sizeof other);
    line = add_line(v, LAB_HAZARDS, lost,
                    "n = %zu: %s: %s%s; the checkers found something in %u of %u runs.", r->is.n,
                    tool_name(f->tool), what, other, found, v->cases);
    snprintf(line->file, sizeof line->file, "%s", f->file);
    line->line = f->line;
}

/* How clean a run is: warnings are about what may be harmless. */
static double cleanness(const struct lab_case_result *r)
{
    return r->errors ? 0 : r->warnings ? warned : 1;
}

/* The mean over all runs, whether or not their output is right. */
static void score_hazards(struct lab_verdict *v, const struct lab_results *results)
{
    const struct lab_case_result *worst = NULL;
    unsigned found = 0, ran = 0;
    double clean = 0;
    for (size_t i = 0; i < results->case_count; i++) {
        const struct lab_case_result *r = &results->cases[i];
        if (r->end == LAB_NOT_RUN) continue;
        ran++;
        clean += cleanness(r);
        found += cleanness(r) < 1;
        if (cleanness(r) < (worst ? cleanness(worst) : 1)) worst = r;
    }
    if (ran == 0) return;
    v->fraction[LAB_HAZARDS] = clean / ran;
    if (!worst) return;
    explain_hazard(v, worst, found, v->correctness * v->weight[LAB_HAZARDS] * (1 - clean / ran));
}

/* ---- all ------------------------------------------------------------------------------------- */

static bool is_right(const struct lab_verdict *v, size_t n)
{
    for (size_t i = 0; i < v->size_count; i++)
        if (v->sizes[i].n == n) return v->sizes[i].right;
    return false;
}

void score_criteria(struct lab_verdict *v, const struct lab_results *results,
                    const struct lab_results *reference)
{
    struct compared all[LAB_CASES] = {0};
    size_t count = 0;
    double weights = 0;
    for (size_t i = 0; i < results->case_count; i++) {
        const struct lab_case_result *own = &results->cases[i];
        if (own->is.schedule != 0 || !is_right(v, own->is.n)) continue;
        struct compared *c = &all[count++];
        c->own = own;
        c->adds = v->lab->adds_integers ? EMU_ADD_I32 : EMU_ADD_F32;
        c->expected = lab_sums(v->lab, &reference->cases[i], NULL);
        c->got = lab_sums(v->lab, own, &c->expected);
        compare_work(v->lab, c);
        compare_memory(c);
        weights += c->weight = sqrt((double)own->is.n);
    }
    score_hazards(v, results);
    if (count == 0) return;
    for (size_t i = 0; i < count; i++) {
        all[i].weight /= weights;
        all[i].lost[HAZARDS_ALONE] *= v->fraction[LAB_HAZARDS]; /* of what the findings have left */
    }
    for (int c = LAB_WORK; c <= LAB_SECTORS; c++) v->fraction[c] = 1;
    for (int reason = 0; reason < REASONS; reason++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++) sum += all[i].weight * all[i].lost[reason];
        v->fraction[criterion_of((enum reason)reason)] -= sum;
        explain_reason(v, all, count, (enum reason)reason);
    }
}
