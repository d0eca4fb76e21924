/* test_options.c — sizes, options, and options that contradict each other. */
#define _GNU_SOURCE
#include "common/files/option_table.h"
#include "common/step/options.h"
#include "common/step/element.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *own_value;

static const char *set_own(void *self, const char *value)
{
    (void)self;
    own_value = value;
    return strcmp(value, "bad") == 0 ? "bad is bad." : NULL;
}

static const struct step_option own_options[] = {{"pattern", "NAME", "which", .set = set_own},
                                                 {.name = NULL}};
static const char *const variants[] = {"first", "second", NULL};
static const struct step step = {
    .number = 9,
    .name = "nine",
    .title = "Nine",
    .max_n = 2048,
    .power_of_two = true,
    .limit_lifted_by = "step 10 takes any n",
    .default_n = 512,
    .variants = variants,
    .options = own_options,
};

/* Parses a command line written with spaces. */
static int parse(const char *line, struct options *options, struct fault *fault)
{
    static char copy[400];
    static char *argv[40];
    int argc = 0;
    snprintf(copy, sizeof copy, "./step9 %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    *fault = (struct fault){0};
    return options_parse(options, &step, NULL, argc, argv, fault);
}

Test(options, sizes)
{
    static const struct {
        const char *text;
        size_t value;
    } good[] = {
        {"0", 0},          {"1", 1},        {"1000", 1000},      {"1K", 1000},
        {"1k", 1000},      {"3M", 3000000}, {"2G", 2000000000},  {"1Ki", 1024},
        {"1Mi", 1 << 20},  {"2^0", 1},      {"2^20", 1 << 20},   {"3^4", 81},
        {"1Mi-1", 0xFFFFF}, {"2^10+1K-24", 2000}, {"4Gi", (size_t)4 << 30},
        {"2^31+5", ((size_t)1 << 31) + 5}, {"18446744073709551615", SIZE_MAX},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        size_t value = 12345;
        struct fault fault = {0};
        cr_expect_eq(size_parse(good[i].text, "--n", &value, &fault), 0, "%s", good[i].text);
        cr_expect_eq(value, good[i].value, "%s gave %zu", good[i].text, value);
    }
}

Test(options, what_is_no_size)
{
    static const char *const bad[] = {"",      "abc",   "-5",    "1.5", "1e6", "12x",
                                      "1KiB",  "+3",    "2^",    "^3",  "1+",  "5-6",
                                      "2^2^2", "0x100", "1 000", "1KK", " 1",  "1 "};
    static const char *const large[] = {"18446744073709551616",
                                        "99999999999999999999999",
                                        "2^64",
                                        "19000000000G",
                                        "2^63+2^63",
                                        "10^20"};
    size_t value;
    struct fault fault;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_expect_eq(size_parse(bad[i], "--n", &value, &fault), EXIT_USAGE, "%s", bad[i]);
        cr_expect(strstr(fault.text, "is not a size"), "%s: %s", bad[i], fault.text);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        cr_expect_eq(size_parse(large[i], "--n", &value, &fault), EXIT_USAGE, "%s", large[i]);
        cr_expect(strstr(fault.text, "64 bits"), "%s: %s", large[i], fault.text);
    }
}

Test(options, defaults)
{
    struct options o;
    struct fault fault;
    unsetenv("DEVICE");
    cr_assert_eq(parse("", &o, &fault), 0, "%s", fault.text);
    cr_expect_eq(o.n, step.default_n);
    cr_expect_not(o.n_given);
    cr_expect_eq(o.seed, 1);
    cr_expect_eq(o.reps, REPS_DEFAULT);
    cr_expect_eq(o.verify, VERIFY_FULL);
    cr_expect_eq(o.device, DEVICE_AUTO);
    cr_expect_eq(o.format, REPORT_TEXT);
    cr_expect_eq(o.variant, 0);
    cr_expect_null(o.input);
    cr_expect_null(o.output);
}

Test(options, all_of_them)
{
    struct options o;
    struct fault fault;
    cr_assert_eq(
        parse("--n 1Ki --seed 18446744073709551615 --reps 0 --inclusive --in-place --offset "
              "3 --variant second --counters --json --verify none --device emu "
              "--output=a.npy --trace t --real --pattern p",
              &o, &fault),
        0, "%s", fault.text);
    cr_expect_eq(o.n, 1024);
    cr_expect_eq(o.seed, UINT64_MAX);
    cr_expect_eq(o.reps, 0);
    cr_expect(o.inclusive && o.in_place && o.counters && o.real);
    cr_expect_eq(o.offset, 3);
    cr_expect_eq(o.variant, 1);
    cr_expect_eq(o.format, REPORT_JSON);
    cr_expect_eq(o.verify, VERIFY_NONE);
    cr_expect_eq(o.device, DEVICE_EMU);
    cr_expect_str_eq(o.output, "a.npy");
    cr_expect_str_eq(o.trace, "t");
    cr_expect_str_eq(own_value, "p");

    cr_assert_eq(parse("--input - --csv", &o, &fault), 0, "%s", fault.text);
    cr_expect_str_eq(o.input, "-");
    cr_expect_eq(o.format, REPORT_CSV);
    cr_assert_eq(parse("--help", &o, &fault), 0, "%s", fault.text);
    cr_expect(o.help);
    cr_assert_eq(parse("--version", &o, &fault), 0, "%s", fault.text);
    cr_expect(o.version);
}

