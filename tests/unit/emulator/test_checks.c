/*
 * test_checks.c — the pairs of programs in cases/checks, each wrong and right, under the emulator's
 * four checkers.
 *
 * The comments of a pair name the findings of its wrong version: `TOOL, TOOL: TEXT; TOOL: TEXT`
 * behind a line means that these tools have a finding with that text and that line; a comment that
 * has a line to itself is about the next one. A text that ends with "in HEADER.cuh" is found at a
 * line of that header, one that ends with "in KERNEL()" in that kernel, and one that ends with
 * "(no line)" anywhere. `missed by TOOL: TEXT` is a finding that the tool should have, but does
 * not. Tools that no comment names have no finding. `nothing: REASON` means that none of the four
 * tools has a finding. A race-* without such comments has at least one finding of racecheck.
 *
 * No tool has a finding in a right version, for any order of threads and blocks, with one host
 * thread, two or eight. That racecheck finds the wrong version of a race in other orders, too, is
 * tested in test_races.c.
 *
 * The findings are also compared with profiles/emulated/checks.csv, from which a table of
 * notes/more/checks-table.md is made: `profiles/measure/measure.py checks-emulator` renews it.
 */
#include "tests/support/catalogue.h"
#include "tests/support/command.h"
#include "tests/support/recording.h"

#include <criterion/parameterized.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(checks, .init = command_init, .fini = command_fini, .timeout = 600);

enum { MIN_PAIRS = 120, MAX_EXPECTED = 12, ERROR_STATUS = 9, TOOLS = 4, PATIENCE = 60 };

static const char *const tools[TOOLS] = {"memcheck", "racecheck", "initcheck", "synccheck"};
static const char *const versions[] = {"wrong", "right"};

/* A finding that the comments of a pair require. */
struct expected {
    char tools[60], text[120];
    int line;
};

struct expectations {
    struct expected list[MAX_EXPECTED];
    int n;
    bool nothing; /* the comment `nothing:` */
};

/* Adds the findings that a comment requires: `TOOL, TOOL: TEXT`, and further ones behind a
 * semicolon. */
static void read_comment(struct expectations *e, const char *line, int number)
{
    for (const char *at = strstr(line, "/* "); at; at = strpbrk(at + 1, "/;")) {
        struct expected *next = &e->list[e->n];
        if (sscanf(at, "%*[/*; ]%59[a-z, ]: %119[^*;]", next->tools, next->text) != 2) continue;
        e->nothing |= strcmp(next->tools, "nothing") == 0;
        if (!strstr(next->tools, "check")) continue;
        size_t length = strlen(next->text);
        if (next->text[length - 1] == ' ') next->text[length - 1] = '\0';
        next->line = number;
        cr_assert(++e->n < MAX_EXPECTED);
    }
}

static struct expectations read_expectations(const struct checked *pair)
{
    char line[500];
    struct expectations e = {.n = 0};
    FILE *file = open_pair(pair);
    for (int number = pair->line; fgets(line, sizeof line, file) && *line != '\n'; number++)
        read_comment(&e, line, strncmp(line + strspn(line, " "), "/*", 2) ? number : number + 1);
    fclose(file);
    return e;
}

/* Runs a version of a pair under a tool, with more options and a patience in seconds; returns
 * the exit status. */
static int run_pair(const struct checked *pair, const char *version, const char *tool,
                    const char *options, int patience)
{
    bool leaks = strcmp(tool, "memcheck") == 0 || strcmp(tool, "all") == 0;
    return run("EMU_TIMEOUT=%d timeout 100 $emu --tool %s --error-exitcode %d %s %s $pairs/%s %s %s"
               " 2>&1",
               patience, tool, ERROR_STATUS, leaks ? "--leak-check full" : "", options,
               pair->catalogue, pair->name, version);
}

/* The numbers of the summary: errors and warnings. racecheck has a summary of hazards, and another
 * one where there are other errors. */
static void read_summary(unsigned counts[2])
{
    unsigned hazards[2] = {0, 0};
    const char *errors = strstr(output, "ERROR SUMMARY: "), *races = strstr(output, "displayed (");
    counts[0] = counts[1] = 0;
    int read = errors ? sscanf(errors, "ERROR SUMMARY: %u error%*[s, ]%u", counts, counts + 1) : 0;
    if (races) read += sscanf(races, "displayed (%u error%*[s, ]%u", hazards, hazards + 1);
    cr_assert(read >= 1, "there is no summary in:\n%s", output);
    for (int i = 0; i < 2; i++) counts[i] += hazards[i];
}

