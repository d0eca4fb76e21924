/*
 * test_conclusions.c — what the notes conclude below their tables holds for the recordings in
 * profiles/h200. The tables are written anew with each recording, the sentences are not: so each
 * test asks for what a sentence says, a little less strictly than the numbers of the day.
 */
#define _GNU_SOURCE
#include "steps/12-pipeline/shape.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE    4096
#define COLUMNS 80

/* Cuts a line of a CSV file without quotes into its cells. Returns how many. */
static int cut(char *line, char **cells)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    while (line != NULL && count < COLUMNS) cells[count++] = strsep(&line, ",");
    return count;
}

/* The number in `column` of the first row of profiles/h200/FILE that has the cells of `where`:
 * "step=5 variant=naive"; `-` for a space within a cell. */
static double number(const char *file, const char *column, const char *where, ...)
    __attribute__((format(printf, 3, 4)));
static double number(const char *file, const char *column, const char *where, ...)
{
    static char head[LINE], line[LINE];
    char path[100], wanted[200], *names[COLUMNS], *cells[COLUMNS];
    va_list arguments;
    double found = 0;
    int columns = 0, rows = 0;

    va_start(arguments, where);
    vsnprintf(wanted, sizeof wanted, where, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "profiles/h200/%s", file);
    FILE *csv = fopen(path, "r");
    cr_assert(csv != NULL, "cannot read %s", path);
    while (rows == 0 && fgets(line, sizeof line, csv) != NULL) {
        if (line[0] == '#') continue;
        if (columns == 0) {
            columns = cut(strcpy(head, line), names);
            continue;
        }
        cr_assert_eq(cut(line, cells), columns, "%s: a row of another length", path);
        bool fits = true;
        char all[sizeof wanted], *rest = strcpy(all, wanted), *pair;
        while ((pair = strsep(&rest, " ")) != NULL) {
            int length = (int)strcspn(pair, "="), i = 0;
            while (i < columns && (strncmp(names[i], pair, (size_t)length) || names[i][length]))
                i++;
            cr_assert(i < columns, "%s has no column for %s", path, pair);
            for (char *c = cells[i]; *c; c++)
                if (*c == ' ') *c = '-';
            fits = fits && strcmp(cells[i], pair + length + 1) == 0;
        }
        for (int i = 0; fits && i < columns; i++)
            if (strcmp(names[i], column) == 0) found = atof(cells[i]), rows++;
    }
    fclose(csv);
    cr_assert(rows > 0, "%s has no %s of %s", path, column, wanted);
    return found;
}

/* Seconds of a step, with an empty L2, and its share of the roof; a variant of "" if it has none. */
static double seconds(int step, const char *variant, size_t n)
{
    return number("verify.csv", "seconds", "step=%d variant=%s n=%zu", step, variant, n);
}

static double share(int step, const char *variant, size_t n)
{
    return number("verify.csv", "roof_fraction", "step=%d variant=%s n=%zu", step, variant, n);
}

/* What an experiment printed. */
static double value(const char *experiment, const char *variant, const char *parameter,
                    const char *metric)
{
    return number("experiments.csv", "value", "experiment=%s variant=%s parameter=%s metric=%s",
                  experiment, variant, parameter, metric);
}

