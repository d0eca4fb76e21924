/*
 * racecheck.c — what racecheck keeps of each access, in PTX that nvcc does not write.
 */
#define _GNU_SOURCE
#include "pairs.h"
#include "ptx_run.h"
#include "common/emu/machine/device.h"
#include "common/emu/watch/check.h"
#include "common/emu/watch/race.h"
#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which threads racecheck names, in blocks and grids of three dimensions ------------------ */

/* Pairs of lines with a hazard each, which are reported in the order in which they were found. */
Test(racecheck, many_hazards_are_told_in_order)
{
    enum { PAIRS = 150 };
    char *body, place[40];
    size_t size;
    FILE *out = open_memstream(&body, &size);
    fputs("sub.u64 %out, %out, %offset;\nsetp.eq.u32 %p0, %id, 0;\nsetp.eq.u32 %p1, %id, 40;\n",
          out);
    for (unsigned i = 0; i < PAIRS; i++)
        fprintf(out,
                ".loc 1 %u 0\n@%%p0 st.global.u32 [%%out+%u], 1;\n"
                ".loc 1 %u 0\n@%%p1 st.global.u32 [%%out+%u], 2;\n",
                2 * i + 1, 4 * i, 2 * i + 2, 4 * i);
    fputs("ret;", out);
    fclose(out);
    struct emu *emu = open_emu_with(&(struct emu_config){
        .memory = 64 << 20, .checks = EMU_CHECK_RACE, .finding_limit = 2 * PAIRS});
    char *kernel = ptx_kernel("%s", body), *text;
    cr_assert(asprintf(&text, "%s.file 1 \"pairs.cu\"\n", kernel) > 0);
    emu_addr to = device_copy(emu, NULL, 4 * PAIRS);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 64, 0, 2, (uint64_t[]){to, to}), "%s",
              emu_message(emu));
    cr_assert_eq(emu_findings(emu), PAIRS, "%zu findings", emu_findings(emu));
    for (unsigned i = 0; i < PAIRS; i++) {
        snprintf(place, sizeof place, "pairs.cu:%u ", 2 * i + 2);
        cr_expect(strstr(emu_finding(emu, i)->head, place), "%u: %s", i, emu_finding(emu, i)->head);
    }
    emu_close(emu);
    free(body), free(kernel), free(text);
}

/* ---- records --------------------------------------------------------------------------------- */

static void expect_kept(const struct record_layout *l, struct record_parts parts)
{
    record v = record_of(l, parts);
    cr_expect_eq(record_block(l, v), parts.block);
    cr_expect_eq(record_thread(v), parts.thread);
    cr_expect_eq(record_time(l, v), parts.time);
    cr_expect_eq(record_place(l, v), parts.place);
    cr_expect_eq(record_kind(v), parts.kind);
    cr_expect_eq(record_bytes(v), parts.bytes);
}

/* The least and the most of each part, whatever the launch leaves to the time. */
Test(racecheck, a_record_keeps_all_its_parts)
{
    static const uint64_t blocks[] = {1, 2, 3, 2048, 1 << 20, 1 << 29};
    static const uint64_t places[] = {0, 1, 100, 4095, UINT16_MAX};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            struct record_layout l = record_layout(blocks[b], places[p]);
            cr_expect_geq(l.last_time, UINT16_MAX);
            cr_expect(l.last_place >= places[p] || l.last_time == UINT16_MAX);
            expect_kept(&l, (struct record_parts){.bytes = 1});
            expect_kept(&l, (struct record_parts){.block = blocks[b] - 1,
                                                  .thread = MAX_THREADS - 1,
                                                  .time = l.last_time,
                                                  .place = l.last_place,
                                                  .kind = (1u << KIND_BITS) - 1,
                                                  .bytes = (1u << GRANULE) - 1});
        }
}

Test(racecheck, a_later_record_is_the_greater_number)
{
    struct record_layout l = record_layout(2048, 100);
    struct record_parts early = {.block = 2047,
                                 .thread = 1023,
                                 .time = 6,
                                 .place = 100,
                                 .bytes = 1},
                        late = {.time = 7, .bytes = 1};
    cr_expect_lt(record_of(&l, early), record_of(&l, late));
}

/* ---- short records --------------------------------------------------------------------------- */

static record numbered(const struct record_layout *l, uint64_t block)
{
    return record_of(l, (struct record_parts){.block = block,
                                              .thread = (unsigned)(block * 7 % MAX_THREADS),
                                              .time = 5,
                                              .place = 3,
                                              .bytes = 1 + (unsigned)(block % 15)});
}