Test(options, numbers_in_decimal_and_nothing_else)
{
    static const char *const none[] = {"",   " 5",  "5 ",  "+5",   "-5",  "0x5", "5x",
                                       "\t5", "1.5", "1e2", "101", "inf", "18446744073709551616"};
    static const char *const unreal[] = {"",    "-",   " 5",    "5 ",     "+5", "--5",
                                         "0x5", "0X5", "1e999", "-1e999", "5f", "x"};
    static const char *const reals[] = {"5", "-5", ".5", "5.", "-0.5e-1", "inf", "-Infinity"};
    uint64_t whole;
    double real;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        cr_expect(!option_whole(none[i], 100, &whole), "\"%s\"", none[i]);
    cr_expect(option_whole("100", 100, &whole) && whole == 100);
    cr_expect(option_whole("18446744073709551615", UINT64_MAX, &whole) && whole == UINT64_MAX);
    for (size_t i = 0; i < sizeof unreal / sizeof *unreal; i++)
        cr_expect(!option_real(unreal[i], &real), "\"%s\"", unreal[i]);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        cr_expect(option_real(reals[i], &real) && real == strtod(reals[i], NULL), "%s", reals[i]);
}

Test(options, refused_with_one_sentence)
{
    static const struct {
        const char *line, *part;
    } bad[] = {
        {"--n -5", "negative"},
        {"--n 0", "nothing to scan"},
        {"--n abc", "not a size"},
        {"--n", "needs a value"},
        {"--n 3000",
         "n = 3000 is more than the 2048 elements that step 9 (nine) takes; step 10 takes any n"},
        {"--n 1000", "n = 1000 is not a power of two"},
        {"--seed -1", "--seed"},
        {"--seed 18446744073709551616", "--seed"},
        {"--reps -1", "--reps"},
        {"--reps 1000000", "--reps"},
        {"--reps 3x", "--reps"},
        {"--offset 2Mi", "--offset"},
        {"--variant third", "first, second"},
        {"--verify most", "none or full"},
        {"--device tpu", "cuda or emu"},
        {"--json --csv", "exclude each other"},
        {"--n 4 --input x", "--input and --n exclude each other; leave one out."},
        {"--input x --real", "--input and --real exclude each other"},
        {"--input x --seed 3", "--input and --seed exclude each other"},
        {"--trace x --reps 3", "--trace and --reps exclude each other"},
        {"--counters --csv", "--counters and --csv exclude each other"},
        {"--counters --device cuda", "--counters and --device cuda exclude each other"},
        {"--quiz a --levels", "--levels and --quiz exclude each other"},
        {"--quiz a --offset 1", "--quiz and --offset exclude each other"},
        {"--trace x --device cuda", "exclude each other"},
        {"--json=yes", "takes no value"},
        {"--input=", "empty file name"},
        {"--pattern bad", "--pattern: bad is bad."},
        {"--nonsense", "--help"},
        {"-n 5", "--help"},
        {"512", "--n"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct options o;
        struct fault fault;
        cr_expect_eq(parse(bad[i].line, &o, &fault), EXIT_USAGE, "%s", bad[i].line);
        cr_expect(strstr(fault.text, bad[i].part), "%s: %s", bad[i].line, fault.text);
        cr_expect_null(strchr(fault.text, '\n'), "%s", fault.text);
        cr_expect_eq(fault.text[strlen(fault.text) - 1], '.', "%s", fault.text);
    }
}

Test(options, the_environment_chooses_the_device_unless_the_command_line_does)
{
    struct options o;
    struct fault fault;
    setenv("DEVICE", "emu", 1);
    cr_assert_eq(parse("", &o, &fault), 0);
    cr_expect_eq(o.device, DEVICE_EMU);
    cr_assert_eq(parse("--device cuda", &o, &fault), 0);
    cr_expect_eq(o.device, DEVICE_CUDA);
    setenv("DEVICE", "tpu", 1);
    cr_expect_eq(parse("", &o, &fault), EXIT_USAGE);
    cr_expect(strstr(fault.text, "DEVICE=\"tpu\""), "%s", fault.text);
}

/* A step with verbs names the options that it has no use for, and says itself what files it
 * takes. */
Test(options, what_a_step_with_verbs_has_no_use_for)
{
    static const char *const unused[] = {"real", "offset", "counters", "trace", NULL};
    static const char *const values[] = {NULL, "3", NULL, "file"};
    const struct verbs refuses = {.unused = unused, .input_help = "scan the sounds of FILE"};
    const struct verbs takes = {.experiment = NULL};
    struct step applies = {.number = 9, .name = "nine", .title = "Nine", .default_n = 512};
    struct options options;
    struct fault fault = {0};
    char *help, option[20], want[80];
    size_t size;

    for (int i = 0; unused[i]; i++) {
        snprintf(option, sizeof option, "--%s", unused[i]);
        char *const argv[] = {"./step9", option, (char *)(uintptr_t)values[i], NULL};
        int argc = values[i] ? 3 : 2;
        applies.verbs = &refuses;
        cr_expect_eq(options_parse(&options, &applies, NULL, argc, argv, &fault), EXIT_USAGE);
        snprintf(want, sizeof want, "%s: step 9 (nine) has no use for it; leave it out.", option);
        cr_expect_str_eq(fault.text, want);
        applies.verbs = &takes;
        cr_expect_eq(options_parse(&options, &applies, NULL, argc, argv, &fault), 0, "%s",
                     fault.text);
    }
    applies.verbs = &refuses;
    FILE *to = open_memstream(&help, &size);
    options_help(&applies, to);
    fclose(to);
    cr_expect(!strstr(help, "--trace"));
    cr_expect(strstr(help, "  --input FILE      scan the sounds of FILE\n"));
    cr_expect(strstr(help, "  --output FILE     write the result: .npy if so named"));
    free(help);
}

/* ---- option_table.h, which every command uses ------------------------------------------------ */

struct few {
    bool all, loud;
    const char *file;
};

static int keep(void *to, const char *value, struct fault *fault)
{
    if (strcmp(value, "bad") == 0) return fail(fault, EXIT_DEVICE, "bad is bad.");
    *(const char **)to = value;
    return 0;
}

static const char *elsewhere;
static const struct option_row few_rows[] = {
    {"all", NULL, "take all", NULL, NULL, 'a', offsetof(struct few, all)},
    {"loud", NULL, "say it\nloud", NULL, NULL, 'l', offsetof(struct few, loud)},
    {.name = NULL},
    {"file", "FILE", "where", NULL, NULL, 'f', offsetof(struct few, file)},
    OPTION_TO("for-ever", "N", "how long", keep, &elsewhere),
};
static const struct option_table few_table = {few_rows, sizeof few_rows / sizeof *few_rows};

/* Takes a command line's options, and returns the place of the first argument that is none. */
static int take_few(char *line, struct few *few, struct fault *fault)
{
    char *words[9];
    struct command_line at = {.arguments = words};
    *few = (struct few){.all = false};
    *fault = (struct fault){0};
    elsewhere = NULL;
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) words[at.count++] = word;
    for (bool taken = true; at.at < at.count && taken;)
        if (option_take(few_table, &at, few, &taken, fault)) break;
    return at.at;
}