/* The place of a finding: at the line, or anywhere in the catalogue (0); in the header or the
 * kernel for a text that ends with " in HEADER.cuh" or " in KERNEL()"; at any place or at none for
 * " (no line)". The text loses these ends. */
static void place_of(const struct checked *pair, char *text, int line, char *place, size_t size)
{
    size_t length = strlen(text), header = length - strlen(".cuh"), call = length - strlen("()");
    char *none = strstr(text, " (no line)"), *last = strrchr(text, ' ');
    bool in = last && last > text + strlen(" in") && strncmp(last - 3, " in ", 4) == 0;
    place[0] = '\0';
    if (none) {
        *none = '\0';
    } else if (in && (strcmp(text + header, ".cuh") == 0 || strcmp(text + call, "()") == 0)) {
        bool is_call = text[call] == '(';
        snprintf(place, size, is_call ? " %.*s" : "/%.*s:", (int)strcspn(last + 1, "("), last + 1);
        last[-(int)strlen(" in")] = '\0';
    } else if (line) {
        snprintf(place, size, "/%s.cu:%d", pair->catalogue, line);
    } else {
        snprintf(place, size, "/%s.cu:", pair->catalogue);
    }
}

/* The next occurrence of a text at the beginning of a line of a tool's output; NULL: none. */
static char *find_in_findings(char *from, const char *text)
{
    static const char mark[] = "========= ";
    for (char *at = from; (at = strstr(at, text)); at++) {
        char *begin = at;
        while (begin > output && begin[-1] != '\n') begin--;
        if (strncmp(begin, mark, strlen(mark)) == 0) return at;
    }
    return NULL;
}

/* Whether one of the findings, which end with an empty line, has both a text and a place. */
static bool is_found(const struct checked *pair, const char *wanted, int line)
{
    char text[sizeof((struct expected *)0)->text], place[100];
    snprintf(text, sizeof text, "%s", wanted);
    place_of(pair, text, line, place, sizeof place);
    size_t length = strlen(place);
    unsigned char last = length ? place[length - 1] : 0;
    for (char *begin = output, *end; *begin; begin = end) {
        end = strstr(begin, "\n=========\n");
        end = end ? end + strlen("\n=========\n") : begin + strlen(begin);
        char saved = *end;
        *end = '\0';
        bool has_text = find_in_findings(begin, text) != NULL, has_place = !length;
        for (char *at = begin; !has_place && (at = find_in_findings(at, place)); at++)
            has_place = isdigit(last)   ? !isdigit((unsigned char)at[length])
                        : isalpha(last) ? at[length] == '(' || at[length] == '<'
                                        : true;
        *end = saved;
        if (has_text && has_place) return true;
    }
    return false;
}

/* Checks the findings of one tool in the wrong version. Returns how many of them the comments
 * name. */
static int expect_findings(const struct checked *pair, const struct expectations *e,
                           const char *tool)
{
    int asked = 0;
    for (const struct expected *x = e->list; x < e->list + e->n; x++) {
        if (!strstr(x->tools, tool)) continue;
        bool missed = strncmp(x->tools, "missed by ", strlen("missed by ")) == 0;
        bool found = is_found(pair, x->text, x->line);
        if (!missed) asked++;
        cr_expect(found || missed, "%s: %s does not find \"%s\" at line %d:\n%s", pair->name, tool,
                  x->text, x->line, output);
        cr_expect(!found || !missed, "%s.cu:%d: %s finds \"%s\": remove \"missed by\"",
                  pair->catalogue, x->line, tool, x->text);
    }
    return asked;
}

/* What a recording has as the errors and warnings of a program under a tool, as in "1,0". */
static void find_recorded(const char *path, const char *name, const char *version, const char *tool,
                          char *counts, size_t size)
{
    char errors[40], warnings[40];
    struct recording r;
    snprintf(errors, sizeof errors, "%s errors", tool);
    snprintf(warnings, sizeof warnings, "%s warnings", tool);
    *counts = '\0';
    recording_open(&r, path);
    while (recording_next(&r))
        if (strcmp(recording_cell(&r, "program"), name) == 0 &&
            strcmp(recording_cell(&r, "version"), version) == 0)
            snprintf(counts, size, "%s,%s", recording_cell(&r, errors),
                     recording_cell(&r, warnings));
}

/* The recording of the emulator's verdicts holds these numbers. */
static void expect_same_as_recorded(const char *name, const char *version, const char *tool,
                                    const unsigned counts[2])
{
    char found[40], recorded[40];
    snprintf(found, sizeof found, "%u,%u", counts[0], counts[1]);
    find_recorded("profiles/emulated/checks.csv", name, version, tool, recorded, sizeof recorded);
    cr_expect_str_eq(found, recorded, "%s,%s: %s finds %s; profiles/emulated/checks.csv has %s",
                     name, version, tool, found, recorded);
}

