/*
 * ptx_racecheck.c — hazards between threads: racecheck finds those of wrong kernels and nothing in
 * right ones, in any order of threads. The kernels are those of the pairs race-* in tests/checks
 * whose host only launches them; test_checks.c runs all pairs as programs.
 */
#include "pairs.h"
#include "ptx_run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { SEEDS = 10, LEAST_PAIRS = 138, MOST_TEXTS = 8 };

/* What the comments of a pair say that racecheck finds. */
struct wanted {
    char text[MOST_TEXTS][100];
    int count;
};

/* Adds the texts of a line, without the end that names a place. */
static void add_texts(struct wanted *wanted, const char *line)
{
    static const char mark[] = "racecheck: ";
    for (const char *at = line; (at = strstr(at, mark)); wanted->count++) {
        cr_assert(wanted->count < MOST_TEXTS);
        char *text = wanted->text[wanted->count], *place;
        at += strlen(mark);
        snprintf(text, sizeof *wanted->text, "%.*s", (int)strcspn(at, ";*"), at);
        if (text[strlen(text) - 1] == ' ') text[strlen(text) - 1] = '\0';
        if ((place = strstr(text, " (no line)")) || (place = strstr(text, " in "))) *place = '\0';
    }
}

static struct wanted wanted_of(const struct pair *pair)
{
    struct wanted wanted = {.count = 0};
    char line[200];
    FILE *file = open_pair(&pair->text);
    while (fgets(line, sizeof line, file) && *line != '\n') add_texts(&wanted, line);
    fclose(file);
    return wanted;
}

static bool is_found(struct emu *emu, const struct pair *pair, const char *text)
{
    char kernel[sizeof pair->kernel + 3];
    snprintf(kernel, sizeof kernel, " %s<", pair->kernel);
    for (size_t i = 0; i < emu_findings(emu); i++) {
        const struct emu_finding *f = emu_finding(emu, i);
        if (f->tool == EMU_CHECK_RACE && strstr(f->head, kernel) &&
            (strstr(f->head, text) || strstr(f->detail, text)))
            return true;
    }
    return false;
}

/* What a finding advises may depend on the order of threads. */
static void expect_findings(struct emu *emu, const struct pair *pair, uint64_t seed)
{
    /* Its two tiles signal in one word, which orders them in some runs. */
    if (seed && strcmp(pair->name, "race-tile-wide") == 0) return;
    struct wanted wanted = wanted_of(pair);
    cr_expect(is_found(emu, pair, ""), "%s: seed %llu: no finding", pair->name,
              (unsigned long long)seed);
    for (int i = 0; i < wanted.count; i++)
        if (!seed || strstr(wanted.text[i], "hazard at"))
            cr_expect(is_found(emu, pair, wanted.text[i]), "%s: seed %llu: no \"%s\" in %s\n%s",
                      pair->name, (unsigned long long)seed, wanted.text[i],
                      emu_findings(emu) ? emu_finding(emu, 0)->head : "no finding",
                      emu_findings(emu) ? emu_finding(emu, 0)->detail : "");
}

static void check(const struct pair *pair, bool right, uint64_t seed)
{
    struct emu *emu = open_emu_with(
        &(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE, .schedule = seed});
    int e = pair_run(emu, pair, right);
    cr_assert(!e || !right, "%s: error %d: %s", pair->name, e, emu_message(emu));
    if (right)
        cr_expect(!emu_findings(emu), "%s, right: seed %llu: %s\n%s", pair->name,
                  (unsigned long long)seed, emu_finding(emu, 0)->head, emu_finding(emu, 0)->detail);
    else
        expect_findings(emu, pair, seed);
    emu_close(emu);
}

static void check_all(uint64_t first, uint64_t last)
{
    static struct checked pairs[MAX_PAIRS];
    size_t n = find_pairs("race-", pairs);
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        struct pair pair;
        if (!pair_read(&pair, pairs[i].name)) continue;
        count++;
        for (int right = 0; right < 2; right++)
            for (uint64_t seed = first; seed <= last; seed++) check(&pair, right, seed);
    }
    cr_expect_geq(count, LEAST_PAIRS);
}

Test(racecheck, finds_hazards_and_invents_none, .timeout = 60) { check_all(0, 0); }

/* The findings do not depend on the order in which threads run. */
Test(racecheck, finds_the_same_in_any_order_slow, .timeout = 600) { check_all(1, SEEDS); }

/* Lanes `first` and `second` load one word, and then `writer` stores to it, without a barrier. */
static size_t hazards_after_reads(int first, int second, int writer)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("sub.u64 %%in, %%in, %%offset;\n"
                            "setp.eq.u32 %%p0, %%id, %d;\n@%%p0 ld.global.u32 %%r0, [%%in];\n"
                            "setp.eq.u32 %%p1, %%id, %d;\n@%%p1 ld.global.u32 %%r1, [%%in];\n"
                            "setp.eq.u32 %%p2, %%id, %d;\n@%%p2 st.global.u32 [%%in], 1;\nret;",
                            first, second, writer);
    emu_addr word = device_copy(emu, NULL, 4);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){word, word}));
    size_t count = emu_findings(emu);
    if (count) cr_expect(strstr(emu_finding(emu, 0)->detail, "WAR hazard at __global__"));
    free(text);
    emu_close(emu);
    return count;
}

/* A store is compared with each recorded load, for loads of the same thread before or after the
 * others. */
Test(racecheck, a_store_after_loads_of_two_lanes)
{
    for (int other = 1; other < 32; other++) {
        cr_expect_eq(hazards_after_reads(0, other, 0), 1, "lane %d loads last", other);
        cr_expect_eq(hazards_after_reads(other, 0, 0), 1, "lane %d loads first", other);
        cr_expect_geq(hazards_after_reads(other, 0, other == 1 ? 2 : 1), 1, "both are others");
    }
    cr_expect_eq(hazards_after_reads(0, 0, 0), 0, "its own loads are no hazard");
}