Test(options, of_a_table)
{
    static const struct {
        const char *line, *file, *elsewhere, *fault;
        int at;
        bool all, loud;
    } rows[] = {
        {"--all --loud x", .all = true, .loud = true, .at = 2},
        {"-a x", .all = true, .at = 1},
        {"-la x", .all = true, .loud = true, .at = 1},
        {"-laf x -l", .all = true, .loud = true, .file = "x", .at = 3},
        {"-lfa x", .loud = true, .file = "a", .at = 1},
        {"-f=a", .file = "=a", .at = 1},
        {"--file=a=b --file= --for-ever 7", .file = "", .elsewhere = "7", .at = 4},
        {"-f -a --all", .file = "-a", .all = true, .at = 3},
        {"--fil a", .at = 0},
        {"--files a", .at = 0},
        {"--a", .at = 0},
        {"-ax", .all = true, .at = 0},
        {"-l-all", .loud = true, .at = 0},
        {"file", .at = 0},
        {"-", .at = 0},
        {"--all -f", .all = true, .at = 2, .fault = "--file needs a value; --help says which."},
        {"--loud=yes", .at = 1, .fault = "--loud takes no value, but was given \"yes\"."},
        {"-a=1", .at = 1, .fault = "--all takes no value, but was given \"=1\"."},
        {"--for-ever bad", .at = 2, .fault = "bad is bad."},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *text = rows[i].line, *file = rows[i].file, *to = rows[i].elsewhere;
        char line[80];
        struct few few;
        struct fault fault;
        cr_expect_eq(take_few(strcpy(line, text), &few, &fault), rows[i].at, "%s", text);
        cr_expect(few.all == rows[i].all && few.loud == rows[i].loud, "%s", text);
        cr_expect_eq(strcmp(few.file ? few.file : "none", file ? file : "none"), 0, "%s", text);
        cr_expect_eq(strcmp(elsewhere ? elsewhere : "none", to ? to : "none"), 0, "%s", text);
        cr_expect_str_eq(fault.text, rows[i].fault ? rows[i].fault : "", "%s", text);
    }
}

Test(options, help_of_a_table)
{
    char text[400] = "";
    FILE *to = fmemopen(text, sizeof text, "w");
    option_print(few_table, 18, to);
    fclose(to);
    cr_expect_str_eq(text, "  -a, --all       take all\n"
                           "  -l, --loud      say it\n"
                           "                  loud\n"
                           "\n"
                           "  -f, --file FILE where\n"
                           "  --for-ever N    how long\n");
    to = fmemopen(text, sizeof text, "w");
    option_print(few_table, 17, to);
    fclose(to);
    cr_expect(strstr(text, "  -f, --file FILE\n                 where\n"), "%s", text);
}