/* A number for a pair, by which one of several runs is chosen. */
static unsigned number_of(const char *name)
{
    unsigned sum = 0;
    while (*name) sum += (unsigned char)*name++;
    return sum;
}

/* A program whose comments contain "TOOL: wait" waits for ever, until the emulator ends it. */
static bool waits(const struct expectations *e, const char *tool)
{
    bool found = false;
    for (int i = 0; i < e->n; i++)
        found |= strstr(e->list[i].text, "wait") && strstr(e->list[i].tools, tool);
    return found;
}

/* Does the wrong version run under a tool? A version that waits for ever takes a second, so it runs
 * only under one of the tools in its comments, chosen by its name. With TEST_NIGHTLY=1 it runs
 * under all of them. */
static bool is_tried(const char *name, const struct expectations *e, const char *tool)
{
    if (!waits(e, "check")) return true;
    if (getenv("TEST_NIGHTLY") || !waits(e, "memcheck") || !waits(e, "synccheck"))
        return waits(e, tool);
    return strcmp(tool, number_of(name) % 2 ? "memcheck" : "synccheck") == 0;
}

/* Whether a tool's only finding is the fault that ended the launch. That is an error under every
 * tool; the comments name the tool that it belongs to. */
static bool is_end_of_launch(const struct checked *pair, const struct expectations *e,
                             const unsigned counts[2])
{
    bool found = false;
    for (int i = 0; i < e->n; i++) found |= is_found(pair, e->list[i].text, 0);
    return found && counts[0] == 1 && !counts[1];
}

static void check_wrong(const struct checked *pair, const struct expectations *e, const char *tool)
{
    unsigned counts[2];
    bool by_class = !e->n && !e->nothing;
    int status = run_pair(pair, "wrong", tool, "--threads 1", waits(e, "check") ? 1 : PATIENCE);
    read_summary(counts);
    if (by_class && strcmp(tool, "racecheck") == 0)
        cr_expect(is_found(pair, "Race reported", 0), "%s", output);
    else if (!by_class && !expect_findings(pair, e, tool) && !is_end_of_launch(pair, e, counts))
        cr_expect(!counts[0] && !counts[1], "%s: %s finds more than the comments say:\n%s",
                  pair->name, tool, output);
    cr_expect_eq(status, counts[0] ? ERROR_STATUS : 0, "%s under %s: exit status %d\n%s",
                 pair->name, tool, status, output);
    expect_same_as_recorded(pair->name, "wrong", tool, counts);
}

/* Only --schedule's number, without a tool: a kernel that fails is reported in this case, too. Some
 * pairs launch none. */
static bool says_nothing(void)
{
    static const char *const allowed[] = {"emu: random scheduling", "emu: no kernel was launched"};
    const char *said = strstr(output, "emu: ");
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (said && strncmp(said, allowed[i], strlen(allowed[i])) == 0)
            said = strstr(said + 1, "emu: ");
    return !said;
}

static void check_right(const struct checked *pair, const char *tool, const char *options)
{
    unsigned counts[2];
    int status = run_pair(pair, "right", tool, options, PATIENCE);
    read_summary(counts);
    cr_expect(status == 0 && !counts[0] && !counts[1] && says_nothing(),
              "%s, right, under %s %s: exit status %d\n%s", pair->name, tool, options, status,
              output);
}

/* All checkers at once. */
FOR_PAIRS(checks, found_and_silent, "")
{
    only_in_ordinary_build();
    struct expectations e = read_expectations(pair);
    unsigned counts[2];
    int status = run_pair(pair, "wrong", "all", "--threads 1", waits(&e, "check") ? 1 : PATIENCE);
    bool by_class = !e.n && !e.nothing;
    read_summary(counts);
    if (by_class) cr_expect(is_found(pair, "Race reported", 0), "%s", output);
    bool is_wrong = expect_findings(pair, &e, "check") || by_class;
    cr_expect_eq(counts[0] + counts[1] > 0, is_wrong, "%s:\n%s", pair->name, output);
    cr_expect_eq(status, counts[0] ? ERROR_STATUS : 0, "%s: exit status %d", pair->name, status);
    check_right(pair, "all", "--threads 1");
}

