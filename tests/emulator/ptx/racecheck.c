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

/* ---- many bulk copies, and which of them a thread has waited for ----------------------------- */

/* %r1: 32 bytes for copies; %r2 and %r3: two mbarriers; %r4: the first one's parity. */
static const char head[] =
    ".shared .align 16 .b8 s[32];\n.shared .align 8 .b64 bars[2];\n"
    "setp.ne.u32 %p0, %id, 0;\n@%p0 ret;\nmov.u32 %r1, s;\nadd.u32 %r6, %r1, 16;\n"
    "mov.u32 %r2, bars;\nadd.u32 %r3, %r2, 8;\nmov.u32 %r4, 0;\nmov.u32 %r5, 1;\n"
    "mbarrier.init.shared.b64 [%r2], 1;\nmbarrier.init.shared.b64 [%r3], 1;\n";

static const char first_copy[] =
    "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r2], 16;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%in], 16, [%r2];\n";

static const char second_copy[] =
    "mbarrier.arrive.expect_tx.shared.b64 %l1, [%r3], 16;\n"
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r6], [%in], 16, [%r3];\n"
    "SECOND: mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;\n@!%p1 bra SECOND;\n";

#define AWAIT_FIRST(label)                                                                         \
    label ": mbarrier.try_wait.parity.shared.b64 %p1, [%r2], %r4;\n@!%p1 bra " label ";\n"

/* Thread 0 waits at one mbarrier for each of this many copies, for the last copy only with
 * `awaits`. Then it waits for a copy at another mbarrier, and reads the data of the last copy. */
static size_t hazards_after_copies(int copies, bool awaits)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%sLOOP: setp.ge.u32 %%p2, %%r5, %d;\n@%%p2 bra LAST;\n%s%s"
                            "xor.b32 %%r4, %%r4, 1;\nadd.u32 %%r5, %%r5, 1;\nbra LOOP;\n"
                            "LAST:\n%s%s%sld.shared.u32 %%r8, [%%r1];\n"
                            "st.global.u32 [%%out], %%r8;\n%sret;",
                            head, copies, first_copy, AWAIT_FIRST("EACH"), first_copy, second_copy,
                            awaits ? AWAIT_FIRST("BEFORE") : "", AWAIT_FIRST("AFTER"));
    emu_addr in = device_copy(emu, NULL, 16), out = device_copy(emu, NULL, 4);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){out, in}), "%s",
              emu_message(emu));
    size_t count = emu_findings(emu);
    if (count) cr_expect(strstr(emu_finding(emu, 0)->detail, "RAW hazard at __shared__"));
    free(text);
    emu_close(emu);
    return count;
}

/* More copies than the number of mbarriers that racecheck can distinguish, but only two
 * mbarriers. */
Test(racecheck, a_copy_is_over_when_its_own_mbarrier_was_waited_for)
{
    static const int copies[] = {1, 2, 3, 1100};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        cr_expect_eq(hazards_after_copies(copies[i], false), 1, "%d copies", copies[i]);
        cr_expect_eq(hazards_after_copies(copies[i], true), 0, "%d copies", copies[i]);
    }
}

/* A reduction is atomic where it writes. Its source may be overwritten when it has been read. */
static size_t hazards_after_reduction(const char *wait)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = ptx_kernel("%sst.shared.v4.u32 [%%r1], {%%r4, %%r4, %%r4, %%r4};\n"
                            "fence.proxy.async;\n"
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%%out], "
                            "[%%r1], 16;\ncp.async.bulk.commit_group;\n%s"
                            "st.shared.u32 [%%r1], %%r5;\nret;",
                            head, wait);
    emu_addr out = device_copy(emu, NULL, 16);
    cr_assert(!launch(emu, load_kernel(emu, text, "k"), 1, 32, 0, 2, (uint64_t[]){out, out}), "%s",
              emu_message(emu));
    size_t count = emu_findings(emu);
    free(text);
    emu_close(emu);
    return count;
}