Test(racecheck, a_short_record_keeps_all_parts)
{
    struct record_rows rows = {0};
    struct record_layout l = record_layout(1 << 20, 100);
    short_record s[1000];
    for (unsigned i = 0; i < 1000; i++) cr_assert(short_record_of(&rows, numbered(&l, i), &s[i]));
    for (unsigned i = 0; i < 1000; i++) cr_expect_eq(record_of_short(&rows, s[i]), numbered(&l, i));
    cr_expect_eq(rows.count, 1000);
    cr_expect_eq(short_record_without(s[2], 3), 0);
    cr_expect_eq(record_of_short(&rows, short_record_without(s[6], 3)),
                 record_without(numbered(&l, 6), 3));
    cr_assert(short_record_of(&rows, 0, &s[0]));
    cr_expect_eq(s[0], 0);
    record_rows_clear(&rows);
    cr_assert(short_record_of(&rows, numbered(&l, 7), &s[0]));
    cr_expect_eq(rows.count, 1);
    record_rows_free(&rows);
}

/* Beyond the most rows, a page's second reads get their long form, and none is lost. */
Test(racecheck, more_records_than_short_ones)
{
    enum { GRANULES = 64, RECORDS_PUT = MOST_ROWS + 100 };
    struct record_rows rows = {0};
    struct planes planes = {.granules = GRANULES, .rows = &rows};
    struct shadow_page page = {0};
    struct record_layout l = record_layout(1 << 20, 100);
    for (unsigned i = 0; i < RECORDS_PUT; i++) {
        shadow_put_other(&planes, &page, i % GRANULES, numbered(&l, i));
        if (i == GRANULES) cr_expect(page.short_reads && !page.plane[OTHER_READ]);
    }
    cr_expect(!page.short_reads && page.plane[OTHER_READ]);
    for (unsigned i = RECORDS_PUT - GRANULES; i < RECORDS_PUT; i++)
        cr_expect_eq(shadow_other(&planes, &page, i % GRANULES), numbered(&l, i));
    shadow_page_clear(&planes, &page);
    cr_expect_eq(shadow_other(&planes, &page, 5), 0);
    planes_free(&planes);
    record_rows_free(&rows);
}

/* ---- bytes of shadow ------------------------------------------------------------------------- */

enum { WORDS = 1 << 18, BLOCK = 256, GRID = WORDS / BLOCK };

/* The bytes of shadow for each byte of two arrays, after a kernel of one thread a word. */
static double shadow_per_byte(const char *body)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%s", body);
    emu_addr out = device_copy(emu, NULL, WORDS * 4), in = device_copy(emu, NULL, WORDS * 4);
    for (int launches = 0; launches < 3; launches++)
        cr_assert(
            !launch(emu, load_kernel(emu, text, "k"), GRID, BLOCK, 0, 2, (uint64_t[]){out, in}),
            "%s", emu_message(emu));
    double bytes = (double)shadow_bytes(&emu->checkers->race->shadow) / (2 * WORDS * 4);
    free(text);
    emu_close(emu);
    return bytes;
}

static void expect_at_most(double most, const char *body)
{
    double bytes = shadow_per_byte(body);
    cr_expect_gt(bytes, 1, "%s", body);
    cr_expect_leq(bytes, most, "%.2f bytes of shadow a byte, at most %.2f wanted:\n%s", bytes, most,
                  body);
}

#define LOAD(from) "ld.global.u32 %r1, [%" from "];\n"
/* Two threads of different warps, which nothing orders, load the same word. */
#define LOAD_OF_ANOTHER(from)                                                                      \
    "xor.b32 %r3, %id, 32;\nsub.u32 %r3, %r3, %id;\nmul.wide.s32 %l1, %r3, 4;\n"                   \
    "add.u64 %l1, %l1, %" from ";\nld.global.u32 %r2, [%l1];\n"
#define STORE(to) "st.global.u32 [%" to "], %r1;\n"

Test(racecheck, takes_two_bytes_for_a_byte_that_is_loaded_or_stored)
{
    expect_at_most(2.05, LOAD("in") STORE("out") "ret;");
}

Test(racecheck, takes_at_most_five_bytes_for_a_byte_that_is_loaded_and_stored)
{
    expect_at_most(4.05, LOAD("in") LOAD("out") STORE("in") STORE("out") "ret;");
    expect_at_most(3.1, LOAD("in") LOAD_OF_ANOTHER("in") LOAD("out") LOAD_OF_ANOTHER("out") "ret;");
    expect_at_most(3.1, LOAD("in") LOAD_OF_ANOTHER("in") STORE("out") "ret;");
    expect_at_most(5.1, STORE("in") STORE("out") "bar.sync 0;\n" LOAD("in") LOAD_OF_ANOTHER("in")
                            LOAD("out") LOAD_OF_ANOTHER("out") "ret;");
}

/* ---- hazards between threads ----------------------------------------------------------------- */

/*
 * Hazards between threads: racecheck finds those of wrong kernels and nothing in
 * right ones, in any order of threads. The kernels are those of the pairs race-* in tests/checks
 * whose host only launches them; test_checks.c runs all pairs as programs.
 */

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