/* Each checker alone, and the numbers of its findings. */
FOR_PAIRS(checks, wrong_and_right_slow, "")
{
    struct expectations e = read_expectations(pair);
    cr_expect(e.n || e.nothing || strncmp(pair->name, "race-", 5) == 0,
              "%s does not say what is found", pair->name);
    for (int t = 0; t < TOOLS; t++) {
        if (is_tried(pair->name, &e, tools[t])) check_wrong(pair, &e, tools[t]);
        expect_same_as_recorded(pair->name, "right", tools[t], (unsigned[]){0, 0});
    }
}

/* A right version stays right in other orders of warps and blocks: each seed is one, and 0 is the
 * usual order of warps with blocks in descending order. */
static void check_right_in_order(const struct checked *pair, int seed, bool every_tool)
{
    static const int threads[] = {2, 8, 1};
    char options[80], schedule[30] = "";
    if (seed) snprintf(schedule, sizeof schedule, "--schedule %d", seed);
    snprintf(options, sizeof options, "%s --threads %d --blocks %s", schedule, threads[seed % 3],
             seed % 3 ? "ascending" : "descending");
    for (int t = 0; every_tool && t < TOOLS; t++) check_right(pair, tools[t], options);
    check_right(pair, "all", options);
}

/* One seed, which depends on the name. For a race: two seeds and order 0. With TEST_NIGHTLY=1: ten
 * seeds and order 0, and also each tool alone. */
FOR_PAIRS(checks, right_in_other_orders_slow, "")
{
    enum { SEEDS = 10 };
    bool all = getenv("TEST_NIGHTLY") != NULL, race = strncmp(pair->name, "race-", 5) == 0;
    int one = 1 + (int)(number_of(pair->name) % SEEDS), other = 1 + one % SEEDS;
    for (int seed = 0; seed <= SEEDS; seed++)
        if (all || seed == one || (race && (seed == other || seed == 0)))
            check_right_in_order(pair, seed, all);
}

/* An H200 showed these mistakes under memcheck; the emulator's usual order does not. */
Test(checks, some_order_shows_what_an_h200_showed)
{
    only_in_ordinary_build();
    static const char *const shown[][2] = {
        {"race-cluster-flag", "the block of rank 0 has exited, and its shared memory is gone"},
        {"sync-arrivals", "deadlock: all threads wait"}};
    for (int i = 0; i < 2; i++) {
        int status = 0;
        struct checked pair = find_pair(shown[i][0]);
        for (int seed = 1; seed <= 20 && status != ERROR_STATUS; seed++) {
            char options[40];
            snprintf(options, sizeof options, "--schedule %d --threads 1", seed);
            status = run_pair(&pair, "wrong", "memcheck", options, 1);
        }
        cr_expect_eq(status, ERROR_STATUS, "no order shows %s", shown[i][0]);
        expect(shown[i][1]);
    }
}

/* compute-sanitizer's findings have been recorded for every pair, on a GPU, in all runs or, for a
 * pair that is new, in none yet: profiles/measure/measure.py checks-sanitizer. */
Test(checks, every_pair_has_been_recorded_on_a_gpu)
{
    static struct checked pairs[MAX_PAIRS];
    static char missing[MAX_PAIRS * (sizeof pairs->name + 1)], unrecorded[sizeof missing];
    size_t n = find_pairs("", pairs);
    cr_assert_geq(n, MIN_PAIRS);
    for (size_t i = 0; i < n; i++) {
        int cells = 0;
        for (int t = 0; t < TOOLS; t++)
            for (int version = 0; version < 2; version++) {
                char counts[40];
                find_recorded("profiles/h200/checks.csv", pairs[i].name, versions[version],
                              tools[t], counts, sizeof counts);
                if (*counts && *counts != ',') cells++; /* no errors: not recorded */
            }
        if (cells != 2 * TOOLS) strcat(strcat(cells ? missing : unrecorded, " "), pairs[i].name);
    }
    cr_assert(!*missing, "profiles/h200/checks.csv lacks rows of%s", missing);
    if (*unrecorded)
        cr_skip("not recorded on a GPU: PROGRAMS=\"%s\" profiles/measure/measure.py "
                "checks-sanitizer records them",
                unrecorded + 1);
}

/* The sentence of a fault, which any tool prints, names addresses that are no accident as memcheck
 * does. */
Test(checks, addresses_and_shapes_are_named)
{
    RUNS({0, "$emu --tool memcheck $pairs/api api-block-depth wrong",
          {"a block of (1,1,128) threads; at most 1024 fit, and at most 64 in z"}},
         {0, "$emu --tool racecheck $pairs/memory memory-list wrong",
          {"global address 0x8 is out of bounds (8 bytes from a null pointer)"}},
         {0, "$emu --tool racecheck $pairs/memory memory-shared-pointer wrong",
          {"is out of bounds (it is an address of shared memory)"}});
}
