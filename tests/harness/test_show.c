/*
 * test_show.c — what ./bench prints of contenders side by side: the table for people and the
 * records, word for word, for invented numbers.
 */
#define _GNU_SOURCE
#include "common/bench/bench.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>


static const char *const variants[] = {"plain", "fast", NULL};
static const struct step step = {.number = 7, .variants = variants};
static const struct step library = {.program = "cub"};
static const struct roof_way quick = {.name = "quick copy"}, slow = {.name = "slow copy"};

static struct timing timed(int reps, double microseconds)
{
    double s = microseconds * 1e-6;
    return (struct timing){
        .reps = reps, .median = s, .lower = 0.75 * s, .upper = 1.5 * s, .least = 0.5 * s};
}

/* Two copies, one slower when cold and the other in a graph; CUB; and a step. The step's other
 * variant was wrong, and CUB was not timed in a graph. */
static const struct side_by_side *made_entries(void)
{
    static const struct data data = {.element = ELEMENT_I16};
    static struct side_by_side m;
    m = (struct side_by_side){.data = &data, .n = 1 << 20, .rounds = 15, .runs = 8, .count = 5};
    m.entries[0] = (struct entry){.contender = {.way = &slow}, .cold = timed(15, 4), .right = true};
    m.entries[0].graph = timed(3, 2.5);
    m.entries[1] =
        (struct entry){.contender = {.way = &quick}, .cold = timed(15, 3), .right = true};
    m.entries[1].graph = timed(3, 3);
    m.entries[2] = (struct entry){.contender = {.step = &library},
                                  .cold = timed(15, 8),
                                  .right = true,
                                  .wrong = "not captured"};
    m.entries[3] =
        (struct entry){.contender = {.step = &step}, .cold = timed(15, 6), .right = true};
    m.entries[3].graph = timed(3, 5);
    m.entries[4] = (struct entry){.contender = {.step = &step, .variant = 1}, .wrong = "3 wrong"};
    return &m;
}

/* The output of the three functions, one after the other. */
static const char *shown(const struct device *device, enum report_format format)
{
    static char text[8000];
    struct bench_options options = {.flush = FLUSH_WRITE, .format = format};
    size_t records = 0;
    memset(text, 0, sizeof text);
    FILE *to = fmemopen(text, sizeof text - 1, "w");
    show_head(to, &options, device);
    show_side_by_side(to, &options, device, made_entries(), &records);
    show_end(to, &options);
    fclose(to);
    return text;
}

static const struct device gpu = {.name = "a GPU"};
static const struct device emulated = {.name = "a model", .emulated = true, .why = "it is here"};

Test(show, table_of_a_gpu)
{
    cr_expect_str_eq(shown(&gpu, REPORT_TEXT),
                     "The steps side by side on a GPU\n"
                     "\n"
                     "n = 1 048 576, i16; 15 rounds, L2 emptied by memset\n"
                     "                                     median      lower      upper     GB/s  "
                     "of roof   x CUB\n"
                     "  slow copy                         2.50 µs    1.87 µs    3.75 µs     2517  "
                     "100.0 %    3.20  graph\n"
                     "  quick copy                        3.00 µs    2.25 µs    4.50 µs     2097   "
                     "83.3 %    2.67  graph\n"
                     "  CUB                               8.00 µs    6.00 µs    12.0 µs      786   "
                     "31.2 %    1.00  cold  not captured\n"
                     "  step 7 plain                      5.00 µs    3.75 µs    7.50 µs     1258   "
                     "50.0 %    1.60  graph\n"
                     "  step 7 fast                     WRONG: 3 wrong\n"
                     "\n");
}

Test(show, table_of_the_emulator)
{
    cr_expect_str_eq(
        shown(&emulated, REPORT_TEXT),
        "The steps side by side on a model: times are the emulator's own, because it is here\n"
        "\n"
        "n = 1 048 576, i16; 15 rounds, L2 emptied by memset\n"
        "                                     median      lower      upper\n"
        "  slow copy                         2.50 µs    1.87 µs    3.75 µs  graph\n"
        "  quick copy                        3.00 µs    2.25 µs    4.50 µs  graph\n"
        "  CUB                               8.00 µs    6.00 µs    12.0 µs  cold  not "
        "captured\n"
        "  step 7 plain                      5.00 µs    3.75 µs    7.50 µs  graph\n"
        "  step 7 fast                     WRONG: 3 wrong\n"
        "\n");
}

#define KEYS                                                                                       \
    "contender,step,variant,element,n,mode,flush,launches,reps,seconds,seconds_lower,"             \
    "seconds_upper,seconds_least,bytes_moved,gb_per_s,roof_fraction,times_cub,right,wrong,"        \
    "device\n"

Test(show, records_of_a_gpu)
{
    cr_expect_str_eq(
        shown(&gpu, REPORT_CSV),
        KEYS "slow "
             "copy,,,i16,1048576,cold,memset,1,15,4e-06,3e-06,6e-06,2e-06,6291456,1572.864,0.75,2,"
             "true,,a GPU\n"
             "slow "
             "copy,,,i16,1048576,graph,memset,8,3,2.5e-06,1.875e-06,3.75e-06,1.25e-06,6291456,2516."
             "5824,1,,true,,a GPU\n"
             "quick "
             "copy,,,i16,1048576,cold,memset,1,15,3e-06,2.25e-06,4.5e-06,1.5e-06,6291456,2097.152,"
             "1,2.66666667,true,,a GPU\n"
             "quick "
             "copy,,,i16,1048576,graph,memset,8,3,3e-06,2.25e-06,4.5e-06,1.5e-06,6291456,2097.152,"
             "0.833333333,,true,,a GPU\n"
             "CUB,,,i16,1048576,cold,memset,1,15,8e-06,6e-06,1.2e-05,4e-06,6291456,786.432,0.375,1,"
             "true,not captured,a GPU\n"
             "step "
             "7,7,plain,i16,1048576,cold,memset,1,15,6e-06,4.5e-06,9e-06,3e-06,6291456,1048.576,0."
             "5,1.33333333,true,,a GPU\n"
             "step "
             "7,7,plain,i16,1048576,graph,memset,8,3,5e-06,3.75e-06,7.5e-06,2.5e-06,6291456,1258."
             "2912,0.5,,true,,a GPU\n"
             "step 7,7,fast,i16,1048576,cold,memset,1,0,,,,,6291456,,,,false,3 wrong,a GPU\n");
}