#define about(ratio, wanted)                                                                       \
    cr_expect((ratio) > 0.9 * (wanted) && (ratio) < 1.1 * (wanted), "%s is %.3f, not about %g",    \
              #ratio, ratio, (double)(wanted))
#define between(low, ratio, high)                                                                  \
    cr_expect((ratio) > (low) && (ratio) < (high), "%s is %.3f, not between %g and %g", #ratio,    \
              ratio, (double)(low), (double)(high))

enum { MI = 1 << 20, N16 = 1 << 16, N24 = 1 << 24, N28 = 1 << 28 };

/* notes/00: one word for all lanes; 32 words of a line; 32 words of as many lines. */
Test(conclusions, constants_are_for_one_word)
{
    double alone = value("constant-cache", "constant", "1", "time"),
           neighbours = value("constant-cache", "read-only", "1", "time");
    about(value("constant-cache", "constant", "32", "time") /
              value("constant-cache", "constant", "16", "time"),
          2);
    cr_expect_gt(value("constant-cache", "constant", "32", "time"), 10 * alone);
    about(value("constant-cache", "read-only", "32", "time") / neighbours, 1);
    about(value("constant-cache", "read-only-spread", "32", "time") /
              value("constant-cache", "read-only-spread", "16", "time"),
          2);
}

/* notes/00: what is read once, and what again and again. */
Test(conclusions, cache_operators_matter_where_data_is_kept)
{
    const char *const words[] = {"ca", "cg", "cs", "lu", "cv", "nc"};
    double once = value("cache-operators", "ld_plain", "once", "time"),
           again = value("cache-operators", "ld_plain", "again", "time");
    for (int i = 0; i < 6; i++) {
        char variant[10];
        snprintf(variant, sizeof variant, "ld_%s", words[i]);
        double mine = value("cache-operators", variant, "once", "time") / once;
        if (strcmp(words[i], "nc") == 0)
            between(0.6, mine, 0.9);
        else
            between(0.97, mine, 1.03);
        mine = value("cache-operators", variant, "again", "time") / again;
        if (strstr("cg lu cv", words[i]))
            cr_expect_gt(mine, 3);
        else
            between(0.95, mine, 1.1);
    }
}

/* notes/12: the ring over time, and what the order costs. */
Test(conclusions, the_look_warp_is_the_narrowest_place)
{
    const char *const n = "n=67108864";
    double tile =
        (value("timeline", "store", "k=11", "end") - value("timeline", "store", "k=0", "end")) /
        11; /* cycles from tile to tile */
    cr_expect_gt(value("timeline", "mean", n, "look"), 0.8 * tile);
    cr_expect_lt(value("timeline", "mean", n, "sum"), 0.6 * tile);
    between(1, value("timeline", "mean", n, "copy") / tile, 2);
    between(2.5, value("timeline", "mean", n, "tiles-ahead"), 6);
    for (int power = 24; power <= 28; power += 2)
        for (int way = 0; way < 2; way++) {
            char size[20];
            snprintf(size, sizeof size, "n=%d", 1 << power);
            double least = power == 24 ? 0.98 : 0.995;
            between(least,
                    value("fixed-order", way ? "first-come" : "in-float", size, "time") /
                        value("fixed-order", "as-it-is", size, "time"),
                    1.005);
        }
}

/* notes/02: a race that did not show; the second array is a little faster than the second barrier. */
Test(conclusions, a_race_that_does_not_show)
{
    cr_expect_eq(value("in-place", "no-barrier", "1024", "wrong_of_100"), 0);
    cr_expect_gt(value("in-place", "two-barriers", "1024", "time"),
                 value("in-place", "two-arrays", "1024", "time"));
}

/* notes/10: a barrier of the grid against a launch; sizes known to the compiler; one counter. */
Test(conclusions, grids_wait_faster_than_they_are_launched)
{
    double few = value("grid-sync", "grid.sync", "1", "a-round"),
           many = value("grid-sync", "grid.sync", "8", "a-round"),
           launch = value("grid-sync", "launches", "8", "a-round");
    cr_expect_lt(few, launch / 2);
    about(many / few, 1.9);
    cr_expect_lt(many, 0.9 * launch);
}

Test(conclusions, groups_of_a_size_that_is_known)
{
    const char *const sizes[] = {"32", "16", "4"};
    for (int i = 0; i < 3; i++) {
        double known = value("groups", "static", sizes[i], "time");
        cr_expect_lt(known, 0.67 * value("groups", "generic", sizes[i], "time"));
        about(value("groups", "library", sizes[i], "time") / known, 1);
    }
}

Test(conclusions, one_counter_for_many)
{
    double aggregated = value("atomics", "aggregated", "pack", "time");
    about(value("atomics", "plain", "pack", "time") / aggregated, 1);
    about(value("atomics", "hidden", "pack", "time") / aggregated, 15);
    about(value("atomics", "shared", "pack", "time") / aggregated, 0.2);
    about(value("atomics", "atomic", "a-word-a-thread", "time") /
              value("atomics", "load", "a-word-a-thread", "time"),
          1);
    cr_expect_gt(value("atomics", "atomic", "a-word-a-block", "time"),
                 3 * value("atomics", "load", "a-word-a-block", "time"));
}

/* notes/05: many small scans. */
Test(conclusions, small_scans_belong_into_one_launch)
{
    const char *const ways[] = {"1-stream", "8-streams", "32-streams"};
    const char *const sizes[] = {"1024", "4096", "16384", "65536"};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            cr_expect_gt(value("small-scans", ways[i], sizes[j], "time"),
                         1.5 * value("small-scans", "1-launch", sizes[j], "time"));
    for (int i = 1; i < 3; i++) /* of the smallest, streams save next to nothing */
        between(0.8,
                value("small-scans", ways[i], "1024", "time") /
                    value("small-scans", "1-stream", "1024", "time"),
                1.25);
    cr_expect_gt(value("small-scans", "1-stream", "65536", "time"),
                 10 * value("small-scans", "32-streams", "65536", "time"));
}

/* notes/05: to the GPU and back. */
Test(conclusions, the_way_there_takes_longer_than_the_scan)
{
    const char *const ways[] = {"to-device", "to-host", "both"};
    for (int i = 0; i < 3; i++)
        cr_expect_gt(value("transfers", "pinned", ways[i], "rate"),
                     2.5 * value("transfers", "pageable", ways[i], "rate"));
    cr_expect_lt(value("transfers", "scan", "8", "time"),
                 0.65 * value("transfers", "scan", "1", "time"));
    cr_expect_gt(value("transfers", "scan", "8", "time"),
                 10 * value("transfers", "scan-only", "1", "time"));
}

/* notes/06: who moves 4n words cannot pass half of the roof, and step 6 is there. */
Test(conclusions, four_words_are_half_of_the_roof)
{
    about(seconds(6, "", N16) / seconds(5, "conflict-free", N16), 1);
    about(seconds(5, "conflict-free", N28) / seconds(6, "", N28), 2);
    between(0.47, share(6, "", N28), 0.5);
    between(0.47, share(7, "", N28), 0.5);
    between(0.47, share(9, "shfl", N28), 0.5);
}

/* notes/06: warps times bytes. */
Test(conclusions, bytes_under_way_are_warps_times_width)
{
    const char *const warps[] = {"8", "16", "32", "64"};
    for (int i = 0; i + 1 < 4; i++) {
        between(0.85,
                value("bytes-under-way", "float2", warps[i], "rate") /
                    value("bytes-under-way", "float", warps[i + 1], "rate"),
                1.15);
        between(0.85,
                value("bytes-under-way", "float4", warps[i], "rate") /
                    value("bytes-under-way", "float2", warps[i + 1], "rate"),
                1.15);
    }
}

/* notes/06: doubles, and the clock. */
Test(conclusions, doubles_cost_twice_the_arithmetic)
{
    about(value("precision", "arithmetic", "double", "time") /
              value("precision", "arithmetic", "float", "time"),
          2);
    between(1.2,
            value("precision", "copy", "double", "time") /
                value("precision", "copy", "float", "time"),
            1.8);
    between(1.2,
            value("precision", "block-scan", "double", "time") /
                value("precision", "block-scan", "float", "time"),
            1.8);
    double highest = value("clocks", "highest", "0", "most");
    cr_expect_gt(value("clocks", "rested", "1", "least"), 0.995 * highest);
    cr_expect_gt(value("clocks", "one-warp", "1", "least"), 0.995 * highest);
}

/* notes/07: unrolling, spills, L1 and shared memory. */
Test(conclusions, instructions_are_not_what_a_large_scan_waits_for)
{
    between(0.97, seconds(6, "", N28) / seconds(7, "", N28), 1.03);
    cr_expect_gt(seconds(6, "", MI), 1.04 * seconds(7, "", MI));
}

Test(conclusions, more_warps_do_not_pay_for_spills)
{
    double fast = value("spills", "add-sum", "1", "time");
    cr_expect_eq(value("spills", "add-sum", "2", "local"), 0);
    cr_expect_gt(value("spills", "add-sum", "4", "local"), 0);
    cr_expect_gt(value("spills", "add-sum", "4", "time"), 1.1 * fast);
    cr_expect_gt(value("spills", "add-sum", "8", "time"), 2 * fast);
}

Test(conclusions, the_wrong_split_costs_twice_the_time)
{
    cr_expect_gt(value("carve-out", "in-shared", "0", "time"),
                 2 * value("carve-out", "in-shared", "50", "time"));
    about(value("carve-out", "in-shared", "50", "time") /
              value("carve-out", "in-shared", "100", "time"),
          1);
    cr_expect_gt(value("carve-out", "in-l1", "100", "time"),
                 2 * value("carve-out", "in-l1", "0", "time"));
    about(value("carve-out", "in-l1", "25", "time") / value("carve-out", "in-l1", "0", "time"), 1);
}

/* notes/09: what shuffles buy a scan, and a warp. */
Test(conclusions, shuffles_help_where_barriers_are_waited_for)
{
    cr_expect_gt(seconds(7, "", N16), 1.15 * seconds(9, "shfl", N16));
    cr_expect_gt(seconds(7, "", MI), 1.1 * seconds(9, "shfl", MI));
    between(0.97, seconds(7, "", N28) / seconds(9, "shfl", N28), 1.03);
    for (int i = 0; i < 2; i++) {
        const char *const what = i == 0 ? "sum" : "scan";
        between(0.45,
                value("reduce", "shuffle", what, "time") / value("reduce", "shared", what, "time"),
                0.65);
    }
    cr_expect_lt(value("reduce", "redux", "sum", "time"),
                 0.5 * value("reduce", "shuffle", "sum", "time"));
    cr_expect_geq(value("reduce", "predicate", "scan", "time"),
                  value("reduce", "shuffle", "scan", "time"));
}

/* notes/11: what the waiting costs, and the clearing; how far tiles look. */
Test(conclusions, half_of_the_time_is_waiting)
{
    const char *const large = "tile=2048-n=268435456", *const small = "tile=2048-n=4096";
    double whole = value("look-back", "scan", large, "time");
    between(0.45, value("look-back", "looks-nowhere", large, "time") / whole, 0.6);
    between(0.97, value("look-back", "cleared-before", large, "time") / whole, 1.03);
    cr_expect_lt(value("look-back", "cleared-before", small, "time"),
                 0.9 * value("look-back", "scan", small, "time"));
    cr_expect_gt(value("look-back", "distance", large, "mean"), 64);
    cr_expect_lt(value("look-back", "distance", "tile=8192-n=268435456", "mean"),
                 0.75 * value("look-back", "distance", large, "mean"));
}

/* notes/12: what step 11 leaves. */
Test(conclusions, step_11_takes_twice_the_time_of_a_copy)
{
    about(share(11, "tile2048", N28), 0.5);
}

/* notes/bench: who moves 4n, and 3n, has reached what that allows; all types come near the roof. */
static double of_roof(const char *contender, const char *element)
{
    return number("bench.csv", "roof_fraction", "contender=%s element=%s n=%d mode=cold flush=read",
                  contender, element, N28);
}

Test(conclusions, words_say_how_high_the_curves_lie)
{
    between(0.45, of_roof("step-6", "f32"), 0.51);
    between(0.45, of_roof("step-7", "f32"), 0.51);
    between(0.45, of_roof("step-9", "f32"), 0.51);
    between(0.6, of_roof("step-10", "f32"), 0.68);
    cr_expect_lt(of_roof("step-5", "f32"), 0.35);
    between(0.4, of_roof("step-11", "f32"), 0.6);
    const char *const types[] = {"f32", "f64", "i32", "i64", "i16", "i8"};
    for (int i = 0; i < 6; i++) between(0.9, of_roof("step-12", types[i]), 1.0);
}

/* notes/12: where it is near to the roof, and where it gains least. */
static double times_cub(int power, const char *element)
{
    return number("bench.csv", "times_cub", "contender=step-12 element=%s n=%d mode=%s flush=read",
                  element, 1 << power, power <= 22 ? "graph" : "cold");
}

Test(conclusions, large_scans_are_nearer_to_the_roof_than_bulk_copies)
{
    cr_expect_gt(of_roof("step-12", "f32"), 1 - 1 / 30.0);
    cr_expect_lt(of_roof("bulk-copies", "f32"), of_roof("step-12", "f32"));
    for (int power = 10; power <= 28; power++) {
        bool is_middle = power >= 22 && power <= 24;
        cr_expect(times_cub(power, "f32") < 1.28 ? is_middle : !is_middle, "2^%d: %g", power,
                  times_cub(power, "f32"));
    }
    between(1.1, times_cub(28, "f64"), times_cub(28, "f32"));
    between(times_cub(28, "f32"), times_cub(28, "i16"), times_cub(28, "i8"));
}

/* notes/12: what is still bad. */
Test(conclusions, step_9_is_faster_for_a_block_of_elements)
{
    static const char where[] = "contender=%s element=f32 n=%d mode=graph flush=read";
    for (int n = 1024; n <= 4096; n *= 2)
        cr_expect((number("bench.csv", "seconds", where, "step-9", n) <
                   number("bench.csv", "seconds", where, "step-12", n)) == (n <= 2048));
    for (int n = 1024; n <= N16; n *= 2)
        between(0.6, number("bench.csv", "roof_fraction", where, "step-12", n), 0.75);
}

/* notes/12 and its figure say how large things are: as the sources do. */
Test(conclusions, step_12_is_as_large_as_its_chapter_says)
{
    static const struct {
        const char *file, *define;
        int value;
    } sizes[] = {{"ring.cuh", "STAGES", 6},
                 {"pipeline.cuh", "SUM_WARPS", 4},
                 {"shape.h", "TILE_SEGMENTS", 8}, /* and as many scan warps */
                 {"shape.h", "TILE_ROWS", 8}};
    cr_expect_eq(TILE(4) * 4, 32 << 10);
    cr_expect_eq(WAVE_MAX(4), 1 << 22);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char path[100], line[LINE], name[50];
        int value = 0, found = 0;
        snprintf(path, sizeof path, "steps/12-pipeline/%s", sizes[i].file);
        FILE *file = fopen(path, "r");
        cr_assert(file != NULL, "cannot read %s", path);
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "#define %49s %d", name, &value) == 2 &&
                strcmp(name, sizes[i].define) == 0)
                found = value;
        fclose(file);
        cr_expect_eq(found, sizes[i].value, "%s is %d in %s: notes/12 says %d", sizes[i].define,
                     found, path, sizes[i].value);
    }
}

/* notes/then-and-now: the H200 against a core, beside the 8800 GTX against its own. */
Test(conclusions, memories_have_grown_apart)
{
    cr_expect_gt(seconds(5, "conflict-free", 1024), seconds(1, "exclusive", 1024));
    cr_expect_gt(seconds(1, "exclusive", N24), 10 * 5.98 * seconds(5, "conflict-free", N24));
}