Test(racecheck, the_source_of_a_reduction_is_only_read)
{
    cr_expect_eq(hazards_after_reduction("cp.async.bulk.wait_group.read 0;\n"), 0);
    cr_expect_eq(hazards_after_reduction(""), 1);
}

/* ---- which threads racecheck names, in blocks and grids of three dimensions ------------------ */

static const struct emu_dim grid = {2, 3, 4}, block = {4, 5, 6};

/* A thread, by its numbers in the order of a grid and of a block. */
struct who {
    unsigned cta, thread;
};

static void name(struct who who, char *text, size_t size)
{
    snprintf(text, size, "thread (%u,%u,%u) in block (%u,%u,%u)", who.thread % block.x,
             who.thread / block.x % block.y, who.thread / block.x / block.y, who.cta % grid.x,
             who.cta / grid.x % grid.y, who.cta / grid.x / grid.y);
}

/* Two threads store their different numbers to one word. */
static char *two_stores(struct who a, struct who b)
{
    return ptx_kernel("mov.u32 %%r1, %%ctaid.z;\nmov.u32 %%r2, %%nctaid.y;\n"
                      "mov.u32 %%r3, %%ctaid.y;\nmad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
                      "mov.u32 %%r2, %%nctaid.x;\nmov.u32 %%r3, %%ctaid.x;\n"
                      "mad.lo.u32 %%r1, %%r1, %%r2, %%r3;\n"
                      "mov.u32 %%r4, %%tid.z;\nmov.u32 %%r2, %%ntid.y;\nmov.u32 %%r3, %%tid.y;\n"
                      "mad.lo.u32 %%r4, %%r4, %%r2, %%r3;\nmov.u32 %%r2, %%ntid.x;\n"
                      "mov.u32 %%r3, %%tid.x;\nmad.lo.u32 %%r4, %%r4, %%r2, %%r3;\n"
                      "mul.lo.u32 %%r1, %%r1, 1000;\nadd.u32 %%r1, %%r1, %%r4;\n"
                      "sub.u64 %%out, %%out, %%offset;\n"
                      "setp.eq.u32 %%p0, %%r1, %u;\nsetp.eq.u32 %%p1, %%r1, %u;\n"
                      "or.pred %%p0, %%p0, %%p1;\n@%%p0 st.global.u32 [%%out], %%r1;\nret;",
                      1000 * a.cta + a.thread, 1000 * b.cta + b.thread);
}

static void expect_names(struct who first, struct who second)
{
    struct emu *emu =
        open_emu_with(&(struct emu_config){.memory = 64 << 20, .checks = EMU_CHECK_RACE});
    char *text = two_stores(first, second), one[80], other[80], sentence[200];
    emu_addr out = device_copy(emu, NULL, 4);
    cr_assert(!emu_launch_shape(emu, load_kernel(emu, text, "k"),
                                &(struct emu_shape){.grid = grid, .block = block},
                                (void *[]){&out, &out}),
              "%s", emu_message(emu));
    cr_assert_eq(emu_findings(emu), 1);
    name(first, one, sizeof one);
    name(second, other, sizeof other);
    snprintf(sentence, sizeof sentence, "0x%llx: %s wrote it, %s writes it\n",
             (unsigned long long)out, one, other);
    cr_expect(strstr(emu_finding(emu, 0)->detail, sentence), "\"%s\" is not in:\n%s", sentence,
              emu_finding(emu, 0)->detail);
    free(text);
    emu_close(emu);
}

/* The first and the last thread of a grid, and threads whose coordinates all differ. */
Test(racecheck, both_threads_are_named)
{
    expect_names((struct who){0, 0}, (struct who){23, 119});
    expect_names((struct who){3, 37}, (struct who){16, 90});
    expect_names((struct who){7, 2}, (struct who){7, 71});
    expect_names((struct who){11, 64}, (struct who){11, 65});
}

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

/* ---- racecheck's records and its shadow memory ----------------------------------------------- */

/*
 * Racecheck's records and its shadow memory: what a record keeps, and how many
 * bytes of shadow there are for each byte that a kernel accesses.
 */

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
